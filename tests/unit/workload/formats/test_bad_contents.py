"""Contents that no reader can use, one of each kind: an InputError with the file, and the line where there is one."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from walltime.core.errors import InputError
from walltime.workload.formats import read
from walltime.workload.formats.mapped import read_mapped
from walltime.workload.formats.torque import read_torque
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.models.file import read_model
from walltime.workload.snapshot.files import read_snapshot, read_usage
from walltime.workload.synthesis.insertion_file import load_insertions

RECORD = "1 0 5 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n"
TORQUE = "01/02/2024 03:04:05;E;{id};user=ann queue=q ctime={ctime} start=5 end=9 Resource_List.mem={mem}\n"
QUEUE = "JOBID|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME\n"
TASK = {"id": "a", "number_of_cores": 1, "runtime_sim": 5}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def manifest(**changes: object) -> str:
    return json.dumps({"tasks": [TASK | changes]})


def squeue_json(**changes: object) -> str:
    return json.dumps({"jobs": [{"job_id": 1, "job_state": ["PENDING"], "cpus": 1} | changes]})


CASES = {
    "a number of 5,000 digits": (read_workflow, "a.json", '{"tasks": [{"id": ' + "9" * 5000 + "}]}", "digits"),
    "100,000 brackets": (read_workflow, "a.json", '{"tasks": ' + "[" * 100_000, "nested too deeply"),
    "cores as a list": (read_workflow, "a.json", manifest(number_of_cores=[1]), "not a number"),
    "cores beyond all machines": (read_workflow, "a.json", manifest(number_of_cores=1e300), "cores"),
    "infinite cores": (read_workflow, "a.json", manifest(number_of_cores="inf"), "not a number"),
    "a run time as a mapping": (read_workflow, "a.json", manifest(runtime_sim={}), "not a number"),
    "deps as a word": (read_workflow, "a.json", manifest(deps="b"), "a list"),
    "a surrogate": (read_workflow, "a.json", '{"tasks": [{"id": "\\ud800"}]}', "half a character"),
    "tasks of an execution as numbers": (
        read_workflow,
        "a.json",
        json.dumps({"workflow": {"tasks": [{"id": "a"}], "execution": {"tasks": [1]}}}),
        "list of mappings",
    ),
    "a specification as a list": (read_workflow, "a.json", '{"workflow": {"specification": []}}', "list of tasks"),
    "parents as a number": (
        read_workflow,
        "a.json",
        json.dumps({"workflow": {"tasks": [{"id": "a", "parents": 3, "runtime": 1}]}}),
        "a list",
    ),
    "WfFormat: a negative time": (
        read_workflow,
        "a.json",
        json.dumps({"workflow": {"tasks": [{"id": "a", "runtime": -5}]}}),
        "task a: runtimeInSeconds is negative: -5",
    ),
    "WfFormat: negative cores": (
        read_workflow,
        "a.json",
        json.dumps({"workflow": {"tasks": [{"id": "a", "runtime": 5, "coreCount": -1}]}}),
        "task a: coreCount is negative: -1",
    ),
    "DAX cut off": (read_workflow, "a.dax", "<adag><job", "a.dax:1: not valid XML"),
    "insertions: memory": (
        load_insertions,
        "i.yaml",
        "- trigger: {kind: alarm, at: [5]}\n  jobs: [{cores: 1, run_time: 5, memory: 4G}]\n",
        "i.yaml:1: .*whole number: '4G'",
    ),
    "insertions: weight": (
        load_insertions,
        "i.yaml",
        "- trigger: {kind: alarm, at: [5]}\n  jobs: [{cores: 1, run_time: 5, weight: x}]\n",
        "i.yaml:1: .*weight is a number: 'x'",
    ),
    "insertions: jobs as a number": (load_insertions, "i.yaml", "- {trigger: alarm, jobs: 5}\n", "i.yaml:1: .*list"),
    "insertions: together": (
        load_insertions,
        "i.yaml",
        "- {trigger: {kind: alarm, at: [5]}, jobs: [{together: [5]}]}\n",
        "mapping of columns",
    ),
    "insertions: aliases": (
        load_insertions,
        "i.yaml",
        "a: &a [1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi")),
        "too many values",
    ),
    "a model with 400 digits": (read_model, "m.json", '{"walltime_model": 1, "groups": ' + "9" * 400 + "}", "m.json"),
    "a model with 5,000 digits": (read_model, "m.json", '{"walltime_model": ' + "9" * 5000 + "}", "digits"),
    "a model that is a list": (read_model, "m.json", "[1]", "not a model file"),
    "an array without a step": (read_snapshot, "q.txt", QUEUE + "1_[0-9:0]|PD|1|1:00|0\n", "q.txt:2: .*step"),
    "an array that ends before it begins": (
        read_snapshot,
        "q.txt",
        QUEUE + "1_[5-2]|PD|1|1:00|0\n",
        "q.txt:2: .*before it begins",
    ),
    "an empty id": (read_snapshot, "q.txt", QUEUE + "|PD|1|1:00|0\n", "q.txt:2: a job without an id"),
    "an array of 10^8 tasks": (read_snapshot, "q.txt", QUEUE + "1_[1-99999999]|PD|1|1:00|0\n", "q.txt:2: .*4,000,000"),
    "an array of 4 million tasks": (
        read_snapshot,
        "q.txt",
        QUEUE + "1_[1-4000000]|PD|1|1:00|0\n",
        "q.txt:2: .*1,000,000",
    ),
    "arrays of a million tasks": (
        read_snapshot,
        "q.txt",
        QUEUE + "1_[1-10]|PD|1|1:00|0\n2_[1-999991]|PD|1|1:00|0\n",
        "q.txt:3: more than 1,000,000 jobs",
    ),
    "CPUS of 10^20": (read_snapshot, "q.txt", QUEUE + f"1|PD|{10**20}|1:00|0\n", "q.txt:2: a number out of range"),
    "CPUS of 5,000 digits": (read_snapshot, "q.txt", QUEUE + f"1|PD|{'9' * 5000}|1:00|0\n", "q.txt:2: a number out"),
    "a time of inf": (read_snapshot, "q.txt", QUEUE + "1|PD|1|1:00|inf\n", "q.txt:2: a time out of range"),
    "a limit of inf": (read_snapshot, "q.txt", QUEUE + "1|PD|1|inf|0\n", "q.txt:2: not a duration"),
    "a limit of 400 digits": (read_snapshot, "q.txt", QUEUE + f"1|PD|1|{'9' * 400}:00|0\n", "q.txt:2: not a duration"),
    "no id": (read_snapshot, "q.txt", "ARRAY-JOBID|STATE\n1|PD\n", "q.txt:1: .*JOBID"),
    "a state of []": (read_snapshot, "q.json", squeue_json(job_state=[]), "job_state"),
    "a state of {}": (read_snapshot, "q.json", squeue_json(job_state={}), "job_state"),
    "cpus as a list": (read_snapshot, "q.json", squeue_json(cpus=[]), "a number was expected"),
    "cpus as a word": (read_snapshot, "q.json", squeue_json(cpus="x"), "cannot be read"),
    "cpus as infinity": (read_snapshot, "q.json", squeue_json(cpus=float("inf")), "out of range"),
    "jobs as a number": (read_snapshot, "q.json", '{"jobs": 5}', "list of jobs"),
    "jobs of numbers": (read_snapshot, "q.json", '{"jobs": [5]}', "not a mapping"),
    "usage that is no text": (read_usage, "s.txt", b"Account|User|RawUsage\na|b|1\n\xff|c|2\n", "s.txt:3: .*UTF-8"),
    "Torque: 400 digits of memory alone": (
        read_torque,
        "20240102",
        TORQUE.format(id="1", ctime=1, mem="9" * 400 + "gb"),
        "20240102:1: a number is out of range",
    ),
    "Torque: an id beyond 64 bits": (
        read_torque,
        "20240102",
        TORQUE.format(id="9" * 30, ctime=1, mem="1gb"),
        "job_id out",
    ),
    "Torque: a time beyond 64 bits": (
        read_torque,
        "20240102",
        TORQUE.format(id="1", ctime="9" * 30, mem="1gb"),
        "submit out",
    ),
    "Torque: infinite": (read_torque, "20240102", TORQUE.format(id="1", ctime="inf", mem="1gb"), "out of range"),
}


@pytest.mark.parametrize(("reader", "name", "content", "words"), CASES.values(), ids=CASES)
def test_told_with_the_file(tmp_path, reader, name, content, words):
    with pytest.raises(InputError, match=words) as caught:
        reader(write(tmp_path, name, content))
    assert caught.value.file == str(tmp_path / name)
    assert len(str(caught.value)) < 700


def test_one_bad_record_of_a_log_is_left_out_and_told(tmp_path):
    good = TORQUE.format(id="1", ctime=1, mem="1gb")
    path = write(tmp_path, "20240102", good + TORQUE.format(id="2", ctime=1, mem="9" * 400 + "gb"))
    log = read_torque(path)
    assert len(log) == 1
    assert "20240102:2: a number is out of range" in log.notes["problems"][0]


@pytest.mark.parametrize("key", ["MaxProcs", "MaxNodes", "UnixStartTime"])
def test_a_header_of_5000_digits_tells_nothing(tmp_path, key):
    log = read(write(tmp_path, "a.swf", f"; {key}: {'9' * 5000}\n{RECORD}"))
    assert log.machine_cores is None
    assert log.origin.epoch is None


TABLE = {"submit": [0.0, 1.0], "run_time": [5.0, 5.0], "cores": [1, 1]}


@pytest.mark.parametrize(
    "columns",
    [
        {"submit": [[1], [2]]},
        {"cores": [[1], [2]]},
        {"user": [["a"], ["b"]]},
        {"name": [["a"], ["b"]]},
        {"run_time": [timedelta(seconds=5)] * 2},
        {"cores": [timedelta(seconds=5)] * 2},
        {"user": [{"a": 1}, {"a": 2}]},
        {"submit": [b"a", b"b"]},
        {"user": [b"\xff", b"b"]},
        {"name": [b"\xff", b"b"]},
        {"cores": [1e300, 1.0]},
        {"submit": [float("inf"), 1.0]},
    ],
    ids=lambda columns: f"{next(iter(columns))} {next(iter(columns.values()))[0]!r}",
)
@pytest.mark.parametrize("mapped", [False, True])
def test_parquet_with_other_types(tmp_path, columns, mapped):
    path = tmp_path / "a.parquet"
    pl.DataFrame(TABLE | columns).write_parquet(path)
    try:
        log = read_mapped(path, {"submit": "submit"}) if mapped else read(path)
    except InputError as error:
        assert error.file == str(path)  # noqa: PT017
    else:  # a length of time, and bytes that are text, can be understood; a map drops the rows that tell no time
        assert len(log) == 2 or (mapped and "submit" in columns and log.notes["skipped"])
        assert log.column("submit").min() >= 0


def test_parquet_damaged_at_every_place(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame(TABLE).write_parquet(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read(path)
        except InputError as error:
            refused += error.file == str(path)
        path.write_bytes(whole[:place])
        with pytest.raises(InputError, match=r"a\.parquet"):
            read(path)
    assert refused > 10


def test_parquet_of_a_few_bytes_that_asks_for_gigabytes(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"submit": pl.repeat(0, 1 << 27, dtype=pl.Int8, eager=True)}).with_columns(
        run_time=pl.col("submit")
    ).write_parquet(path)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="not the size"):
        read(path)
