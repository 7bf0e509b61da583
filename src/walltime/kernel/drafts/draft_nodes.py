"""A draft of a plan on nodes: what is kept for each job on which node."""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.kernel.drafts.draft_memory import Answers, Places
from walltime.kernel.drafts.draft_table import DraftTable
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.release_profile import ReleaseProfile

NEVER = cython.declare(cython.longlong, _NEVER)

TABLED_AFTER = 32  # a search for each so many jobs of the draft, and a table is worth it; 0: never


@cython.final
@cython.cclass
class NodeDraft(Draft):
    """Jobs with holds that name their nodes, in every resource and with licences, as the ledger keeps them.

    A job that is laid gets the nodes that the ledger would give it. One that goes back gets the very nodes that it had,
    for with others it might not leave the rest theirs. Holds that are a number of cores are given names when the draft
    is opened.

    A job that is shifted, and nothing else is touched, is `pending`: it has its new start, and still its old nodes,
    until the change is kept. Most changes are not.

    Where many gaps are sought for jobs of a plain kind (`DraftTable`), a table stands in for the ledger, which hears of
    it at the end. It makes no difference but time.
    """

    def __init__(self) -> None:
        Draft.__init__(self)
        self.at_first, self.at_last, self.at_best, self.at_table = (Places() for _ in range(4))
        self.answers = Answers()
        self.moved = integers(64)
        self.asked = integers(64)
        self.changed = False
        self.pending = -1
        self.board = DraftTable()
        self.tabled = self.placed_again = self.plain = False
        self.searches = 0
        self.tabled_after = TABLED_AFTER

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
            self.asked[i] = self.shape_of(self.slot[i])
            self.at_first.note(i, self.ledger, self.slot[i])
        self.changed = False
        self.pending = -1
        self.tabled = self.placed_again = False
        self.plain = True
        self.searches = 0
        return 0

    def make_room(self, room):
        if len(self.moved) < room:
            self.moved, self.asked = integers(2 * room), integers(2 * room)
        self.at_first.clear(room)
        self.at_last.clear(room)
        self.at_best.clear(room)
        self.answers.clear(room)
        return Draft.make_room(self, room)

    def admit(self, slot):
        i: cython.Py_ssize_t = Draft.admit(self, slot)
        self.answers.forget(i)
        self.moved[i] = 0
        self.asked[i] = self.shape_of(slot)
        if self.tabled and self.board.knows(self.asked[i]):
            self.board.add(i, self.asked[i], self.length[i])
        else:
            self.plain = False
            self.tell_ledger()
        return i

    def shape_of(self, slot):
        """The shape of a job that is described as one of this ledger; -1 where it has the choice of several."""
        return self.jobs.at[slot].shape if self.jobs.at[slot].choice < 0 else -1

    # ---- the table

    def lay_table(self):
        """From now on the table stands in for the ledger, if it can; whether it does."""
        if not self.tabled and self.plain and self.tabled_after > 0:
            self.plain = self.board.serves(self.ledger, self.slot, self.asked, self.size)
            self.plain = self.plain and self.board.begin(self.slot, self.asked, self.length, self.size)
            self.tabled = self.plain
        return self.tabled

    def tell_ledger(self):
        """The ledger has the jobs where they are, and is asked again from now on."""
        i: cython.Py_ssize_t
        if not self.tabled:
            return 0
        self.tabled = False
        other: list = [i for i in range(self.size) if not self.board.agrees(i, self.slot[i])]
        for i in other:
            if self.ledger.held_by(self.slot[i]) >= 0:
                self.leave(i)
        for i in other:
            if self.board.start[i] >= 0:
                self.at_table.clear(self.size)
                self.board.note(i, self.at_table)
                self.enter_at(i, self.board.start[i], self.at_table)
        return 0

    # ---- the end

    def close(self):
        if self.opened:
            self.give_back()
            self.end()
        return 0

    def end(self):
        """No job of the ledger relies on what it saw before."""
        self.tell_ledger()
        if self.changed:
            self.ledger.valid_from = self.ledger.timelines.eases
            self.ledger.find_edge()
            self.ledger.bound()
        self.opened = False
        return 0

    def commit(self) -> list:
        i: cython.Py_ssize_t
        changed = self.changes()
        self.tell_ledger()
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
            start = self.search(i, after)
            self.answers.learn(i, after, start)
        return start

    def search(self, i, after):
        """The same where it is not known."""
        self.searches += 1
        if self.tabled or (self.searches * self.tabled_after > self.size and self.lay_table()):
            return self.board.find(i, after)
        return self.ledger.earliest(self.slot[i], after)

    def settle_in(self, i, option):
        if self.where[i] != option:
            self.answers.forget(i)
        return Draft.settle_in(self, i, option)

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

    def place_behind(self, position):
        """On a table what is behind is not taken out: what is before it is put into one without the jobs."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        start: cython.longlong
        if self.touches > 0 or self.size - position < 2 or not self.lay_table():
            return Draft.place_behind(self, position)
        self.at_last.clear(self.size)
        for k in range(position, self.size):
            i = self.sequence[k]
            self.moved[i] = 1
            self.was[i] = self.where[i]
            self.before[i] = self.start[i]
            self.touched[self.touches] = i
            self.touches += 1
        self.placed_again = True
        self.answers.forget_all()
        self.board.start_over(self.sequence, position)
        for k in range(position, self.size):
            i = self.sequence[k]
            start = self.board.find(i, self.now)
            if start == NEVER:
                self.start[i] = -1
                self.out += 1
                self.stuck = True
            else:
                self.start[i] = start
                self.board.enter(i, start)
        self.board.end_over()
        return 0

    def keep(self):
        if self.pending >= 0:
            self.settle_pending()
        self.placed_again = False
        return Draft.keep(self)

    def undo_index(self):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if self.pending >= 0:
            self.pending = -1
            return 0
        if not self.placed_again:
            return Draft.undo_index(self)
        self.placed_again = False
        self.answers.forget_all()
        self.board.back()
        for i in range(self.size):
            self.board.start[i] = self.start[i]
        for k in range(self.touches):
            i = self.touched[k]
            self.board.start[i] = self.before[i]
        return 0

    def has_room(self, i):
        """Whether the nodes and licences of the job's hold are free for it, all others left theirs."""
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.jobs.at[self.slot[i]].shape
        start: cython.longlong = self.start[i]
        end: cython.longlong = start + self.length[i]
        e: cython.longlong = ledger.held[ledger.held_by(self.slot[i])].first
        count: cython.Py_ssize_t = 0
        cores: cython.longlong = 0
        while e >= 0:
            node: cython.Py_ssize_t = ledger.timelines.kept_node[e]
            count += 1
            cores += ledger.timelines.kept_amounts[e * ledger.timelines.kinds]
            if not ledger.timelines.clear(node, ledger.demand_kept(x, e), self.slot[i], start, end):
                return False
            e = ledger.timelines.kept_next[e]
        enough: cython.bint = count == ledger.nodes_of[x] or (ledger.nodes_of[x] == 0 and cores >= ledger.cores_of[x])
        return enough and ledger.licensed(self.slot[i], x, start, end)

    def enter(self, i, start):
        end: cython.longlong = start + self.length[i]
        x: cython.Py_ssize_t = self.jobs.at[self.slot[i]].shape
        if self.tabled:
            self.answers.change(i, start, end)
            return self.board.enter(i, start)
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
        if self.tabled:
            self.answers.change(i, start, end)
            return self.board.enter_at(i, start, places)
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
        self.ledger.held[self.ledger.made].set = self.ledger.set_of[x]
        self.ledger.held[self.ledger.made].shape = x
        return 0

    def end_hold(self, i, start, end):
        """The hold has its nodes."""
        self.ledger.keep_licences(self.slot[i], self.jobs.at[self.slot[i]].shape, start, end)
        self.ledger.enter_hold(self.ledger.made)
        self.ledger.version += 1
        return 0

    def leave(self, i):
        if self.tabled:
            self.answers.change(i, self.board.start[i], self.board.start[i] + self.length[i])
            return self.board.leave(i)
        h: cython.Py_ssize_t = self.ledger.held_by(self.slot[i])
        self.answers.change(i, self.ledger.held[h].start, self.ledger.held[h].end)
        return self.ledger.drop_hold(h)

    def note(self, i):
        return self.note_as(i, self.touches)

    def note_as(self, i, number):
        """It is the job of this number to be touched."""
        self.moved[i] = 1
        if number == 0:
            self.at_last.clear(self.size)
        return self.note_in(self.at_last, i)

    def note_in(self, places: Places, i):
        """Note where the job is."""
        if self.tabled:
            return self.board.note(i, places)
        return places.note(i, self.ledger, self.slot[i])

    def remember(self):
        i: cython.Py_ssize_t
        self.at_best.clear(self.size)
        for i in range(self.size):
            self.best[i] = self.start[i]
            self.best_where[i] = self.where[i]
            if self.start[i] >= 0:
                self.note_in(self.at_best, i)
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
            for slot in ledger.timelines.slots_on(i):
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
            if self.tabled and self.board.mine[h]:
                continue
            cores = self.capacity if ledger.held[h].all else 0
            e: cython.longlong = ledger.held[h].first
            while e >= 0:
                cores += ledger.timelines.kept_amounts[e * ledger.timelines.kinds]
                e = ledger.timelines.kept_next[e]
            found.append((ledger.held[h].start, ledger.held[h].end, cores))
        for i in range(self.size if self.tabled else 0):
            start: cython.longlong = self.board.start[i]
            if start >= 0:
                found.append((start, start + self.length[i], sum(all_of[0] for _, all_of in self.board.kept_for(i))))
        return found

    def kept_for(self, i) -> list:
        """What is kept for a job of the draft, as (node, amounts); licences have the numbers behind the nodes."""
        self.check(i)
        return self.board.kept_for(i) if self.tabled else self.ledger.kept_for(self.slot[i])

    def free_area(self, start, end):
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        area: cython.double = cython.cast(cython.double, self.capacity) * (end - start)
        ledger.follow_ends(0)
        ends: ReleaseProfile = ledger.ends[0]
        for p in range(ends.blocks):
            for k in range(ends.heads[p].base, ends.heads[p].base + ends.heads[p].count):
                area -= cython.cast(cython.double, ends.rows[k].cores) * max(min(ends.rows[k].time, end) - start, 0)
        for since, until, cores in self.kept_cores():
            area -= cython.cast(cython.double, cores) * max(min(until, end) - max(since, start), 0)
        return area
