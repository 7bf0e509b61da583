"""Which results are repetitions of one another: their scenarios are the same in everything but the seed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walltime.analysis.charts.quantities import Shown
from walltime.core.digest import digest_workload
from walltime.core.errors import InputError
from walltime.core.folder import WORKLOAD


def find_repetitions(results: Sequence[Shown], repeated: bool = False) -> list[list[Shown]]:
    """The results in groups of repetitions, in order of their first members.

    Repetitions have the same scenario apart from its seed, whatever the workload is made of: a trace, a generator with
    its parameters, or a table, which is compared job by job. With `repeated` the traces and tables may differ, and
    nothing else.
    """
    groups: list[tuple[Any, list[Shown]]] = []
    contents = _Contents()
    for result in results:
        setting = _find_setting(result)
        for known, members in groups:
            same = known == setting and (repeated or contents.of(members[0]) == contents.of(result))
            if same and not any(_contradicts(result, member) for member in members):
                members.append(result)
                break
        else:
            groups.append((setting, [result]))
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


def _find_setting(result: Shown) -> Any:
    """The scenario without its seed, and without the trace or the table that its jobs come from."""
    from walltime.scenario import dump

    scenario = getattr(result, "scenario", None)
    if scenario is None:
        return find_policy(result)
    workload = scenario.workload.model_copy(update={"trace": None, "table": None})
    own = [part.instance for cluster in scenario.clusters for part in vars(cluster.scheduler).values() if _is_own(part)]
    return dump(scenario.model_copy(update={"seed": 0, "workload": workload})), own


def _is_own(part: Any) -> bool:
    """Whether a part of a scheduler is a Python object, which has a name in a file and nothing else."""
    return getattr(part, "instance", None) is not None


def _contradicts(one: Shown, other: Shown) -> bool:
    """Whether the same scenario with the same seed has other results under another name: a file in it was changed."""
    seeds = [getattr(getattr(result, "scenario", None), "seed", None) for result in (one, other)]
    if seeds[0] != seeds[1] or find_policy(one) == find_policy(other):
        return False
    return one.summary.get("digest") != other.summary.get("digest")


class _Contents:
    """What the jobs of results come from: a path, or the digest of jobs that came from memory; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int, str | None] = {}

    def of(self, result: Shown) -> str | None:
        if id(result) not in self._known:
            self._known[id(result)] = self._find(getattr(result, "scenario", None))
        return self._known[id(result)]

    @staticmethod
    def _find(scenario: Any) -> str | None:
        from walltime.workload.formats import read

        if scenario is None:
            return None
        if scenario.workload.table is not None:
            return digest_workload(scenario.workload.table)
        trace = scenario.workload.trace
        if trace is None:
            return None
        if Path(trace).name == WORKLOAD:  # jobs from memory, in the folder of their result
            try:
                return digest_workload(read(trace))
            except InputError:
                pass
        return os.path.abspath(str(trace))
