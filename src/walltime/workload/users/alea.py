"""The files by which Alea knows what a user's jobs wait for, two for each user of a data set NAME, columns by tabs.

- `NAME_USER_sessions`: number, first arrival, last arrival, last completion, in whole seconds of the trace's clock;
- `NAME_USER_batches`: session, batch, start, end, then `after_arrival:S|B`, `after_completion:S|B` and `job:ID`, as
  many of each as there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walltime.core.errors import InputError
from walltime.core.files import check_name, write_whole
from walltime.core.reading import reading
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.users.plan import After, Sessions, Waits, infer_waits
from walltime.workload.users.sessions import Acts, find_ends

_LARGEST = 64 << 20
_LATEST = 1 << 42
_CONDITIONS = {"after_arrival": After.ARRIVAL, "after_completion": After.COMPLETION}


@dataclass(frozen=True)
class Session:
    """A line of a `_sessions` file; times in seconds."""

    number: int
    start: int
    last: int
    end: int


@dataclass(frozen=True)
class Batch:
    """A line of a `_batches` file: what it waits for, by (session, batch), and its jobs' numbers."""

    session: int
    number: int
    start: int
    end: int
    waits: tuple[tuple[After, int, int], ...]
    jobs: tuple[int, ...]
    line: int = 0


def wait_without_thinking(acts: Acts) -> Waits:
    """What was inferred, as Alea has it: a batch is ready the moment that its conditions are met."""
    waits = infer_waits(acts)
    return Waits(waits.source, waits.target, waits.what, np.zeros_like(waits.offset))


def find_files(base: str | Path, user: str) -> tuple[Path, Path]:
    """The files of a user's sessions and batches."""
    if "/" in user or "\0" in user:
        raise InputError("no file can have the name of this user", value=user)
    base = Path(base)
    return base.with_name(f"{base.name}_{user}_sessions"), base.with_name(f"{base.name}_{user}_batches")


def read_sessions(path: str | Path) -> list[Session]:
    """The sessions of a `_sessions` file, in its order; raises InputError with the line."""
    found: list[Session] = []
    for line, fields in _lines(path):
        if len(fields) != 4:
            raise InputError(f"the line has {len(fields)} fields, not 4", file=path, line=line)
        found.append(Session(*(_whole(text, path, line) for text in fields)))
        if found[-1].last < found[-1].start or (len(found) > 1 and found[-1].start < found[-2].start):
            raise InputError("the sessions are not in order of time", value=found[-1].number, file=path, line=line)
    if not found:
        raise InputError("there are no sessions in this file", file=path)
    return found


def read_batches(path: str | Path) -> list[Batch]:
    """The batches of a `_batches` file, in its order; raises InputError with the line."""
    found: list[Batch] = []
    for line, fields in _lines(path):
        if len(fields) < 5:
            raise InputError(f"the line has {len(fields)} fields, not at least 5", file=path, line=line)
        session, number, start, end = (_whole(text, path, line) for text in fields[:4])
        waits, jobs = [], []
        for field in fields[4:]:
            kind, _, value = field.partition(":")
            if kind == "job":
                jobs.append(_whole(value.partition(".")[0], path, line))
            elif kind in _CONDITIONS and value.count("|") == 1:
                one, _, other = value.partition("|")
                waits.append((_CONDITIONS[kind], _whole(one, path, line), _whole(other, path, line)))
            else:
                choices = ("job:ID", "after_arrival:S|B", "after_completion:S|B")
                raise InputError("not a part of a batch", value=field, choices=choices, file=path, line=line)
        if not jobs:
            raise InputError("a batch without jobs", value=number, file=path, line=line)
        found.append(Batch(session, number, start, end, tuple(waits), tuple(jobs), line))
    if not found:
        raise InputError("there are no batches in this file", file=path)
    return found


def _lines(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    with reading(path) as stream:
        raw = stream.read(_LARGEST + 1)
    if len(raw) > _LARGEST or b"\0" in raw:
        raise InputError("this is not one of Alea's files", file=path)
    for number, text in enumerate(raw.decode("utf-8-sig", "replace").splitlines(), 1):
        if text.strip():
            yield number, [field.strip() for field in text.strip().split("\t")]


def _whole(text: str, path: str | Path, line: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:20]) >= _LATEST:
        raise InputError("not a whole number", value=text, file=path, line=line)
    return int(text)


# ---- written


def write_files(acts: Acts, base: str | Path) -> list[Path]:
    """Write the files of every user; returns their paths. Sessions and batches are numbered from 1 for each user."""
    names = acts.workload.label_names("user")
    texts: dict[Path, str] = {}
    for code in np.unique(acts.user[acts.user >= 0]).tolist():
        mine = np.flatnonzero(acts.user == code)
        sessions, batches = find_files(base, names[code])
        texts[sessions] = _write_sessions(acts, mine)
        texts[batches] = _write_batches(acts, mine)
    for path in texts:
        check_name(path)
    return [write_whole(path, text.encode()) for path, text in texts.items()]


