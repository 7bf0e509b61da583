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
from walltime.kernel.ledger.node_space import no_nodes, put_node
from walltime.kernel.ledger.node_starts import Smallest
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.running_profile import RunningProfile
from walltime.policies.place.consecutive import Consecutive

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
WINDOW = cython.declare(cython.longlong, 30 * _SECOND)  # the first
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodeSpace

if not cython.compiled:
    from walltime.kernel.arrays import words

    def __builtin_ctzll(word):
        return (int(word) & -int(word)).bit_length() - 1


@cython.final
@cython.cclass
class WillRun:
    """Asked for one job after the other; after `choose`, `nodes` are those on which the last one would be.

    `step` microseconds are added to the window after each try; 0: it is doubled.
    """

    def __init__(self, ledger: ResourceLedger, step) -> None:
        self.ledger = ledger
        self.step = step
        self.nodes = integers((ledger.n + 31) // 32)
        self.offered = integers(ledger.n)
        self.seen = integers(ledger.n)
        self.stamp = 0
        self.members = []
        self.soonest = Smallest()
        self.neighbours = ledger.place if isinstance(ledger.place, Consecutive) else None
        self.slot = self.shape = self.row = -1
        self.have = self.want = self.ready = self.time = self.lacking = 0

    def when(self, slot, usable, now_only):
        """The first time that is tried and at which these nodes have room for the job; now, or later, or NEVER."""
        time: cython.longlong = self.ledger.now
        self.begin(slot, usable)
        if not self.enough(time):
            time = NEVER if now_only else self.walk()
        self.time = time
        return time

    def bound(self, slot, usable):
        """A time before which these nodes, or some of them, have no room for the job."""
        self.begin(slot, usable)
        return self.ready if self.shaped and self.have < self.want else -1

    def begin(self, slot, usable):
        """How much of what the job wants there is on these nodes now."""
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        ledger.time_nodes()
        self.slot = slot
        self.shape = x
        self.usable = usable
        self.among = self.members_of(ledger.set_of[x])
        self.row = ledger.node_starts.times(ledger.demand_of[x])
        self.shaped = ledger.nodes_of[x] > 0
        self.want = ledger.nodes_of[x] if self.shaped else ledger.cores_of[x]
        self.have = self.lacking = 0
        self.stamp += 1
        self.ready = NEVER
        if self.shaped:
            return self.count_ready()
        return self.sum_offers()

    def members_of(self, s):
        """The nodes of a set, as a set of bits."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while len(self.members) <= s:
            nodes = no_nodes(self.ledger.n)
            for k in range(self.ledger.range_of[len(self.members)], self.ledger.range_of[len(self.members) + 1]):
                for i in range(self.ledger.range_first[k], self.ledger.range_last[k]):
                    put_node(nodes, i)
            self.members.append(nodes)
        return self.members[s]

    def count_ready(self):
        """How many nodes have room now; else `ready` is when they will be enough by number, `lacking` so many of those
        that have room from that very time on."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        word: cython.longlong
        times: cython.p_longlong = words(self.ledger.node_starts.time)
        for w in range(len(self.among)):
            word = self.usable[w] & self.among[w]
            while word != 0:
                i = self.row + w * WORD + __builtin_ctzll(word)
                word &= word - 1
                self.have += times[i] < 0
        if self.have >= self.want:
            self.ready = -1
            return 0
        self.soonest.clear(self.want - self.have)
        for w in range(len(self.among)):
            word = self.usable[w] & self.among[w]
            while word != 0:
                i = self.row + w * WORD + __builtin_ctzll(word)
                word &= word - 1
                if 0 <= times[i] < NEVER and times[i] < self.soonest.worst:
                    self.soonest.put(times[i], i)
        if self.soonest.count == self.soonest.want:
            self.ready = cython.cast(cython.longlong, self.soonest.worst)
            for i in range(self.soonest.count):
                self.lacking += self.soonest.key[i] == self.soonest.worst
        return 0

    def sum_offers(self):
        """How many cores the nodes have for the job now."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        word: cython.longlong
        ledger: ResourceLedger = self.ledger
        ledger.lines.blind = True
        for w in range(len(self.among)):
            word = self.usable[w] & self.among[w]
            while word != 0:
                i = w * WORD + __builtin_ctzll(word)
                word &= word - 1
                self.offered[i] = ledger.lines.offer_at(i, ledger.demand_of[self.shape], -1, ledger.now)
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
        if self.shaped and self.ready >= NEVER:
            return NEVER
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
                if not self.shaped:
                    self.without(profile.cores[e], end)
                elif end == self.ready:
                    self.lacking -= self.count_ended(profile.cores[e], end)
                next = NEVER
                if k + 1 < profile.count[p]:
                    next = profile.time[e + 1]
                elif p + 1 < profile.blocks:
                    next = profile.time[profile.order[p + 1] * BLOCK]
                if not ledger.whole and next <= base + window:
                    continue
                while not ledger.whole and next < NEVER and next > base + window:
                    window = window + self.step if self.step > 0 else 2 * window
                if self.shaped and (end < self.ready or (end == self.ready and self.lacking > 0)):
                    continue  # of jobs that end at the same time, some may be still to come
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

    def count_ended(self, job, end):
        """How many of the running job's nodes have room from its end on, those that others have told of left out."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        ledger: ResourceLedger = self.ledger
        first: cython.Py_ssize_t = ledger.shares.first[job]
        for k in range(first, first + ledger.shares.length[job]):
            i = ledger.shares.at[k] >> 24
            if not self.usable[i >> 5] & self.among[i >> 5] & (cython.cast(cython.longlong, 1) << (i & 31)):
                continue
            if ledger.node_starts.time[self.row + i] == end and self.seen[i] != self.stamp:
                self.seen[i] = self.stamp
                found += 1
        return found

    def without(self, job, end):
        """The running job has ended: what the usable nodes of the set have more for the one that waits."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        offer: cython.longlong
        ledger: ResourceLedger = self.ledger
        time: cython.longlong = end if end > ledger.now else ledger.now + 1
        first: cython.Py_ssize_t = ledger.shares.first[job]
        ledger.lines.blind = True
        for k in range(first, first + ledger.shares.length[job]):
            i = ledger.shares.at[k] >> 24
            if self.usable[i >> 5] & self.among[i >> 5] & (cython.cast(cython.longlong, 1) << (i & 31)):
                offer = ledger.lines.offer_at(i, ledger.demand_of[self.shape], -1, time)
                self.have += offer - self.offered[i]
                self.offered[i] = offer
        ledger.lines.blind = False
        return 0

    def enough(self, time):
        """Whether the job has room at that time, when the running jobs that were left out of the look are gone."""
        ledger: ResourceLedger = self.ledger
        suits: cython.bint = self.have >= self.want
        if self.shaped and not suits:
            suits = self.ready <= time and time > ledger.now
        if not suits or ledger.place.plain or not self.shaped:
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

    def choose(self):
        """`nodes` are those that the job would have at the time that was found."""
        k: cython.Py_ssize_t
        time: cython.longlong = self.time
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape
        pool: NodePool = ledger.pools[ledger.set_of[x]]
        mark: cython.Py_ssize_t = pool.assumed
        for k in range(len(self.nodes)):
            self.nodes[k] = 0
        if self.shaped and self.neighbours is not None:
            self.mark_ready(time)
            pool.clear()
            self.neighbours.pick_marked(pool, self.want, self.nodes)
            return self.mark_chosen(pool)
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
        return self.mark_chosen(pool)

    def mark_ready(self, time):
        """`nodes` are those that have room at that time."""
        w: cython.Py_ssize_t
        bit: cython.Py_ssize_t
        t: cython.longlong
        word: cython.longlong
        latest: cython.longlong = time if time > self.ledger.now else -1
        times: cython.p_longlong = words(self.ledger.node_starts.time)
        for w in range(len(self.among)):
            word = self.usable[w] & self.among[w]
            while word != 0:
                bit = __builtin_ctzll(word)
                word &= word - 1
                t = times[self.row + w * WORD + bit]
                self.nodes[w] |= cython.cast(cython.longlong, t <= latest) << bit
        return 0

    def mark_chosen(self, pool: NodePool):
        """`nodes` are those that the placement has chosen."""
        k: cython.Py_ssize_t
        for k in range(len(self.nodes)):
            self.nodes[k] = 0
        for k in range(pool.chosen):
            put_node(self.nodes, pool.node[k])
        return 0
