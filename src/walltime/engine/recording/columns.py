"""From the recorder's rows to the columns of a result, in one walk along the rows.

NumPy would go over all rows for each step of each column, and take fresh memory for it each time. Times become seconds
here; one that is missing stays negative, and how many of them a column has is told beside it. The words of a row are in
the order of `recorder.JOB` and `recorder.ALLOCATION`.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.recording.recorder import ALLOCATION, JOB, Recorder
from walltime.engine.recording.recorder import NOWHERE as _NOWHERE

if not cython.compiled:
    from walltime.kernel.arrays import words

NEVER = cython.declare(cython.longlong, _NEVER)
NOWHERE = cython.declare(cython.longlong, _NOWHERE)
SECOND = cython.declare(cython.double, 1e6)
TIMES = ("eligible", "start", "end", "run_time", "held_time", "wait")


def order_rows(recorder: Recorder) -> np.ndarray | None:
    """The row of the workload that each job has, by order of entry; every number of entry is recorded once. None where
    the rows are in that order themselves."""
    if recorder.is_in_order():
        return None
    made = np.empty(recorder.count_jobs(), np.int64)
    to: cython.longlong[::1] = made
    width: cython.Py_ssize_t = len(JOB)
    piece: cython.longlong[::1]
    c: cython.p_longlong
    at: cython.Py_ssize_t
    for piece in recorder.job_pieces():
        c = words(piece)
        for at in range(0, len(piece), width):
            to[c[at]] = c[at + 1]
    return made


def job_columns(recorder: Recorder, submit, last, states) -> tuple:
    """The columns of the jobs by order of entry, and how many times of each column are missing.

    `submit` are the submissions in microseconds, `last` is when the simulation ended: until then those have waited that
    are still in it. `states` has the published number of each state. A job of no cluster has the number -1. `lost` and
    `attempt`, which hold nothing but zeros in most runs, are there only where they hold something else.
    """
    size: cython.Py_ssize_t = recorder.count_jobs()
    table = {name: np.empty(size) for name in TIMES}
    table["state"] = np.empty(size, np.uint8)
    table["backfilled"] = np.empty(size, np.uint8)
    table["cluster"] = np.empty(size, np.int32)
    eligible: cython.double[::1] = table["eligible"]
    start: cython.double[::1] = table["start"]
    end: cython.double[::1] = table["end"]
    run: cython.double[::1] = table["run_time"]
    held: cython.double[::1] = table["held_time"]
    wait: cython.double[::1] = table["wait"]
    lost: cython.double[::1] = None
    state: cython.uchar[::1] = table["state"]
    backfilled: cython.uchar[::1] = table["backfilled"]
    cluster: cython.int[::1] = table["cluster"]
    attempt: cython.longlong[::1] = None
    submitted: cython.const[cython.longlong][::1] = submit
    published: cython.const[cython.uchar][::1] = states
    now: cython.longlong = last
    width: cython.Py_ssize_t = len(JOB)
    piece: cython.longlong[::1]
    c: cython.p_longlong
    at: cython.Py_ssize_t
    to: cython.longlong
    until: cython.longlong
    waited: cython.longlong
    ineligible: cython.Py_ssize_t = 0
    waiting: cython.Py_ssize_t = 0
    unended: cython.Py_ssize_t = 0
    unheld: cython.Py_ssize_t = 0
    unwaited: cython.Py_ssize_t = 0
    idle: cython.Py_ssize_t = 0
    for piece in recorder.job_pieces():
        c = words(piece)
        for at in range(0, len(piece), width):
            to = c[at]
            eligible[to] = cython.cast(cython.double, c[at + 2]) / SECOND
            start[to] = cython.cast(cython.double, c[at + 3]) / SECOND
            end[to] = cython.cast(cython.double, c[at + 4]) / SECOND
            if c[at + 7] != 0:
                if lost is None:
                    lost = table["lost"] = np.zeros(size)
                lost[to] = cython.cast(cython.double, c[at + 7]) / SECOND
            ineligible += c[at + 2] < 0
            unended += c[at + 4] < 0
            if c[at + 3] < 0:
                waiting += 1
                run[to] = held[to] = wait[to] = -1 / SECOND
            else:
                until = now if c[at + 4] < 0 else c[at + 4]
                waited = until - submitted[to] - c[at + 6]
                run[to] = cython.cast(cython.double, c[at + 5]) / SECOND
                held[to] = cython.cast(cython.double, c[at + 6]) / SECOND
                wait[to] = cython.cast(cython.double, waited) / SECOND
                idle += c[at + 5] < 0
                unheld += c[at + 6] < 0
                unwaited += waited < 0
            state[to] = published[c[at + 8] & 0xFF]
            backfilled[to] = c[at + 8] >> 8 & 1
            cluster[to] = c[at + 8] >> 16 & 0xFFFF
            if cluster[to] == NOWHERE:
                cluster[to] = -1
            if c[at + 8] >> 32 != 0:
                if attempt is None:
                    attempt = table["attempt"] = np.zeros(size, np.int64)
                attempt[to] = c[at + 8] >> 32
    missing = (ineligible, waiting, unended, waiting + idle, waiting + unheld, waiting + unwaited)
    return table, dict(zip(TIMES, missing, strict=True))


def place_by_start(recorder: Recorder, entries):
    """Where each job's allocation goes, by start and then by order of entry; None where a job has several.

    The places are by order of entry, of which there are so many `entries`. Jobs without an allocation come after all
    others.
    """
    size: cython.Py_ssize_t = entries
    starts = np.full(size, NEVER, np.int64)
    start: cython.longlong[::1] = starts
    width: cython.Py_ssize_t = len(ALLOCATION)
    piece: cython.longlong[::1]
    c: cython.p_longlong
    at: cython.Py_ssize_t
    for piece in recorder.allocation_pieces():
        c = words(piece)
        for at in range(0, len(piece), width):
            if start[c[at]] != NEVER:
                return None
            start[c[at]] = c[at + 1]
    order: cython.longlong[::1] = np.argsort(starts, kind="stable")
    for at in range(size):
        start[order[at]] = at
    return starts


def allocation_columns(recorder: Recorder, places, by_entry, job_id, outcomes) -> tuple:
    """The columns of the allocations, each row at its place, and how many of them have no end.

    `places` are by order of entry, or, where a job may have several, by row. `attempt` is left out where it is zero
    everywhere.
    `job_id` are the jobs' numbers by order of entry, `outcomes` has the published number of each outcome.
    """
    size: cython.Py_ssize_t = recorder.count_allocations()
    table = {name: np.empty(size, np.int64) for name in ("job_id", "cores")}
    table["start"] = np.empty(size)
    table["end"] = np.empty(size)
    table["cluster"] = np.empty(size, np.int32)
    table["outcome"] = np.empty(size, np.uint8)
    number: cython.longlong[::1] = table["job_id"]
    attempt: cython.longlong[::1] = None
    cores: cython.longlong[::1] = table["cores"]
    start: cython.double[::1] = table["start"]
    end: cython.double[::1] = table["end"]
    cluster: cython.int[::1] = table["cluster"]
    outcome: cython.uchar[::1] = table["outcome"]
    where: cython.const[cython.longlong][::1] = places
    numbers: cython.const[cython.longlong][::1] = job_id
    published: cython.const[cython.uchar][::1] = outcomes
    entered: cython.bint = by_entry
    width: cython.Py_ssize_t = len(ALLOCATION)
    piece: cython.longlong[::1]
    c: cython.p_longlong
    at: cython.Py_ssize_t
    to: cython.longlong
    row: cython.Py_ssize_t = 0
    unended: cython.Py_ssize_t = 0
    for piece in recorder.allocation_pieces():
        c = words(piece)
        for at in range(0, len(piece), width):
            to = where[c[at] if entered else row]
            row += 1
            number[to] = numbers[c[at]]
            start[to] = cython.cast(cython.double, c[at + 1]) / SECOND
            end[to] = cython.cast(cython.double, c[at + 2]) / SECOND
            unended += c[at + 2] < 0
            cores[to] = c[at + 3]
            outcome[to] = published[c[at + 4] & 0xFF]
            cluster[to] = c[at + 4] >> 16 & 0xFFFF
            if c[at + 4] >> 32 != 0:
                if attempt is None:
                    attempt = table["attempt"] = np.zeros(size, np.int64)
                attempt[to] = c[at + 4] >> 32
    return table, unended
