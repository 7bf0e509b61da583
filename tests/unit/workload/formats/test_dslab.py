"""DSLab's native workloads: executions, and the users and priorities that they have from their collections."""

import json

import pytest
import yaml

from walltime.core.errors import InputError
from walltime.core.workload import MISSING, UNLIMITED
from walltime.workload.formats import find_format, read

GIVEN = """\
# executions
- submit_time: 10.12
  resources:
    nodes_count: 2
    cpu_per_node: 3
    memory_per_node: 4
  profile: {type: compute-homogenous, args: {compute_work: 100}}
  collection_id: 5
  execution_index: 1
- id: 9
  name: first
  submit_time: 1
  schedule_after: 7.5
  resources: {nodes_count: 1, cpu_per_node: 1, memory_per_node: 0}
  profile: {type: idle, args: {time: 20}}
  wall_time_limit: 30
  priority: 3
  collection_id: 6
- submit_time: 1e1
  resources: {}
  profile: named
"""
COLLECTIONS = [{"id": 5, "time": 12, "user": "ann", "priority": 8}, {"id": 6, "time": 0, "user": "bo", "priority": 1}]


def write(tmp_path, text, name="trace.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_executions_have_user_and_priority_of_their_collections_unless_they_have_their_own(tmp_path):
    path = write(tmp_path, GIVEN)
    jobs = read(path, collections=write(tmp_path, json.dumps(COLLECTIONS), "collections.json"))
    assert find_format(path) == "dslab"
    names = jobs.label_names("user")
    assert [names[code] if code >= 0 else None for code in jobs.column("user")] == ["bo", None, "ann"]
    assert jobs.column("priority").tolist() == [3, 0, 8]
    assert jobs.column("submit").tolist() == [1_000_000, 10_000_000, 12_000_000]  # none before its collection
    assert jobs.column("begin").tolist() == [7_500_000, MISSING, MISSING]
    assert jobs.column("run_time").tolist() == [20_000_000, MISSING, MISSING]
    assert jobs.column("requested_time").tolist() == [30_000_000, UNLIMITED, UNLIMITED]
    assert jobs.column("cores").tolist() == [1, 1, 6]
    assert jobs.column("memory_per_node").tolist() == [0, MISSING, 4]
    assert jobs.column("name") == ["first", "", ""]
    assert [jobs.label_names("array")[code] if code >= 0 else None for code in jobs.column("array")] == ["6", None, "5"]
    profiles = [jobs.label_names("profile")[code] for code in jobs.column("profile")]
    assert profiles[1] == "named"
    assert json.loads(profiles[2]) == {"type": "compute-homogenous", "args": {"compute_work": 100}}


def test_nodes_that_differ_have_lists_of_amounts(tmp_path):
    given = GIVEN.replace("cpu_per_node: 3", "cpu_per_node: [8, 1]")
    jobs = read(write(tmp_path, given))
    assert jobs.label_names("parts") == ["1x8,memory=4+1x1,memory=4"]
    assert (jobs.column("cores").max(), jobs.column("parts").tolist()) == (9, [-1, -1, 0])
    with pytest.raises(InputError, match="a list with one for each of 2 nodes") as caught:
        read(write(tmp_path, given.replace("[8, 1]", "[8]")))
    assert caught.value.line == 5


def test_json_and_yaml_are_the_same(tmp_path):
    first = read(write(tmp_path, GIVEN))
    second = read(write(tmp_path, json.dumps(yaml.safe_load(GIVEN)), "trace.json"))
    assert first.to_polars().equals(second.to_polars())


def test_a_file_without_a_suffix_is_read_where_the_format_is_said(tmp_path):
    assert len(read(write(tmp_path, GIVEN, "trace"), format="dslab")) == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("submit_time: 10.12", "submit_time: soon", 2, "submit_time has to be a number from 0 on: 'soon'"),
        ("submit_time: 10.12", "submitted: 1", 2, "executions have no such key: 'submitted'"),
        ("cpu_per_node: 3", "cpu_per_node: 0", 5, "cpu_per_node has to be a whole number from 1"),
        ("memory_per_node: 4", "disk_per_node: 4", 6, "resources have no such key"),
        ("profile: named", "profile: 3", 21, "a profile is a name, or a mapping"),
        ("wall_time_limit: 30", "wall_time_limit: -1", 16, "wall_time_limit has to be a number from 0 on"),
        ("collection_id: 6", "collection_id: 7", 18, "no collection has this id: 7"),
        ("- id: 9", "- id: nine", 10, "id has to be a whole number"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, line, words):
    collections = write(tmp_path, json.dumps(COLLECTIONS), "collections.json")
    with pytest.raises(InputError, match=words) as caught:
        read(write(tmp_path, GIVEN.replace(old, new)), collections=collections)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("collections", "words"),
    [
        ([{"id": 5}, {"id": 5}], "two collections have this id"),
        ([{"id": "x"}], "id has to be a whole number"),
        ([{"id": 5, "user": [1]}], "user has to be a name"),
        ({"id": 5}, "this has to be a list"),
    ],
)
def test_collections_are_looked_at(tmp_path, collections, words):
    with pytest.raises(InputError, match=words):
        read(write(tmp_path, GIVEN), collections=write(tmp_path, json.dumps(collections), "collections.json"))


def test_an_option_of_another_format_is_refused(tmp_path):
    with pytest.raises(InputError, match="host is for google and alibaba; this is dslab"):
        read(write(tmp_path, GIVEN), host="4x4G")
