"""A plan that is being changed: tried, looked at, kept or undone, on the ledger's own index over time."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable  # noqa: F401 - as in draft.pxd
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.queue.choices import Choices
from walltime.kernel.quotas import Quotas

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Draft:
    """Promised jobs, numbered from 0 in the order of the queue, with starts that can be changed together.

    Everything happens on the ledger's own index over time: a job that is lifted is not entered in it, one that is laid
    is. What has been changed since the last `keep` can be undone. `close` leaves the ledger as it was at `open`,
    `commit` with the starts that were kept (`Pass.adopt`). What the index is, a subclass knows: a number of cores over
    time (`CoreDraft`), or what is kept on each node (`NodeDraft`).
    """

    def __init__(self) -> None:
        self.size = 0
        self.opened = False
        self.across = False
        self.choices = None
        self.quotas = None
        self.touches = self.out = 0
        self.allocate(64)

    def allocate(self, room) -> None:
        self.slot, self.start, self.first, self.before = (integers(room) for _ in range(4))
        self.length, self.cores, self.eligible = integers(room), integers(room), integers(room)
        self.user, self.deadline, self.best = integers(room), integers(room), integers(room)
        self.sequence, self.touched = integers(room), integers(room)
        self.where, self.home, self.was, self.best_where = (integers(room) for _ in range(4))

    def open(self, ledger: Ledger, slots, count):
        """Begin with the promises of these jobs."""
        i: cython.Py_ssize_t
        self.jobs = ledger.jobs
        self.now = ledger.now
        self.capacity = ledger.capacity
        self.make_room(count)
        self.size = count
        for i in range(count):
            self.load(i, slots[i])
        self.touches = self.out = 0
        self.sorted = self.resequenced = self.stuck = False
        self.opened = True
        return 0

    def make_room(self, room):
        """Have room for so many jobs."""
        if len(self.slot) < room:
            self.allocate(2 * room)
        return 0

    def admit(self, slot):
        """One more job, which is out: a guest from another cluster; its number. There must be room for it."""
        i: cython.Py_ssize_t = self.size
        self.load(i, slot)
        self.start[i] = self.first[i] = -1
        self.size += 1
        return i

    def load(self, i, slot):
        self.slot[i] = slot
        self.where[i] = self.home[i] = self.queue_of(slot)
        self.start[i] = self.first[i] = self.jobs.at[slot].promise
        self.before[i] = -1
        self.length[i] = max(self.jobs.at[slot].estimate, 1)
        self.cores[i] = self.jobs.at[slot].cores
        self.eligible[i] = self.jobs.at[slot].eligible
        self.user[i] = self.jobs.at[slot].user
        self.deadline[i] = self.jobs.at[slot].deadline
        return 0

    def changes(self) -> list:
        """The slots of the jobs that have another start, or place, than when the draft was opened, with that start."""
        return [(self.slot[i], self.start[i]) for i in range(self.size) if self.is_changed(i)]

    def is_changed(self, i):
        return self.start[i] != self.first[i] or self.where[i] != self.home[i]

    # ---- what a subclass knows

    def close(self):
        """The ledger is as it was when the draft was opened."""
        raise NotImplementedError(f"{type(self).__name__}.close")

    def commit(self) -> list:
        """Close the draft with the starts that it has: the ledger keeps them. `changes`, as it was before."""
        raise NotImplementedError(f"{type(self).__name__}.commit")

    def give_back(self):
        """All jobs are where they were when the draft was opened."""
        raise NotImplementedError(f"{type(self).__name__}.give_back")

    def find(self, i, after):
        """The first time at or after `after` at which the job, which is out, has room; NEVER if there is none."""
        raise NotImplementedError(f"{type(self).__name__}.find")

    def enter(self, i, start):
        """Enter the job in the index."""
        raise NotImplementedError(f"{type(self).__name__}.enter")

    def enter_again(self, i, start):
        """Enter it where it was before it was touched."""
        return self.enter(i, start)

    def enter_first(self, i):
        """Enter it where it was when the draft was opened."""
        return self.enter(i, self.first[i])

    def enter_best(self, i):
        """Enter it where it was at the last `remember`."""
        return self.enter(i, self.best[i])

    def leave(self, i):
        """Take the job, which is in the index at its start, out of it."""
        raise NotImplementedError(f"{type(self).__name__}.leave")

    def note(self, i):
        """The job, which is in the index, is about to be touched: remember where it is."""
        return 0

    def remember(self):
        """Remember where all jobs are, for `recall`."""
        raise NotImplementedError(f"{type(self).__name__}.remember")

    def recall(self):
        """All jobs go where they were at the last `remember`."""
        raise NotImplementedError(f"{type(self).__name__}.recall")

    def free_area(self, start, end):
        """Cores times microseconds that are free in that time."""
        raise NotImplementedError(f"{type(self).__name__}.free_area")

    # ---- where else it could be: in another queue, or, where the plan is of several clusters, in another of these

    def know(self, choices: Choices, quotas: Quotas):
        """What jobs with a choice of queues may choose from, and the limits that have to admit them there."""
        self.choices = choices
        self.quotas = quotas
        return 0

    def queue_of(self, slot):
        """Which entry of `choices` the job is in; -1 for one without a choice."""
        if self.jobs.at[slot].choice < 0 or self.choices is None:
            return -1
        return self.choices.entry_of(self.jobs, slot)

    def first_option(self, i):
        """The first of the options (queues or clusters) that the job may have."""
        return self.choices.first[self.jobs.at[self.slot[i]].choice] if self.where[i] >= 0 else 0

    def last_option(self, i):
        """One behind the last of them."""
        return self.choices.first[self.jobs.at[self.slot[i]].choice + 1] if self.where[i] >= 0 else 0

    def suits(self, i, option):
        """Whether the job may go there, and counts as one that could be planned there now."""
        return self.quotas is None or self.quotas.refuser_in(self.slot[i], option) < 0

    def settle_in(self, i, option):
        """The job, which is out, is there now."""
        if self.where[i] != option:
            self.where[i] = option
            self.choices.put(self.jobs, self.slot[i], option)
        return 0

    def other_options(self, i):
        """How many other options could take the job."""
        option: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for option in range(self.first_option(i), self.last_option(i)):
            count += option != self.where[i] and self.suits(i, option)
        return count

    def move_to(self, i, k):
        """The job, which is out, goes to the k-th of them; it is still out."""
        option: cython.Py_ssize_t
        left: cython.Py_ssize_t = k
        if self.start[i] >= 0:
            raise PolicyError(f"job {i} of the plan is in it: take it out first")
        for option in range(self.first_option(i), self.last_option(i)):
            if option != self.where[i] and self.suits(i, option):
                if left == 0:
                    return self.settle_in(i, option)
                left -= 1
        raise PolicyError(f"job {i} of the plan has no other place of number {k}")

    # ---- one job

    def touch(self, i):
        """The job is about to be taken out."""
        if self.before[i] < 0:
            self.note(i)
            self.was[i] = self.where[i]
            self.before[i] = self.start[i]
            self.touched[self.touches] = i
            self.touches += 1
        return 0

    def lift(self, i):
        """Take the job out of the plan."""
        self.touch(i)
        return self.remove(i)

    def remove(self, i):
        """The same for a job that has been touched before."""
        self.leave(i)
        self.start[i] = -1
        self.out += 1
        return 0

    def lay(self, i, start):
        """Put it in."""
        self.start[i] = start
        self.out -= 1
        return self.enter(i, start)

    def settle(self, i, after):
        """Put a job that is out into the first gap with room from `after` on. Where there is none, as on a machine that
        is away for ever from some time on, it stays out, and the draft is `stuck` until `undo`."""
        start: cython.longlong = self.find(i, after)
        if start == NEVER:
            self.stuck = True
            return 0
        return self.lay(i, start)

    def shift(self, i, after):
        """The job, which is in, goes to the first gap with room from `after` on, its own place being free for it."""
        self.lift(i)
        return self.settle(i, after)

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
        index: cython.Py_ssize_t = source
        self.check(source)
        self.check(target)
        if self.out > 0:
            raise PolicyError("a job is out of the plan: put it in before others are placed again")
        self.sort()
        i = self.sequence[source]
        while index < target:
            self.sequence[index] = self.sequence[index + 1]
            index += 1
        while index > target:
            self.sequence[index] = self.sequence[index - 1]
            index -= 1
        self.sequence[target] = i
        self.sorted = False
        self.resequenced = True
        return self.place_behind(min(source, target))

    def place_behind(self, position):
        """Place the jobs of the sequence from this position on again, in their order."""
        k: cython.Py_ssize_t
        for k in range(position, self.size):
            self.lift(self.sequence[k])
        for k in range(position, self.size):
            self.settle(self.sequence[k], self.now)
        return 0

    # ---- what has been tried

    def keep(self):
        """What has been changed stays."""
        k: cython.Py_ssize_t
        for k in range(self.touches):
            self.before[self.touched[k]] = -1
        if self.touches > 0:
            self.sorted = False
        self.touches = 0
        self.resequenced = False
        return 0

    def undo(self):
        """All that has been changed since the last `keep` is as it was."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.undo_index()
        for k in range(self.touches):
            i = self.touched[k]
            self.settle_in(i, self.was[i])
            self.start[i] = self.before[i]
            self.before[i] = -1
        if self.resequenced:
            self.sorted = False
        self.touches = self.out = 0
        self.resequenced = self.stuck = False
        return 0

    def undo_index(self):
        """The same of the index alone: job by job."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(self.touches):
            i = self.touched[k]
            if self.start[i] >= 0:
                self.leave(i)
        for k in range(self.touches):
            i = self.touched[k]
            self.settle_in(i, self.was[i])
            self.enter_again(i, self.before[i])
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

    def slots(self) -> list:
        """The slots of the jobs."""
        return [int(self.slot[i]) for i in range(self.size)]

    def starts(self) -> np.ndarray:
        """A copy of the starts, in microseconds."""
        return np.array(self.start[: self.size])

    def check(self, i):
        if not self.opened:
            raise PolicyError("the plan is not being changed any more")
        if not 0 <= i < self.size:
            raise PolicyError(f"{i} is not the number of a job of the plan, which has {self.size}")
        return 0
