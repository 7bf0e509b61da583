"""What runs on each node until when, and what is kept there for whom: several resources over time."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)
END = cython.declare(cython.Py_ssize_t, 0)  # a running job's expected end, its slot, and its amounts from there on
SLOT = cython.declare(cython.Py_ssize_t, 1)
AMOUNTS = cython.declare(cython.Py_ssize_t, 2)


@cython.final
@cython.cclass
class Timelines:
    """Nodes with so much of each kind of resource (kind 0 are cores), their running jobs by expected end, their holds.

    A *demand* is what one node must have: an amount of each kind, perhaps on a node where nothing else is (`alone`).
    A job without a shape has a demand for each of its cores. What a cluster has as a whole is a node with one kind.

    A running job counts until its expected end, and `now` as long as it is there: who is to end at this very instant,
    or should have ended before, is taken to be gone a microsecond later. A question names a slot whose own hold does
    not count; while `blind` no hold does.
    """

    def __init__(self, capacity) -> None:
        table = np.ascontiguousarray(capacity, np.int64)
        self.n, self.kinds = table.shape
        self.now = 0
        self.full = table.reshape(-1).copy()
        self.cap = table.reshape(-1).copy()
        self.used = integers(self.n * self.kinds)
        self.demands = 0
        self.numbers = {}
        self.each = integers(16 * self.kinds)
        self.alone = integers(16)
        self.bare = integers(16)
        self.simple = integers(16)
        self.width = AMOUNTS + self.kinds
        self.count = integers(self.n)
        self.room = integers(self.n)
        self.base = integers(self.n, -1)
        self.tasks = integers(1024 * self.width)
        self.end = 0
        self.spare = integers(64, -1)
        self.blind = False
        self.kept_on = integers(self.n, -1)
        self.kept_by = integers(64)
        self.kept_node = integers(64)
        self.kept_start = integers(64)
        self.kept_end = integers(64)
        self.kept_barred = integers(64)
        self.kept_beside = integers(64)
        self.kept_next = np.append(np.arange(1, 64), -1)
        self.kept_amounts = integers(64 * self.kinds)
        self.kept_spare = 0
        self.sum = integers(self.kinds)
        self.demand((1,) + (0,) * (self.kinds - 1), False)  # number 0: a core

    def demand(self, each, alone):
        """The number of a demand; the same for equal ones."""
        r: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demands
        key = (each, alone)
        if key in self.numbers:
            return self.numbers[key]
        if d == len(self.alone):
            self.each = doubled(self.each)
            self.alone = doubled(self.alone)
            self.bare = doubled(self.bare)
            self.simple = doubled(self.simple)
        for r in range(self.kinds):
            self.each[d * self.kinds + r] = each[r]
        self.alone[d] = alone
        self.bare[d] = not any(each[1:])
        self.simple[d] = not alone and self.bare[d]
        self.numbers[key] = d
        self.demands += 1
        return d

    # ---- running jobs

    def start(self, i, slot, end, cores, d, times):
        """The job is on the node until `end`, with so many cores, and of the rest `times` the demand's amounts."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        k: cython.Py_ssize_t = self.kinds
        if self.count[i] == self.room[i]:
            self.widen(i)
        tasks: cython.longlong[::1] = self.tasks
        stop: cython.Py_ssize_t = self.base[i]
        p: cython.Py_ssize_t = stop + self.count[i] * w
        while p > stop and tasks[p - w] > end:
            for r in range(w):
                tasks[p + r] = tasks[p - w + r]
            p -= w
        tasks[p + END] = end
        tasks[p + SLOT] = slot
        tasks[p + AMOUNTS] = cores
        self.used[i * k] += cores
        for r in range(1, k):
            tasks[p + AMOUNTS + r] = times * self.each[d * k + r]
            self.used[i * k + r] += tasks[p + AMOUNTS + r]
        self.count[i] += 1
        return 0

    def stop(self, i, slot, end):
        """The job that was to be on the node until `end` is there no more."""
        p: cython.Py_ssize_t = self.find(i, slot, end)
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        tasks: cython.longlong[::1] = self.tasks
        last: cython.Py_ssize_t = self.base[i] + (self.count[i] - 1) * w
        for r in range(self.kinds):
            self.used[i * self.kinds + r] -= tasks[p + AMOUNTS + r]
        while p < last:
            for r in range(w):
                tasks[p + r] = tasks[p + w + r]
            p += w
        self.count[i] -= 1
        return 0

    def move(self, i, slot, end, until):
        """The job is to be on the node until `until`, not `end`."""
        p: cython.Py_ssize_t = self.find(i, slot, end)
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        tasks: cython.longlong[::1] = self.tasks
        first: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = first + (self.count[i] - 1) * w
        tasks[p] = until
        while p < last and tasks[p + w] < tasks[p]:
            for r in range(w):
                tasks[p + r], tasks[p + w + r] = tasks[p + w + r], tasks[p + r]
            p += w
        while p > first and tasks[p - w] > tasks[p]:
            for r in range(w):
                tasks[p + r], tasks[p - w + r] = tasks[p - w + r], tasks[p + r]
            p -= w
        return 0

    def find(self, i, slot, end):
        """Where the job is among those of the node."""
        w: cython.Py_ssize_t = self.width
        base: cython.Py_ssize_t = self.base[i]
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.count[i]
        mid: cython.Py_ssize_t
        while low < high:
            mid = (low + high) >> 1
            if self.tasks[base + mid * w] < end:
                low = mid + 1
            else:
                high = mid
        while low < self.count[i] and self.tasks[base + low * w] == end:
            if self.tasks[base + low * w + SLOT] == slot:
                return base + low * w
            low += 1
        raise EngineError(f"no job {slot} on node {i} that is to end at {end}")

    def slots_on(self, i) -> list:
        """Everybody who is on the node."""
        out = []
        k: cython.Py_ssize_t
        node: cython.Py_ssize_t = i
        for k in range(self.count[node]):
            out.append(self.tasks[self.base[node] + k * self.width + SLOT])
        return out

    def widen(self, i):
        """Room for twice as many jobs on the node: a block of a power of two, a spare one where there is one."""
        k: cython.Py_ssize_t = 0
        old: cython.Py_ssize_t = self.base[i]
        size: cython.Py_ssize_t = self.room[i] * 2 if self.room[i] > 0 else 4
        new: cython.Py_ssize_t
        p: cython.Py_ssize_t
        while (1 << k) < size:
            k += 1
        if self.spare[k] >= 0:
            new = self.spare[k]
            self.spare[k] = self.tasks[new]
        else:
            while self.end + size * self.width > len(self.tasks):
                self.tasks = doubled(self.tasks)
            new = self.end
            self.end += size * self.width
        if old >= 0:
            for p in range(self.count[i] * self.width):
                self.tasks[new + p] = self.tasks[old + p]
            self.tasks[old] = self.spare[k - 1]
            self.spare[k - 1] = old
        self.base[i] = new
        self.room[i] = size
        return 0

    # ---- holds

    def keep(self, beyond, i, slot, start, end, cores, d, times):
        """One more entry of the job's hold, put before the entry `beyond`; its number."""
        r: cython.Py_ssize_t
        e: cython.longlong = self.kept_spare
        if e < 0:
            e = len(self.kept_node)
            self.kept_by = doubled(self.kept_by)
            self.kept_node = doubled(self.kept_node)
            self.kept_start = doubled(self.kept_start)
            self.kept_end = doubled(self.kept_end)
            self.kept_barred = doubled(self.kept_barred)
            self.kept_beside = doubled(self.kept_beside)
            self.kept_amounts = doubled(self.kept_amounts)
            self.kept_next = np.concatenate([self.kept_next, np.arange(e + 1, 2 * e), [-1]])
        self.kept_spare = self.kept_next[e]
        self.kept_by[e] = slot
        self.kept_node[e] = i
        self.kept_start[e] = start
        self.kept_end[e] = end
        self.kept_barred[e] = 0
        self.kept_amounts[e * self.kinds] = cores
        for r in range(1, self.kinds):
            self.kept_amounts[e * self.kinds + r] = times * self.each[d * self.kinds + r]
        self.kept_next[e] = beyond
        self.kept_beside[e] = self.kept_on[i]
        self.kept_on[i] = e
        return e

    def forget(self, e, stop=-1):
        """Drop the entries of a hold from this one on, up to but without `stop`."""
        next: cython.longlong
        f: cython.longlong
        i: cython.Py_ssize_t
        while e != stop and e >= 0:
            next = self.kept_next[e]
            i = self.kept_node[e]
            if self.kept_on[i] == e:
                self.kept_on[i] = self.kept_beside[e]
            else:
                f = self.kept_on[i]
                while self.kept_beside[f] != e:
                    f = self.kept_beside[f]
                self.kept_beside[f] = self.kept_beside[e]
            self.kept_next[e] = self.kept_spare
            self.kept_spare = e
            e = next
        return 0

    # ---- questions

    def large(self, i, d):
        """Whether the node, empty, has as much as the demand."""
        r: cython.Py_ssize_t
        for r in range(self.kinds):  # noqa: SIM110, a generator is slow
            if self.each[d * self.kinds + r] > self.cap[i * self.kinds + r]:
                return False
        return True

    def load(self, i, slot, time):
        """`sum` is what is in use and kept on the node at that time; by how many."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        e: cython.longlong = -1 if self.blind else self.kept_on[i]
        there: cython.longlong = self.count[i]
        for r in range(k):
            self.sum[r] = self.used[i * k + r]
        if time > self.now:
            while p < last and self.tasks[p] <= time:
                for r in range(k):
                    self.sum[r] -= self.tasks[p + AMOUNTS + r]
                there -= 1
                p += self.width
        while e >= 0:
            if self.kept_start[e] <= time < self.kept_end[e] and self.kept_by[e] != slot:
                for r in range(k):
                    self.sum[r] += self.kept_amounts[e * k + r]
                there += 1
            e = self.kept_beside[e]
        return there

    def room_at(self, i, d, slot, time):
        """Whether the node has room for the demand at that time."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        need: cython.longlong
        there: cython.longlong = self.load(i, slot, time)
        if self.alone[d]:
            return there == 0 and self.large(i, d)
        for r in range(k):
            need = self.each[d * k + r]
            if need > 0 and need > self.cap[i * k + r] - self.sum[r]:
                return False
        return True

    def offer_at(self, i, d, slot, time):
        """How many times the node has room for the demand at that time."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        need: cython.longlong
        free: cython.longlong
        there: cython.longlong = self.load(i, slot, time)
        least: cython.longlong = NEVER
        if self.alone[d] and there > 0:
            return 0
        for r in range(k):
            need = self.each[d * k + r]
            if need > 0:
                free = self.cap[i * k + r] - self.sum[r]
                if free < need:
                    return 0
                if need > 1:
                    free //= need
                if free < least:
                    least = free
        return least

    def clear(self, i, d, slot, start, end):
        """Whether the node has room for the demand from `start` to `end`: room shrinks only where a hold begins."""
        e: cython.longlong = -1 if self.blind else self.kept_on[i]
        if not self.room_at(i, d, slot, start):
            return False
        while e >= 0:
            if (
                start < self.kept_start[e] < end
                and self.kept_by[e] != slot
                and not self.room_at(i, d, slot, self.kept_start[e])
            ):
                return False
            e = self.kept_beside[e]
        return True

    def offer(self, i, d, slot, start, end):
        """How many times the node has room for the demand from `start` to `end`."""
        e: cython.longlong = -1 if self.blind else self.kept_on[i]
        least: cython.longlong = self.offer_at(i, d, slot, start)
        other: cython.longlong
        while e >= 0 and least > 0:
            if start < self.kept_start[e] < end and self.kept_by[e] != slot:
                other = self.offer_at(i, d, slot, self.kept_start[e])
                if other < least:
                    least = other
            e = self.kept_beside[e]
        return least

    def left_at(self, i, time):
        """Cores that running jobs leave free on the node at that time; below zero where they have too many."""
        k: cython.Py_ssize_t = self.kinds
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        left: cython.longlong = self.cap[i * k] - self.used[i * k]
        while p < last and self.tasks[p] <= time and time > self.now:
            left += self.tasks[p + AMOUNTS]
            p += self.width
        return left

    def kept_at(self, i, slot, time):
        """Cores that are kept on the node at that time for others than this job."""
        sum: cython.longlong = 0
        e: cython.longlong = self.kept_on[i]
        while e >= 0:
            if self.kept_start[e] <= time < self.kept_end[e] and self.kept_by[e] != slot:
                sum += self.kept_amounts[e * self.kinds]
            e = self.kept_beside[e]
        return sum

    def first_time(self, i, d):
        """The first expected end from which the node has room by its running jobs alone; -1 where it has at once."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        need: cython.longlong
        missing: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        if not self.large(i, d):
            return NEVER
        if self.alone[d]:
            return self.tasks[last - self.width] if self.count[i] > 0 else -1
        for r in range(k):
            need = self.each[d * k + r]
            self.sum[r] = need - (self.cap[i * k + r] - self.used[i * k + r]) if need > 0 else 0
            if self.sum[r] > 0:
                missing += 1
        if missing == 0:
            return -1
        while p < last:
            for r in range(k):
                if self.sum[r] > 0:
                    self.sum[r] -= self.tasks[p + AMOUNTS + r]
                    if self.sum[r] <= 0:
                        missing -= 1
            if missing == 0:
                return self.tasks[p]
            p += self.width
        return NEVER

    def first_clear(self, i, d, slot, after, length):
        """The first time from `after` on from which the node has room for so long, or NEVER."""
        time: cython.longlong = self.first_time(i, d)
        if 0 <= time <= self.now:
            time = self.now + 1
        if time < after:
            time = after
        while time < NEVER and not self.clear(i, d, slot, time, time + length):
            time = self.next_change(i, slot, time)
        return time

    def next_change(self, i, slot, time):
        """When next after `time` the node may have more room: an expected end, or the end of a hold."""
        found: cython.longlong = NEVER
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        e: cython.longlong = self.kept_on[i]
        while p < last and self.tasks[p] <= time:
            p += self.width
        if p < last:
            found = self.tasks[p]
        if time <= self.now and self.count[i] > 0 and self.tasks[self.base[i]] <= self.now:
            found = self.now + 1
        while e >= 0:
            if time < self.kept_end[e] < found and self.kept_by[e] != slot:
                found = self.kept_end[e]
            e = self.kept_beside[e]
        return found
