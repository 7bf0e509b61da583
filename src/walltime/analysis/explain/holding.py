"""Why a job could not even begin to wait: the jobs that it had to wait for, its begin time, the limit of its array.

Worked out from the workload and the schedule, so that each answer can be looked up in the table of jobs. Seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from walltime.analysis.explain.explanation import WaitCause, tell_moment
from walltime.core.time import SECOND, format_duration
from walltime.core.workload import MISSING, Workload
from walltime.workload.conditions import text as conditions
from walltime.workload.conditions.dependencies import resolve_arrays, resolve_dependencies

WORDS = {
    conditions.AFTER: ("after", "to start"),
    conditions.AFTERANY: ("afterany", "to end"),
    conditions.AFTEROK: ("afterok", "to complete"),
    conditions.AFTERNOTOK: ("afternotok", "to fail"),
    conditions.SINGLETON: ("singleton", "to end"),
}
NAMED = 3
"""Jobs that a text names."""
MANY = 8
"""Conditions that are told one after the other as they are met; of more, only the last one."""


@dataclass(frozen=True)
class Other:
    """A job that is waited for, and when it did what is waited for."""

    name: str
    job_id: int
    time: float


@dataclass(frozen=True)
class Awaited:
    """One condition: those it waits for; then `delay` more seconds."""

    kind: str
    verb: str
    jobs: tuple[Other, ...]
    delay: float

    @property
    def done(self) -> float:
        """When the last of them did it; never is infinite."""
        return max((job.time for job in self.jobs), default=-math.inf)

    @property
    def met(self) -> float:
        return self.done + self.delay


class JobTimes:
    """When each row of a workload started and ended, and as what; and what rows are called."""

    def __init__(self, workload: Workload, jobs: Any) -> None:
        numbers = jobs["job_id"].to_list()
        named: dict[Any, int] = {key: index for index, key in enumerate(zip(numbers, _names(jobs), strict=True))}
        numbered: dict[int, int] = dict(zip(reversed(numbers), range(len(numbers) - 1, -1, -1), strict=True))
        names = workload.column("name") if workload.has("name") else [None] * len(workload)
        keys = zip(workload.column("job_id").tolist(), names, strict=True)
        self.index: list[int] = [named.get(key, numbered.get(key[0], -1)) for key in keys]
        self.columns = {name: jobs[name].to_list() for name in ("job_id", "submit", "start", "end", "state")}
        self.names = _names(jobs)

    def name(self, row: int) -> str:
        """What the job of the row is called; empty where the result does not have it."""
        at = self.index[row]
        return str(self.names[at] or self.columns["job_id"][at]) if at >= 0 else ""

    def of(self, name: str, row: int) -> Any:
        return self.columns[name][self.index[row]] if self.index[row] >= 0 else None

    def ended(self, row: int) -> float:
        """When the row left; one that was turned away did so at once."""
        if self.of("state", row) == "rejected":
            return float(self.of("submit", row))
        end = self.of("end", row)
        return math.inf if end is None else float(end)


def _names(jobs: Any) -> list[str | None]:
    return list(jobs["name"].to_list()) if "name" in jobs.columns else [None] * jobs.height


def tell_holds(workload: Workload, jobs: Any, row: int, span: tuple[float, float], rules: Any) -> tuple[WaitCause, ...]:
    """What held the job of this row back over `span`, without a gap: from its submission until it began to wait, or
    left. `jobs` is the table of the schedule, `rules` the scenario's rules for dependencies."""
    start, end = span
    if end <= start:
        return ()
    schedule = JobTimes(workload, jobs)
    causes = list(_tell_awaited(_awaited(workload, schedule, row, rules), start, end))
    at = causes[-1].end if causes else start
    begin = _begin(workload, row)
    if at < min(begin, end):
        until = min(begin, end)
        causes.append(
            WaitCause("begin", at, until, f"it was not to begin before {_tell(workload, begin)}", {"begin": begin})
        )
        at = until
    if at < end:
        causes.append(_tell_array(workload, schedule, row, at, end))
    return tuple(causes)


def _tell(workload: Workload, seconds: float) -> str:
    origin = workload.origin
    return tell_moment(seconds, {"epoch": origin.epoch, "timezone": origin.timezone})


def _begin(workload: Workload, row: int) -> float:
    begin = int(workload.column("begin")[row]) if workload.has("begin") else MISSING
    return begin / SECOND if begin >= 0 else -math.inf


# ------------------------------------------------------------------------------------------------------- other jobs


@dataclass(frozen=True)
class Awaiting:
    """All of the conditions, or one of them that is enough."""

    conditions: tuple[Awaited, ...] = ()
    any_of: bool = False

    @property
    def ready(self) -> float:
        times = [one.met for one in self.conditions]
        return -math.inf if not times else min(times) if self.any_of else max(times)


