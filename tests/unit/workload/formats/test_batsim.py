"""Batsim's JSON: jobs and profiles as they are published, and what is told of what is wrong."""

import copy
import json

import pytest

from walltime.core.errors import InputError
from walltime.core.workload import UNLIMITED
from walltime.workload.formats import find_format, read

GIVEN = {
    "nb_res": 8,
    "description": "fields of one's own may stand anywhere",
    "jobs": [
        {"id": "w0!late", "subtime": 10.5, "walltime": 30, "res": 4, "profile": "task", "queue": "x"},
        {"id": "early", "subtime": 1, "res": 1, "profile": "wait"},
    ],
    "profiles": {
        "wait": {"type": "delay", "delay": 20.25},
        "task": {"type": "parallel", "cpu": [5e6, 0, 0, 0], "com": [0] * 16, "command": "x"},
        "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e5, "bytes_to_write": 0, "storage": "nfs"},
        "chain": {"type": "composed", "nb": 2, "seq": ["wait", "task"]},
    },
}


def write(tmp_path, data):
    (tmp_path / "w.json").write_text(json.dumps(data), encoding="utf-8")
    return tmp_path / "w.json"


def test_jobs_are_read_in_order_of_submission(tmp_path):
    path = write(tmp_path, GIVEN)
    jobs = read(path)
    assert find_format(path) == "batsim"
    assert jobs.column("name") == ["early", "late"]
    assert jobs.column("submit").tolist() == [1_000_000, 10_500_000]
    assert jobs.column("run_time").tolist() == [20_250_000, -1]
    assert jobs.column("requested_time").tolist() == [UNLIMITED, 30_000_000]
    assert jobs.column("nodes").tolist() == jobs.column("cores").tolist() == [1, 4]
    assert [jobs.label_names("profile")[code] for code in jobs.column("profile")] == ["wait", "task"]
    assert jobs.machine_cores == 8


def test_numbers_as_ids_are_the_jobs_numbers(tmp_path):
    data = copy.deepcopy(GIVEN)
    data["jobs"][0]["id"], data["jobs"][1]["id"] = "7", 3
    assert read(write(tmp_path, data)).column("job_id").tolist() == [3, 7]


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("jobs", 0, "res"), 0, "job late: res has to be a whole number from 1"),
        (("jobs", 0, "subtime"), "x", "job late: subtime has to be a number"),
        (("jobs", 0, "walltime"), 0, "walltime has to be above 0"),
        (("jobs", 0, "profile"), "tusk", "job late: no profile of this name: 'tusk'"),
        (("profiles", "task", "cpu"), [1, -1], "profile task: cpu has to be a number from 0"),
        (("profiles", "task", "com"), [0] * 15, "com has 15 numbers, a matrix of 4 machines has: 16"),
        (("profiles", "task", "type"), "smpi", "profile task: this type of Batsim's profiles is not run here"),
        (("profiles", "task", "ret"), 1.5, "ret has to be a whole number"),
        (("profiles", "chain", "seq"), ["nothing"], "profile chain: no profile of this name"),
        (("profiles", "chain", "nb"), 0, "repeat has to be a whole number from 1"),
        (("profiles", "pfs", "storage"), 3, "storage has to be a name"),
        (("profiles", "pfs", "generation_strategy"), "half", "generation_strategy"),
        (("profiles", "wait", "delay"), None, "profile wait: delay has to be a number"),
        (("nb_res",), "many", "nb_res has to be a whole number"),
        (("jobs",), {}, "jobs has to be a list"),
    ],
)
def test_what_is_wrong_names_the_job_or_the_profile(tmp_path, place, value, words):
    data = copy.deepcopy(GIVEN)
    inside = data
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(InputError, match=words) as caught:
        read(write(tmp_path, data))
    assert caught.value.file is not None
