"""A plan that is being changed: tried, looked at, kept or undone, on the ledger's own index over time."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable  # noqa: F401 - as in draft.pxd
from walltime.kernel.ledger.availability import Availability
from walltime.kernel.ledger.plan import PlanLedger

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class Draft:
    """Promised jobs, numbered from 0 in the order of the queue, with starts that can be changed together.

    Everything happens on the ledger's plan of cores over time: a job that is lifted is not entered in it, one that is
    laid is. What has been changed since the last `keep` can be undone. `close` leaves the ledger as it was when the
    draft was opened; a pass makes the starts that were kept its promises (`Pass.adopt`).
    """

    def __init__(self) -> None:
        self.size = 0
        self.opened = False
        self.given, self.kept, self.base = Availability(0), Availability(0), Availability(0)
        self.touches = self.out = 0
        self.allocate(64)

    def allocate(self, room) -> None:
        self.slot, self.start, self.first, self.before = (integers(room) for _ in range(4))
        self.length, self.cores, self.eligible = integers(room), integers(room), integers(room)
        self.user, self.deadline = integers(room), integers(room)
        self.sequence, self.touched = integers(room), integers(room)

    def open(self, ledger: PlanLedger, slots, count):
        """Begin with the promises of these jobs."""
        i: cython.Py_ssize_t
        self.ledger = ledger
        self.jobs = ledger.jobs
        self.plan = ledger.plan
        self.now = ledger.now
        self.capacity = ledger.capacity
        if len(self.slot) < count:
            self.allocate(2 * count)
        self.size = count
        for i in range(count):
            self.load(i, slots[i])
        self.given.copy(self.plan)
        self.touches = self.out = 0
        self.sorted = self.resequenced = self.stuck = False
        self.kept_stale = self.base_stale = True
        self.opened = True
        return 0

    def load(self, i, slot):
        self.slot[i] = slot
        self.start[i] = self.first[i] = self.jobs.at[slot].promise
        self.before[i] = -1
        self.length[i] = max(self.jobs.at[slot].estimate, 1)
        self.cores[i] = self.jobs.at[slot].cores
        self.eligible[i] = self.jobs.at[slot].eligible
        self.user[i] = self.jobs.at[slot].user
        self.deadline[i] = self.jobs.at[slot].deadline
        return 0

    def close(self):
        """The ledger is as it was when the draft was opened."""
        if self.opened:
            self.plan.copy(self.given)
            self.opened = False
        return 0

    def changes(self) -> list:
        """The slots of the jobs that have another start than when the draft was opened, with that start."""
        return [(self.slot[i], self.start[i]) for i in range(self.size) if self.start[i] != self.first[i]]

    # ---- one job

    def lift(self, i):
        """Take the job out of the plan."""
        if self.before[i] < 0:
            self.before[i] = self.start[i]
            self.touched[self.touches] = i
            self.touches += 1
        return self.remove(i)

    def remove(self, i):
        """The same for a job that has been touched before."""
        self.plan.add(self.start[i], self.start[i] + self.length[i], self.cores[i])
        self.start[i] = -1
        self.out += 1
        return 0

    def lay(self, i, start):
        """Put it in."""
        self.start[i] = start
        self.out -= 1
        return self.plan.add(start, start + self.length[i], -self.cores[i])

    def find(self, i, after):
        """The first time at or after `after` at which the job, which is out, has room; NEVER if there is none."""
        return self.plan.earliest(self.cores[i], self.length[i], after, NEVER)

    def settle(self, i, after):
        """Put a job that is out into the first gap with room from `after` on. Where there is none, as on a machine that
        is away for ever from some time on, it stays out, and the draft is `stuck` until `undo`."""
        start: cython.longlong = self.find(i, after)
        if start == NEVER:
            self.stuck = True
            return 0
        return self.lay(i, start)

    # ---- all of them

    def sort(self):
        """The jobs in the order of their starts; of equal ones the order of the queue."""
        order: cython.longlong[::1]
        k: cython.Py_ssize_t
        if not self.sorted:
            order = np.argsort(np.asarray(self.start)[: self.size], kind="stable")
            for k in range(self.size):
                self.sequence[k] = order[k]
            self.sorted = True
        return 0

    def move_in_sequence(self, source, target):
        """The job at one place of the sequence goes to another, and all from the first of the two on are placed again,
        one by one, each in the earliest gap."""
        i: cython.longlong
        place: cython.Py_ssize_t = source
        self.sort()
        if self.kept_stale:
            self.kept.copy(self.plan)
            self.kept_stale = False
        i = self.sequence[source]
        while place < target:
            self.sequence[place] = self.sequence[place + 1]
            place += 1
        while place > target:
            self.sequence[place] = self.sequence[place - 1]
            place -= 1
        self.sequence[target] = i
        self.sorted = False
        self.resequenced = True
        return self.place_behind(min(source, target))

    def place_behind(self, position):
        """Place the jobs of the sequence from this position on again, in their order."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if self.base_stale:
            self.make_base()
        self.plan.copy(self.base)
        for k in range(position):
            i = self.sequence[k]
            self.plan.add(self.start[i], self.start[i] + self.length[i], -self.cores[i])
        self.rearranged = self.size - position
        for k in range(position, self.size):
            i = self.sequence[k]
            if self.before[i] < 0:
                self.before[i] = self.start[i]
                self.touched[self.touches] = i
                self.touches += 1
            self.start[i] = -1
            self.out += 1
            self.settle(i, self.now)
        return 0

    def make_base(self):
        """The plan without the jobs of the draft: the same all the time."""
        i: cython.Py_ssize_t
        self.base.copy(self.given)
        for i in range(self.size):
            self.base.add(self.first[i], self.first[i] + self.length[i], self.cores[i])
        self.base_stale = False
        return 0

    # ---- what has been tried

    def keep(self):
        """What has been changed stays."""
        k: cython.Py_ssize_t
        for k in range(self.touches):
            self.before[self.touched[k]] = -1
        if self.touches > 0:
            self.kept_stale = True
            self.sorted = False
        self.touches = 0
        self.resequenced = False
        return 0

    def undo(self):
        """All that has been changed since the last `keep` is as it was."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if self.resequenced:
            self.plan.copy(self.kept)
        else:
            for k in range(self.touches):
                i = self.touched[k]
                if self.start[i] >= 0:
                    self.plan.add(self.start[i], self.start[i] + self.length[i], self.cores[i])
            for k in range(self.touches):
                i = self.touched[k]
                self.plan.add(self.before[i], self.before[i] + self.length[i], -self.cores[i])
        for k in range(self.touches):
            i = self.touched[k]
            self.start[i] = self.before[i]
            self.before[i] = -1
        if self.resequenced:
            self.sorted = False
        self.touches = self.out = 0
        self.resequenced = self.stuck = False
        return 0

    # ---- for operators in Python: the same with questions asked

    def take_out(self, i) -> None:
        """Take the job out of the plan."""
        self.check(i)
        if self.start[i] < 0:
            raise PolicyError(f"job {i} of the plan is out already")
        self.lift(i)

    def put(self, i, start) -> None:
        """Put a job that is out into the plan, at a time in microseconds at which it has room."""
        time: cython.longlong = start
        self.check(i)
        if self.start[i] >= 0:
            raise PolicyError(f"job {i} of the plan is in it already")
        if time < self.now or self.find(i, time) != time:
            raise PolicyError(f"job {i} of the plan has no room at {time / SECOND:g} s")
        self.lay(i, time)

    def earliest(self, i, after=-1) -> int:
        """The first time, in microseconds, at or after `after` at which a job that is out has room."""
        time: cython.longlong = after
        self.check(i)
        if self.start[i] >= 0:
            raise PolicyError(f"job {i} of the plan is in it: take it out first")
        return self.find(i, max(time, self.now))

    def start_of(self, i) -> int:
        """When the job starts by the plan, in microseconds; -1 while it is out."""
        self.check(i)
        return self.start[i]

    def user_of(self, i) -> int:
        """The code of the job's user, -1 for none."""
        self.check(i)
        return self.user[i]

    def end_of_plan(self) -> int:
        """The last start of the plan, in microseconds."""
        return self.last_start()

    def last_start(self):
        i: cython.Py_ssize_t
        last: cython.longlong = self.now
        for i in range(self.size):
            last = max(last, self.start[i])
        return last

    def is_whole(self) -> bool:
        """Whether every job is in the plan."""
        return self.out == 0

    def starts(self) -> np.ndarray:
        """A copy of the starts, in microseconds."""
        return np.array(self.start[: self.size])

    def steps(self) -> list:
        """Free cores over time as the draft stands, as (time, free)."""
        return self.plan.steps()

    def check(self, i):
        if not self.opened:
            raise PolicyError("the plan is not being changed any more")
        if not 0 <= i < self.size:
            raise PolicyError(f"{i} is not the number of a job of the plan, which has {self.size}")
        return 0
