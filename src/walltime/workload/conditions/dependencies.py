"""Jobs that wait for other jobs: their dependencies, resolved and turned into counters.

SWF's preceding job with its think time is one more condition.
"""

from __future__ import annotations

import csv
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import reading
from walltime.core.workload import MISSING, Workload
from walltime.workload.conditions.plain import PlainConditions, read_plain
from walltime.workload.conditions.text import (
    AFTERANY,
    KINDS,
    SINGLETON,
    TASK,
    Condition,
    Expression,
    array_of,
    own_name,
    parse_dependencies,
)


@dataclass(frozen=True)
class Graph:
    """What every row waits for, as counters.

    A row has an expression (-1: none), which is met when `needed` of its conditions are, and fails when `spare` of
    them have failed. A condition belongs to the expression `owner` and waits for `pending` rows; row r decides the
    conditions `listeners[first[r]:first[r + 1]]`. `single` is the row's own condition singleton (-1: none), `group`
    the number of its user and name where a singleton is among them. `aware` rows are ordered as their workflow.
    """

    expression: np.ndarray
    needed: np.ndarray
    spare: np.ndarray
    any_of: np.ndarray
    owner: np.ndarray
    pending: np.ndarray
    kind: np.ndarray
    offset: np.ndarray
    first: np.ndarray
    listeners: np.ndarray
    group: np.ndarray
    single: np.ndarray
    aware: np.ndarray

    @property
    def jobs(self) -> int:
        """How many jobs wait for others."""
        return int(np.count_nonzero(self.expression >= 0))


def resolve_dependencies(workload: Workload, *, preceding: bool = False, unknown: str = "refuse") -> Graph | None:
    """The graph of a whole workload, None where no job waits for another; raises InputError naming the job.

    `preceding` makes jobs wait for SWF's preceding job and think time; one that is not in the workload is no hindrance.
    `unknown` says what a dependency on a job that is not there is: refused, or `met`.
    """
    texts = workload.column("dependencies") if workload.has("dependencies") else []
    before = workload.column("preceding_job") if preceding and workload.has("preceding_job") else None
    if not any(texts) and (before is None or not np.any(before != MISSING)):
        return None
    if before is None and (plain := read_plain(workload, KINDS)) is not None:
        return _graph_of(workload, plain)
    builder = _Builder(workload, unknown)
    with _no_collection():
        for row, text in enumerate(texts):
            if text and text.strip():
                builder.add(row, text)
        if before is not None:
            think = workload.column("think_time")
            for row in np.flatnonzero(before != MISSING).tolist():
                builder.follow(row, int(before[row]), max(int(think[row]), 0))
        if not builder.waits:
            return None
        if builder.may_circle():
            builder.refuse_circles()
        return builder.graph()


