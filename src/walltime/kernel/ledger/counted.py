"""Holds of a number of cores: where any cores of a node set serve a request, its hold names no nodes.

That a number suffices, and when it does not, is argued in docs/decisions/0026-holds-by-number.md. In short: a core that
is free when a hold begins, and that no named hold takes before it ends, serves it. So as long as no named hold begins
inside a counted one, the counted holds of a set can be honoured if enough cores are left whenever one of them begins.
Where a question cannot be answered by numbers, the holds that it meets are given names: for the question alone, or for
good if a job starts or a hold is made that depends on it.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.set_bounds import SetBounds
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.release_profile import ReleaseProfile

NEVER = cython.declare(cython.longlong, _NEVER)
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core


@cython.cclass
class CountedHolds(SetBounds):
    """Which holds need names, and how they get them.

    Two things are always true. No named hold begins strictly inside a counted one that has a node in common with it.
    Two counted holds that overlap in time are of the same node set, or of sets without a common node.
    """

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        SetBounds.__init__(self, jobs, nodes, index)
        self.chosen = integers(8)
        self.tries = 0
        self.tried = integers(8)
        self.tried_first = integers(8)
        self.tried_count = integers(8)

    def is_placed(self, slot, x, start, end):
        """Whether it matters which nodes the request gets: by itself, or as a named hold begins while it lasts."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        if not self.any_serve(x):
            return True
        for k in range(self.first_after(start), self.holds if self.named > 0 else 0):
            h = self.by_start[k]
            if self.held[h].start >= end:
                return False
            if (
                self.held[h].count == 0
                and self.held[h].slot != slot
                and not self.held[h].all
                and self.touches(h, self.set_of[x])
            ):
                return True
        return False

    def meets_number(self, h, slot, x, start, end):
        """Whether the hold has no names, and bears on the request in that time."""
        return (
            self.held[h].count > 0
            and self.held[h].start < end
            and self.held[h].end > start
            and self.held[h].slot != slot
            and self.crosses[self.held[h].set * self.sets + self.set_of[x]] == 1
        )

    def is_unclear(self, h, x, start, placed):
        """Whether a number of cores does not tell if the request leaves the hold enough."""
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        if self.held[h].set != s or (placed and self.held[h].start < start):
            return True
        if not self.timelines.alone[d]:
            return False
        if self.nodes_of[x] == 0 and not self.timelines.bare[d]:  # how many nodes it takes depends on which
            return True
        return not self.alike[s] or self.capacity != self.size

    def leaves_numbers(self, slot, x, start, end, cores):
        """Whether the holds without names keep enough if so many cores are gone from `start` to `end`; those for which
        that is not clear are left aside."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        placed: cython.bint
        if self.counted == 0:
            return True
        placed = self.is_placed(slot, x, start, end)
        if not placed and self.counted > self.few and self.named == 0 and self.over == 0 and self.apart(self.set_of[x]):
            return self.leaves_plan(slot, self.set_of[x], start, end, cores)
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start >= end:
                return True
            if (
                self.meets_number(h, slot, x, start, end)
                and not self.is_unclear(h, x, start, placed)
                and self.number(self.set_of[x], max(start, self.held[h].start), slot) < cores
            ):
                return False
        return True

    def leaves_plan(self, slot, s, start, end, cores):
        """The same where all that bears on the set is in its plan."""
        plan: Availability
        own: cython.Py_ssize_t = self.held_by(slot)
        enough: cython.bint
        if start <= self.now and self.number(s, start, slot) < cores:
            return False
        plan = self.plan_of(s)
        if own >= 0:
            self.plan_hold(own, 1)
        plan.seek_pieces(start)
        enough = plan.next_piece(cores, end) and plan.piece_start == start and plan.piece_end == end
        if own >= 0:
            self.plan_hold(own, -1)
        return enough

    def name_unclear(self, slot, x, start, end):
        """Give names to the holds for which numbers do not tell; how many."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        found: cython.Py_ssize_t = 1
        before: cython.Py_ssize_t = self.counted
        placed: cython.bint
        while self.counted > 0 and found > 0:
            placed = self.is_placed(slot, x, start, end)
            if not placed and self.apart(self.set_of[x]):
                break
            found = self.choose_none()
            for k in range(self.holds):
                h = self.by_start[k]
                if self.meets_number(h, slot, x, start, end) and self.is_unclear(h, x, start, placed):
                    self.chosen[h] = 1
                    found += 1
            if found > 0:
                self.name_chosen(slot)
        return before - self.counted

    def choose_none(self):
        k: cython.Py_ssize_t
        while len(self.chosen) < self.hold_room:
            self.chosen = doubled(self.chosen)
        for k in range(self.hold_room):
            self.chosen[k] = 0
        return 0

    def name_chosen(self, slot):
        """Give names to the chosen holds and to those inside which one of them begins, in the order of their starts.

        That is for the question of a job: its own hold stays as it is, and they leave it what it has.
        """
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        g: cython.Py_ssize_t
        h: cython.Py_ssize_t
        more: cython.bint = True
        while more:
            more = False
            for k in range(self.holds):
                h = self.by_start[k]
                if self.held[h].count == 0 or self.chosen[h] or self.held[h].slot == slot:
                    continue
                for j in range(k + 1, self.holds):
                    g = self.by_start[j]
                    if self.held[g].start >= self.held[h].end:
                        break
                    if (
                        self.chosen[g]
                        and self.held[h].start < self.held[g].start < self.held[h].end
                        and self.crosses[self.held[h].set * self.sets + self.held[g].set] == 1
                    ):
                        self.chosen[h] = 1
                        more = True
                        break
        for k in range(self.holds):
            if self.chosen[self.by_start[k]]:
                self.name_hold(self.by_start[k])
        return 0

    def name_hold(self, h):
        """The hold keeps what the nodes of its set offer throughout, in order of their numbers, until it has enough.

        One that is due and finds too little has not been started as jobs that end now are still in its place: it keeps
        what the nodes offer from the next moment on.
        """
        s: cython.Py_ssize_t = self.held[h].set
        count: cython.longlong = self.held[h].count
        first: cython.longlong = self.held[h].first
        self.note_try(h)
        self.plan_hold(h, 1)
        self.held[h].count = 0
        self.counted -= 1
        self.of_set[s].counted -= 1
        self.named += 1
        if self.name_from(h, self.held[h].start, count) > 0 and self.held[h].start <= self.now < self.held[h].end - 1:
            self.timelines.forget(self.held[h].first, first)
            self.held[h].first = first
            self.name_from(h, self.now + 1, count)
        return 0

    def name_from(self, h, since, left):
        """Keep so many cores from this time on; how many are lacking."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.held[h].set
        slot: cython.Py_ssize_t = self.held[h].slot
        end: cython.longlong = self.held[h].end
        offer: cython.longlong
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if left == 0:
                    return 0
                offer = min(left, self.timelines.offer(i, A_CORE, slot, since, end))
                if offer > 0:
                    left -= offer
                    self.held[h].first = self.timelines.keep(
                        self.held[h].first, i, slot, since, end, offer, A_CORE, offer
                    )
        return left

    def note_try(self, h):
        """Remember how the hold was."""
        if self.tries == len(self.tried):
            self.tried = doubled(self.tried)
            self.tried_first = doubled(self.tried_first)
            self.tried_count = doubled(self.tried_count)
        self.tried[self.tries] = h
        self.tried_first[self.tries] = self.held[h].first
        self.tried_count[self.tries] = self.held[h].count
        self.tries += 1
        return 0

    def take_names_back(self):
        """The holds that were named for a question are numbers again."""
        h: cython.Py_ssize_t
        while self.tries > 0:
            self.tries -= 1
            h = self.tried[self.tries]
            self.timelines.forget(self.held[h].first, self.tried_first[self.tries])
            self.held[h].first = self.tried_first[self.tries]
            self.held[h].count = self.tried_count[self.tries]
            self.plan_hold(h, -1)
            self.counted += 1
            self.of_set[self.held[h].set].counted += 1
            self.named -= 1
        return 0

    def keep_names(self):
        """They stay named."""
        if self.tries > 0:
            self.tries = 0
            self.version += 1
        return 0

    # ---- for drafts of the plan

    def counts_alone(self, slots, count):
        """Whether these jobs, which have promises, and all holds there are, are numbers of cores of one node set.
        Closings that begin when these jobs have ended do not count."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.held_by(slots[0])
        s: cython.Py_ssize_t
        closing: cython.longlong = self.first_closing()
        if self.named > self.pins or self.over > 0 or h < 0:
            return False
        s = self.held[h].set
        for k in range(count):
            h = self.held_by(slots[k])
            if h < 0 or self.held[h].count == 0 or self.held[h].set != s or self.held[h].licences >= 0:
                return False
            if self.held[h].end > closing:
                return False
        return self.apart(s)

    def first_closing(self):
        """When the first of the closings that are to come begins; NEVER where there is none."""
        k: cython.Py_ssize_t
        for k in range(self.holds if self.pins > 0 else 0):
            if self.is_pinned(self.by_start[k]):
                return self.held[self.by_start[k]].start
        return NEVER

    def counted_plan(self, slot):
        """The cores over time of the set on which the job has its promise."""
        return self.plan_of(self.held[self.held_by(slot)].set)

    def late_cores(self, slot):
        """Cores of running jobs of that set that should have ended by now."""
        s: cython.Py_ssize_t = self.held[self.held_by(slot)].set
        self.follow_ends(s)
        ends: ReleaseProfile = self.ends[s]
        return ends.released_by(self.now)

    def name_all(self):
        """Every hold names its nodes from now on."""
        k: cython.Py_ssize_t
        if self.counted == 0:
            return 0
        self.choose_none()
        for k in range(self.holds):
            self.chosen[self.by_start[k]] = self.held[self.by_start[k]].count > 0
        self.name_chosen(-1)
        return self.keep_names()
