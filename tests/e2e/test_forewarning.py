"""A run that will take minutes says so in its first seconds, and why; others say nothing."""

from __future__ import annotations

import json
import random
import re
import signal
from pathlib import Path

import pytest
from command_line import start, swf

from walltime.cli.run.forewarning import Forewarning, describe_explanation, describe_run
from walltime.pipeline import Prepared, prepare
from walltime.scenario import parse

SLOW = """
workload: {trace: log.swf}
cluster: {cores: 64, scheduler: {order: wfp3, backfill: conservative}}
"""
"""Promises in an order that changes all the time: a look at each waiting job at each end."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(1)
    jobs = []
    for number in range(12_000):
        run = draw.randint(100, 20_000)
        jobs.append((number + 1, 0, run, draw.randint(1, 20), run * draw.randint(1, 10)))
    (tmp_path / "log.swf").write_text(swf(jobs, 64))
    (tmp_path / "slow.yaml").write_text(SLOW)
    return tmp_path


def test_a_slow_run_is_told_with_the_reason_and_the_faster_choice(folder: Path) -> None:
    process = start(folder, "run", "slow.yaml")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    assert process.poll() is None, "it was told at the end, or never"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert "this run takes about" in lines[0]
    assert "jobs wait, and conservative plans each of them again and again" in lines[1]
    assert "EASY (backfill: easy) would take about" in lines[2]


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_nothing_is_said_where_nothing_is_to_be_printed(folder: Path, option: str) -> None:
    """By the time at which the same run has spoken, this one has not: it is measured beside it."""
    silent = start(folder, "run", "slow.yaml", option)
    speaking = start(folder, "run", "slow.yaml")
    assert speaking.stderr is not None
    speaking.stderr.readline()
    for process in (speaking, silent):
        process.send_signal(signal.SIGINT)
    speaking.communicate()
    out, err = silent.communicate()
    assert out == ""
    assert "takes about" not in err


def test_a_quick_run_says_nothing(folder: Path) -> None:
    process = start(folder, "run", "slow.yaml", "--until", "50", "--json")
    out, err = process.communicate()
    assert json.loads(out)
    assert err == ""


def prepared(**scheduler: object) -> Prepared:
    jobs = {"generate": {"jobs": 5, "cores": 8}}
    return prepare(parse({"workload": jobs, "cluster": {"cores": 8, "scheduler": scheduler}}))


def test_a_rhythm_is_told_with_what_would_plan_fewer_jobs() -> None:
    lines = describe_run("fair", prepared(backfill="conservative", rhythm="periodic"), 300.0, 4321)
    assert "about 5:00 min more" in lines[0]
    assert lines[1].startswith("4,321 jobs wait, and each cycle of the rhythm plans them")
    assert "bf_max_job_test" in lines[2]


def test_the_engine_slurm_is_told_with_the_other_engine() -> None:
    native = prepared()
    slurm = Prepared(native.scenario.model_copy(update={"engine": "slurm"}), native.workload)
    lines = describe_run("site", slurm, 300.0, 12)
    assert "12 jobs have not ended" in lines[1]
    assert "engine: native" in lines[2]


def test_a_slow_explanation_is_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Forewarning("explain", prepared(), describe=describe_explanation)
    monkeypatch.setattr(warning, "began", warning.began - 10)
    monkeypatch.setattr(warning.remaining, "estimate", lambda *told: 600.0)
    warning.progress(1, 3, 1)
    warning.progress(2, 4, 2)
    told = capsys.readouterr().err
    assert told.count("explain: at its speed so far this takes about 10:00 min more") == 1
    assert "The whole run is simulated again, and 2 jobs wait" in told


OWN = """
import time

from walltime.programs import Profile


class Spin(Profile):
    async def run(self, processes):
        while True:
            time.sleep(0.01)  # as a computation that does not end, but cheap


def spin(p):
    while True:
        time.sleep(0.01)
"""
PROGRAMS = """
workload: log.csv
cluster: {nodes: {count: 1, cores: 1}}
execution: {model: programs, profiles: profiles.yaml}
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "log.csv", "--cores", "1", "--policy", "own:spin"], r"own\.py:1[45]: `spin` is still at work\."),
        (["run", "programs.yaml"], r"own\.py:(9|10): `run` is still at work, job 5, profile endless\."),
    ],
)
def test_a_loop_in_code_of_ones_own_is_told_with_its_line(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "log.csv").write_text(
        "job_id,submit,run_time,requested_time,cores,nodes,profile\n5,0,9,9,1,1,endless\n"
    )
    (tmp_path / "profiles.yaml").write_text('endless: {type: "own:Spin"}\n')
    (tmp_path / "programs.yaml").write_text(PROGRAMS)
    (tmp_path / "own.py").write_text(OWN)
    process = start(tmp_path, *words, "--plugins", ".")
    assert process.stderr is not None
    line = process.stderr.readline()
    assert process.poll() is None, "it was told at the end, or never"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert "nothing has moved for" in line
    assert re.search(told, line), line
