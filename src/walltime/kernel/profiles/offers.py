"""Which promises can move forward: told by what has become free, not by a look at each of them.

A job with c cores, estimate q and promise p can move if and only if some run [l, r), a longest interval in which at
least c cores are free, has p > l, and p <= r or q <= r - l; l is then the earliest start in that run. Where free cores
rise, each run that contains a point which the rise lifted to c or beyond is *offered* to the jobs of c cores. The
argument that this misses no move: docs/background/conservative.md.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.promises import Promises, SameCores
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)
LAST = cython.declare(cython.longlong, (1 << 63) - 1)  # behind every key
FIRST = cython.declare(cython.longlong, -LAST - 1)  # before every key


@cython.final
@cython.cclass
class Offers(Promises):
    """The waiting jobs with a promise in a plan of cores, and the runs that have been offered to them.

    Between passes every offer is kept. In a pass the jobs take them up in the order of the queue: `begin`, then `next`
    until it tells -1. What the move of a job leaves free is offered to those behind it in the same pass, and kept for
    those before it.
    """

    def __init__(self, jobs: JobTable, plan: Availability, queue: Queue) -> None:
        Promises.__init__(self, jobs, queue)
        self.plan = plan
        self.now = 0
        self.rises = 0
        self.stamp = integers(64)
        self.done = integers(64)
        self.start = integers(64)
        self.end = integers(64)
        self.of = integers(64)
        self.made = 0
        self.unused = integers(64)
        self.unuseds = 0
        self.kept = integers(64)
        self.keeps = 0
        self.mine = integers(64)
        self.mines = 0
        self.heaps = []
        self.passing = False
        self.mover = -1
        self.mover_key = self.mover_seq = self.mover_tier = 0
        self.target = 0

    # ---- what has become free

    def rise(self, start, end, cores):
        """So many cores more have become free from `start` to `end`: offer the runs that are new."""
        plan: Availability = self.plan
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        time: cython.longlong = start
        if start >= end or self.size == 0:
            return 0
        self.rises += 1
        while len(self.stamp) < self.active:
            self.stamp = doubled(self.stamp)
            self.done = doubled(self.done)
        plan.seek(start)
        p = plan.p
        k = plan.k
        while True:
            self.rise_step(p, k, time, cores)
            time = plan.step_end(p, k)
            if time >= end:
                return 0
            k += 1
            if k == plan.heads[p].count:
                p += 1
                k = 0

    def rise_step(self, p, k, risen, cores):
        """The same for one step of the plan. The runs of fewer and fewer cores around it lie in each other, so one walk
        outwards finds them all."""
        plan: Availability = self.plan
        free: cython.longlong = plan.rows[plan.heads[p].base + k].free + plan.heads[p].bias
        i: cython.Py_ssize_t = self.place_of(free + 1, 0)
        start: cython.longlong
        end: cython.longlong
        plan.stand(p, k)
        while i > 0 and self.cores[i - 1] > free - cores:
            i -= 1
            if risen >= self.latest[i] or (self.stamp[i] == self.rises and self.done[i] > risen):
                continue  # they all start before, or have been offered this run
            start = plan.left(self.cores[i], self.now)
            end = plan.right(self.cores[i])
            self.stamp[i] = self.rises
            self.done[i] = end
            if self.soonest[i] <= end or self.least[i] <= end - start:
                self.offer(self.kind[i], start, end, risen)
        return 0

    def offer(self, k, start, end, risen):
        """A job that is promised a start by `risen`, the first point of the run that is new, cannot profit from it."""
        kind: SameCores
        if not self.passing:
            return self.keep(self.note(k, start, end))
        kind = cython.cast(SameCores, self.kinds[k])
        self.find(kind, start, end, risen)
        if kind.found >= 0:
            self.push(kind, self.note(k, start, end))
        if kind.earlier:
            self.keep(self.note(k, start, end))
        return 0

    def offer_everything(self):
        """Offer all that is free to all jobs: where promises were not made at the earliest time."""
        i: cython.Py_ssize_t
        for i in range(self.active):
            self.keep(self.note(self.kind[i], self.now, NEVER))
        return 0

    # ---- a pass

    def begin(self):
        """Find the first job for each offer that was kept."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.keeps
        self.keeps = self.mines = 0
        if self.passing:  # the last pass was not finished
            self.heaps = []
            self.offer_everything()
            n = self.keeps
            self.keeps = 0
        self.passing = True
        self.mover_tier = self.mover_key = self.mover_seq = FIRST
        for i in range(n):
            self.again(self.kept[i])
        return 0

    def next(self):
        """The next job that can move, or -1; `target` is the earliest time for it."""
        heap: EventHeap
        slot: cython.Py_ssize_t
        promise: cython.longlong
        while True:
            self.pass_on()
            heap = self.first_heap()
            if heap is None:
                self.passing = False
                self.mover = -1
                return -1
            self.collect(heap)
            slot = self.mover
            promise = self.jobs.at[slot].promise
            self.target = self.search(slot, promise)
            if self.target < promise:
                return slot

    def first_heap(self):
        """The offers of the first tier that has some."""
        heap: EventHeap
        for heap in self.heaps:
            if heap.size > 0:
                return heap
        return None

    def collect(self, heap: EventHeap):
        """Take all offers for the first job, which becomes the mover."""
        heap.pop()
        self.mover = heap.stamp
        self.mover_key = heap.time
        self.mover_seq = heap.seq
        self.mover_tier = self.queue.tier(self.mover)
        while True:
            if self.mines == len(self.mine):
                self.mine = doubled(self.mine)
            self.mine[self.mines] = heap.slot
            self.mines += 1
            if heap.size == 0 or heap.first_seq() != self.mover_seq or heap.first != self.mover_key:
                return 0
            heap.pop()

    def search(self, slot, promise):
        """The earliest time to which the offers at hand, as far as they are still free, let the job move."""
        i: cython.Py_ssize_t
        plan: Availability = self.plan
        best: cython.longlong = promise
        cores: cython.longlong = self.jobs.at[slot].cores
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        for i in range(self.mines):
            if max(self.start[self.mine[i]], self.now) >= best:
                continue
            plan.seek_pieces(max(self.start[self.mine[i]], self.now))
            while plan.next_piece(cores, self.end[self.mine[i]]) and plan.piece_start < best:
                if promise <= plan.piece_end or length <= plan.piece_end - plan.piece_start:
                    best = plan.piece_start
                    break
        return best

    def pass_on(self):
        """What is left of the mover's offers goes to the next job behind it. One that could have moved, but did not,
        has them again in the next pass."""
        i: cython.Py_ssize_t
        offer: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.mines
        self.mines = 0
        for i in range(n):
            offer = self.mine[i]
            if self.jobs.at[self.mover].promise > self.target:
                self.keep(self.note(self.of[offer], self.start[offer], self.end[offer]))
            self.again(offer)
        return 0

    def again(self, offer):
        """Offer what is still free to the first job behind the mover that can use it."""
        plan: Availability = self.plan
        k: cython.Py_ssize_t = self.of[offer]
        kind: SameCores = cython.cast(SameCores, self.kinds[k])
        end: cython.longlong = self.end[offer]
        start: cython.longlong = max(self.start[offer], self.now)
        if self.unuseds == len(self.unused):
            self.unused = doubled(self.unused)
        self.unused[self.unuseds] = offer
        self.unuseds += 1
        if start >= end or kind.by_length.empty():
            return 0
        plan.seek_pieces(start)
        while plan.next_piece(kind.cores, end):
            start = plan.piece_start
            self.find(kind, start, plan.piece_end, start)
            if kind.found >= 0:
                self.push(kind, self.note(k, start, plan.piece_end))
        return 0

    def find(self, kind: SameCores, start, end, risen):
        """Ask for the jobs of this kind behind and before the mover that can use the run."""
        if kind.tier == self.mover_tier:
            return kind.find(start, end, risen, self.mover_key, self.mover_seq)
        if kind.tier > self.mover_tier:
            return kind.find(start, end, risen, FIRST, FIRST)
        return kind.find(start, end, risen, LAST, LAST)

    def push(self, kind: SameCores, offer):
        """Have the offer taken up when it is the turn of the job that was found."""
        heap: EventHeap
        while len(self.heaps) <= kind.tier:
            self.heaps.append(EventHeap())
        heap = cython.cast(EventHeap, self.heaps[kind.tier])
        return heap.push(kind.found_key, kind.found_seq, offer, kind.found)

    # ---- inside

    def note(self, k, start, end):
        """A new offer."""
        offer: cython.Py_ssize_t
        if self.unuseds > 0:
            self.unuseds -= 1
            offer = self.unused[self.unuseds]
        else:
            if self.made == len(self.start):
                self.start = doubled(self.start)
                self.end = doubled(self.end)
                self.of = doubled(self.of)
            offer = self.made
            self.made += 1
        self.start[offer] = start
        self.end[offer] = end
        self.of[offer] = k
        return offer

    def keep(self, offer):
        """The offer is for the next pass."""
        if self.keeps == len(self.kept):
            self.kept = doubled(self.kept)
        self.kept[self.keeps] = offer
        self.keeps += 1
        return 0