def _graph_of(workload: Workload, plain: PlainConditions) -> Graph:
    """The graph of conditions of the plain form: the same that `_Builder` makes of them."""
    size, count = len(workload), len(plain.owner)
    expression = np.full(size, -1, np.int64)
    expression[plain.row] = plain.expression
    sizes = np.bincount(plain.owner)
    none = np.full(size, -1, np.int64)
    first = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(plain.target, minlength=size), out=first[1:])
    return Graph(
        expression=expression,
        needed=sizes,
        spare=np.ones(len(sizes), np.int64),
        any_of=np.zeros(len(sizes), np.int64),
        owner=plain.owner,
        pending=np.ones(count, np.int64),
        kind=plain.kind,
        offset=np.zeros(count, np.int64),
        first=first,
        listeners=np.argsort(plain.target, kind="stable"),
        group=none,
        single=none,
        aware=np.where(expression >= 0, workload.column("aware"), 0),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without looks for garbage in circles: there is none, and millions of small objects to look at."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def resolve_arrays(workload: Workload) -> tuple[np.ndarray, np.ndarray] | None:
    """Each row's array with a limit (-1: none), and how many of its tasks may be let in at once; None without any."""
    if not workload.has("array"):
        return None
    limits: dict[str, int] = {}
    numbers: dict[str, int] = {}
    named = [array_of(label) for label in workload.label_names("array")]
    for name, limit in named:
        if limit is not None and limits.setdefault(name, limit) != limit:
            raise InputError(
                f"array {name} has two limits, {limits[name]} and", value=limit, file=workload.source or None
            )
    for name in limits:
        numbers[name] = len(numbers)
    if not limits:
        return None
    codes = np.array([*(numbers.get(name, -1) for name, _ in named), -1], np.int64)
    return codes[workload.column("array")], np.array(list(limits.values()), np.int64)


class _Builder:
    """Conditions and expressions while they are collected; equal texts share theirs."""

    def __init__(self, workload: Workload, unknown: str) -> None:
        self.workload, self.unknown = workload, unknown
        self.job_id = workload.column("job_id")
        self.rows = dict(zip(reversed(self.job_id.tolist()), range(len(workload) - 1, -1, -1), strict=True))
        self.tasks: dict[str, int] | None = None
        self.arrays = self._find_arrays()
        self.waits: dict[int, int] = {}  # row: expression
        self.shared: dict[object, int] = {}  # what makes expressions equal: expression
        self.any_of: list[bool] = []
        self.owner: list[int] = []
        self.kind: list[int] = []
        self.offset: list[int] = []
        self.targets: list[tuple[int, ...]] = []
        self.members: list[list[int]] = []  # conditions, by expression
        self.single: dict[int, int] = {}  # row: its condition singleton

    def _find_arrays(self) -> dict[str, tuple[int, ...]]:
        if not self.workload.has("array"):
            return {}
        codes = self.workload.column("array")
        names = [array_of(label)[0] for label in self.workload.label_names("array")]
        order = np.argsort(codes, kind="stable")
        arrays: dict[str, tuple[int, ...]] = {}
        for code, rows in groupby(order[codes[order] >= 0].tolist(), lambda row: int(codes[row])):
            arrays[names[code]] = arrays.get(names[code], ()) + tuple(rows)
        return arrays

    def wrong(self, row: int, error: InputError) -> InputError:
        """The error with the job it is about."""
        what = f"job {int(self.job_id[row])}: {error.what}"
        return InputError(what, value=error.value, file=self.workload.source or None, choices=error.choices)

    def add(self, row: int, text: str) -> None:
        try:
            expression = parse_dependencies(text.strip())
            self.waits[row] = self._share(row, text.strip(), expression)
        except InputError as error:
            raise self.wrong(row, error) from None
        if self.waits[row] < 0:
            del self.waits[row]

    def _share(self, row: int, text: str, expression: Expression) -> int:
        key: object = text
        if any(condition.kind == SINGLETON for condition in expression.conditions):
            key = (text, row)
        elif any(condition.same_task for condition in expression.conditions):
            key = (text, self._task(row))
        if key not in self.shared:
            self.shared[key] = self._add_expression(row, expression)
        return self.shared[key]

    def _add_expression(self, row: int, expression: Expression) -> int:
        """Its number; -1 where every job it names is unknown and that is no hindrance."""
        found: list[tuple[Condition, tuple[int, ...]]] = []
        for condition in dict.fromkeys(expression.conditions):
            rows = () if condition.kind == SINGLETON else self._find(condition, row)
            if rows or condition.kind == SINGLETON:
                found.append((condition, rows))
            elif expression.any_of:
                return -1  # one of them is met already
        return self._number(row, found, expression.any_of) if found else -1

    def _number(self, row: int, found: list[tuple[Condition, tuple[int, ...]]], any_of: bool) -> int:
        number = len(self.members)
        self.members.append([])
        self.any_of.append(any_of)
        for condition, rows in found:
            if condition.kind == SINGLETON:
                if not self._name(row):
                    raise InputError("a singleton needs a name, by which its fellows are known", value="singleton")
                self.single[row] = len(self.owner)
            self._add_condition(number, condition.kind, condition.offset, rows)
        return number

    def _add_condition(self, number: int, kind: int, offset: int, rows: tuple[int, ...]) -> None:
        self.members[number].append(len(self.owner))
        self.owner.append(number)
        self.kind.append(kind)
        self.offset.append(offset)
        self.targets.append(rows)

    def _find(self, condition: Condition, row: int) -> tuple[int, ...]:
        """The rows of a target: an array's tasks, else the job of that number or the task of that name."""
        name = condition.target
        if condition.same_task and "_" not in name:
            name = f"{name}_{self._task(row)}"
        if name in self.arrays:
            return self.arrays[name]
        found = self._named(name) if "_" in name else self.rows.get(int(name))
        if found is not None:
            return (found,)
        if self.unknown == "met":
            return ()
        raise InputError(
            "waits for a job that is not in the workload (`dependencies: {unknown: met}` lets it pass)", value=name
        )

    def _name(self, row: int) -> str:
        return str(self.workload.column("name")[row]) if self.workload.has("name") else ""

    def _named(self, name: str) -> int | None:
        if self.tasks is None:
            names = self.workload.column("name") if self.workload.has("name") else []
            self.tasks = {label: row for row, label in enumerate(names) if "_" in label}
        return self.tasks.get(name)

    def _task(self, row: int) -> str:
        match = TASK.fullmatch(self._name(row))
        if not match:
            raise InputError("aftercorr is for tasks of arrays, whose names are such as 12_3", value=self._name(row))
        return match[2]

    def follow(self, row: int, preceding: int, think: int) -> None:
        """One more condition: so long after the end of the preceding job."""
        target = self.rows.get(preceding)
        if target is None:
            return
        if row not in self.waits:
            key = (preceding, think)
            if key not in self.shared:
                self.shared[key] = self._number(row, [(Condition(AFTERANY, offset=think), (target,))], False)
            self.waits[row] = self.shared[key]
            return
        if self.any_of[self.waits[row]]:
            raise self.wrong(row, InputError("has a preceding job beside dependencies joined by ?", value=preceding))
        own = self._copy(row)
        self._add_condition(own, AFTERANY, think, (target,))
        self.waits[row] = own

    def _copy(self, row: int) -> int:
        """The row's expression once more, for itself alone."""
        old, new = self.waits[row], len(self.members)
        self.members.append([])
        self.any_of.append(False)
        for condition in list(self.members[old]):
            if self.single.get(row) == condition:
                self.single[row] = len(self.owner)
            self._add_condition(new, self.kind[condition], self.offset[condition], self.targets[condition])
        return new

    # ---- circles

    def fellows(self) -> tuple[np.ndarray, list[list[int]]]:
        """For each row the number of its group of one user and name (-1: no singleton in it), and the groups' rows."""
        group = np.full(len(self.workload), -1, np.int64)
        if not self.single:
            return group, []
        users = self.workload.column("user").tolist()
        names = [own_name(name) for name in self.workload.column("name")]
        numbers: dict[tuple[int, str], int] = {}
        for row in self.single:
            numbers.setdefault((users[row], names[row]), len(numbers))
        rows: list[list[int]] = [[] for _ in numbers]
        for row, key in enumerate(zip(users, names, strict=True)):
            if key in numbers:
                group[row] = numbers[key]
                rows[numbers[key]].append(row)
        return group, rows

    def may_circle(self) -> bool:
        """Whether a job waits for one that stands behind it; a singleton never does."""
        latest = [max((row for one in members for row in self.targets[one]), default=-1) for members in self.members]
        return any(latest[number] >= row for row, number in self.waits.items())

    def refuse_circles(self) -> None:
        """Raise InputError where jobs wait for one another in a circle: what can be done is done, in any order."""
        followers: dict[int, list[int]] = {}
        waiting = [0] * len(self.owner)
        for condition, rows in enumerate(self.targets):
            for row in rows:
                if row in self.waits:
                    followers.setdefault(row, []).append(condition)
                    waiting[condition] += 1
        left = [0] * len(self.members)
        by_expression: dict[int, list[int]] = {}
        for row, number in self.waits.items():
            by_expression.setdefault(number, []).append(row)
        groups = _Fellows(*self.fellows(), self.waits, self.single)
        for condition, number in enumerate(self.owner):
            left[number] += waiting[condition] > 0 or self.kind[condition] == SINGLETON
        cleared = groups.begin()
        ready = [number for number, count in enumerate(left) if not count]
        done: set[int] = set()
        while ready or cleared:
            while cleared:
                number = self.owner[cleared.pop()]
                left[number] -= 1
                if not left[number]:
                    ready.append(number)
            for row in by_expression.get(ready.pop(), ()) if ready else ():
                done.add(row)
                cleared += groups.end(row)
                for condition in followers.get(row, ()):
                    waiting[condition] -= 1
                    if not waiting[condition]:
                        cleared.append(condition)
        stuck = [row for row in self.waits if row not in done]
        if stuck:
            raise self._circle(stuck, groups)

    def _circle(self, stuck: list[int], groups: _Fellows) -> InputError:
        """The error that shows one circle: each job before the one that it waits for."""
        among = set(stuck)
        path = [stuck[0]]
        while True:
            targets = [row for one in self.members[self.waits[path[-1]]] for row in self.targets[one] if row in among]
            targets += [row for row in groups.before(path[-1]) if row in among]
            following = targets[0]
            if following in path:
                circle = [int(self.job_id[row]) for row in [*path[path.index(following) :], following]]
                break
            path.append(following)
        where: dict[str, Any] = {
            "file": self.workload.source or None,
            "line": _line_of(self.workload.source, circle[0]),
        }
        if len(circle) == 2:
            return InputError("a job waits for itself", value=circle[0], **where)
        return InputError("jobs wait for each other in a circle", value=" -> ".join(map(str, circle)), **where)

    # ---- the result

    def _told(self) -> np.ndarray:
        """Which rows say what they wait for."""
        texts = self.workload.column("dependencies") if self.workload.has("dependencies") else [""] * len(self.workload)
        return np.array([bool(text.strip()) for text in texts], np.bool_)

    def graph(self) -> Graph:
        size = len(self.workload)
        expression = np.full(size, -1, np.int64)
        expression[list(self.waits)] = list(self.waits.values())
        single = np.full(size, -1, np.int64)
        single[list(self.single)] = list(self.single.values())
        counts = np.array([len(rows) for rows in self.targets], np.int64)
        target = np.array([row for rows in self.targets for row in rows], np.int64)
        condition = np.repeat(np.arange(len(counts)), counts)
        first = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(target, minlength=size), out=first[1:])
        sizes = np.array([len(members) for members in self.members], np.int64)
        any_of = np.array(self.any_of, np.int64)
        kind = np.array(self.kind, np.int64)
        return Graph(
            expression=expression,
            needed=np.where(any_of, 1, sizes),
            spare=np.where(any_of, sizes, 1),
            any_of=any_of,
            owner=np.array(self.owner, np.int64),
            pending=np.where(kind == SINGLETON, 1, counts),
            kind=kind,
            offset=np.array(self.offset, np.int64),
            first=first,
            listeners=condition[np.argsort(target, kind="stable")],
            group=self.fellows()[0],
            single=single,
            aware=np.where((expression >= 0) & self._told(), self.workload.column("aware"), 0),
        )


