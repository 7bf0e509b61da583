"""A run that will take minutes says so in its first seconds, and why; others say nothing."""

from __future__ import annotations

import json
import random
import re
import signal
from pathlib import Path

import pytest
from command_line import start, swf

from walltime.cli.experiments.progress import LongSweep
from walltime.cli.run.forewarning import Forewarning, Repetitions, explain_again
from walltime.cli.run.reasons import find_causes, give_reasons
from walltime.experiments.runner import Progress
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
    assert "at its speed so far this takes about" in lines[0]
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
    lines = give_reasons(prepared(backfill="conservative", rhythm="periodic"), 300.0, 4321)
    assert lines[0].startswith("4,321 jobs wait, and each cycle of the rhythm plans them")
    assert "bf_max_job_test" in lines[1]


def test_the_engine_slurm_is_told_with_the_other_engine() -> None:
    native = prepared()
    slurm = Prepared(native.scenario.model_copy(update={"engine": "slurm"}), native.workload)
    lines = give_reasons(slurm, 300.0, 12)
    assert "12 jobs have not ended" in lines[0]
    assert "engine: native" in lines[1]


OPTIMISED = {"name": "plan", "optimise": {"name": "tabu", "objectives": {"wait": 1}, "rounds": 70_000}}


@pytest.mark.parametrize(
    ("scheduler", "reason", "choice"),
    [
        ({"backfill": OPTIMISED}, "tabu tries 70,000 changes of their plan", "The plan without `optimise`"),
        (
            {"order": "wfp3"},
            "wfp3 puts all of them in order again at every pass",
            "First come, first served (order: fcfs)",
        ),
        (
            {"order": {"name": "formula", "value": "wait / cores"}},
            "formula puts all of them",
            "First come, first served (order: fcfs)",
        ),
        ({"backfill": "conservative", "order": "wfp3"}, "conservative plans each of them", "EASY (backfill: easy)"),
    ],
)
def test_the_reason_is_told_with_a_choice_that_was_tried(
    scheduler: dict[str, object], reason: str, choice: str
) -> None:
    told = prepared(**scheduler)
    first, second = give_reasons(told, 300.0, 77)
    assert "77 jobs wait" in first
    assert reason in first
    assert second == f"{choice} would take about 1.0 s."
    assert give_reasons(told, None, 77) == [first, find_causes(told, 77)[0].advice], "nothing is tried without a time"


def test_a_cause_without_which_it_is_as_slow_is_not_the_one_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a plan in a slow order: where EASY takes as long, it is the order."""
    taken = {"easy": 290.0, "conservative": 2.0}
    monkeypatch.setattr(
        "walltime.cli.run.reasons.time_instead",
        lambda prepared, scenario: taken[scenario.clusters[0].scheduler.backfill.name],
    )
    first, second = give_reasons(prepared(backfill="conservative", order="wfp3"), 300.0, 77)
    assert "wfp3 puts all of them in order again" in first
    assert second == "First come, first served (order: fcfs) would take about 2.0 s."


def test_an_order_that_stays_as_it_is_is_no_cause() -> None:
    for order in ("sjf", {"name": "formula", "value": "cores"}):
        assert give_reasons(prepared(order=order), 300.0, 77)[0] == "5 jobs are simulated, of which 77 wait."


@pytest.mark.parametrize(
    ("model", "reason", "choice"),
    [
        ("time-shared", "slices of time", "Processor sharing (execution.model: processor-sharing) would take about"),
        ("gang", "slices of time", "Processor sharing (execution.model: processor-sharing) would take about"),
        ("programs", "5 jobs run as programs", "Fewer and larger operations"),
    ],
)
def test_how_jobs_run_is_a_cause(model: str, reason: str, choice: str) -> None:
    jobs = {"generate": {"jobs": 5, "cores": 8}}
    data = {"workload": jobs, "cluster": {"nodes": "8x1"}, "execution": {"model": model}}
    first, second = give_reasons(prepare(parse(data)), 300.0, 7)
    assert reason in first
    assert second.startswith(choice)


@pytest.mark.parametrize("words", [["--policy", "own:slowly"], ["--set", "cluster.scheduler.order=own:Mine"]])
def test_a_part_in_python_is_told_as_the_reason(folder: Path, words: list[str]) -> None:
    (folder / "own.py").write_text(
        "import time\n\nfrom walltime.policy.api import Order\n\n\n"
        "def slowly(p):\n    time.sleep(0.03)\n    p.start_heads()\n\n\n"
        "class Mine(Order):\n    def __init__(self):\n        super().__init__()\n        self.dynamic = True\n\n"
        "    def keys(self, jobs, slots, now, keys):\n        time.sleep(0.03)\n        keys[:] = 0\n\n"
        "    def key(self, jobs, slot):\n        return 0\n"
    )
    process = start(folder, "run", "log.swf", "--cores", "64", "--plugins", ".", *words)
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    assert process.poll() is None, "it was told at the end, or never"
    process.send_signal(signal.SIGINT)
    process.communicate()
    name = words[1].rpartition("=")[2]
    assert re.search(rf"jobs wait, and {name} (is asked in Python|puts all of them in order)", lines[1]), lines
    assert " would take about " in lines[2]


PLAN = """
workload: {trace: log.swf}
cluster:
  cores: 64
  scheduler: {backfill: {name: plan, optimise: {name: tabu, objectives: {wait: 1}, rounds: 900000000}}}
