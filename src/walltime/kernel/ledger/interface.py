"""What is free, now and later: the interface that policies know."""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.queue.bounds import Bounds
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Ledger(Bounds):
    """Resources as slots of a job table ask for them; a job's duration is its `estimate`, its end `expected_end`.

    A *hold* reserves what a job needs from a time on, for its estimate. `fits` respects every hold but the job's own.
    `free`, `window` and `extra` are scalar bounds for the queue's index: a job that fits has cores <= extra, or
    cores <= free and an estimate <= window, and in any case an estimate <= longest. They are necessary; whether they
    suffice is for `fits` to say. A hold of a slot that is *pinned* stays when all others are released.
    """

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Bounds.__init__(self)
        self.jobs = jobs
        self.index = index  # of the cluster whose resources these are
        self.now = 0
        self.size = capacity  # in full health
        self.capacity = capacity
        self.free = capacity
        self.window = NEVER
        self.extra = capacity
        self.longest = NEVER
        self.closing = NEVER  # how long until all of it is shut
        self.pins = 0  # pinned holds so far: from the first on `release_holds` looks at each
        self.early = 0
        self.on_nodes = False  # whether there are some, so that `describe` tells something
        self.domain = -1  # the domain of the holds that `release_holds` drops; -1: all

    def focus(self, node_set, local):
        self.most_free = self.free
        self.most_extra = self.extra
        self.most_window = self.window
        return 0

    def focus_beside(self, node_set, slot):
        """Let `most_free` be what is free of these nodes (-1: of all), `most_extra` what of it is left when the job's
        hold begins, beside that and others of that time, and `most_window` how long that is. No mere bounds."""
        raise NotImplementedError(f"{type(self).__name__}.focus_beside")

    def shut(self, blocker, nodes, until):
        """The blocker has these nodes (where there are none: its cores), whatever is there, from now to `until`."""
        raise NotImplementedError(f"{type(self).__name__}.shut")

    def keep_shut(self, blocker, nodes, start, end):
        """The blocker will have them from `start` to `end`: a pinned hold."""
        raise NotImplementedError(f"{type(self).__name__}.keep_shut")

    def pin(self, slot, start) -> None:
        """A hold for the job that is not dropped until it starts or leaves."""
        self.pins += 1
        self.jobs.at[slot].pinned = 1
        self.hold(slot, start)

    def confine(self, nodes):
        """Until `lift`, jobs fit and are placed on these nodes only, given by number."""
        raise PolicyError("nodes are named, but the cluster is a plain number of cores")

    def lift(self):
        """Jobs fit and are placed on all nodes again."""
        return 0

    def where(self, slot) -> list:
        """Where the running job is: what `put_back` needs to have it there again."""
        return []

    def put_back(self, slot, where):
        """The job is where it was, until its expected end."""
        raise NotImplementedError(f"{type(self).__name__}.put_back")

    def has_room(self, slot, where, until) -> bool:
        """Whether the job could be there from now to `until`, beside pinned holds."""
        raise NotImplementedError(f"{type(self).__name__}.has_room")

    def possible(self, slot):
        """Whether the job could ever run here, on an empty machine in full health."""
        raise NotImplementedError(f"{type(self).__name__}.possible")

    def fits(self, slot):
        """Whether the job may start now, and hold its resources for its estimate, without touching a hold."""
        raise NotImplementedError(f"{type(self).__name__}.fits")

    def take(self, slot):
        """The job gets its resources until its `expected_end`; its own hold is gone."""
        raise NotImplementedError(f"{type(self).__name__}.take")

    def give(self, slot):
        """The job gives its resources back, now."""
        raise NotImplementedError(f"{type(self).__name__}.give")

    def give_node(self, slot, node):
        """The running job gives back what it has on one of its nodes, now; it keeps another at least."""
        raise NotImplementedError(f"{type(self).__name__}.give_node")

    def prolong(self, slot, until):
        """The running job's expected end moves to `until`."""
        raise NotImplementedError(f"{type(self).__name__}.prolong")

    def earliest(self, slot, after):
        """The first time at or after `after` from which the job fits for its estimate, or NEVER."""
        raise NotImplementedError(f"{type(self).__name__}.earliest")

    def best_gap(self, slot):
        """The start of the gap that the job fills best: of those that have room for it the one of which the least time
        is left, the earliest of equal ones; or NEVER. What lasts for ever is the last resort."""
        raise NotImplementedError(f"{type(self).__name__}.best_gap")

    def hold(self, slot, start):
        """Reserve the job's resources from `start` for its estimate; replaces its earlier hold."""
        raise NotImplementedError(f"{type(self).__name__}.hold")

    def unhold(self, slot):
        """Drop the job's hold, if it has one."""
        raise NotImplementedError(f"{type(self).__name__}.unhold")

    def loosen(self, slot):
        """The job is about to be planned again: let its own hold not stand in its way."""
        return self.unhold(slot)

    def suppose(self, trial):
        """From now on, or no more, what is taken away will be put back as it was."""
        return 0

    def release_holds(self):
        """Drop every hold that is not pinned, or, of a ledger with node sets, those of the jobs of `domain` where it is
        not -1."""
        raise NotImplementedError(f"{type(self).__name__}.release_holds")

    def holds_only(self, slot):
        """Whether the only hold is of this job, and one that is better changed than made again."""
        return False

    def keeps_number(self, slot):
        """The same of one that keeps a number of cores on nodes."""
        return False

    def advance(self, slot):
        """Move the job's hold to the earliest time at which it fits, never later than it is; its start."""
        start: cython.longlong = self.jobs.at[slot].promise
        time: cython.longlong
        if start <= self.now and not self.fits(slot):  # amid an instant: some jobs ending at it are still in its place
            return start
        self.unhold(slot)
        time = self.earliest(slot, self.now)
        if time > start:
            time = start
        self.hold(slot, time)
        self.jobs.at[slot].promise = time
        return time

    # ---- promises that move forward: what becomes free tells whose

    def track(self, queue: Queue):
        """From now on know which promises of the waiting jobs of this queue can move; whether the ledger can. Without a
        queue: not any more.

        The jobs must keep their places in the queue. Only a ledger that keeps track is asked for what comes next.
        """
        return False

    def begin_moves(self):
        """Let the waiting jobs look, one by one in the order of the queue, at what has become free."""
        raise NotImplementedError(f"{type(self).__name__}.begin_moves")

    def mover(self):
        """The next job whose promise may move, or -1. Every job that can move is told; `advance` decides."""
        raise NotImplementedError(f"{type(self).__name__}.mover")

    def promises(self):
        """How many waiting jobs have a promise."""
        raise NotImplementedError(f"{type(self).__name__}.promises")

    def due(self, slots):
        """Write the jobs whose time has come, in the order of the queue, to `slots`; how many there are."""
        raise NotImplementedError(f"{type(self).__name__}.due")

    def next_promise(self):
        """The first promise after this moment, or NEVER."""
        raise NotImplementedError(f"{type(self).__name__}.next_promise")

    def set_time(self, now):
        """The clock moved; called before each pass."""
        self.now = now
        return 0

    def foresee(self, free_profile: FreeProfile):
        """Write down what will be free when as one number, where that tells all that a plan has to know; whether so.
        The holds, none of which is pinned, are left aside."""
        return False

    def units(self, slot):
        """What the job asks for in the units of the free_profile."""
        return self.jobs.at[slot].cores

    def refuse(self, cores, nodes, per_node) -> str:
        """Why a request that is not `possible` can never run here, for a person."""
        return "more cores than the cluster has"

    def need(self, slot):
        """Cores that the job takes up: those of whole nodes, where it has them for itself."""
        return self.jobs.at[slot].cores

    def describe(self, slot):
        """How many entries of `ranges` now tell on which nodes the job is; 0 where there are no nodes."""
        return 0
