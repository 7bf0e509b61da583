"""What the engine writes down: a row for each job that leaves, a row for each interval in which one held resources.

The rows are narrow, because at a million jobs a second it is the memory that costs: what the workload tells is left
out, and the four small numbers (state or outcome, backfilled, cluster, attempt) share a word.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import mapped
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.cores import Ledger

LONGEST = cython.declare(cython.Py_ssize_t, 24)  # signs of a range: two numbers below 2**20, one below 2**24
# Rows in the first piece and in the largest; pieces are never moved while the run goes on. None is so large that NumPy
# asks for huge pages (`kernel.arrays.untouched` tells why).
SMALLEST = cython.declare(cython.Py_ssize_t, 1024)
LARGEST = cython.declare(cython.Py_ssize_t, 32768)
JOB = ("seq", "row", "eligible", "first_start", "end", "work", "held", "lost", "packed")
ALLOCATION = ("seq", "start", "end", "cores", "packed")
NOWHERE = 0xFFFF
"""The cluster of a job that has none yet, in the sixteen bits that it has."""
PLACED = ("row", "ranges")
"""Which row of the allocations is on nodes, and how many of the next ranges tell on which."""

if not cython.compiled:
    from walltime.kernel.arrays import words


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

    def take(self) -> np.ndarray:
        """The rows so far, as a table; they are not here any more."""
        table = np.concatenate([*self.full, np.asarray(self.chunk)[: self.end]]).reshape(-1, self.width)
        self.clear()
        return table

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

    def column(self, number) -> np.ndarray:
        """One column of the table, in the order in which the rows were written."""
        made = np.empty(self.size, np.int64)
        first: cython.Py_ssize_t = 0
        for piece in [*self.full, self.chunk]:
            copy_column(piece, self.width, number, made, first)
            first += len(piece) // self.width
        return made


@cython.final
@cython.cclass
class Recorder:
    """The two tables of a run."""

    def __init__(self) -> None:
        self.jobs = Rows(len(JOB))
        self.allocations = Rows(len(ALLOCATION))
        self.placed = Rows(len(PLACED))
        self.ranges = Rows(1)

    @staticmethod
    def of(jobs, allocations, placed, ranges) -> Recorder:
        """What one would have written, from the tables."""
        made = Recorder()
        made.jobs, made.allocations = Rows.of(jobs), Rows.of(allocations)
        made.placed, made.ranges = Rows.of(placed), Rows.of(ranges)
        return made

    def job(self, t: JobTable, slot, end):
        """The job has left (or the simulation has, `end` < 0)."""
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

    def allocation(self, t: JobTable, slot, end, outcome, ledger: Ledger):
        """The job is about to give its resources back; `end` < 0 where it keeps them at the end of the simulation."""
        found: cython.Py_ssize_t = ledger.describe(slot) if ledger.on_nodes else 0
        cores: cython.longlong = t.at[slot].cores
        if found > 0:
            cores = self.place(self.allocations.size, ledger, found)
        at: cython.Py_ssize_t = self.allocations.next()
        c: cython.p_longlong = words(self.allocations.chunk)
        c[at] = t.at[slot].seq
        c[at + 1] = t.at[slot].start
        c[at + 2] = end
        c[at + 3] = cores
        c[at + 4] = outcome | t.at[slot].cluster << 16 | t.at[slot].attempt << 32
        return 0

    def place(self, row, ledger: Ledger, found):
        """The ranges of nodes that the ledger has just described belong to this allocation; the cores on them."""
        k: cython.Py_ssize_t
        held: cython.longlong = 0
        at: cython.Py_ssize_t = self.placed.next()
        c: cython.p_longlong = words(self.placed.chunk)
        c[at] = row
        c[at + 1] = found
        for k in range(found):
            at = self.ranges.next()
            self.ranges.chunk[at] = ledger.ranges[k]
            held += ((ledger.ranges[k] >> 24 & 0xFFFFF) + 1) * (ledger.ranges[k] & 0xFFFFFF)
        return held


def copy_column(piece, width, number, made, first):
    """Column `number` of a piece to `made`, from row `first` on."""
    given: cython.longlong[::1] = piece
    to: cython.longlong[::1] = made
    rows: cython.Py_ssize_t = min(len(given) // width, len(to) - first)
    r: cython.Py_ssize_t
    for r in range(rows):
        to[first + r] = given[r * width + number]
    return 0


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