"""


def test_a_single_pass_that_takes_long_is_told_while_it_lasts_and_can_be_interrupted(folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN)
    process = start(folder, "run", "plan.yaml")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert "a single pass has taken more than 5.0 s so far" in lines[0]
    assert "tabu tries 900,000,000 changes of their plan" in lines[1]
    assert "Fewer `rounds`" in lines[2]


def test_a_slow_explanation_is_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Forewarning("explain", prepared(), explain=explain_again)
    monkeypatch.setattr(warning, "began", warning.began - 10)
    monkeypatch.setattr(warning.remaining, "estimate", lambda *told: 600.0)
    warning.progress(1, 3, 1)
    warning.progress(2, 4, 2)
    told = capsys.readouterr().err
    assert told.count("explain: at its speed so far this takes about 10:00 min more") == 1
    assert "The whole run is simulated again, and 2 jobs wait" in told


def test_a_queue_that_grows_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Forewarning("run", prepared(), explain=explain_again)
    monkeypatch.setattr(warning.remaining, "estimate", lambda *told: 600.0)
    for waiting in (1, 2, 3, 4):
        warning.progress(0, waiting, 0)
    warning.began -= 10
    warning.progress(0, 9, 0)
    assert "about 10:00 min more, and longer if the queue goes on growing." in capsys.readouterr().err


def test_many_simulations_are_told_by_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    several, few = (Repetitions(name, "Fewer --runs take less.") for name in ("several", "few"))
    for warning, total in ((several, 101), (few, 11)):
        warning.count(0, total)
        warning.began -= 4
        warning.progress(0, 1, 0)
        warning.count(1, total)
    told = capsys.readouterr().err
    assert "several: of 101 simulations the first takes so long that all take at least 6:40 min more." in told
    assert told.count("Fewer --runs take less.") == 1, "40 s are no minutes"


@pytest.mark.parametrize(
    ("finished", "taken", "left"),
    [([0], 8.0, 8 * 49), ([1, 5], 0.5, 95 / 4 * 10), ([1, 1], 2.0, None)],
)
def test_a_sweep_is_judged_by_its_runs_not_by_the_start_of_its_workers(
    finished: list[int], taken: float, left: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = LongSweep("grid")
    for number, done in enumerate(finished):
        counts = {"waiting": 98 - done, "running": 2, "done": done, "failed": 0}
        told = Progress(counts, 100, done, elapsed=20.0 + 10 * number, workers=[(0, "a", taken), (1, "b", 0.1)])
        sweep.judge(told)
    assert sweep.estimate(told) == left
    assert ("simulations are yet to end; at this speed on 2 processes" in capsys.readouterr().err) == (left is not None)


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
