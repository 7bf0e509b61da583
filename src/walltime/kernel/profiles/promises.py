"""Waiting jobs that have been promised a start: by number of cores, estimate and promise."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.profiles.sorted_jobs import SortedJobs, before
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)
LAST = cython.declare(cython.longlong, (1 << 63) - 1)  # behind every key


@cython.final
@cython.cclass
class SameCores:
    """The promised jobs of one number of cores that stand in one tier of the queue."""

    def __init__(self, cores, tier) -> None:
        self.cores = cores
        self.tier = tier
        self.by_length = SortedJobs()
        self.by_promise = SortedJobs()
        self.found = -1
        self.found_key = self.found_seq = 0
        self.earlier = False

    def find(self, start, end, risen, key, seq):
        """Which jobs can use the free run from `start` to `end`: promised a start behind `risen`, and either short
        enough for it, or promised a start by its end.

        `found` becomes the first of them that stands behind the place (key, seq), or -1; `earlier` whether one stands
        before it.
        """
        self.found = -1
        self.found_key = self.found_seq = LAST
        self.earlier = False
        if not self.by_length.empty():
            self.find_short(end - start, risen, key, seq)
            if self.by_promise.first() <= end and self.by_promise.last() > risen:
                self.find_near(end, risen, key, seq)
        return 0

    def find_short(self, length, risen, key, seq):
        """Those with an estimate of at most `length`."""
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        jobs: SortedJobs = self.by_length
        for p in range(jobs.blocks):
            if jobs.heads[p].first_number > length:
                break
            if jobs.heads[p].latest <= risen:
                continue
            if not before(jobs.heads[p].least_key, jobs.heads[p].least_seq, self.found_key, self.found_seq) and (
                self.earlier or before(key, seq, jobs.heads[p].least_key, jobs.heads[p].least_seq)
            ):
                continue
            for i in range(jobs.heads[p].base, jobs.heads[p].base + jobs.heads[p].count):
                if jobs.rows[i].number > length:
                    break
                if jobs.rows[i].promise > risen:
                    self.take(jobs, i, key, seq)
        return 0

    def find_near(self, end, risen, key, seq):
        """Those promised a start behind `risen` and by `end`."""
        jobs: SortedJobs = self.by_promise
        p: cython.Py_ssize_t = jobs.block_of(risen + 1, -1)
        i: cython.Py_ssize_t = jobs.place_in(p, risen + 1, -1)
        while p < jobs.blocks:
            while i < jobs.heads[p].base + jobs.heads[p].count:
                if jobs.rows[i].number > end:
                    return 0
                self.take(jobs, i, key, seq)
                i += 1
            p += 1
            if p < jobs.blocks:
                i = jobs.heads[p].base
        return 0

    def take(self, jobs: SortedJobs, i, key, seq):
        """The job at this place can use the run."""
        if before(key, seq, jobs.rows[i].key, jobs.rows[i].seq):
            if before(jobs.rows[i].key, jobs.rows[i].seq, self.found_key, self.found_seq):
                self.found = jobs.rows[i].slot
                self.found_key = jobs.rows[i].key
                self.found_seq = jobs.rows[i].seq
        elif before(jobs.rows[i].key, jobs.rows[i].seq, key, seq):
            self.earlier = True
        return 0


@cython.cclass
class Promises:
    """The waiting jobs with a promise, of a queue in which they keep their places.

    Jobs of the same cores in one tier are of one *kind*. The kinds that have jobs are *active*: sorted by cores and
    tier, each with its least estimate, its first and its last promise.
    """

    def __init__(self, jobs: JobTable, queue: Queue) -> None:
        self.jobs = jobs
        self.queue = queue
        self.size = 0
        self.kinds = []
        self.numbers = {}
        self.kind_of = integers(64, -1)
        self.active = 0
        self.cores = integers(16)
        self.tier = integers(16)
        self.kind = integers(16)
        self.least = integers(16)
        self.soonest = integers(16)
        self.latest = integers(16)

    def enter(self, slot):
        """The job has a promise now."""
        kind: SameCores
        k: cython.Py_ssize_t
        tier: cython.longlong = self.queue.tier(slot)
        cores: cython.longlong = self.jobs.at[slot].cores
        promise: cython.longlong = self.jobs.at[slot].promise
        key: cython.longlong = self.jobs.at[slot].key
        seq: cython.longlong = self.jobs.at[slot].seq
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        while slot >= len(self.kind_of):
            self.widen()
        found = self.numbers.get((cores, tier))
        k = self.define(cores, tier) if found is None else found
        kind = cython.cast(SameCores, self.kinds[k])
        if kind.by_length.empty():
            self.activate(k, kind)
        kind.by_length.insert(length, slot, promise, key, seq)
        kind.by_promise.insert(promise, slot, promise, key, seq)
        self.kind_of[slot] = k
        self.size += 1
        return self.sum_up(kind)

    def leave(self, slot, promise):
        """The job has no promise any more; it was this."""
        kind: SameCores
        if slot >= len(self.kind_of) or self.kind_of[slot] < 0:
            return 0
        kind = cython.cast(SameCores, self.kinds[self.kind_of[slot]])
        self.kind_of[slot] = -1
        self.size -= 1
        kind.by_length.remove(max(self.jobs.at[slot].estimate, 1), slot)
        kind.by_promise.remove(promise, slot)
        return self.sum_up(kind)

    def moved(self, slot, promise):
        """The job's promise was this; it has another one."""
        kind: SameCores
        key: cython.longlong = self.jobs.at[slot].key
        seq: cython.longlong = self.jobs.at[slot].seq
        if slot >= len(self.kind_of) or self.kind_of[slot] < 0:
            return 0
        kind = cython.cast(SameCores, self.kinds[self.kind_of[slot]])
        kind.by_length.promise_again(max(self.jobs.at[slot].estimate, 1), slot, self.jobs.at[slot].promise)
        kind.by_promise.remove(promise, slot)
        kind.by_promise.insert(self.jobs.at[slot].promise, slot, self.jobs.at[slot].promise, key, seq)
        return self.sum_up(kind)

    def due(self, now, slots):
        """Write the jobs promised a start by `now`, in the order of the queue, to `slots`; how many there are."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t
        jobs: SortedJobs
        for i in range(self.active):
            if self.soonest[i] > now:
                continue
            jobs = cython.cast(SameCores, self.kinds[self.kind[i]]).by_promise
            for p in range(jobs.blocks):
                for k in range(jobs.heads[p].base, jobs.heads[p].base + jobs.heads[p].count):
                    if jobs.rows[k].number > now:
                        break
                    at = n
                    while at > 0 and self.queue.precedes(jobs.rows[k].slot, slots[at - 1]):
                        slots[at] = slots[at - 1]
                        at -= 1
                    slots[at] = jobs.rows[k].slot
                    n += 1
                if jobs.heads[p].first_number > now:
                    break
        return n

    def next_promise(self, now):
        """The first promise after `now`, or NEVER."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        jobs: SortedJobs
        first: cython.longlong = NEVER
        for i in range(self.active):
            if self.soonest[i] > now:
                first = min(first, self.soonest[i])
            elif self.latest[i] > now:  # a job that is due could not start
                jobs = cython.cast(SameCores, self.kinds[self.kind[i]]).by_promise
                p = jobs.block_of(now + 1, -1)
                k = jobs.place_in(p, now + 1, -1)
                if k < jobs.heads[p].base + jobs.heads[p].count:
                    first = min(first, jobs.rows[k].number)
                else:
                    first = min(first, jobs.heads[p + 1].first_number)
        return first

    # ---- inside

    def define(self, cores, tier):
        """The number of a new kind of jobs."""
        self.numbers[cores, tier] = len(self.kinds)
        self.kinds.append(SameCores(cores, tier))
        return len(self.kinds) - 1

    def widen(self):
        """Room for more slots."""
        kind_of = integers(2 * len(self.kind_of), -1)
        kind_of[: len(self.kind_of)] = self.kind_of
        self.kind_of = kind_of
        return 0

    def place_of(self, cores, tier):
        """How many active kinds come before this one, by cores and tier."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.active
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if before(self.cores[middle], self.tier[middle], cores, tier):
                low = middle + 1
            else:
                high = middle
        return low

    def activate(self, k, kind: SameCores):
        """The kind has its first job."""
        i: cython.Py_ssize_t = self.active
        place: cython.Py_ssize_t = self.place_of(kind.cores, kind.tier)
        if self.active == len(self.cores):
            self.cores = doubled(self.cores)
            self.tier = doubled(self.tier)
            self.kind = doubled(self.kind)
            self.least = doubled(self.least)
            self.soonest = doubled(self.soonest)
            self.latest = doubled(self.latest)
        while i > place:
            self.rename(i, i - 1)
            i -= 1
        self.active += 1
        self.cores[place] = kind.cores
        self.tier[place] = kind.tier
        self.kind[place] = k
        return 0

    def rename(self, to, source):
        self.cores[to] = self.cores[source]
        self.tier[to] = self.tier[source]
        self.kind[to] = self.kind[source]
        self.least[to] = self.least[source]
        self.soonest[to] = self.soonest[source]
        self.latest[to] = self.latest[source]
        return 0

    def sum_up(self, kind: SameCores):
        """The kind's jobs have changed."""
        i: cython.Py_ssize_t = self.place_of(kind.cores, kind.tier)
        if kind.by_length.empty():
            self.active -= 1
            while i < self.active:
                self.rename(i, i + 1)
                i += 1
            return 0
        self.least[i] = kind.by_length.first()
        self.soonest[i] = kind.by_promise.first()
        self.latest[i] = kind.by_promise.last()
        return 0
