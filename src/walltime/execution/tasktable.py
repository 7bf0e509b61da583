"""The tasks of running jobs, and how far each job has come: two tables of plain numbers."""

from __future__ import annotations

import enum

import cython
import numpy as np

from walltime.kernel.arrays import doubled

TASK = ("job", "node", "sibling", "state", "left", "position", "quantum", "over", "running")
"""As in TaskFields of tasktable.pxd, in its order; `finish`, the only one that is not whole, comes last."""

COURSE = (
    "first",
    "count",
    "arrived",
    "work",
    "done",
    "burst",
    "pattern",
    "meeting",
    "sync",
    "lap",
    "laps",
    "since",
    "ticket",
)
"""As in CourseFields of tasktable.pxd, in its order."""


class Want(enum.IntEnum):
    """What a task wants of its node; the compiled modules know the same numbers from tasktable.pxd."""

    NOTHING = 0
    COMPUTE = 1
    SPIN = 2


@cython.final
@cython.cclass
class TaskTable:
    """Tasks by number, used again once a task has gone, and the courses of jobs by slot.

    Of a task: `left` is the cpu time, in microseconds of its own node, until its next meeting; `sibling` the next task
    of its job, -1 for the last. Of a course: `work` of each task in all, `done` in earlier bursts, `burst` in this one,
    in microseconds at full speed; `arrived` tasks have finished the burst; `sync` is the slowest node's delay. While a
    job is left alone (`laps` > 0) its bursts are not played one by one: each takes `lap`, since `since`.
    """

    def __init__(self) -> None:
        self.tasks = np.zeros(64, [*((name, np.int64) for name in TASK), ("finish", np.float64)])
        self.courses = np.zeros(64, [(name, np.int64) for name in COURSE])
        self.view()
        self.size = 0
        self.spare = -1

    def view(self):
        if not cython.compiled:
            self.tasks = self.tasks.view(np.recarray)
            self.courses = self.courses.view(np.recarray)
        self.at = self.tasks
        self.course = self.courses
        return 0

    def add(self, job, node):
        """A new task of the job in that slot; the first of its siblings now."""
        t: cython.Py_ssize_t = self.spare
        if t >= 0:
            self.spare = self.at[t].sibling
        else:
            if self.size == len(self.at):
                self.tasks = doubled(self.tasks)
                self.view()
            t = self.size
            self.size += 1
        self.at[t].job = job
        self.at[t].node = node
        self.at[t].sibling = self.course[job].first
        self.at[t].state = 0
        self.at[t].left = 0
        self.at[t].position = -1
        self.at[t].quantum = 0
        self.at[t].over = 0
        self.at[t].running = 0
        self.course[job].first = t
        self.course[job].count += 1
        return t

    def drop(self, t):
        """The task has gone."""
        self.at[t].job = -1
        self.at[t].sibling = self.spare
        self.spare = t
        return 0

    def open(self, slot):
        """A course for the job in that slot, without tasks."""
        while slot >= len(self.course):
            self.courses = doubled(self.courses)
            self.view()
        self.course[slot].first = -1
        self.course[slot].count = 0
        self.course[slot].arrived = 0
        self.course[slot].work = 0
        self.course[slot].done = 0
        self.course[slot].burst = 0
        self.course[slot].meeting = 0
        self.course[slot].sync = 0
        self.course[slot].lap = 0
        self.course[slot].laps = 0
        self.course[slot].since = 0
        self.course[slot].ticket = 0
        return 0
