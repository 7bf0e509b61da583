"""When and where a job would run on some of the nodes, by the expected ends of what runs: Slurm's look into the future.

Slurm's select plug-in takes the running jobs away in the order of their ends and tries the waiting one again. Where
nodes are shared it does not try after each of them but after all of a window; windows grow, so far ahead a start is
told later than it could be (`bf_window_linear`). Whole nodes are tried after each end.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.node_space import put_node
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
WINDOW = cython.declare(cython.longlong, 30 * _SECOND)  # the first
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile


@cython.final
@cython.cclass
class WillRun:
    """Asked for one job after the other; `nodes` are those on which the last one would be.

    `step` microseconds are added to the window after each try; 0: it is doubled.
    """

    def __init__(self, ledger: ResourceLedger, step) -> None:
        self.ledger = ledger
        self.step = step
        self.nodes = integers((ledger.n + 31) // 32)
        self.seen = integers(ledger.n)
        self.offered = integers(ledger.n)
        self.stamp = 0
        self.slot = self.shape = self.row = -1
        self.have = self.want = 0

    def when(self, slot, usable, now_only):
        """The first time that is tried and at which these nodes have room for the job; now, or later, or NEVER."""
        time: cython.longlong = self.ledger.now
        self.begin(slot, usable)
        if not self.enough(time):
            time = NEVER if now_only else self.walk()
        if time < NEVER:
            self.choose(time)
        return time

    def begin(self, slot, usable):
        """How much of what the job wants there is on these nodes now."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        s: cython.Py_ssize_t = ledger.set_of[x]
        words: cython.longlong[::1] = usable
        times: cython.longlong[::1]
        shaped: cython.bint = ledger.nodes_of[x] > 0
        ledger.time_nodes()
        self.slot = slot
        self.shape = x
        self.usable = usable
        self.row = ledger.node_starts.times(ledger.demand_of[x])
        self.want = ledger.nodes_of[x] if ledger.nodes_of[x] > 0 else ledger.cores_of[x]
        self.have = 0
        self.stamp += 1
        times = ledger.node_starts.time
        ledger.lines.blind = True
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for i in range(ledger.range_first[k], ledger.range_last[k]):
                if not words[i >> 5] >> (i & 31) & 1:
                    continue
                if shaped:
                    self.have += times[self.row + i] < 0
                else:
                    self.offered[i] = ledger.lines.offer_at(i, ledger.demand_of[x], -1, ledger.now)
                    self.have += self.offered[i]
        ledger.lines.blind = False
        return 0

    def walk(self):
        """Take what runs away by expected ends, window by window, until the job has room."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        end: cython.longlong
        next: cython.longlong
        last: cython.longlong = NEVER
        base: cython.longlong = -1
        window: cython.longlong = WINDOW
        ledger: ResourceLedger = self.ledger
        ledger.follow(0)
        profile: RunningProfile = ledger.profiles[0]
        for p in range(profile.blocks):
            for k in range(profile.count[p]):
                e = profile.order[p] * BLOCK + k
                if not self.touches(profile.cores[e]):
                    continue
                end = profile.time[e]
                if base < 0:
                    base = end - end % WINDOW + WINDOW
                last = end if end > ledger.now else ledger.now + SECOND
                self.without(profile.cores[e], end)
                next = NEVER
                if k + 1 < profile.count[p]:
                    next = profile.time[e + 1]
                elif p + 1 < profile.blocks:
                    next = profile.time[profile.order[p + 1] * BLOCK]
                if not ledger.whole and next <= base + window:
                    continue
                while not ledger.whole and next < NEVER and next > base + window:
                    window = window + self.step if self.step > 0 else 2 * window
                if self.enough(last):
                    return last
        return last if last < NEVER and self.enough(last) else NEVER

    def touches(self, job):
        """Whether the running job is on one of the usable nodes."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.ledger.shares.first[job]
        for k in range(first, first + self.ledger.shares.length[job]):
            i = self.ledger.shares.at[k] >> 24
            if self.usable[i >> 5] >> (i & 31) & 1:
                return True
        return False

    def without(self, job, end):
        """The running job has ended: what the usable nodes of the set have more for the one that waits."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        offer: cython.longlong
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape
        member: cython.Py_ssize_t = ledger.set_of[x] * ledger.n
        time: cython.longlong = end if end > ledger.now else ledger.now + 1
        first: cython.Py_ssize_t = ledger.shares.first[job]
        ledger.lines.blind = True
        for k in range(first, first + ledger.shares.length[job]):
            i = ledger.shares.at[k] >> 24
            if not ledger.member[member + i] or not self.usable[i >> 5] >> (i & 31) & 1:
                continue
            if ledger.nodes_of[x] == 0:
                offer = ledger.lines.offer_at(i, ledger.demand_of[x], -1, time)
                self.have += offer - self.offered[i]
                self.offered[i] = offer
            elif ledger.node_starts.time[self.row + i] == end and self.seen[i] != self.stamp:
                self.seen[i] = self.stamp
                self.have += 1
        ledger.lines.blind = False
        return 0

    def enough(self, time):
        """Whether the job has room at that time, when the running jobs that were left out of the look are gone."""
        ledger: ResourceLedger = self.ledger
        suits: cython.bint = self.have >= self.want
        if not suits or ledger.place.plain or ledger.nodes_of[self.shape] == 0:
            return suits
        pool: NodePool = ledger.pools[ledger.set_of[self.shape]]
        mark: cython.Py_ssize_t = pool.assumed
        self.imagine(time, pool)
        suits = ledger.suits(self.shape, pool)
        pool.undo(mark)
        return suits

    def imagine(self, time, pool: NodePool):
        """Assume in the pool what the usable nodes have at that time for the job, by what runs alone."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        t: cython.longlong
        room: cython.longlong
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape
        s: cython.Py_ssize_t = ledger.set_of[x]
        times: cython.longlong[::1] = ledger.node_starts.time
        ledger.lines.blind = True
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for i in range(ledger.range_first[k], ledger.range_last[k]):
                room = 0
                if self.usable[i >> 5] >> (i & 31) & 1:
                    t = times[self.row + i]
                    if ledger.nodes_of[x] == 0:
                        room = ledger.lines.offer_at(i, ledger.demand_of[x], -1, time)
                    elif t < 0 or (t <= time and time > ledger.now):
                        room = max(ledger.lines.left_at(i, time), 0)
                pool.assume(i, room)
        ledger.lines.blind = False
        return 0

    def choose(self, time):
        """`nodes` are those that the job would have at that time."""
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape
        pool: NodePool = ledger.pools[ledger.set_of[x]]
        mark: cython.Py_ssize_t = pool.assumed
        for k in range(len(self.nodes)):
            self.nodes[k] = 0
        self.imagine(time, pool)
        try:
            pool.clear()
            if ledger.nodes_of[x] == 0:
                ledger.place.spread(pool, ledger.cores_of[x], self.slot)
            else:
                least = ledger.lines.each[ledger.demand_of[x] * ledger.lines.kinds]
                ledger.place.pick(pool, ledger.nodes_of[x], least, self.slot)
        finally:
            pool.undo(mark)
        for k in range(pool.chosen):
            put_node(self.nodes, pool.node[k])
        return 0
