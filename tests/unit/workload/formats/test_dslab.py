"""DSLab's native workloads: executions, and the users and priorities that they have from their collections."""

import json

import pytest
import yaml

from walltime import simulate
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


RUN = """\
- {id: 1, submit_time: 0, collection_id: 1, resources: {nodes_count: 1, cpu_per_node: 4}, profile: &ten {type: idle, args: {time: 10}}}
- {id: 2, submit_time: 1, collection_id: 1, resources: {nodes_count: 1, cpu_per_node: 4}, profile: *ten}
- {id: 3, submit_time: 2, collection_id: 2, resources: {nodes_count: 1, cpu_per_node: 4}, profile: *ten}
- {id: 4, submit_time: 3, collection_id: 2, schedule_after: 35, resources: {nodes_count: 1, cpu_per_node: 4}, profile: *ten}
- {id: 5, submit_time: 4, priority: 9, collection_id: 1, resources: {nodes_count: 1, cpu_per_node: 4}, profile: *ten}
"""  # noqa: E501


@pytest.mark.parametrize("model", ["trace", "programs"])
def test_a_whole_run_goes_by_what_executions_inherit_and_starts_none_too_early(tmp_path, model):
    """One host, so one at a time: the first; then by priority 9 (its own), 8 (ann's collection), 1 (bo's). The fourth
    has 8 as well, but waits for its time, and the third goes before the second, which came earlier."""
    collections = [
        {"id": 1, "time": 0, "user": "bo", "priority": 1},
        {"id": 2, "time": 0, "user": "ann", "priority": 8},
    ]
    file = write(tmp_path, json.dumps(collections), "collections.json")
    workload = {"trace": str(write(tmp_path, RUN)), "collections": str(file)}
    cluster = {"nodes": "1x4", "scheduler": {"order": "priority", "backfill": "none"}}
    result = simulate({"workload": workload, "cluster": cluster, "execution": {"model": model}})
    found = result.jobs.sort("start").select("job_id", "user", "start", "eligible").rows()
    assert found == [(1, "bo", 0, 0), (5, "bo", 10, 4), (3, "ann", 20, 2), (2, "bo", 30, 1), (4, "ann", 40, 35)]
    assert result.audit() == []


def test_schedule_after_leaves_a_free_host_idle(tmp_path):
    alone = "- {id: 1, submit_time: 0, schedule_after: 7.5, resources: {nodes_count: 1, cpu_per_node: 1},\n"
    alone += "   profile: {type: idle, args: {time: 2}}}\n"
    result = simulate({"workload": {"trace": str(write(tmp_path, alone))}, "cluster": {"nodes": "1x4"}})
    assert result.jobs.select("start", "end", "wait").row(0) == (7.5, 9.5, 7.5)
