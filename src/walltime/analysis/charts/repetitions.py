"""Which results are repetitions of one another: the same in everything but the seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walltime.analysis.charts.quantities import Shown
from walltime.core.folder import WORKLOAD


def find_repetitions(results: Sequence[Shown], repeated: bool = False) -> list[list[Shown]]:
    """The results in groups, each of one policy, in order of their first members.

    Repetitions have the same policy, and the same scenario apart from its seed. Jobs from Python's memory have no name
    by which to tell them apart: they may differ. With `repeated`, the jobs of all may differ.
    """
    groups: list[tuple[Any, list[Shown]]] = []
    for result in results:
        setting = _setting(result, repeated)
        mine = next((members for known, members in groups if known == setting), None)
        if mine is None:
            groups.append((setting, [result]))
        else:
            mine.append(result)
    return [members for _, members in groups]


def name_groups(groups: Sequence[Sequence[Shown]]) -> list[str]:
    """A name for each group: the policy's for repetitions, the result's own for one that stands alone."""
    names = [find_policy(members[0]) if len(members) > 1 else members[0].label for members in groups]
    if len(set(names)) < len(names):  # the same policy on other machines
        names = [members[0].label for members in groups]
    taken: dict[str, int] = {}
    for number, name in enumerate(names):
        taken[name] = taken.get(name, 0) + 1
        names[number] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return names


def find_policy(result: Shown) -> str:
    """What the result was called when it was made; the command line calls results by their folders."""
    return str((getattr(result, "provenance", None) or {}).get("label") or result.label)


def _setting(result: Shown, repeated: bool) -> tuple[Any, ...]:
    """What repetitions have in common."""
    scenario = getattr(result, "scenario", None)
    if scenario is None:
        return (find_policy(result), None, None)
    workload = scenario.workload
    trace = getattr(workload, "trace", None)
    nameless = repeated or trace is None or Path(trace).name == WORKLOAD
    jobs = None if nameless else workload
    return (find_policy(result), scenario.model_copy(update={"seed": 0, "workload": None}), jobs)