def _awaited(workload: Workload, schedule: JobTimes, row: int, rules: Any) -> Awaiting:
    graph = resolve_dependencies(workload, preceding=rules.preceding, unknown=rules.unknown)
    if graph is None or graph.expression[row] < 0:
        return Awaiting()
    number = int(graph.expression[row])
    of_condition = np.repeat(np.arange(len(workload)), np.diff(graph.first))
    found = []
    for one in np.flatnonzero(graph.owner == number).tolist():
        targets = of_condition[graph.listeners == one].tolist()
        if int(graph.kind[one]) == conditions.SINGLETON:
            fellows = np.flatnonzero(graph.group[:row] == graph.group[row])
            targets = fellows.tolist()
        found.append(_await(workload, schedule, row, int(graph.kind[one]), targets, int(graph.offset[one]), rules))
    return Awaiting(tuple(found), bool(graph.any_of[number]))


def _await(
    workload: Workload, schedule: JobTimes, row: int, kind: int, targets: list[int], offset: int, rules: Any
) -> Awaited:
    name, verb = WORDS[kind]
    if kind == conditions.AFTERANY and rules.preceding and workload.has("preceding_job"):
        before = int(workload.column("preceding_job")[row])
        if [int(workload.column("job_id")[target]) for target in targets] == [before]:
            name = "preceding job"
    times = [_did(schedule, target, kind) for target in targets]
    if kind == conditions.AFTERNOTOK and all(schedule.of("state", target) == "completed" for target in targets):
        times = [math.inf for _ in targets]
    numbers = [int(workload.column("job_id")[target]) for target in targets]  # also of those that never came
    jobs = tuple(
        Other(schedule.name(target) or str(number), number, time)
        for target, number, time in zip(targets, numbers, times, strict=True)
    )
    return Awaited(name, verb, jobs, offset / SECOND)


def _did(schedule: JobTimes, target: int, kind: int) -> float:
    """When the row did what a condition of this kind waits for."""
    if kind == conditions.AFTER:
        start = schedule.of("start", target)
        return schedule.ended(target) if start is None else float(start)
    if kind == conditions.AFTEROK and schedule.of("state", target) != "completed":
        return math.inf
    return schedule.ended(target)


def _tell_awaited(awaiting: Awaiting, start: float, end: float) -> Iterator[WaitCause]:
    """A cause for each stretch in which the same conditions were not met."""
    ready = min(awaiting.ready, end)
    if ready <= start:
        return
    times = {one.done for one in awaiting.conditions} | {one.met for one in awaiting.conditions}
    if awaiting.any_of or len(times) > 2 * MANY:
        last = max(awaiting.conditions, key=lambda one: one.met)
        times = set() if awaiting.any_of else {last.done}
    edges = [start, *sorted(time for time in times if start < time < ready), ready]
    for first, second in pairwise(edges):
        yield _tell_stretch(awaiting, first, second)


def _tell_stretch(awaiting: Awaiting, first: float, second: float) -> WaitCause:
    open_now = [one for one in awaiting.conditions if one.met > first]
    waiting = [(one, job) for one in open_now for job in one.jobs if job.time > first]
    jobs = [job for _, job in waiting] or [job for one in open_now for job in one.jobs]
    facts = {
        "jobs": [job.name for job in jobs],
        "job_ids": [job.job_id for job in jobs],
        "conditions": list(dict.fromkeys(one.kind for one in open_now)),
        "until": second,
    }
    if not waiting:
        longest = max(open_now, key=lambda one: one.met)
        after = f"{format_duration(longest.delay)} after {_call([job.name for job in longest.jobs])}"
        return WaitCause("dependency", first, second, f"it was to begin {after} ({longest.kind})", facts)
    text = f" {'or' if awaiting.any_of else 'and'} ".join(_group(waiting))
    never = all(math.isinf(job.time) for _, job in waiting)
    return WaitCause("dependency", first, second, f"it waited for {text}{', in vain' if never else ''}", facts)


def _group(waiting: list[tuple[Awaited, Other]]) -> Iterator[str]:
    """Jobs of the same condition in one phrase; of many, those first that kept it longest."""
    kinds: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for one, job in waiting:
        kinds.setdefault((one.kind, one.verb), []).append((-job.time, job.name))
    for (kind, verb), jobs in kinds.items():
        yield f"{_call([job for _, job in sorted(jobs, key=lambda one: one[0])])} {verb} ({kind})"


def _call(jobs: list[str]) -> str:
    if len(jobs) == 1:
        return f"job {jobs[0]}"
    more = f" and {len(jobs) - NAMED:,} more" if len(jobs) > NAMED else ""
    return f"jobs {', '.join(jobs[:NAMED])}{more}"


# ---------------------------------------------------------------------------------------------------------- arrays


def _tell_array(workload: Workload, schedule: JobTimes, row: int, start: float, end: float) -> WaitCause:
    """The rest: so many tasks of its array had been let in; which one made room."""
    limits = resolve_arrays(workload)
    if limits is None or limits[0][row] < 0:
        return WaitCause("held", start, end, "it was held")
    number = int(limits[0][row])
    fellows = [other for other in np.flatnonzero(limits[0] == number).tolist() if other != row]
    gone = [schedule.name(other) for other in fellows if schedule.ended(other) == end]
    label = workload.label_names("array")[int(workload.column("array")[row])]
    most = int(limits[1][number])
    text = f"array {conditions.array_of(label)[0]} may have {most:,} task{'' if most == 1 else 's'} at once"
    text += f"; {_call(gone)} made room" if gone else ""
    return WaitCause("array", start, end, text, {"jobs": gone, "most": most})