class _Fellows:
    """Groups of one user and name, while circles are looked for: a singleton waits for all rows before its own."""

    def __init__(self, group: np.ndarray, rows: list[list[int]], waits: dict[int, int], single: dict[int, int]) -> None:
        self.group, self.rows, self.waits, self.single = group, rows, waits, single
        self.place = [0] * len(rows)
        self.done: set[int] = set()

    def begin(self) -> list[int]:
        """The conditions that no job stands before."""
        return [condition for number in range(len(self.rows)) for condition in self._advance(number)]

    def end(self, row: int) -> list[int]:
        """The conditions that are clear once the row is done."""
        self.done.add(row)
        number = int(self.group[row])
        return self._advance(number) if number >= 0 and self.rows[number][self.place[number]] == row else []

    def before(self, row: int) -> list[int]:
        """The jobs that a singleton waits for."""
        number = int(self.group[row])
        return [] if number < 0 or row not in self.single else [one for one in self.rows[number] if one < row]

    def _advance(self, number: int) -> list[int]:
        cleared = []
        rows = self.rows[number]
        while self.place[number] < len(rows):
            row = rows[self.place[number]]
            if row in self.single and row not in self.done:
                cleared.append(self.single[row])
            if row in self.waits and row not in self.done:
                break
            self.place[number] += 1
        return cleared


def _line_of(source: str, job: int) -> int | None:
    """The line of a job in the file that it comes from, where that is a table as text with its own names."""
    path = Path(source)
    if not source or path.suffix not in (".csv", ".swf") or not path.is_file():
        return None
    with suppress(InputError), reading(path) as file:
        lines = (raw.decode("utf-8", "replace") for raw in file)
        column = 0
        rows = csv.reader(lines) if path.suffix == ".csv" else (line.split() for line in lines)
        for number, row in enumerate(rows, 1):
            if number == 1 and path.suffix == ".csv":
                if "job_id" not in row:
                    return None
                column = row.index("job_id")
            elif len(row) > column and row[column].strip() == str(job):
                return number
    return None
