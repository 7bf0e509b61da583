"""Was every job let in when it should have been: begin times, dependencies, arrays, deadlines, cancellations?

Rules, by their names in a Violation:
dependency (a job is eligible at the latest of its submission, its begin time, and the time at which what it waits for
was done, and is neither let in nor left out otherwise), array (never more tasks of an array at once than it allows),
withdrawal (no job starts after its user's patience has ended, or runs on when its user has cancelled it), deadline (the
account of deadlines is right; none is started that could not be kept, where those are cancelled).

Read from the tables and the workload alone; of the engine nothing is used but the way a dependency is spelt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from walltime.analysis.audit.tables import REPORTED, Tables, Violation
from walltime.analysis.intervals import ABSENT
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import MISSING, Workload
from walltime.scenario import Scenario
from walltime.workload.conditions.text import (
    AFTER,
    AFTERANY,
    AFTERNOTOK,
    AFTEROK,
    SINGLETON,
    Condition,
    array_of,
    own_name,
)
from walltime.workload.conditions.text import parse_dependencies as parse

_UNKNOWN = -2
"""A condition of which nothing is known yet, when the simulation ends."""


def find_broken_conditions(tables: Tables, scenario: Scenario, workload: Workload, at: np.ndarray) -> list[Violation]:
    """Every job that was let in, started or left at the wrong time; `at` is each job's row in the workload."""
    found: list[Violation] = []
    audit = _Conditions(tables, scenario, workload, at)
    for rule, rows, message in audit.check():
        for row in rows[:REPORTED]:
            time = int(tables.time["start" if tables.time["start"][row] != ABSENT else "submit"][row])
            found.append(Violation(rule, int(tables.job_id[row]), time / SECOND, message))
    return found


