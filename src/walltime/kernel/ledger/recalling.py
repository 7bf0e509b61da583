"""A plan that is taken back and made again: what a job would find once more is not looked for.

The claim and its proof are in docs/background/conservative.md.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.future import Future
from walltime.kernel.profiles.node_table import NodeTable
from walltime.kernel.profiles.plan_table import PlanTable
from walltime.kernel.profiles.remembered import EasedNodes, RememberedPlan
from walltime.kernel.profiles.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)
LINE = cython.declare(cython.Py_ssize_t, 512)  # as in PlanTable
OTHERS_RUN = cython.declare(cython.Py_ssize_t, 2)  # as in EasedNodes

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.ledger.node_pool import __builtin_ctzll
    from walltime.kernel.profiles.node_bits import has_node


@cython.cclass
class Recalling(Future):
    """Remembers the promises of a plan when it is taken back, if each was the answer to a look.

    Such a plan begins with no hold, and each hold is made right after its look. It is not one any more once a promise
    has been moved by itself, or holds are numbers. A plan of few holds is not remembered.
    """

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        Future.__init__(self, jobs, nodes, index)
        self.memory = RememberedPlan(self.n)
        self.order = integers(64)
        self.ordered = 0
        self.board = PlanTable(self.timelines, self.node_starts, self.n)
        self.board_version = self.board_written = self.board_time = -1
        self.unlaid = 0
        self.unlaid_time = -1
        self.tabled_for = -1
        self.tabled_at = 0
        self.pure = self.watching = False
        self.begun = True
        self.recalls = 0
        self.noted_before = False
        self.plan_eases = self.plan_valid = 0
        self.found_for = self.recalled = -1
        self.found_at = self.found_length = self.found = 0

    def earliest(self, slot, after):
        time: cython.longlong = -1
        self.recalled = self.found_for = self.swept_for = self.tabled_for = -1
        if after <= self.now and self.limit == NEVER:
            if self.memory.count > 0:
                time = self.recall(slot)
            if time < 0:
                time = Future.earliest(self, slot, after)
            self.found_for = slot
            self.found_at = time
            self.found_length = self.jobs.at[slot].estimate
            self.found = self.changes()
            return time
        return Future.earliest(self, slot, after)

    def is_found(self, slot, start):
        """Whether the hold that is to be made is what the job has just found."""
        return (
            self.found_for == slot
            and self.found_at == start
            and self.found_length == self.jobs.at[slot].estimate
            and self.found == self.changes()
        )

    def suppose(self, trial):
        if trial:
            self.noted_before = self.timelines.noted
        self.timelines.noted = self.noted_before and not trial
        return 0

    # ---- the table

    def is_laid(self):
        """Whether the table has what runs and all holds."""
        return (
            self.board_version == self.version
            and self.board_time == self.now
            and self.board_written == self.node_starts.written
            and self.board.demands == self.timelines.demands
        )

    def is_tabled(self, slot, x):
        """Whether the table answers the job, and has been asked; its own hold is not in its way. Holds that are named
        for a question alone it does not know."""
        h: cython.Py_ssize_t = self.held_by(slot)
        if not self.place.plain or not self.is_recallable(x) or (h >= 0 and self.held[h].shape != x) or self.tries > 0:
            return False
        if not self.is_laid() and not (self.is_worth_it() and self.lay()):
            return False
        if not self.board.ask(self.demand_of[x], self.set_of[x], self.member):
            return False
        if h >= 0:
            self.board.leave_aside(self.held[h].first, self.held[h].start, self.held[h].end)
        return True

    def is_worth_it(self):
        """Whether to lay a table: for a plan of many holds that is made from nothing; else after 4 looks and one for
        each 16 holds, as all have to be put on it, and up to 3 holds for 2 nodes: a look goes through their steps.
        Where fewer holds are `few`, that is sooner and more of them."""
        if self.unlaid_time != self.now:
            self.unlaid_time = self.now
            self.unlaid = 0
        self.unlaid += 1
        if self.pure:
            return max(self.holds, self.memory.count) > self.few
        if self.holds <= self.few or self.few * self.holds * ((self.n + LINE - 1) // LINE) > 24 * self.n:
            return False
        return self.unlaid > (4 * self.few + self.holds) // 16

    def lay(self):
        """Lay the table; whether it could be done."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        if not self.board.lay(self.now):
            return False
        for k in range(self.holds):
            h = self.by_start[k]
            self.board.put(self.held[h].first, self.held[h].start, self.held[h].end)
        self.board_version = self.version
        self.board_time = self.now
        self.board_written = self.node_starts.written
        return True

    def lay_hold(self, h):
        """The hold is made: the table has it too."""
        if self.is_laid():
            self.board.put(self.held[h].first, self.held[h].start, self.held[h].end)
            self.board_version = self.version + 1
        return 0

    def lift_hold(self, h):
        """The hold is dropped."""
        if self.is_laid():
            self.board.take(self.held[h].first, self.held[h].start, self.held[h].end)
            self.board_version = self.version + 1
        return 0

    def when_enough(self, slot, x, after):
        if x != self.jobs.at[slot].shape or not self.is_tabled(slot, x):
            return Future.when_enough(self, slot, x, after)
        self.tabled_for = slot
        self.tabled_at = self.board.table.earliest(
            self.nodes_of[x], max(self.jobs.at[slot].estimate, 1), after, self.limit
        )
        return self.tabled_at

    def find_room(self, slot, start, length):
        """Let the table, which has been asked, find the nodes that have room from `start` on for so long."""
        if self.tabled_for != slot or self.tabled_at != start:
            self.tabled_for = slot
            self.tabled_at = self.board.table.earliest(0, length, start, start + 1)
        return 0

    def select_last(self, slot, x, at, start, end):
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        t: cython.longlong
        word: cython.ulonglong
        want: cython.longlong = self.nodes_of[x]
        later: cython.longlong = self.now + 1
        table: NodeTable = self.board.table
        if x != self.jobs.at[slot].shape or not self.is_tabled(slot, x):
            return Future.select_last(self, slot, x, at, start, end)
        self.find_room(slot, start, end - start)
        self.smallest.clear(want)
        for w in range(table.span):
            word = table.found[w]
            while word != 0:
                i = 64 * w + __builtin_ctzll(word)
                word &= word - 1
                t = self.node_starts.time[at + i]
                t = self.now if t < 0 else t if t > later else later
                if self.smallest.count < want or -t < self.smallest.worst:
                    self.smallest.put(cython.cast(cython.double, -t), i)
        return 0

    # ---- the plan that is made

    def begin_plan(self):
        """From now on holds are added, and nothing is eased; else what is remembered says nothing."""
        eased: EasedNodes = self.memory.eased
        self.begun = True
        self.timelines.noted = False
        self.memory.eased = self.timelines.since
        self.timelines.since = eased
        self.ordered = 0
        self.plan_eases = self.timelines.eases
        self.plan_valid = self.valid_from
        return 0

    def note_hold(self, h, found):
        """The hold is made; `found` by a look."""
        if not found or self.counted > 0:
            self.pure = False
        if not self.begun:
            self.begin_plan()
        if not self.pure:
            return 0
        if self.ordered == len(self.order):
            if self.ordered > 4 * self.holds + 64:  # most of them are gone
                self.pure = False
                return 0
            self.order = doubled(self.order)
        self.order[self.ordered] = h
        self.held[h].made = self.ordered
        self.ordered += 1
        if not self.watching and self.holds > self.few:
            self.watching = self.timelines.noted = True
            self.timelines.since.clear()
            self.pure = self.timelines.eases == self.plan_eases
        return 0

    def remember(self):
        """Before all promises are taken back."""
        p: cython.Py_ssize_t
        h: cython.Py_ssize_t
        e: cython.longlong
        memory: RememberedPlan = self.memory
        memory.clear()
        self.begun = False
        if (
            not self.pure
            or not self.watching
            or self.counted > 0
            or self.pins > 0
            or self.valid_from != self.plan_valid
        ):
            return 0
        for p in range(self.ordered):
            h = self.order[p]
            if self.held[h].made == p:
                e = self.held[h].first
                memory.note(
                    self.held[h].slot,
                    self.jobs.at[self.held[h].slot].seq,
                    self.held[h].shape,
                    self.held[h].start,
                    self.held[h].end - self.held[h].start,
                )
                while e >= 0:
                    memory.note_node(self.timelines.kept_node[e])
                    e = self.timelines.kept_next[e]
        if memory.count != self.holds:  # some were not made by a look
            memory.clear()
        return 0

    # ---- the plan that is made again

    def recall(self, slot):
        """The time that a look would find; -1 where the job has to look.

        Where it can still have what it had, it looks for an earlier time only, and only if an eased node may give it
        one. `recalled` tells that it has its nodes again, too.
        """
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        memory: RememberedPlan = self.memory
        m: cython.Py_ssize_t = memory.find(slot, self.jobs.at[slot].seq)
        time: cython.longlong
        if not self.begun:
            self.begin_plan()
        if self.timelines.eases != self.plan_eases:
            memory.clear()
            return -1
        if m < 0 or not memory.gone[m] or memory.start[m] <= self.now or memory.shape[m] != x:
            return -1
        if memory.length[m] != max(self.jobs.at[slot].estimate, 1) or not self.is_recallable(x):
            return -1
        in_order: cython.bint = m >= memory.next
        memory.pass_over(m)
        if self.is_late(self.set_of[x]):
            return -1
        tabled: cython.bint = self.is_tabled(slot, x)
        if not self.has_again(slot, x, m, in_order, tabled):
            return -1
        if self.is_eased(slot, x, m, tabled):
            time = self.sooner(slot, memory.start[m])
            if time < memory.start[m]:
                return time
        if not self.is_preferred(slot, x, m, tabled):
            self.recalls += 1
            self.recalled = m
        return memory.start[m]

    def sooner(self, slot, start):
        """What a look finds before `start`; or `start`."""
        time: cython.longlong
        self.limit = start
        time = min(Future.earliest(self, slot, self.now), start)
        self.limit = NEVER
        return time

    def is_recallable(self, x):
        """Whether what a look finds can be remembered: the job has nodes, and nothing else matters."""
        return self.nodes_of[x] > 0 and self.nodes_decide(x)

    def nodes_decide(self, x):
        """Whether what is found depends on the nodes alone that a job may have, and on those it gets by their rank."""
        return (
            self.counted == 0
            and self.pins == 0
            and (self.place.plain or self.place.by_room)
            and not self.licensed_of[x]
            and not self.any_of[x]
            and self.parts_in[x] == 0
        )

    def has_again(self, slot, x, m, in_order, tabled):
        """Whether the job can have its nodes as it had them; they are marked. Where all before it were before it then,
        too, it can on nodes on which the same jobs run, and that no hold has but those that had them. A table tells it
        of all nodes at once."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        memory: RememberedPlan = self.memory
        d: cython.Py_ssize_t = self.demand_of[x]
        start: cython.longlong = memory.start[m]
        self.glance += 1
        for k in range(memory.first[m], memory.first[m + 1]):
            i = memory.node[k]
            self.glanced[i] = self.glance
            if in_order and memory.crowded[i] != memory.plan and memory.eased.how[i] != OTHERS_RUN:
                continue
            if tabled:
                self.find_room(slot, start, memory.length[m])
                if not has_node(words(self.board.table.found), 0, i):
                    return False
            elif not self.timelines.clear(i, d, slot, start, start + memory.length[m]):
                return False
        return True

    def is_eased(self, slot, x, m, tabled):
        """Whether a node that was eased may have room for it before its promise: a table tells that with the rest. What
        is found out is noted: in this plan it stays true, as nothing is eased any more."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        eased: EasedNodes = self.memory.eased
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(d)
        start: cython.longlong = self.memory.start[m]
        length: cython.longlong = self.memory.length[m]
        known: cython.Py_ssize_t = self.rooms.times(d, length) if self.place.plain and not tabled else -1
        after: cython.longlong
        found: cython.longlong
        for k in range(eased.count):
            i = eased.node[k]
            if not self.member[s * self.n + i] or self.node_starts.time[at + i] >= start:
                continue
            if tabled:
                return True
            after = self.now
            if known >= 0:
                after = max(after, self.rooms.time[known + i])
                if after >= start:
                    continue
            found = self.timelines.first_clear(i, d, slot, after, length, start, self.node_starts.time[at + i])
            if known >= 0:
                self.rooms.time[known + i] = min(found, start)
            if found < start:
                return True
        return False

    def is_preferred(self, slot, x, m, tabled):
        """Whether a node that was eased may be preferred to one that it had, or one of these no longer to others."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        memory: RememberedPlan = self.memory
        eased: EasedNodes = memory.eased
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(d)
        by_end: cython.bint = self.ranks_by_end(x)
        start: cython.longlong = memory.start[m]
        length: cython.longlong = memory.length[m]
        worst: cython.longlong = NEVER if by_end else -1
        first: cython.longlong
        for k in range(memory.first[m], memory.first[m + 1]):
            i = memory.node[k]
            if not by_end:
                worst = max(worst, i)
            elif eased.how[i] != OTHERS_RUN:
                worst = min(worst, self.node_starts.time[at + i])
        for k in range(eased.count):
            i = eased.node[k]
            if not self.member[s * self.n + i]:
                continue
            first = self.node_starts.time[at + i]
            own: cython.bint = self.glanced[i] == self.glance
            if own and by_end and eased.how[i] == OTHERS_RUN and first <= worst:
                return True
            rather: cython.bint = not own and first <= start and (first >= worst if by_end else i < worst)
            if rather and tabled:
                self.find_room(slot, start, length)
                if has_node(words(self.board.table.found), 0, i):
                    return True
            elif rather and self.timelines.clear(i, d, slot, start, start + length):
                return True
        return False

    def ranks_by_end(self, x):
        """Whether a hold keeps the nodes that are free last; else those with the lowest numbers."""
        return self.nodes_of[x] > 0 and self.place.plain

    def is_late(self, s):
        """Whether a job on the set's nodes should have ended by now: it may, at this very instant."""
        self.follow(s)
        walk: RunningProfile = self.profiles[s]
        return not walk.empty() and walk.rows[walk.heads[0].base].time <= self.now

    def compare(self, h):
        """Whether the hold is what is remembered of its job: if not, that is not there any more."""
        e: cython.longlong = self.held[h].first
        n: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        memory: RememberedPlan = self.memory
        m: cython.Py_ssize_t = memory.find(self.held[h].slot, self.jobs.at[self.held[h].slot].seq)
        if m >= 0 and m == self.recalled:
            memory.gone[m] = 0
            return 0
        while e >= 0:  # for those behind it, it may be new
            memory.crowded[self.timelines.kept_node[e]] = memory.plan
            e = self.timelines.kept_next[e]
        if m < 0 or not memory.gone[m]:
            return 0
        e = self.held[h].first
        memory.gone[m] = 0
        if memory.start[m] == self.held[h].start and memory.length[m] == self.held[h].end - self.held[h].start:
            self.glance += 1
            while e >= 0:
                self.glanced[self.timelines.kept_node[e]] = self.glance
                n += 1
                e = self.timelines.kept_next[e]
            for k in range(memory.first[m], memory.first[m + 1]):
                n -= self.glanced[memory.node[k]] == self.glance
            if n == 0 and memory.shape[m] == self.held[h].shape:
                return 0
        return memory.give_up(m)
