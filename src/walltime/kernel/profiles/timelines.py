"""What runs on each node until when, and what is kept there for which job: several resources over time."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.blocks import Blocks
from walltime.kernel.profiles.kept import KeptSteps
from walltime.kernel.profiles.remembered import EasedNodes

NEVER = cython.declare(cython.longlong, _NEVER)
END = cython.declare(cython.Py_ssize_t, 0)  # a running job's expected end, its slot, and its amounts from there on
SLOT = cython.declare(cython.Py_ssize_t, 1)
AMOUNTS = cython.declare(cython.Py_ssize_t, 2)
THERE = cython.declare(cython.Py_ssize_t, 2)  # of a step of what is kept: how many entries, and their amounts
KEPT = cython.declare(cython.Py_ssize_t, 3)
EASED = cython.declare(cython.Py_ssize_t, 4096)  # so many changes are remembered: a power of two
LESS_KEPT = cython.declare(cython.Py_ssize_t, 1)  # as in EasedNodes
NO_SLOT = cython.declare(cython.Py_ssize_t, -2)  # no question names this slot

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.final
@cython.cclass
class Timelines(Blocks):
    """Nodes with so much of each kind of resource (kind 0 are cores), their running jobs by expected end, their holds.

    A *demand* is what one node must have: an amount of each kind, perhaps on a node where nothing else is (`alone`).
    A job without a shape has a demand for each of its cores. What a cluster has as a whole is a node with one kind.

    A running job counts until its expected end, and `now` as long as it is there: one that is to end at this very
    instant, or should have ended before, is taken to be gone a microsecond later. A question names a slot whose own
    hold does not count; while `blind` no hold does.

    What is kept on a node becomes steps when something is asked about the node: many plans are made, and taken back,
    without a question about most nodes.
    """

    def __init__(self, capacity) -> None:
        table = np.ascontiguousarray(capacity, np.int64)
        self.n, self.kinds = table.shape
        super().__init__(self.n, AMOUNTS + self.kinds, 1024)  # a row for each running job, in order of expected ends
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
        self.kept_first = integers(64, -1)
        self.kept = KeptSteps(self.n, self.kinds)
        self.kept_laid = integers(self.n, -1)
        self.laying = integers(64)
        self.eased = integers(EASED)
        self.eases = 0
        self.quiet = False
        self.noted = False
        self.since = EasedNodes(self.n)
        self.aside = NO_SLOT
        self.asides = 0
        self.aside_mark = integers(self.n)
        self.aside_entry = integers(self.n)
        self.sum = integers(self.kinds)
        self.there = 0
        self.task = self.last_task = self.step = self.following = self.last_step = 0
        self.own = -1
        self.until = 0
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

    # ---- for a person and for parts in Python

    def amounts(self) -> np.ndarray:
        """What each node has, a row for each node and a column for each kind, as a copy."""
        return np.array(self.full, np.float64).reshape(self.n, self.kinds)

    def left_now(self) -> np.ndarray:
        """The same of what is in use by no job and in order."""
        left = np.array(self.cap) - np.asarray(self.used)
        return np.maximum(left, 0).astype(np.float64).reshape(self.n, self.kinds)

    def wanted(self, d) -> list:
        """What a demand wants of each kind."""
        return [int(self.each[d * self.kinds + r]) for r in range(self.kinds)]

    # ---- running jobs

    def start(self, i, slot, end, cores, d, times):
        """The job is on the node until `end`, with so many cores, and of the rest `times` the demand's amounts."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        k: cython.Py_ssize_t = self.kinds
        if self.count[i] == self.room[i]:
            self.widen(i)
        tasks: cython.p_longlong = words(self.rows)
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
        tasks: cython.p_longlong = words(self.rows)
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
        tasks: cython.p_longlong = words(self.rows)
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
            if self.rows[base + mid * w] < end:
                low = mid + 1
            else:
                high = mid
        while low < self.count[i] and self.rows[base + low * w] == end:
            if self.rows[base + low * w + SLOT] == slot:
                return base + low * w
            low += 1
        raise EngineError(f"no job {slot} on node {i} that is to end at {end}")

    def slots_on(self, i) -> list:
        """All jobs on the node."""
        out = []
        k: cython.Py_ssize_t
        node: cython.Py_ssize_t = i
        for k in range(self.count[node]):
            out.append(self.rows[self.base[node] + k * self.width + SLOT])
        return out

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
            self.laying = doubled(self.laying)
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
        while slot >= len(self.kept_first):
            self.kept_first = np.concatenate([self.kept_first, integers(len(self.kept_first), -1)])
        self.kept_first[slot] = e
        if slot == self.aside:
            self.aside = NO_SLOT
        return e

    def lay_steps(self, i):
        """Put what is kept on the node into its steps, if it is not there yet: in the order in which it came."""
        k: cython.Py_ssize_t = 0
        e: cython.longlong = self.kept_on[i]
        while e != self.kept_laid[i]:
            self.laying[k] = e
            k += 1
            e = self.kept_beside[e]
        while k > 0:
            k -= 1
            e = self.laying[k]
            self.kept.add(i, self.kept_start[e], self.kept_end[e], self.kept_amounts, e * self.kinds)
        self.kept_laid[i] = self.kept_on[i]
        return 0

    def shift(self, e, start, end):
        """The entry is kept at another time."""
        i: cython.Py_ssize_t = self.kept_node[e]
        self.ease(i)
        self.lay_steps(i)
        self.kept.remove(i, self.kept_start[e], self.kept_end[e], self.kept_amounts, e * self.kinds)
        self.kept_start[e] = start
        self.kept_end[e] = end
        self.kept.add(i, start, end, self.kept_amounts, e * self.kinds)
        return 0

    def forget(self, e, stop=-1):
        """Drop the entries of a hold from this one on, up to but without `stop`."""
        next: cython.longlong
        i: cython.Py_ssize_t
        if e != stop and e >= 0:
            self.kept_first[self.kept_by[e]] = stop
            if self.kept_by[e] == self.aside:
                self.aside = NO_SLOT
        while e != stop and e >= 0:
            next = self.kept_next[e]
            i = self.kept_node[e]
            if not self.quiet:
                self.ease(i)
            if self.kept_on[i] == e and self.kept_laid[i] != e:  # the last to come, and not in the steps yet
                self.kept_on[i] = self.kept_beside[e]
            else:
                self.take_off(i, e)
            self.kept_next[e] = self.kept_spare
            self.kept_spare = e
            e = next
        return 0

    def take_off(self, i, e):
        """The entry is not among those of the node any more, nor in its steps."""
        f: cython.longlong
        self.lay_steps(i)
        self.kept.remove(i, self.kept_start[e], self.kept_end[e], self.kept_amounts, e * self.kinds)
        if self.kept_on[i] == e:
            self.kept_on[i] = self.kept_beside[e]
        else:
            f = self.kept_on[i]
            while self.kept_beside[f] != e:
                f = self.kept_beside[f]
            self.kept_beside[f] = self.kept_beside[e]
        self.kept_laid[i] = self.kept_on[i]
        return 0

    def forget_all(self):
        """Drop the entries of all holds: of any node something may have become free."""
        i: cython.Py_ssize_t
        e: cython.Py_ssize_t
        last: cython.Py_ssize_t = len(self.kept_node) - 1
        for e in range(last + 1):  # all are spare, in order: those of a hold will lie one behind the other
            self.kept_first[self.kept_by[e]] = -1
            self.kept_next[e] = e + 1
        self.kept_next[last] = -1
        self.kept_spare = 0
        for i in range(self.n):
            self.kept_on[i] = self.kept_laid[i] = -1
            self.kept.count[i] = 0
        self.aside = NO_SLOT
        self.eases += EASED + 1  # more than are remembered
        return 0

    def ease(self, i):
        """Other jobs run on the node than before, or less is kept there."""
        self.eased[self.eases & (EASED - 1)] = i
        self.eases += 1
        if self.noted:
            self.since.put(i, LESS_KEPT)
        return 0

    # ---- questions

    def large(self, i, d):
        """Whether the node, empty, has as much as the demand."""
        r: cython.Py_ssize_t
        for r in range(self.kinds):  # noqa: SIM110, a generator is slow
            if self.each[d * self.kinds + r] > self.cap[i * self.kinds + r]:
                return False
        return True

    def leave_aside(self, slot):
        """From now on the job's own hold does not count."""
        e: cython.longlong
        if slot == self.aside:
            return 0
        self.aside = slot
        self.asides += 1
        e = self.kept_first[slot] if 0 <= slot < len(self.kept_first) else -1
        while e >= 0:
            self.aside_mark[self.kept_node[e]] = self.asides
            self.aside_entry[self.kept_node[e]] = e
            e = self.kept_next[e]
        return 0

    def stand(self, i, slot, time):
        """Stand at that time on the node: `sum` and `there` are of the jobs that run then, `step` is of what is kept.

        `release` and `next_step` go on from there.
        """
        r: cython.Py_ssize_t
        for r in range(self.kinds):
            self.sum[r] = self.used[i * self.kinds + r]
        self.there = self.count[i]
        self.task = self.base[i]
        self.last_task = self.task + self.count[i] * self.width
        self.release(time)
        self.own = self.step = -1
        self.following = self.last_step = 0
        if self.kept_on[i] >= 0 and not self.blind:
            if self.kept_on[i] != self.kept_laid[i]:
                self.lay_steps(i)
            self.leave_aside(slot)
            if self.aside_mark[i] == self.asides:
                self.own = self.aside_entry[i]
            self.step = self.kept.find(i, time)
            self.last_step = self.kept.base[i] + self.kept.count[i] * self.kept.width
            self.following = self.step + self.kept.width if self.step >= 0 else self.kept.base[i]
        return 0

    def release(self, time):
        """The jobs whose ends are expected by that time run no more."""
        r: cython.Py_ssize_t
        if time > self.now:
            if self.task < self.last_task and self.rows[self.last_task - self.width] <= time:  # none of them does
                for r in range(self.kinds):
                    self.sum[r] = 0
                self.there = 0
                self.task = self.last_task
                return 0
            while self.task < self.last_task and self.rows[self.task] <= time:
                for r in range(self.kinds):
                    self.sum[r] -= self.rows[self.task + AMOUNTS + r]
                self.there -= 1
                self.task += self.width
        return 0

    def next_step(self):
        """When the next step of what is kept begins, or NEVER."""
        return self.kept.rows[self.following] if self.following < self.last_step else NEVER

    def go_on(self, time):
        """Go on to that time, at most to the next step."""
        self.release(time)
        if self.following < self.last_step and self.kept.rows[self.following] == time:
            self.step = self.following
            self.following += self.kept.width
        return 0

    def counts_own(self, time):
        """Whether the job's own hold is part of the step at that time."""
        return self.own >= 0 and self.kept_start[self.own] <= time < self.kept_end[self.own]

    def free_of(self, i, r, own):
        """What is left of a resource where we stand."""
        left: cython.longlong = self.cap[i * self.kinds + r] - self.sum[r]
        if self.step >= 0:
            left -= self.kept.rows[self.step + KEPT + r]
            if own:
                left += self.kept_amounts[self.own * self.kinds + r]
        return left

    def has_room(self, i, d, time):
        """Whether the node has room for the demand where we stand, which is at that time."""
        r: cython.Py_ssize_t
        need: cython.longlong
        own: cython.bint = self.counts_own(time)
        if self.alone[d]:
            there: cython.longlong = self.there - own
            if self.step >= 0:
                there += self.kept.rows[self.step + THERE]
            return there == 0 and self.large(i, d)
        for r in range(self.kinds):
            need = self.each[d * self.kinds + r]
            if need > 0 and need > self.free_of(i, r, own):
                return False
        return True

    def has_now(self, i, d):
        """Whether the running jobs leave room for the demand at this moment."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        need: cython.longlong
        if self.alone[d]:
            return self.count[i] == 0 and self.large(i, d)
        for r in range(k):
            need = self.each[d * k + r]
            if need > 0 and need > self.cap[i * k + r] - self.used[i * k + r]:
                return False
        return True

    def has_times(self, i, d, time):
        """How many times the node has room for the demand where we stand."""
        r: cython.Py_ssize_t
        need: cython.longlong
        free: cython.longlong
        least: cython.longlong = NEVER
        own: cython.bint = self.counts_own(time)
        if self.alone[d]:
            there: cython.longlong = self.there - own
            if self.step >= 0:
                there += self.kept.rows[self.step + THERE]
            if there > 0:
                return 0
        for r in range(self.kinds):
            need = self.each[d * self.kinds + r]
            if need > 0:
                free = self.free_of(i, r, own)
                if free < need:
                    return 0
                if need > 1:
                    free //= need
                if free < least:
                    least = free
        return least

    def offer_at(self, i, d, slot, time):
        """How many times the node has room for the demand at that time."""
        self.stand(i, slot, time)
        return self.has_times(i, d, time)

    def clear(self, i, d, slot, start, end):
        """Whether the node has room for the demand from `start` to `end`: room shrinks only where a hold begins."""
        time: cython.longlong
        if start <= self.now and (self.kept_on[i] < 0 or self.blind):
            return self.has_now(i, d)
        self.stand(i, slot, start)
        if not self.has_room(i, d, start):
            return False
        time = self.next_step()
        while time < end:
            self.go_on(time)
            if not self.has_room(i, d, time):
                return False
            time = self.next_step()
        return True

    def offer(self, i, d, slot, start, end):
        """How many times the node has room for the demand from `start` to `end`."""
        time: cython.longlong
        least: cython.longlong
        self.stand(i, slot, start)
        least = self.has_times(i, d, start)
        time = self.next_step()
        while time < end and least > 0:
            self.go_on(time)
            least = min(least, self.has_times(i, d, time))
            time = self.next_step()
        return least

    def offer_long(self, i, d, slot, start, end):
        """As `offer`; and `until` says up to when no start is offered more.

        It is not offered more than at any time of its window: so not before something ends behind the last time with
        the least.
        """
        time: cython.longlong
        times: cython.longlong
        least: cython.longlong
        self.stand(i, slot, start)
        least = self.has_times(i, d, start)
        self.until = self.next_rise()
        time = self.next_step()
        while time < end and least > 0:
            self.go_on(time)
            times = self.has_times(i, d, time)
            if times <= least:
                least = times
                self.until = self.next_rise()
            time = self.next_step()
        return least

    def next_rise(self):
        """A time up to which, from where we stand, nothing ends: neither a job nor what is kept."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.kept.width
        p: cython.Py_ssize_t = self.step
        next: cython.Py_ssize_t = self.following
        found: cython.longlong = NEVER
        if self.task < self.last_task:
            found = max(self.rows[self.task], self.now + 1)
        while next < self.last_step and self.kept.rows[next] < found:
            if self.own >= 0 and self.kept.rows[next] == self.kept_start[self.own]:
                return self.kept.rows[next]  # what begins there does not count, and hides what ends
            for r in range(THERE, w if p >= 0 else 0):
                if self.kept.rows[next + r] < self.kept.rows[p + r]:
                    return self.kept.rows[next]
            p = next
            next += w
        return found

    def keeps(self, i, slot, start, end):
        """Whether something is kept on the node for others than this job between `start` and `end`."""
        p: cython.Py_ssize_t
        last: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.kept.width
        own: cython.longlong = -1
        there: cython.longlong
        if self.kept_on[i] < 0:
            return False
        self.lay_steps(i)
        self.leave_aside(slot)
        if self.aside_mark[i] == self.asides:
            own = self.aside_entry[i]
        last = self.kept.base[i] + self.kept.count[i] * w
        p = self.kept.find(i, start)
        if p < 0:
            p = self.kept.base[i]
        while p < last and self.kept.rows[p] < end:
            there = self.kept.rows[p + THERE]
            if own >= 0 and self.kept_start[own] <= self.kept.rows[p] < self.kept_end[own]:
                there -= 1
            if there > 0:
                return True
            p += w
        return False

    def left_at(self, i, time):
        """Cores that running jobs leave free on the node at that time; below zero where they have too many."""
        k: cython.Py_ssize_t = self.kinds
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        left: cython.longlong = self.cap[i * k] - self.used[i * k]
        while p < last and self.rows[p] <= time and time > self.now:
            left += self.rows[p + AMOUNTS]
            p += self.width
        return left

    def kept_at(self, i, slot, time):
        """Cores that are kept on the node at that time for others than this job."""
        self.stand(i, slot, time)
        if self.step < 0:
            return 0
        return self.cap[i * self.kinds] - self.sum[0] - self.free_of(i, 0, self.counts_own(time))

    def first_time(self, i, d):
        """The first expected end from which the node has room by its running jobs alone; -1 where it has at once."""
        k: cython.Py_ssize_t = self.kinds
        r: cython.Py_ssize_t
        need: cython.longlong
        missing: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        tasks: cython.p_longlong = words(self.rows)
        if not self.large(i, d):
            return NEVER
        if self.simple[d]:
            need = self.each[d * k] - (self.cap[i * k] - self.used[i * k])
            if need <= 0:
                return -1
            while p < last:
                need -= tasks[p + AMOUNTS]
                if need <= 0:
                    return tasks[p]
                p += self.width
            return NEVER
        if self.alone[d]:
            return self.rows[last - self.width] if self.count[i] > 0 else -1
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
                    self.sum[r] -= self.rows[p + AMOUNTS + r]
                    if self.sum[r] <= 0:
                        missing -= 1
            if missing == 0:
                return self.rows[p]
            p += self.width
        return NEVER

    def first_clear(self, i, d, slot, after, length, limit, time):
        """The first time from `after` on, and before `limit`, from which the node has room for so long; or NEVER.
        `time` is what `first_time` says. Up to `until` a later start has room, too."""
        next: cython.longlong
        start: cython.longlong = -1
        if 0 <= time <= self.now:
            time = self.now + 1
        if time < after:
            time = after
        if time >= limit:
            return NEVER
        if self.kept_on[i] < 0 or self.blind:
            self.until = NEVER
            return time
        self.stand(i, slot, time)
        if self.task == self.last_task and self.own < 0 and not self.alone[d]:
            return self.first_among_steps(i, d, time, length, limit)
        if self.has_room(i, d, time):
            start = time
        while True:
            next = self.next_step()
            if start >= 0:
                if next >= start + length or next == NEVER:
                    self.until = next - length if next < NEVER else NEVER
                    return start
            elif self.task < self.last_task:
                next = min(next, max(self.rows[self.task], self.now + 1))
            if next >= limit and start < 0:
                return NEVER
            self.go_on(next)
            if not self.has_room(i, d, next):
                start = -1
            elif start < 0:
                start = next

    def first_among_steps(self, i, d, time, length, limit):
        """The same where we stand at that time, behind the last expected end, and the job itself keeps nothing there: a
        walk along the steps of what is kept."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.kinds
        w: cython.Py_ssize_t = self.kept.width
        p: cython.Py_ssize_t = self.step
        next: cython.Py_ssize_t = self.following
        last: cython.Py_ssize_t = self.last_step
        steps: KeptSteps = self.kept
        need: cython.longlong
        start: cython.longlong = time
        for r in range(kinds):
            need = self.each[d * kinds + r]
            self.sum[r] = self.cap[i * kinds + r] - self.sum[r] - need if need > 0 else NEVER  # so much may be kept
            if self.sum[r] < 0 or (p >= 0 and steps.rows[p + KEPT + r] > self.sum[r]):
                start = -1
        while next < last:
            time = steps.rows[next]
            if start >= 0:
                if time >= start + length:
                    self.until = time - length
                    return start
            elif time >= limit:
                return NEVER
            else:
                start = time
            for r in range(kinds):
                if steps.rows[next + KEPT + r] > self.sum[r]:
                    start = -1
                    break
            next += w
        self.until = NEVER
        return start if start >= 0 else NEVER

    def next_change(self, i, slot, time):
        """When next after `time` the node may have more room: an expected end, or the end of a hold."""
        found: cython.longlong = NEVER
        p: cython.Py_ssize_t = self.base[i]
        last: cython.Py_ssize_t = p + self.count[i] * self.width
        e: cython.longlong = self.kept_on[i]
        while p < last and self.rows[p] <= time:
            p += self.width
        if p < last:
            found = self.rows[p]
        if time <= self.now and self.count[i] > 0 and self.rows[self.base[i]] <= self.now:
            found = self.now + 1
        while e >= 0:
            if time < self.kept_end[e] < found and self.kept_by[e] != slot:
                found = self.kept_end[e]
            e = self.kept_beside[e]
        return found