def _write_sessions(acts: Acts, mine: np.ndarray) -> str:
    begins = np.flatnonzero(np.diff(acts.session[mine], prepend=-1))
    last, end = np.maximum.reduceat(acts.last[mine], begins), np.maximum.reduceat(acts.end[mine], begins)
    rows = zip(acts.start[mine][begins].tolist(), last.tolist(), end.tolist(), strict=True)
    return "".join(
        f"{number}\t{start // SECOND}\t{stop // SECOND}\t{done // SECOND}\n"
        for number, (start, stop, done) in enumerate(rows, 1)
    )


def _write_batches(acts: Acts, mine: np.ndarray) -> str:
    numbers = acts.workload.column("job_id")
    session = acts.session[mine] - acts.session[mine[0]] + 1
    lines = []
    for number, batch in enumerate(mine.tolist(), 1):
        fields = [int(session[number - 1]), number, int(acts.start[batch]) // SECOND, int(acts.end[batch]) // SECOND]
        text = [str(field) for field in fields]
        for kind, other in (("after_arrival", acts.before[batch]), ("after_completion", acts.after[batch])):
            if other >= 0:
                place = int(other - mine[0])
                text.append(f"{kind}:{session[place]}|{place + 1}")
        rows = acts.order[acts.first[batch] : acts.first[batch + 1]]
        text += [f"job:{numbers[row]}" for row in rows.tolist()]
        lines.append("\t".join(text) + "\n")
    return "".join(lines)


# ---- as a plan


def read_files(jobs: Workload, base: str | Path, waits: str = "recorded") -> tuple[Acts, Waits, Sessions]:
    """The batches of a workload's users as the files beside the data set have them; raises InputError.

    Every job of a user is in one batch of the user's file.
    """
    building = _Building(jobs)
    for code, name in enumerate(jobs.label_names("user")):
        if np.any(jobs.column("user") == code):
            sessions, batches = find_files(base, name)
            building.add(code, read_sessions(sessions), read_batches(batches), batches)
    return building.finish(waits)


class _Building:
    """Batches by user, each user's in the order of the file; first those of jobs without a user."""

    def __init__(self, jobs: Workload) -> None:
        self.jobs = jobs
        self.users = jobs.column("user")
        self.rows_of = {int(number): row for row, number in enumerate(jobs.column("job_id").tolist())}
        self.rows: list[list[int]] = [[row] for row in np.flatnonzero(self.users < 0).tolist()]
        self.user = [-1] * len(self.rows)
        self.session = list(range(len(self.rows)))
        self.waits: list[tuple[int, int, After]] = []
        self.sessions: list[list[Session]] = []
        self.taken: set[int] = set()

    def add(self, code: int, sessions: list[Session], batches: list[Batch], path: Path) -> None:
        first, base = len(self.rows), max(self.session, default=-1) + 1
        order = {session.number: index for index, session in enumerate(sessions)}
        numbers = {(batch.session, batch.number): first + index for index, batch in enumerate(batches)}
        for index, batch in enumerate(batches):
            if batch.session not in order:
                raise InputError("a batch of no session", value=batch.session, file=path, line=batch.line)
            self.rows.append(sorted(self._row(number, code, path, batch.line) for number in batch.jobs))
            self.user.append(code)
            self.session.append(base + order[batch.session])
            for what, session, number in batch.waits:
                source = numbers.get((session, number), first + index)
                if source >= first + index:
                    raise InputError(
                        "waits for no batch before it", value=f"{session}|{number}", file=path, line=batch.line
                    )
                self.waits.append((source, first + index, what))
        self.sessions += [[]] * (code - len(self.sessions)) + [sessions]

    def _row(self, number: int, code: int, path: Path, line: int) -> int:
        row = self.rows_of.get(number)
        if row is None or self.users[row] != code or number in self.taken:
            raise InputError(
                "not a job of this user, or one that is in a batch already", value=number, file=path, line=line
            )
        self.taken.add(number)
        return row

    def finish(self, waits: str) -> tuple[Acts, Waits, Sessions]:
        left = [number for number, row in self.rows_of.items() if self.users[row] >= 0 and number not in self.taken]
        if left:
            raise InputError("a job is in no batch of its user's file", value=left[0])
        ends, unknown = find_ends(self.jobs, waits)
        order = np.array([row for rows in self.rows for row in rows], np.int64)
        first = np.cumsum([0, *map(len, self.rows)])
        submit = self.jobs.column("submit")[order]
        begins, none = first[:-1], np.zeros(len(self.rows), np.int64)
        acts = Acts(
            self.jobs,
            order,
            first,
            np.array(self.user, np.int64),
            np.minimum.reduceat(submit, begins),
            np.maximum.reduceat(submit, begins),
            np.maximum.reduceat(ends[order], begins),
            np.array(self.session, np.int64),
            none - 1,
            none,
            none - 1,
            none,
            none,
            ends[order],
            unknown,
        )
        pairs = np.array(self.waits, np.int64).reshape(-1, 3)
        return acts, Waits(pairs[:, 0], pairs[:, 1], pairs[:, 2], np.zeros(len(pairs), np.int64)), self._sessions()

    def _sessions(self) -> Sessions:
        sizes = [len(one) for one in self.sessions]
        every = [session for one in self.sessions for session in one]
        return Sessions(
            np.cumsum([0, *sizes]),
            np.array([session.start for session in every], np.int64) * SECOND,
            np.array([session.last for session in every], np.int64) * SECOND,
        )
