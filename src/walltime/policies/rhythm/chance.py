"""From when on a job may get a place in a backfill cycle, by what runs and what is planned so far."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.node_space import NodeSpace
from walltime.policies.rhythm.will_run import WillRun

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)


@cython.final
@cython.cclass
class Chance:
    """Of the jobs of one cycle, asked while places are given.

    A place at a time within an interval of the plan wants so many nodes that have room by then, by what runs, and are
    kept for no job from there to the end. What is planned later takes nodes, and gives none: an interval without them
    has none for the rest of the cycle, neither for this job nor for one that wants the same of each node, as many of
    them and for as long, or more. So the first interval that may do is written down for each kind of job, and the
    search for the next one begins there.
    """

    def __init__(self, space: NodeSpace, look: WillRun, window, resolution) -> None:
        self.space = space
        self.look = look
        self.window = window
        self.resolution = resolution
        self.now = -1
        self.ran = -1  # what ran when this was found:
        self.vague = False  # whether a job may start behind the end of the plan, on nodes that are free long before
        self.kinds = 0
        self.demand = integers(64)
        self.members = integers(64)
        self.queue = integers(64)
        self.nodes = integers(64)
        self.length = integers(64)
        self.time = integers(64)
        self.untils = integers(64)
        self.until = NEVER

    def begin(self, now):
        """A cycle begins."""
        self.now = now
        self.ran = -1
        return 0

    def first(self, slot, queue, length, bound):
        """When the first interval begins in which there may be a place, not before `bound`, by what runs; -1 where that
        is not known, NEVER where there is none: not before `until`, if nothing happens."""
        space: NodeSpace = self.space
        look: WillRun = self.look
        covered: cython.longlong = length - self.resolution - 1  # the end of a place is rounded down
        time: cython.longlong = bound
        k: cython.Py_ssize_t
        look.aim(slot)
        if not look.shaped or covered < 0:
            return -1
        look.list_running()
        if self.ran != look.listed:
            self.forget()
        if self.vague:
            return -1
        k = self.kind_of(queue, length)
        if k >= 0 and self.time[k] >= NEVER:
            self.until = self.untils[k]
            return NEVER
        time = max(self.from_time, bound)
        space.open(queue, min(time, space.close - 1))
        time = NEVER
        while space.at < space.count:
            space.gather(space.begin[space.at] + covered)
            if look.reaches(space.end(space.at) - 1):
                time = space.begin[space.at]
                break
            space.at += 1
        if time >= NEVER:
            self.find_until()
        return self.note(k, queue, length, time)

    def forget(self):
        """What is known is of another time."""
        look: WillRun = self.look
        self.ran = look.listed
        self.kinds = 0
        self.vague = self.now + SECOND >= self.space.close
        self.vague |= look.place_of(self.now + self.window + 1) > look.place_of(self.space.close)
        return 0

    def kind_of(self, queue, length):
        """Where the job's kind is written down, or one that wants no more and has no chance; -1: neither is.
        `from_time` is what others tell of it."""
        k: cython.Py_ssize_t
        found: cython.Py_ssize_t = -1
        look: WillRun = self.look
        demand: cython.longlong = look.ledger.demand_of[look.shape]
        members: cython.longlong = look.ledger.set_of[look.shape]
        self.from_time = self.now
        for k in range(self.kinds):
            if self.demand[k] != demand or self.queue[k] != queue or self.members[k] != members:
                continue
            if self.nodes[k] > look.want or self.length[k] > length:
                continue
            if self.time[k] >= NEVER:
                return k
            self.from_time = max(self.from_time, self.time[k])
            if self.nodes[k] == look.want and self.length[k] == length:
                found = k
        return found

    def find_until(self):
        """There is none on the nodes that the last interval leaves: up to when not?"""
        look: WillRun = self.look
        next: cython.Py_ssize_t = look.place_of(self.now + self.window + 1)
        self.until = look.find_ready() - self.window
        if next < look.running:
            self.until = min(self.until, look.ends[next] - self.window - 1)
        return 0

    def note(self, k, queue, length, time):
        """Write down what was found of the job's kind."""
        look: WillRun = self.look
        if k < 0:
            k = self.kinds
            self.kinds += 1
            if k == len(self.time):
                self.demand, self.members, self.queue = doubled(self.demand), doubled(self.members), doubled(self.queue)
                self.nodes, self.length, self.time = doubled(self.nodes), doubled(self.length), doubled(self.time)
                self.untils = doubled(self.untils)
            self.demand[k] = look.ledger.demand_of[look.shape]
            self.members[k] = look.ledger.set_of[look.shape]
            self.queue[k] = queue
            self.nodes[k] = look.want
            self.length[k] = length
        self.time[k] = time
        self.untils[k] = self.until
        return time
