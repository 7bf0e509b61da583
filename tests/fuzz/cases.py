"""All cases by their name: files of every kind, result folders, scenarios, schedulers and policies."""

from __future__ import annotations

import random
import shutil
from functools import cache
from pathlib import Path

from files import Kind, find_kinds
from harness import Case
from mutation import mutate_bytes, mutate_tree
from policies import run_wild
from scenarios import run_scenario_file, run_scheduler

import walltime
from walltime import Workload


def find_cases() -> dict[str, tuple[Case, int]]:
    """The cases, and how often each is drawn."""
    cases: dict[str, tuple[Case, int]] = {name: (_make_case(kind), kind.weight) for name, kind in find_kinds().items()}
    cases["result"] = (run_result, 20)
    cases["scenario"] = (run_scenario_file, 20)
    cases["scheduler"] = (run_scheduler, 30)
    cases["policy"] = (run_wild, 30)
    return cases


def _make_case(kind: Kind) -> Case:
    def case(dice: random.Random, folder: Path) -> None:
        change = mutate_tree if kind.tree and dice.random() < 0.7 else mutate_bytes
        (folder / kind.name).write_bytes(change(kind.raw, dice))
        kind.read(folder / kind.name)

    return case


@cache
def _result() -> dict[str, bytes]:
    """The files of a small result, as CSV, so that a change of a letter is not a damaged archive."""
    import tempfile

    jobs = Workload.from_columns(submit=[0, 1, 2], run_time=[5, 5, 5], requested_time=[9, 9, 9], cores=[2, 3, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = walltime.simulate(jobs, cores=4).save(Path(folder) / "out", format="csv")
        return {file.name: file.read_bytes() for file in path.iterdir()}


def run_result(dice: random.Random, folder: Path) -> None:
    """A result folder of which one file was changed, or is missing."""
    target = folder / "out"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    files = dict(_result())
    name = dice.choice(sorted(files))
    if dice.random() < 0.05:
        del files[name]
    else:
        change = mutate_tree if name.endswith(".json") and dice.random() < 0.7 else mutate_bytes
        files[name] = change(files[name], dice)
    for file, raw in files.items():
        (target / file).write_bytes(raw)
    result = walltime.load(target)
    repr(result)
