"""A draft of a plan on nodes: what is kept for each job on which node."""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.draft import Draft
from walltime.kernel.ledger.cores import Ledger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile
ANSWERS = cython.declare(cython.Py_ssize_t, 8)  # so many are kept for each job
SPANS = cython.declare(cython.Py_ssize_t, 256)  # so many changes are remembered: a power of two


@cython.final
@cython.cclass
class Places:
    """Which nodes were kept for jobs of a draft, how many cores of each, and how many times the rest of a demand."""

    def __init__(self) -> None:
        self.first, self.count = integers(64), integers(64)
        self.node, self.cores, self.times = integers(256), integers(256), integers(256)
        self.demand = integers(256)
        self.used = 0

    def clear(self, jobs):
        """Forget them all; there are so many jobs."""
        if len(self.first) < jobs:
            self.first, self.count = integers(2 * jobs), integers(2 * jobs)
        self.used = 0
        return 0

    def note(self, i, ledger: ResourceLedger, slot):
        """Remember the nodes of a job's hold."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        d: cython.Py_ssize_t
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        e: cython.longlong = ledger.held_first[ledger.held_by(slot)]
        self.first[i] = self.used
        while e >= 0:
            if self.used == len(self.node):
                self.node, self.cores = doubled(self.node), doubled(self.cores)
                self.times, self.demand = doubled(self.times), doubled(self.demand)
            self.node[self.used] = ledger.lines.kept_node[e]
            self.cores[self.used] = ledger.lines.kept_amounts[e * kinds]
            self.times[self.used] = 0
            d = self.demand[self.used] = ledger.demand_kept(x, e)
            for r in range(1, kinds):
                if ledger.lines.each[d * kinds + r] > 0:
                    self.times[self.used] = ledger.lines.kept_amounts[e * kinds + r] // ledger.lines.each[d * kinds + r]
            self.used += 1
            e = ledger.lines.kept_next[e]
        self.count[i] = self.used - self.first[i]
        return 0


@cython.final
@cython.cclass
class Answers:
    """Where jobs of a draft have room, as far as it has been asked: from some time on, the first start is that.

    It stays true until something is changed on any node between that time and the end that the job would have. What the
    job itself keeps makes no difference to it.
    """

    def __init__(self) -> None:
        self.since, self.start = integers(64 * ANSWERS), integers(64 * ANSWERS)
        self.count, self.next, self.read = integers(64), integers(64), integers(64)
        self.begin, self.end, self.whose = integers(SPANS), integers(SPANS), integers(SPANS)
        self.spans = 0

    def clear(self, jobs):
        """Forget them all; there are so many jobs."""
        i: cython.Py_ssize_t
        if len(self.count) < jobs:
            self.since, self.start = integers(2 * jobs * ANSWERS), integers(2 * jobs * ANSWERS)
            self.count, self.next, self.read = integers(2 * jobs), integers(2 * jobs), integers(2 * jobs)
        for i in range(jobs):
            self.forget(i)
        return 0

    def forget(self, i):
        """Nothing is known of the job."""
        self.count[i] = self.next[i] = 0
        self.read[i] = self.spans
        return 0

    def change(self, i, begin, end):
        """What is kept for the job is another in that time."""
        k: cython.Py_ssize_t = self.spans & (SPANS - 1)
        self.begin[k] = begin
        self.end[k] = end
        self.whose[k] = i
        self.spans += 1
        return 0

    def find(self, i, after, length):
        """The first start from `after` on, if that is known; else -1."""
        k: cython.Py_ssize_t
        if self.read[i] < self.spans:
            self.refresh(i, length)
        for k in range(i * ANSWERS, i * ANSWERS + self.count[i]):
            if self.since[k] <= after <= self.start[k]:
                return self.start[k]
        return -1

    def refresh(self, i, length):
        """Forget what may be true no longer."""
        p: cython.longlong
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t
        first: cython.Py_ssize_t = i * ANSWERS
        if self.spans - self.read[i] > SPANS:
            return self.forget(i)
        for p in range(self.read[i], self.spans):
            s = p & (SPANS - 1)
            k = first + self.count[i]
            while k > first and self.whose[s] != i:
                k -= 1
                if self.begin[s] < self.start[k] + length and self.since[k] < self.end[s]:
                    self.count[i] -= 1
                    self.since[k] = self.since[first + self.count[i]]
                    self.start[k] = self.start[first + self.count[i]]
        self.read[i] = self.spans
        return 0

    def learn(self, i, after, start):
        """From `after` on that is the first start; what was asked last of the job was `find`."""
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = i * ANSWERS
        for k in range(first, first + self.count[i]):
            if self.start[k] == start:
                self.since[k] = min(self.since[k], after)
                return 0
        if self.count[i] < ANSWERS:
            k = first + self.count[i]
            self.count[i] += 1
        else:
            k = first + self.next[i]
            self.next[i] = (self.next[i] + 1) % ANSWERS
        self.since[k] = after
        self.start[k] = start
        return 0


@cython.final
@cython.cclass
class NodeDraft(Draft):
    """Jobs with holds that name their nodes, in every resource and with licences, as the ledger keeps them.

    A job that is laid gets the nodes that the ledger would give it. One that goes back gets the very nodes that it had,
    for with others it might not leave the rest theirs. Holds that are a number of cores are given names when the draft
    is opened.

    A job that is shifted, and nothing else is touched, is `pending`: it has its new start, and still its old nodes,
    until the change is kept. Most changes are not.
    """

    def __init__(self) -> None:
        Draft.__init__(self)
        self.at_first, self.at_last, self.at_best = Places(), Places(), Places()
        self.answers = Answers()
        self.moved = integers(64)
        self.changed = False
        self.pending = -1

    def open(self, ledger: Ledger, slots, count):
        i: cython.Py_ssize_t
        Draft.open(self, ledger, slots, count)
        self.ledger = ledger
        self.ledger.time_nodes()
        self.ledger.name_all()
        self.at_first.clear(count)
        self.at_last.clear(count)
        self.answers.clear(count)
        for i in range(count):
            self.moved[i] = 0
            self.at_first.note(i, self.ledger, self.slot[i])
        self.changed = False
        self.pending = -1
        return 0

    def make_room(self, room):
        if len(self.moved) < room:
            self.moved = integers(2 * room)
        self.at_first.clear(room)
        self.at_last.clear(room)
        self.at_best.clear(room)
        self.answers.clear(room)
        return Draft.make_room(self, room)

    def admit(self, slot):
        i: cython.Py_ssize_t = Draft.admit(self, slot)
        self.answers.forget(i)
        self.moved[i] = 0
        return i

    def close(self):
        if self.opened:
            self.give_back()
            self.end()
        return 0

    def end(self):
        """No job of the ledger relies on what it saw before."""
        if self.changed:
            self.ledger.valid_from = self.ledger.lines.eases
            self.ledger.find_edge()
            self.ledger.bound()
        self.opened = False
        return 0

    def commit(self) -> list:
        i: cython.Py_ssize_t
        changed = self.changes()
        for i in range(self.size):
            if self.is_changed(i) and (self.start[i] < self.now or not self.has_room(i)):
                job = self.jobs.at[self.slot[i]].job_id
                raise PolicyError(f"job {job} has no room at {self.start[i] / SECOND:g} s, where a plan has it")
        self.end()
        return changed

    def give_back(self):
        i: cython.Py_ssize_t
        if self.pending >= 0:
            self.undo()
        for i in range(self.size):
            if self.moved[i] and self.start[i] >= 0:
                self.leave(i)
        for i in range(self.size):
            if self.moved[i] and self.first[i] >= 0:
                self.start[i] = self.first[i]
                self.settle_in(i, self.home[i])
                self.enter_at(i, self.start[i], self.at_first)
                self.moved[i] = 0
        self.touches = self.out = 0
        return 0

    def find(self, i, after):
        """Also of a job that is in: its own hold is not in its way."""
        start: cython.longlong = self.answers.find(i, after, self.length[i])
        if start < 0:
            start = self.ledger.earliest(self.slot[i], after)
            self.answers.learn(i, after, start)
        return start

    def settle_in(self, i, place):
        if self.where[i] != place:
            self.answers.forget(i)
        return Draft.settle_in(self, i, place)

    def shift(self, i, after):
        start: cython.longlong
        if self.touches > 0:
            return Draft.shift(self, i, after)
        start = self.find(i, after)
        if start == NEVER:
            self.stuck = True
            return 0
        self.before[i] = self.start[i]
        self.was[i] = self.where[i]
        self.touched[0] = i
        self.touches = 1
        self.start[i] = start
        self.pending = i
        return 0

    def touch(self, i):
        if self.pending >= 0:
            self.settle_pending()
        return Draft.touch(self, i)

    def settle_pending(self):
        """The job that is pending has the nodes of its new start."""
        i: cython.Py_ssize_t = self.pending
        self.pending = -1
        self.note_as(i, 0)
        self.leave(i)
        return self.enter(i, self.start[i])

    def keep(self):
        if self.pending >= 0:
            self.settle_pending()
        return Draft.keep(self)

    def undo_index(self):
        if self.pending >= 0:
            self.pending = -1
            return 0
        return Draft.undo_index(self)

    def has_room(self, i):
        """Whether the nodes and licences of the job's hold are free for it, all others left theirs."""
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.jobs.at[self.slot[i]].shape
        start: cython.longlong = self.start[i]
        end: cython.longlong = start + self.length[i]
        e: cython.longlong = ledger.held_first[ledger.held_by(self.slot[i])]
        count: cython.Py_ssize_t = 0
        cores: cython.longlong = 0
        while e >= 0:
            node: cython.Py_ssize_t = ledger.lines.kept_node[e]
            count += 1
            cores += ledger.lines.kept_amounts[e * ledger.lines.kinds]
            if not ledger.lines.clear(node, ledger.demand_kept(x, e), self.slot[i], start, end):
                return False
            e = ledger.lines.kept_next[e]
        enough: cython.bint = count == ledger.nodes_of[x] or (ledger.nodes_of[x] == 0 and cores >= ledger.cores_of[x])
        return enough and ledger.licensed(self.slot[i], x, start, end)

    def enter(self, i, start):
        end: cython.longlong = start + self.length[i]
        x: cython.Py_ssize_t = self.jobs.at[self.slot[i]].shape
        self.begin_hold(i, start)
        self.ledger.keep_named(self.slot[i], x, start, end)
        return self.end_hold(i, start, end)

    def enter_again(self, i, start):
        return self.enter_at(i, start, self.at_last)

    def enter_first(self, i):
        return self.enter_at(i, self.first[i], self.at_first)

    def enter_best(self, i):
        return self.enter_at(i, self.best[i], self.at_best)

    def enter_at(self, i, start, places: Places):
        """Keep these very nodes for the job."""
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        end: cython.longlong = start + self.length[i]
        self.begin_hold(i, start)
        ledger.named += 1
        for k in range(places.first[i] + places.count[i] - 1, places.first[i] - 1, -1):
            ledger.keep(self.slot[i], places.demand[k], places.node[k], start, end, places.cores[k], places.times[k])
        return self.end_hold(i, start, end)

    def begin_hold(self, i, start):
        """Make an empty hold for the job."""
        x: cython.Py_ssize_t = self.jobs.at[self.slot[i]].shape
        self.changed = True
        self.answers.change(i, start, start + self.length[i])
        self.ledger.make_hold(self.slot[i], start, start + self.length[i])
        self.ledger.held_set[self.ledger.made] = self.ledger.set_of[x]
        self.ledger.held_shape[self.ledger.made] = x
        return 0

    def end_hold(self, i, start, end):
        """The hold has its nodes."""
        self.ledger.keep_licences(self.slot[i], self.jobs.at[self.slot[i]].shape, start, end)
        self.ledger.enter_hold(self.ledger.made)
        self.ledger.version += 1
        return 0

    def leave(self, i):
        h: cython.Py_ssize_t = self.ledger.held_by(self.slot[i])
        self.answers.change(i, self.ledger.held_start[h], self.ledger.held_end[h])
        return self.ledger.drop_hold(h)

    def note(self, i):
        return self.note_as(i, self.touches)

    def note_as(self, i, number):
        """It is the job of this number to be touched."""
        self.moved[i] = 1
        if number == 0:
            self.at_last.clear(self.size)
        return self.at_last.note(i, self.ledger, self.slot[i])

    def remember(self):
        i: cython.Py_ssize_t
        self.at_best.clear(self.size)
        for i in range(self.size):
            self.best[i] = self.start[i]
            self.best_where[i] = self.where[i]
            if self.start[i] >= 0:
                self.at_best.note(i, self.ledger, self.slot[i])
        return 0

    def recall(self):
        i: cython.Py_ssize_t
        for i in range(self.size):
            self.lift(i)
        for i in range(self.size):
            self.settle_in(i, self.best_where[i])
            self.start[i] = self.best[i]
            self.enter_at(i, self.best[i], self.at_best)
        self.out = 0
        return self.keep()

    def steps(self) -> list:
        """Free cores of all nodes together over time as the draft stands, as (time, free)."""
        changes: dict = {}
        ledger: ResourceLedger = self.ledger
        for i in range(ledger.n):
            for slot in ledger.lines.slots_on(i):
                cores = dict(ledger.shares.pairs(slot)).get(i, 0)
                end = max(self.jobs.at[slot].expected_end, self.now + 1)
                changes[self.now] = changes.get(self.now, 0) - cores
                changes[end] = changes.get(end, 0) + cores
        for start, end, cores in self.kept_cores():
            changes[max(start, self.now)] = changes.get(max(start, self.now), 0) - cores
            changes[end] = changes.get(end, 0) + cores
        free = self.capacity
        found = []
        for time in sorted({*changes, self.now}):
            free += changes.get(time, 0)
            found.append((time, free))
        return found

    def kept_cores(self) -> list:
        """What the holds keep, as (start, end, cores)."""
        found = []
        ledger: ResourceLedger = self.ledger
        for k in range(ledger.holds):
            h: cython.Py_ssize_t = ledger.by_start[k]
            cores = self.capacity if ledger.held_all[h] else 0
            e: cython.longlong = ledger.held_first[h]
            while e >= 0:
                cores += ledger.lines.kept_amounts[e * ledger.lines.kinds]
                e = ledger.lines.kept_next[e]
            found.append((ledger.held_start[h], ledger.held_end[h], cores))
        return found

    def free_area(self, start, end):
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        area: cython.double = cython.cast(cython.double, self.capacity) * (end - start)
        ledger.follow_ends(0)
        ends: RunningProfile = ledger.ends[0]
        for p in range(ends.blocks):
            for k in range(ends.order[p] * BLOCK, ends.order[p] * BLOCK + ends.count[p]):
                area -= cython.cast(cython.double, ends.cores[k]) * max(min(ends.time[k], end) - start, 0)
        for since, until, cores in self.kept_cores():
            area -= cython.cast(cython.double, cores) * max(min(until, end) - max(since, start), 0)
        return area
