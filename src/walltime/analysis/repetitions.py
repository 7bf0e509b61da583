"""Which results are repetitions of one another: their scenarios are the same in everything but the seed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from walltime.core.digest import digest_workload
from walltime.core.errors import InputError
from walltime.core.folder import WORKLOAD, read_summary

if TYPE_CHECKING:
    from walltime.scenario import Scenario


class Summarised(Protocol):
    """What is asked of a result here; its `scenario` and `provenance` too, where it has them."""

    @property
    def label(self) -> str: ...
    @property
    def summary(self) -> Mapping[str, Any]: ...


Found = TypeVar("Found", bound=Summarised)


@dataclass(frozen=True)
class Repetition:
    """A result folder without its tables: enough to compare many of them."""

    label: str
    summary: Mapping[str, Any]
    scenario: Scenario
    provenance: Mapping[str, Any]


def load_repetitions(paths: Sequence[str | Path]) -> list[Repetition]:
    """The summaries of result folders; scenarios that differ in their seed alone are read once. Raises InputError."""
    from walltime.scenario import load

    read: dict[tuple[str, str], Scenario] = {}
    found = []
    for path in paths:
        summary, provenance, text = read_summary(path)
        lines = text.splitlines()
        seeds = [line for line in lines if line.startswith("seed: ")]
        own = WORKLOAD in text  # its jobs are in its own folder
        beside = os.path.abspath(path if own else os.path.dirname(path))
        key = (beside, "\n".join(line for line in lines if line not in seeds))
        if key not in read or len(seeds) != 1 or not seeds[0][6:].isdecimal():
            read[key] = load(Path(path) / "scenario.yaml")
            scenario = read[key]
        else:
            scenario = read[key].model_copy(update={"seed": int(seeds[0][6:])})
        label = str(provenance.get("label") or Path(path).resolve().name)
        found.append(Repetition(label, summary, scenario, provenance))
    return found


def find_repetitions(results: Sequence[Found], repeated: bool = False) -> list[list[Found]]:
    """The results in groups of repetitions, in order of their first members.

    Repetitions have the same scenario apart from its seed, whatever the workload is made of: a trace, a generator with
    its parameters, or a table, which is compared job by job. With `repeated` the traces and tables may differ, and
    nothing else.
    """
    groups: list[tuple[Any, list[Found]]] = []
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


def name_groups(groups: Sequence[Sequence[Summarised]]) -> list[str]:
    """A name for each group: the policy's for repetitions, the result's own for one that stands alone."""
    names = [find_policy(members[0]) if len(members) > 1 else members[0].label for members in groups]
    if len(set(names)) < len(names):  # the same policy on other machines
        names = [members[0].label for members in groups]
    taken: dict[str, int] = {}
    for number, name in enumerate(names):
        taken[name] = taken.get(name, 0) + 1
        names[number] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return names


def find_policy(result: Summarised) -> str:
    """What the result was called when it was made; the command line calls results by their folders."""
    return str((getattr(result, "provenance", None) or {}).get("label") or result.label)


def _find_setting(result: Summarised) -> Any:
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


def _contradicts(one: Summarised, other: Summarised) -> bool:
    """Whether the same scenario with the same seed has other results under another name: a file in it was changed."""
    seeds = [getattr(getattr(result, "scenario", None), "seed", None) for result in (one, other)]
    if seeds[0] != seeds[1] or find_policy(one) == find_policy(other):
        return False
    return one.summary.get("digest") != other.summary.get("digest")


class _Contents:
    """What the jobs of results come from: a path, or the digest of jobs that came from memory; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int, str | None] = {}

    def of(self, result: Summarised) -> str | None:
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
