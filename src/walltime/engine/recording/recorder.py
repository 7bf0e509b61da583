"""What the engine writes down: a row for each job that leaves, a row for each interval in which one held resources.

The rows are narrow, because at a million jobs a second it is the memory that costs: what the workload tells is left
out, and the four small numbers (state or outcome, backfilled, cluster, attempt) share a word. A job that ran once, from
its start to its completion, as most do, has one row for both, of 24 bytes instead of 112; readers get it as two. On
which nodes an allocation is stands beside it, for those of short rows in tables of their own.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import integers, mapped
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.ledger.interface import Ledger

LONGEST = cython.declare(cython.Py_ssize_t, 24)  # signs of a range: two numbers below 2**20, one below 2**24
# Rows in the first piece and in the largest; pieces are never moved while the run goes on. None is so large that NumPy
# asks for huge pages (`kernel.arrays.untouched` tells why).
SMALLEST = cython.declare(cython.Py_ssize_t, 1024)
LARGEST = cython.declare(cython.Py_ssize_t, 32768)
AT_ONCE = 2048  # rows that are lengthened
SEQ = cython.declare(cython.longlong, (1 << 31) - 1)  # the part of the first word of a short row that is its seq
START = cython.declare(cython.longlong, (1 << 22) - 1)  # the part of the others that is of the start
JOB = ("seq", "row", "eligible", "first_start", "end", "work", "held", "lost", "packed")
ALLOCATION = ("seq", "start", "end", "cores", "packed")
PLAIN = ("numbers", "wait", "run")
"""Of a job that ran once, from the lowest bits: `numbers` are 31 of seq, one for backfilled, one for a row other than
seq (which stands in a table of its own), 4 of the cluster, 22 of the cores, the 4 highest of the start; `wait` are 22
of the start and 41 of the time since it was eligible; `run` are the 22 next of the start and 41 of the time to the
end."""
NOWHERE = 0xFFFF
"""The cluster of a job that has none yet, in the sixteen bits that it has."""
PLACED = ("row", "ranges")
"""Which row of the allocations is on nodes, and how many of the next ranges tell on which: as `take` and `of` have
it."""
RANGES = cython.declare(cython.Py_ssize_t, 20)
"""Bits of a word of `placed` that are the ranges; the others are the row, also of the short rows."""

if not cython.compiled:
    from walltime.kernel.arrays import words

    COMPLETED = State.COMPLETED


@cython.final
@cython.cclass
class Rows:
    """A table of 64-bit integers that only grows."""

    def __init__(self, width) -> None:
        self.width = width
        self.size = 0
        self.full = []
        self.chunk = np.empty(SMALLEST * width, np.int64)
        self.end = 0

    def next(self):
        """Where in `chunk` the next row goes."""
        at: cython.Py_ssize_t = self.end
        if at == len(self.chunk):
            self.add_piece()
            at = 0
        self.end = at + self.width
        self.size += 1
        return at

    def add_piece(self):
        """Another piece, of which nothing is used yet."""
        self.full.append(np.asarray(self.chunk))
        self.chunk = mapped(min(8 * len(self.chunk), LARGEST * self.width), np.int64, whole=True)
        return 0

    def clear(self) -> None:
        """Forget the rows; the memory of all but the last piece is given back."""
        self.full = []
        self.end = 0
        self.size = 0

    @staticmethod
    def of(table) -> Rows:
        """Rows that are there already."""
        made = Rows(table.shape[1])
        if len(table):
            made.chunk = np.ascontiguousarray(table).reshape(-1)
            made.end = table.size
            made.size = len(table)
        return made

    def pieces(self) -> list:
        """The pieces that hold rows, the last one as far as it is used."""
        return [*self.full, *([np.asarray(self.chunk)[: self.end]] if self.end else [])]

    def column(self, number) -> np.ndarray:
        """One column of the table, in the order in which the rows were written."""
        made = np.empty(self.size, np.int64)
        copy_columns(self.pieces(), self.width, number, made)
        return made


@cython.final
@cython.cclass
class Recorder:
    """The two tables of a run. `open` is the job of which an interval has just ended that may be all there is to tell
    of it: it leaves at `until`, and its row is written then. `found` ranges in `around` tell on which nodes it was,
    with `cores` in all. The nodes of short rows are in `plain_ranges`; `plain_runs` tells from which row on each has
    how many of these, and `counted` is that of the last one. `moved` has the rows of those that have another one than
    their seq."""

    def __init__(self) -> None:
        self.jobs = Rows(len(JOB))
        self.allocations = Rows(len(ALLOCATION))
        self.plain = Rows(len(PLAIN))
        self.placed = Rows(1)
        self.ranges = Rows(1)
        self.plain_runs = Rows(1)
        self.counted = 0
        self.plain_ranges = Rows(1)
        self.moved = Rows(1)
        self.open = -1
        self.until = 0
        self.around = integers(16)
        self.found = 0
        self.cores = 0

    @staticmethod
    def of(jobs, allocations, placed, ranges) -> Recorder:
        """What one would have written, from the tables."""
        made = Recorder()
        made.jobs, made.allocations = Rows.of(jobs), Rows.of(allocations)
        made.placed = Rows.of((placed[:, 0] << RANGES | placed[:, 1]).reshape(-1, 1))
        made.ranges = Rows.of(ranges)
        return made

    def job(self, t: JobTable, slot, end):
        """The job has left (or the simulation has, `end` < 0)."""
        if self.open >= 0:
            if self.open == slot and self.until == end and self.is_plain(t, slot, end):
                self.open = -1
                return self.write_plain(t, slot, end)
            self.close(t)
        at: cython.Py_ssize_t = self.jobs.next()
        c: cython.p_longlong = words(self.jobs.chunk)
        c[at] = t.at[slot].seq
        c[at + 1] = t.at[slot].row
        c[at + 2] = t.at[slot].eligible
        c[at + 3] = t.at[slot].first_start
        c[at + 4] = end
        c[at + 5] = t.at[slot].progress
        c[at + 6] = t.at[slot].held
        c[at + 7] = t.at[slot].lost
        c[at + 8] = t.at[slot].state | t.at[slot].backfilled << 8 | t.at[slot].cluster << 16 | t.at[slot].attempt << 32
        return 0

    def is_plain(self, t: JobTable, slot, end):
        """Whether a short row tells all of a job that has completed."""
        start: cython.longlong = t.at[slot].start
        run: cython.longlong = end - start
        return (
            t.at[slot].first_start == start
            and t.at[slot].held == run
            and t.at[slot].progress == run
            and t.at[slot].lost == 0
            and t.at[slot].attempt == 0
            and t.at[slot].state == COMPLETED
            and (
                (start - t.at[slot].eligible | run) >> 41
                | start >> 48
                | self.cores >> 22
                | t.at[slot].cluster >> 4
                | t.at[slot].seq >> 31
            )
            == 0
        )

    def write_plain(self, t: JobTable, slot, end):
        at: cython.Py_ssize_t
        start: cython.longlong = t.at[slot].start
        seq: cython.longlong = t.at[slot].seq
        numbers: cython.longlong = seq | t.at[slot].backfilled << 31
        if self.found != self.counted:
            self.counted = self.found
            at = self.plain_runs.next()
            self.plain_runs.chunk[at] = self.plain.size << RANGES | self.found
        if self.found > 0:
            self.write_ranges(self.plain_ranges)
        if t.at[slot].row != seq:
            numbers |= cython.cast(cython.longlong, 1) << 32
            at = self.moved.next()
            self.moved.chunk[at] = t.at[slot].row
        at = self.plain.next()
        c: cython.p_longlong = words(self.plain.chunk)
        c[at] = numbers | t.at[slot].cluster << 33 | self.cores << 37 | start >> 44 << 59
        c[at + 1] = start & START | start - t.at[slot].eligible << 22
        c[at + 2] = start >> 22 & START | end - start << 22
        return 0

    def allocation(self, t: JobTable, slot, end, outcome, ledger: Ledger):
        """The job is about to give its resources back; `end` < 0 where it keeps them at the end of the simulation."""
        if self.open >= 0:
            self.close(t)
        self.cores = t.at[slot].cores
        self.found = 0
        if ledger.on_nodes:
            self.look_around(ledger, slot)
        if outcome == COMPLETED:
            self.open = slot
            self.until = end
            return 0
        return self.interval(t, slot, end, outcome)

    def look_around(self, ledger: Ledger, slot):
        """On which nodes the job is, and with how many cores."""
        k: cython.Py_ssize_t
        found: cython.Py_ssize_t = ledger.describe(slot)
        cores: cython.longlong = 0
        if found == 1:
            cores = ledger.ranges[0]
            self.around[0] = cores
            self.found = 1
            self.cores = ((cores >> 24 & 0xFFFFF) + 1) * (cores & 0xFFFFFF)
            return 0
        if found > len(self.around):
            self.around = integers(2 * found)
        for k in range(found):
            self.around[k] = ledger.ranges[k]
            cores += ((ledger.ranges[k] >> 24 & 0xFFFFF) + 1) * (ledger.ranges[k] & 0xFFFFFF)
        if found > 0:
            self.found = found
            self.cores = cores
        return 0

    def close(self, t: JobTable):
        """There is more to tell of the job whose interval has just ended: it has a row of its own."""
        slot: cython.Py_ssize_t = self.open
        self.open = -1
        return self.interval(t, slot, self.until, COMPLETED)

    def interval(self, t: JobTable, slot, end, outcome):
        at: cython.Py_ssize_t
        if self.found > 0:
            at = self.placed.next()
            self.placed.chunk[at] = self.allocations.size << RANGES | self.found
            self.write_ranges(self.ranges)
        at = self.allocations.next()
        c: cython.p_longlong = words(self.allocations.chunk)
        c[at] = t.at[slot].seq
        c[at + 1] = t.at[slot].start
        c[at + 2] = end
        c[at + 3] = self.cores
        c[at + 4] = outcome | t.at[slot].cluster << 16 | t.at[slot].attempt << 32
        return 0

    def write_ranges(self, ranges: Rows):
        """The ranges of nodes that were found."""
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        c: cython.p_longlong
        if ranges.end + self.found <= len(ranges.chunk):
            c = words(ranges.chunk)
            for k in range(self.found):
                c[ranges.end + k] = self.around[k]
            ranges.end += self.found
            ranges.size += self.found
            return 0
        for k in range(self.found):
            at = ranges.next()
            ranges.chunk[at] = self.around[k]
        return 0

    # ---- reading: short rows come last, and as those that they stand for

    def count_jobs(self) -> int:
        return self.jobs.size + self.plain.size

    def count_allocations(self) -> int:
        return self.allocations.size + self.plain.size

    def is_in_order(self) -> bool:
        """Whether each job has the row of the workload that it has by order of entry."""
        given: cython.longlong[::1]
        c: cython.p_longlong
        at: cython.Py_ssize_t
        width: cython.Py_ssize_t = len(JOB)
        for given in self.jobs.pieces():
            c = words(given)
            for at in range(0, len(given), width):
                if c[at] != c[at + 1]:
                    return False
        return self.moved.size == 0

    def job_pieces(self):
        """The rows of all jobs, piece by piece; one that is made of short rows is overwritten by the next."""
        yield from self.jobs.pieces()
        rows = self.moved.column(0)
        for part, made in lengthen(self.plain, len(JOB), as_jobs):
            if len(rows):
                moved = np.flatnonzero(part[:: len(PLAIN)] >> 32 & 1)
                made[moved * len(JOB) + JOB.index("row")] = rows[: len(moved)]
                rows = rows[len(moved) :]
            yield made

    def allocation_pieces(self):
        """The same of all allocations."""
        yield from self.allocations.pieces()
        for _, made in lengthen(self.plain, len(ALLOCATION), as_allocations):
            yield made

    def placements(self) -> tuple:
        """The rows of the allocations that were on nodes, how many ranges each has, and these ranges, in order."""
        placed, runs = self.placed.column(0), self.plain_runs.column(0)
        row, count = placed >> RANGES, placed & ((1 << RANGES) - 1)
        first = runs >> RANGES
        counts = np.repeat(runs & ((1 << RANGES) - 1), np.diff(first, append=self.plain.size))
        short = np.flatnonzero(counts)
        before = self.plain.size - len(counts) + self.allocations.size
        row, count = np.concatenate([row, short + before]), np.concatenate([count, counts[short]])
        return row, count, np.concatenate([self.ranges.column(0), self.plain_ranges.column(0)])

    def allocation_column(self, name) -> np.ndarray:
        """One column of the allocations, in the order of the pieces."""
        made = np.empty(self.count_allocations(), np.int64)
        copy_columns(self.allocation_pieces(), len(ALLOCATION), ALLOCATION.index(name), made)
        return made

    def take(self) -> tuple:
        """The four tables so far: jobs, allocations, placed and ranges; they are not here any more."""
        row, count, ranges = self.placements()
        jobs = np.empty((self.count_jobs(), len(JOB)), np.int64)
        allocations = np.empty((self.count_allocations(), len(ALLOCATION)), np.int64)
        copy_rows(self.job_pieces(), jobs)
        copy_rows(self.allocation_pieces(), allocations)
        for rows in (self.jobs, self.allocations, self.plain, self.placed, self.ranges):
            rows.clear()
        self.plain_runs.clear()
        self.counted = 0
        self.plain_ranges.clear()
        self.moved.clear()
        return jobs, allocations, np.column_stack([row, count]), ranges.reshape(-1, 1)


def lengthen(plain: Rows, width, write):
    """Some short rows after the other, and the longer ones made from them; few enough to stay in the cache."""
    room = np.empty(AT_ONCE * width, np.int64)
    for piece in plain.pieces():
        for first in range(0, len(piece), AT_ONCE * len(PLAIN)):
            part = piece[first : first + AT_ONCE * len(PLAIN)]
            write(part, room)
            yield part, room[: len(part) // len(PLAIN) * width]


def as_jobs(piece, room) -> None:
    """The rows of jobs, in the order of JOB, that these short rows stand for, where row is seq."""
    given: cython.longlong[::1] = piece
    made: cython.longlong[::1] = room
    c: cython.p_longlong = words(given)
    to: cython.p_longlong = words(made)
    at: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    start: cython.longlong
    for at in range(0, len(given), 3):
        start = start_in(c, at)
        to[k] = to[k + 1] = c[at] & SEQ
        to[k + 2] = start - (c[at + 1] >> 22)
        to[k + 3] = start
        to[k + 4] = start + (c[at + 2] >> 22)
        to[k + 5] = to[k + 6] = c[at + 2] >> 22
        to[k + 7] = 0
        to[k + 8] = COMPLETED | (c[at] >> 31 & 1) << 8 | (c[at] >> 33 & 0xF) << 16
        k += 9


def as_allocations(piece, room) -> None:
    """The rows of allocations, in the order of ALLOCATION, that these short rows stand for."""
    given: cython.longlong[::1] = piece
    made: cython.longlong[::1] = room
    c: cython.p_longlong = words(given)
    to: cython.p_longlong = words(made)
    at: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    for at in range(0, len(given), 3):
        to[k] = c[at] & SEQ
        to[k + 1] = start_in(c, at)
        to[k + 2] = to[k + 1] + (c[at + 2] >> 22)
        to[k + 3] = c[at] >> 37 & START
        to[k + 4] = COMPLETED | (c[at] >> 33 & 0xF) << 16
        k += 5


def start_in(c, at):
    """The start that the short row tells."""
    return c[at + 1] & START | (c[at + 2] & START) << 22 | c[at] >> 59 << 44


def copy_columns(pieces, width, number, made) -> None:
    """Column `number` of all pieces to `made`."""
    to: cython.longlong[::1] = made
    given: cython.longlong[::1]
    at: cython.Py_ssize_t
    step: cython.Py_ssize_t = width
    k: cython.Py_ssize_t = 0
    for given in pieces:
        for at in range(number, len(given), step):
            to[k] = given[at]
            k += 1


def copy_rows(pieces, made) -> None:
    """All rows of the pieces to `made`."""
    flat = made.reshape(-1)
    first = 0
    for piece in pieces:
        flat[first : first + len(piece)] = piece
        first += len(piece)


def range_lines(counts, ranges) -> str:
    """`0-3:24,7:5` for each allocation, one a line: nodes 0 to 3 with 24 cores each, and 5 on node 7.

    `counts` is how many of the packed `ranges` (as Shares.describe writes them) belong to each.
    """
    n: cython.longlong[::1] = np.ascontiguousarray(counts, np.int64)
    r: cython.longlong[::1] = np.ascontiguousarray(ranges, np.int64)
    room: cython.Py_ssize_t = LONGEST * len(r) + 1
    text: cython.uchar[::1] = np.empty(room, np.uint8)
    i: cython.Py_ssize_t
    _: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    x: cython.Py_ssize_t = 0
    first: cython.longlong
    more: cython.longlong
    for i in range(len(n)):
        for _ in range(n[i]):
            first = r[x] >> 44
            more = (r[x] >> 24) & 0xFFFFF
            at = write(text, at, first)
            if more > 0:
                text[at] = 45  # -
                at = write(text, at + 1, first + more)
            text[at] = 58  # :
            at = write(text, at + 1, r[x] & 0xFFFFFF)
            text[at] = 44  # ,
            at += 1
            x += 1
        text[at - 1] = 10  # a new line, instead of the last comma
    return np.asarray(text)[: at - 1].tobytes().decode("ascii") if at > 0 else ""


def write(text, at, number):
    """The decimal digits of a number; where the next sign goes."""
    digits: cython.Py_ssize_t = 1
    rest: cython.longlong = number
    k: cython.Py_ssize_t
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(at + digits - 1, at - 1, -1):
        text[k] = 48 + number % 10
        number //= 10
    return at + digits
