"""What a sweep costs beside its simulations, and how soon a store of many runs answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import Timing, time_command
from benchmarks.setting import Setting

CASE = "experiments"
RUNS = 400  # of a sweep
FIGURES = 41  # of a run
SCENARIO = {"workload": {"generate": {"jobs": 20, "cores": 8}}, "cluster": {"cores": 8}}


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds of the runner for tiny runs, and of commands on a store: its runs are a tenth of the jobs."""
    yield seconds(CASE, "runner and store, for 1,000 tiny runs", Timing((1000 * _overhead(setting),)), at_most(10.0))
    runs = setting.jobs // 10
    place = _fill(setting, runs)
    for what, arguments in (("ls", ["ls"]), ("a cell", ["show", "many", "--cell", "policy=easy,cores=16,load=0.7"])):
        command = [sys.executable, "-m", "walltime", "store", *arguments, "--store", place]
        usage = time_command(command, setting.repeats)
        yield seconds(CASE, f"store of {runs:,} runs: {what}", usage.cpu, at_most(1.0))


def _overhead(setting: Setting) -> float:
    """CPU seconds of this process for a run, from the check of the file to the last result; workers apart."""
    from walltime.experiments.sweep import sweep

    runs = min(RUNS, setting.jobs // 100)
    began = time.process_time()
    told = sweep({"name": "tiny", "scenario": SCENARIO, "repetitions": runs}, setting.folder / "tiny", workers=2)
    assert told.counts["done"] == runs
    return (time.process_time() - began) / runs


def _fill(setting: Setting, runs: int) -> str:
    """A store with so many runs that are done; nothing is simulated."""
    from walltime.experiments.definition import parse_experiment
    from walltime.experiments.leases import Leases
    from walltime.experiments.planning import ExperimentPlan
    from walltime.experiments.store import Store
    from walltime.experiments.tasks import TaskOutcome

    grid = {
        "policy": ["fcfs", "easy", "sjf", "conservative", "ljf"],
        "load": {"key": "workload.generate.load", "range": {"start": 0.5, "stop": 0.89, "step": 0.01}},
        "cores": {"key": "cluster.cores", "values": [8, 16, 32, 64, 128]},
    }
    experiment = parse_experiment(
        {"name": "many", "scenario": SCENARIO, "grid": grid, "repetitions": max(1, runs // 1000)}
    )
    numbers = {f"figure.number.{place}": 1.5 for place in range(FIGURES)}
    with Store(setting.folder / "many", create=True) as store:
        number = store.register(experiment, ExperimentPlan(experiment).specifications())
        leases = Leases(store)
        while tasks := leases.take(number, 500):
            leases.finish([TaskOutcome(task, figures=numbers, result="0" * 64, host="here") for task in tasks])
        leases.close()
    return str(setting.folder / "many")
