"""When and where a job would run on some of the nodes, by the expected ends of what runs: Slurm's look into the future.

Slurm's select plug-in takes the running jobs away in the order of their ends and tries the waiting one again. Where
nodes are shared it does not try after each of them but after all of a window; windows grow, so far ahead a start is
told later than it could be (`bf_window_linear`). Whole nodes are tried after each end.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_space import no_nodes, put_node
from walltime.kernel.profiles.running_profile import RunningProfile
from walltime.policies.place.consecutive import Consecutive
from walltime.policies.rhythm.soonest import Soonest

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
WINDOW = cython.declare(cython.longlong, 30 * _SECOND)  # the first
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodeSpace

if not cython.compiled:

    def __builtin_ctzll(word):
        return (int(word) & -int(word)).bit_length() - 1


@cython.final
@cython.cclass
class WillRun:
    """Asked for one job after the other; after `choose`, `nodes` are those on which the last one would be.

    `step` microseconds are added to the window after each try; 0: it is doubled. `usable` are the nodes on which it
    is asked for, a set that others fill; `mine` those of them that the job may have.
    """

    def __init__(self, ledger: ResourceLedger, step, usable) -> None:
        self.ledger = ledger
        self.step = step
        self.usable = usable
        self.words = len(usable)
        self.mine = integers(self.words)
        self.nodes = integers(self.words)
        self.soonest = Soonest(ledger.node_starts, ledger.n)
        self.listed = -1  # what ran when the running jobs were listed: their ends in order, and which they are
        self.ends = integers(64)
        self.runners = integers(64)
        self.running = 0
        self.offered = integers(ledger.n)
        self.seen = integers(ledger.n)
        self.stamp = 0
        self.sets = 0
        self.members = integers(self.words)
        self.slot = self.shape = self.row = -1
        self.among = 0
        self.have = self.want = self.ready = self.time = self.lacking = 0

    def aim(self, slot):
        """The job that the questions are about."""
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        self.slot = slot
        self.shape = x
        self.among = self.members_of(ledger.set_of[x])
        self.shaped = ledger.nodes_of[x] > 0
        self.want = ledger.nodes_of[x] if self.shaped else ledger.cores_of[x]
        if self.shaped:
            self.row = self.soonest.row(ledger.demand_of[x])
        return 0

    def reaches(self, time):
        """Whether enough of the usable nodes have room for the job by that time, be it each for itself."""
        self.narrow()
        return not self.shaped or self.soonest.reaches(self.row, self.mine, time, self.want)

    def find_ready(self):
        """When enough of the nodes that were last asked about have room for the job, be it each for itself."""
        return self.soonest.find(self.row, self.mine, self.want)

    def when(self, now_only):
        """The first time that is tried and at which the usable nodes have room for it; now, or later, or NEVER."""
        time: cython.longlong = self.ledger.now
        self.begin()
        if not self.enough(time):
            time = NEVER
            if not now_only:
                time = self.stride() if self.shaped and self.ledger.place.plain else self.walk()
        self.time = time
        return time

    def bound(self, nodes, own):
        """A time before which these nodes, or some of them, have no room for the job."""
        w: cython.Py_ssize_t
        for w in range(self.words):
            self.mine[w] = nodes[own + w] & self.members[self.among + w]
        if not self.shaped or self.soonest.reaches(self.row, self.mine, -1, self.want):
            return -1
        return self.soonest.find(self.row, self.mine, self.want)

    def has_room(self, nodes):
        """Whether enough of these nodes have room for the job now by what runs, be it each for itself; True where that
        is not known by the number of nodes."""
        return not self.shaped or self.reaches_on(nodes, -1)

    def comes_free(self, nodes):
        """Whether enough of these nodes have room one day; False where that is not known."""
        return self.shaped and self.reaches_on(nodes, NEVER - 1)

    def reaches_on(self, nodes, time):
        w: cython.Py_ssize_t
        for w in range(self.words):
            self.mine[w] = nodes[w] & self.members[self.among + w]
        return self.soonest.reaches(self.row, self.mine, time, self.want)

    def narrow(self):
        w: cython.Py_ssize_t
        for w in range(self.words):
            self.mine[w] = self.usable[w] & self.members[self.among + w]
        return 0

    def begin(self):
        """How much of what the job wants there is on the usable nodes now. Else `ready` is when the nodes will be
        enough by number, `lacking` so many of those that have room from that very time on."""
        self.narrow()
        self.have = self.lacking = 0
        self.stamp += 1
        self.ready = NEVER
        if not self.shaped:
            return self.sum_offers()
        self.have = self.soonest.count(self.row, self.mine, self.soonest.before(self.row, -1))
        self.ready = -1
        if self.have < self.want:
            self.ready = self.soonest.find(self.row, self.mine, self.want)
            self.lacking = self.want - self.soonest.earlier
        return 0

    def members_of(self, s):
        """Where in `members` the nodes of a set are, as a set of bits."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while self.sets <= s:
            nodes = no_nodes(self.ledger.n)
            for k in range(self.ledger.range_of[self.sets], self.ledger.range_of[self.sets + 1]):
                for i in range(self.ledger.range_first[k], self.ledger.range_last[k]):
                    put_node(nodes, i)
            while len(self.members) < (self.sets + 1) * self.words:
                self.members = doubled(self.members)
            for k in range(self.words):
                self.members[self.sets * self.words + k] = nodes[k]
            self.sets += 1
        return s * self.words

    def sum_offers(self):
        """How many cores the nodes have for the job now."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        word: cython.longlong
        ledger: ResourceLedger = self.ledger
        ledger.timelines.blind = True
        for w in range(self.words):
            word = self.mine[w]
            while word != 0:
                i = w * WORD + __builtin_ctzll(word)
                word &= word - 1
                self.offered[i] = ledger.timelines.offer_at(i, ledger.demand_of[self.shape], -1, ledger.now)
                self.have += self.offered[i]
        ledger.timelines.blind = False
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
            for k in range(profile.heads[p].count):
                e = profile.heads[p].base + k
                if not self.touches(profile.rows[e].slot):
                    continue
                end = profile.rows[e].time
                if base < 0:
                    base = end - end % WINDOW + WINDOW
                last = end if end > ledger.now else ledger.now + SECOND
                if not self.shaped:
                    self.without(profile.rows[e].slot, end)
                elif end == self.ready:
                    self.lacking -= self.count_ended(profile.rows[e].slot, end)
                next = NEVER
                if k + 1 < profile.heads[p].count:
                    next = profile.rows[e + 1].time
                elif p + 1 < profile.blocks:
                    next = profile.rows[profile.heads[p + 1].base].time
                if not ledger.whole and next <= base + window:
                    continue
                while not ledger.whole and next < NEVER and next > base + window:
                    window = window + self.step if self.step > 0 else 2 * window
                if self.shaped and (end < self.ready or (end == self.ready and self.lacking > 0)):
                    continue  # of jobs that end at the same time, some may be still to come
                if self.enough(last):
                    return last
        return last if last < NEVER and self.enough(last) else NEVER

    def stride(self):
        """As `walk` does, for a job to which nothing matters but how many nodes have room: of the ends before that,
        only the first counts, at which the windows begin, and the last, up to which they have grown."""
        e: cython.Py_ssize_t
        first: cython.Py_ssize_t
        end: cython.longlong
        next: cython.longlong
        base: cython.longlong
        last: cython.longlong = NEVER
        window: cython.longlong = WINDOW
        whole: cython.bint = self.ledger.whole
        if self.ready >= NEVER:
            return NEVER
        self.list_running()
        first = 0
        while first < self.running and not self.touches(self.runners[first]):
            first += 1
        if first == self.running:
            return NEVER
        base = self.ends[first] - self.ends[first] % WINDOW + WINDOW
        e = self.place_of(self.ready) - 1
        while e >= first and not self.touches(self.runners[e]):
            e -= 1
        if e >= first and e + 1 < self.running:
            window = self.widened(window, base, self.ends[e + 1])
        for e in range(max(first, self.place_of(self.ready)), self.running):
            if not self.touches(self.runners[e]):
                continue
            end = self.ends[e]
            last = end if end > self.ledger.now else self.ledger.now + SECOND
            if end == self.ready:
                self.lacking -= self.count_ended(self.runners[e], end)
            next = self.ends[e + 1] if e + 1 < self.running else NEVER
            if not whole and next <= base + window:
                continue
            if next < NEVER:
                window = self.widened(window, base, next)
            if end > self.ready or self.lacking <= 0:
                return last
        return last

    def widened(self, window, base, time):
        """The window after tries up to that time."""
        while base + window < time:
            window = window + self.step if self.step > 0 else 2 * window
        return window

    def list_running(self):
        """What runs, in the order of the expected ends."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        if self.listed == self.ledger.node_starts.written:
            return 0
        self.listed = self.ledger.node_starts.written
        self.running = 0
        self.ledger.follow(0)
        profile: RunningProfile = self.ledger.profiles[0]
        while profile.blocks * profile.size > len(self.ends):
            self.ends = doubled(self.ends)
            self.runners = doubled(self.runners)
        for p in range(profile.blocks):
            for k in range(profile.heads[p].count):
                e = profile.heads[p].base + k
                self.ends[self.running] = profile.rows[e].time
                self.runners[self.running] = profile.rows[e].slot
                self.running += 1
        return 0

    def place_of(self, time):
        """How many of them are expected to end before that time."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.running
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.ends[middle] < time:
                low = middle + 1
            else:
                high = middle
        return low

    def touches(self, job):
        """Whether the running job is on one of the usable nodes."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        shares: cython.p_longlong = self.ledger.shares.of(job)
        for k in range(self.ledger.shares.count(job)):
            i = shares[k] >> 24
            if self.usable[i >> 5] >> (i & 31) & 1:
                return True
        return False

    def count_ended(self, job, end):
        """How many of the running job's nodes have room from its end on, those that others have told of left out."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        ledger: ResourceLedger = self.ledger
        shares: cython.p_longlong = ledger.shares.of(job)
        for k in range(ledger.shares.count(job)):
            i = shares[k] >> 24
            if not self.mine[i >> 5] >> (i & 31) & 1:
                continue
            if ledger.node_starts.time[self.row * ledger.n + i] == end and self.seen[i] != self.stamp:
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
        shares: cython.p_longlong = ledger.shares.of(job)
        ledger.timelines.blind = True
        for k in range(ledger.shares.count(job)):
            i = shares[k] >> 24
            if self.mine[i >> 5] >> (i & 31) & 1:
                offer = ledger.timelines.offer_at(i, ledger.demand_of[self.shape], -1, time)
                self.have += offer - self.offered[i]
                self.offered[i] = offer
        ledger.timelines.blind = False
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
        ledger.timelines.blind = True
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for i in range(ledger.range_first[k], ledger.range_last[k]):
                room = 0
                if self.usable[i >> 5] >> (i & 31) & 1:
                    t = times[self.row * ledger.n + i] if self.shaped else 0
                    if ledger.nodes_of[x] == 0:
                        room = ledger.timelines.offer_at(i, ledger.demand_of[x], -1, time)
                    elif t < 0 or (t <= time and time > ledger.now):
                        room = max(ledger.timelines.left_at(i, time), 0)
                pool.assume(i, room)
        ledger.timelines.blind = False
        return 0

    def choose(self):
        """`nodes` are those that the job would have at the time that was found."""
        time: cython.longlong = self.time
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape
        pool: NodePool = ledger.pools[ledger.set_of[x]]
        mark: cython.Py_ssize_t = pool.assumed
        place: Place = ledger.place.of(self.slot)
        if self.shaped and isinstance(place, Consecutive):
            neighbours: Consecutive = place
            self.soonest.mark(self.row, self.mine, time if time > ledger.now else -1, self.nodes)
            return neighbours.pick_marked(self.want, self.nodes)
        self.imagine(time, pool)
        before: cython.Py_ssize_t = place.position()
        try:
            pool.clear()
            if ledger.nodes_of[x] == 0:
                place.spread(pool, ledger.cores_of[x], self.slot)
            else:
                least = ledger.timelines.each[ledger.demand_of[x] * ledger.timelines.kinds]
                place.pick(pool, ledger.nodes_of[x], least, self.slot)
        finally:
            pool.undo(mark)
            place.go_back(before)
        return self.mark_chosen(pool)

    def mark_chosen(self, pool: NodePool):
        """`nodes` are those that the placement has chosen."""
        k: cython.Py_ssize_t
        for k in range(len(self.nodes)):
            self.nodes[k] = 0
        for k in range(pool.chosen):
            put_node(self.nodes, pool.node[k])
        return 0