class _Conditions:
    """The jobs of a result, by row, with what the workload says of when they may wait."""

    def __init__(self, tables: Tables, scenario: Scenario, workload: Workload, at: np.ndarray) -> None:
        self.tables, self.scenario, self.workload, self.at = tables, scenario, workload, at
        self.start, self.end, self.eligible = (tables.time[name] for name in ("start", "end", "eligible"))
        self.submit = tables.time["submit"]
        self.left = np.where(tables.is_state("rejected"), self.submit, self.end)  # ABSENT: still there
        self.exact = bool(tables.conditions)  # an engine that lets jobs in at the very instant
        self.met: dict[str, int] = {}

    def column(self, name: str) -> np.ndarray:
        return np.asarray(self.workload.column(name)[self.at])

    def check(self) -> Iterator[tuple[str, list[int], str]]:
        """(rule, rows, message)."""
        yield from self.check_entrance()
        yield from self.check_arrays()
        yield from self.check_withdrawals()
        yield from self.check_deadlines()

    # ---- begin times and dependencies

    def check_entrance(self) -> Iterator[tuple[str, list[int], str]]:
        begin = np.maximum(self.submit, self.column("begin"))
        ready, alone = self._ready_times()
        due = np.where(ready >= 0, np.maximum(begin, ready), ready)
        let_in = self.eligible != ABSENT
        started = self.start != ABSENT
        early = started & ((ready == _UNKNOWN) | (ready == NEVER) | (self.start < ready))
        yield "dependency", _rows(early), "starts before what it waits for"
        if not self.exact:
            return
        aware = (self.column("aware") > 0) & self._told  # ordered as its workflow
        due = np.where(aware & (due >= 0), self.submit, due)
        early = let_in & ((due == _UNKNOWN) | (due == NEVER) | (self.eligible < due))
        yield "dependency", _rows(early), "is let in before its begin time or what it waits for"
        yield "dependency", _rows(let_in & ~alone & (due >= 0) & (self.eligible > due)), "is let in too late"
        kept = ~let_in & ~aware & self.tables.is_state("waiting") & ~alone
        last = np.full(len(due), self.tables.horizon)
        yield "dependency", _rows(kept & (due >= 0) & (due < last)), "was not let in when it was time"
        if self.scenario.dependencies.never == "cancel":
            yield "dependency", _rows(kept & (due == NEVER)), "waits for what can never happen, and was not cancelled"

    def _ready_times(self) -> tuple[np.ndarray, np.ndarray]:
        """When what each job waits for was done (0: nothing, NEVER, or not known); which of them wait to be alone.

        Of a singleton only an earliest time is known: that at which those before it had gone.
        """
        ready = np.zeros(len(self.at), np.int64)
        alone = np.zeros(len(self.at), np.bool_)
        if self.workload.has("dependencies"):
            texts = self.workload.column("dependencies")
            for row, place in enumerate(self.at.tolist()):
                if texts[place].strip():
                    ready[row], alone[row] = self._ready(row, texts[place].strip())
        if self.scenario.dependencies.preceding and self.workload.has("preceding_job"):
            think, before = self.column("think_time"), self.column("preceding_job")
            for row in np.flatnonzero(before != MISSING).tolist():
                target = self.by_number.get(int(before[row]))
                if target is not None or int(before[row]) in self.known:
                    gone = _UNKNOWN if target is None or self.left[target] == ABSENT else int(self.left[target])
                    time = gone if gone < 0 else gone + max(int(think[row]), 0)
                    ready[row] = _all([int(ready[row]), time])
        return ready, alone

    def _ready(self, row: int, text: str) -> tuple[int, bool]:
        expression = parse(text)
        times = []
        for condition in expression.conditions:
            if condition.kind == SINGLETON:
                times.append(self._alone(row))
                continue
            rows = self._targets(condition, row)
            if rows is not None:  # else an unknown job that is no hindrance
                times.append(self._all_done(condition, rows))
            elif expression.any_of:
                return 0, False
        single = any(condition.kind == SINGLETON for condition in expression.conditions)
        return (_any(times) if expression.any_of else _all(times)), single

    def _targets(self, condition: Condition, row: int) -> list[int | None] | None:
        """The rows of a target; None in the list for a job that had not come when the simulation ended."""
        name = condition.target
        if condition.same_task and "_" not in name:
            name = f"{name}_{self.workload.column('name')[int(self.at[row])].rpartition('_')[2]}"
        if name in self.arrays:
            return [self.by_place.get(place) for place in self.arrays[name]]
        if "_" in name:
            return [self.by_place.get(self.by_name[name])] if name in self.by_name else None
        return [self.by_number.get(int(name))] if int(name) in self.known else None

    def _all_done(self, condition: Condition, rows: list[int | None]) -> int:
        """When all rows did what is waited for; of `afternotok` it is enough if one did, when all have left."""
        times = [self._done(condition, target) for target in rows]
        if condition.kind == AFTERNOTOK and any(time != NEVER for time in times):
            times = [self._done(Condition(AFTERANY), target) for target in rows]
        return _all(times)

    def _done(self, condition: Condition, target: int | None) -> int:
        """When a job did what is waited for."""
        if target is None:
            return _UNKNOWN
        if condition.kind == AFTER and self.start[target] != ABSENT:
            return int(self.start[target]) + condition.offset
        if self.left[target] == ABSENT:
            return _UNKNOWN
        completed = bool(self.completed[target])
        if (condition.kind == AFTEROK and not completed) or (condition.kind == AFTERNOTOK and completed):
            return NEVER
        return int(self.left[target]) + condition.offset

    def _alone(self, row: int) -> int:
        """The time after which no job of that user and name was before the job."""
        user, name = self.fellow[row]
        before = [other for other in self.fellows[user, name] if self.at[other] < self.at[row]]
        here = [other for other in before if not self.tables.is_state("rejected")[other]]
        times = [_UNKNOWN if self.left[other] == ABSENT else int(self.left[other]) for other in here]
        return _all([int(self.submit[row]), *times])

    @cached_property
    def completed(self) -> np.ndarray:
        return self.tables.is_state("completed")

    @cached_property
    def _told(self) -> np.ndarray:
        """Which jobs say what they wait for."""
        if not self.workload.has("dependencies"):
            return np.zeros(len(self.at), np.bool_)
        texts = self.workload.column("dependencies")
        return np.array([bool(texts[place].strip()) for place in self.at.tolist()], np.bool_)

    @cached_property
    def known(self) -> set[int]:
        return set(self.workload.column("job_id").tolist())

    @cached_property
    def by_number(self) -> dict[int, int]:
        return {int(number): row for row, number in enumerate(self.tables.job_id)}

    @cached_property
    def by_place(self) -> dict[int, int]:
        """A job's row in the result by its row in the workload."""
        return {int(place): row for row, place in enumerate(self.at)}

    @cached_property
    def by_name(self) -> dict[str, int]:
        names = self.workload.column("name") if self.workload.has("name") else []
        return {name: index for index, name in enumerate(names) if "_" in name}

    @cached_property
    def arrays(self) -> dict[str, list[int]]:
        """The workload's rows of each array."""
        rows: dict[str, list[int]] = defaultdict(list)
        names = [array_of(label)[0] for label in self.workload.label_names("array")]
        codes = self.workload.column("array")
        for index in np.flatnonzero(codes >= 0).tolist():
            rows[names[int(codes[index])]].append(index)
        return rows

    @cached_property
    def fellow(self) -> list[tuple[int, str]]:
        users, names = self.workload.column("user"), self.workload.column("name")
        return [(int(users[place]), own_name(names[place])) for place in self.at.tolist()]

    @cached_property
    def fellows(self) -> dict[tuple[int, str], list[int]]:
        groups: dict[tuple[int, str], list[int]] = defaultdict(list)
        for row, key in enumerate(self.fellow):
            groups[key].append(row)
        return groups

    # ---- arrays

    def check_arrays(self) -> Iterator[tuple[str, list[int], str]]:
        """Never more tasks at once; at one instant ends come before starts."""
        for label in self.workload.label_names("array"):
            name, limit = array_of(label)
            if limit is None:
                continue
            rows = [self.by_place[place] for place in self.arrays[name] if place in self.by_place]
            held = np.flatnonzero(np.isin(self.tables.row, rows) & (self.tables.stop > self.tables.begin))
            begin, stop = self.tables.begin[held], self.tables.stop[held]
            before = np.searchsorted(np.sort(begin), begin, "right") - np.searchsorted(np.sort(stop), begin, "right")
            guilty = self.tables.row[held[before > limit]]
            yield "array", np.unique(guilty).tolist(), f"runs with more than {limit} tasks of array {name}"

    # ---- cancellations and deadlines

    def check_withdrawals(self) -> Iterator[tuple[str, list[int], str]]:
        patience, cancel = self.column("patience"), self.column("cancel")
        slack = 0 if self.exact else self.tables.slack + SECOND
        # With a pass after every event, one may start a job before its user gives up at the same instant.
        first = 1 if any(cluster.scheduler.rhythm.name == "event" for cluster in self.scenario.clusters) else 0
        late = (patience != MISSING) & (self.start != ABSENT) & (self.start >= self.submit + patience + slack + first)
        yield "withdrawal", _rows(late & self.exact), "starts although its user has given up"
        gone = np.maximum(cancel, self.submit)
        beyond = (cancel != MISSING) & (self.end != ABSENT) & (self.end > gone + slack)
        yield "withdrawal", _rows(beyond), "is there after its user has cancelled it"

    def check_deadlines(self) -> Iterator[tuple[str, list[int], str]]:
        deadline = self.column("deadline")
        mine = deadline != MISSING
        if self.scenario.deadlines == "cancel" and self.exact:
            asked = self.tables.time["requested_time"]
            late = mine & (self.start != ABSENT) & (self.start + asked > deadline)
            yield "deadline", _rows(late), "starts although it may miss its deadline"
        told = self.tables.conditions.get("deadlines") if self.exact else None
        if told is not None:
            kept = int(np.count_nonzero(mine & self.completed & (self.end <= deadline)))
            there = mine & self.tables.is_state("running", "waiting") & (self.tables.until is not None)
            there &= deadline >= self.tables.horizon
            missed = int(np.count_nonzero(mine)) - kept - int(np.count_nonzero(there))
            if (told["jobs"], told["kept"], told["missed"]) != (int(np.count_nonzero(mine)), kept, missed):
                yield "deadline", _rows(mine)[:1], f"the account of deadlines is wrong: {kept} kept, {missed} missed"


def _rows(bad: np.ndarray) -> list[int]:
    return [int(row) for row in np.flatnonzero(bad)[:REPORTED]]


def _all(times: list[int]) -> int:
    """When all are done."""
    if NEVER in times:
        return NEVER
    return _UNKNOWN if _UNKNOWN in times else max(times, default=0)


def _any(times: list[int]) -> int:
    """When the first is done."""
    done = [time for time in times if time not in (NEVER, _UNKNOWN)]
    if done:
        return min(done)
    return NEVER if times and _UNKNOWN not in times else _UNKNOWN
