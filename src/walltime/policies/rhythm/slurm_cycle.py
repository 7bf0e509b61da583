"""Slurm's backfill cycle: jobs in order, each with a place on whole nodes; every cycle plans from scratch."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import State
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_space import NodeSpace, has_node, no_nodes, put_node
from walltime.kernel.queue.lines import Line
from walltime.kernel.queue.waiting import Queue
from walltime.policies.rhythm.chance import Chance
from walltime.policies.rhythm.will_run import WillRun
from walltime.policy.api import Cause, Pass

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
AT_A_LIMIT = cython.declare(cython.longlong, 500 * _SECOND)  # from now: when a job at a limit might start
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodeSpace

if not cython.compiled:
    WAITING = State.WAITING
    CAPACITY, ESTIMATE, LIMIT, TIMER = Cause.CAPACITY, Cause.ESTIMATE, Cause.LIMIT, Cause.TIMER

    def __builtin_ctzll(word):
        return (int(word) & -int(word)).bit_length() - 1


@cython.final
@cython.cclass
class Partitions:
    """The nodes of each queue, as sets, and in `space` what is kept on them in the pass that is under way.

    Without queues there is one partition of all nodes. `reserved` tells whether reservations of the machine are to
    come: they are in `space` from the beginning of a pass.
    """

    def __init__(self, ledger: ResourceLedger, masks) -> None:
        self.ledger = ledger
        self.space = NodeSpace(ledger.n)
        self.reserved = False
        self.shut = no_nodes(ledger.n)
        self.nodes = []
        i: cython.Py_ssize_t
        for mask in masks or [None]:
            nodes = no_nodes(ledger.n)
            for i in range(ledger.n):
                if mask is None or mask[i]:
                    put_node(nodes, i)
            self.nodes.append(nodes)
        self.space.sets = np.concatenate(self.nodes)

    def partition(self, queue):
        """Which of them the queue is."""
        return queue if 0 <= queue < len(self.nodes) else 0

    def holds_idle(self, x, nodes):
        """Whether these nodes, were they idle, would have room for the request."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        d: cython.Py_ssize_t = ledger.demand_of[x]
        s: cython.Py_ssize_t = ledger.set_of[x]
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        want: cython.longlong = ledger.nodes_of[x] if ledger.nodes_of[x] > 0 else ledger.cores_of[x]
        room: cython.longlong
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for i in range(ledger.range_first[k], ledger.range_last[k]):
                if has_node(nodes, i) and ledger.timelines.large(i, d):
                    room = 1 if ledger.nodes_of[x] > 0 else NEVER
                    for r in range(kinds if ledger.nodes_of[x] == 0 else 0):
                        if ledger.timelines.each[d * kinds + r] > 0:
                            room = min(
                                room, ledger.timelines.cap[i * kinds + r] // ledger.timelines.each[d * kinds + r]
                            )
                    want -= room
        return want <= 0

    def map_reservations(self, begin, close):
        """An empty plan from `begin` to `close` but for what will be shut. A job may end when that begins."""
        h: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.longlong
        w: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        self.space.clear(begin, close)
        self.reserved = False
        for k in range(ledger.holds if ledger.pins > 0 else 0):
            h = ledger.by_start[k]
            if not ledger.is_pinned(h):
                continue
            self.reserved = True
            for w in range(len(self.shut)):
                self.shut[w] = -1 if ledger.held[h].all else 0
            e = ledger.held[h].first
            while e >= 0:
                put_node(self.shut, ledger.timelines.kept_node[e])
                e = ledger.timelines.kept_next[e]
            self.space.reserve(self.shut, ledger.held[h].start + 1, ledger.held[h].end)
        return 0


@cython.final
@cython.cclass
class Cycle:
    """One walk through the waiting jobs in order, every time with an empty plan.

    A job is tried on the nodes of its queue that are kept for no other job before it would end; it starts if these
    have room now. Else it gets whole nodes from the first time on at which `WillRun` finds room, where that is within
    `bf_window`; starts and ends of what is kept are rounded down to `bf_resolution`. Where what it would get is kept
    for others, it is tried again from the next time on at which nodes come free of the plan.

    Only tried for now, and given no place: jobs with a priority below `bf_min_prio_reserve`, those that have waited
    for less than `bf_min_age_reserve`, and those of a queue that has `bf_job_part_count_reserve` places already. At
    most `bf_max_job_test` jobs are tried, and `bf_max_job_start` started; of a user, a queue, a user in a queue, an
    account's user at most `bf_max_job_user`, `_part`, `_user_part`, `_assoc` are looked at (0: any number). Of an array
    at most `bf_max_job_array_resv` tasks get a place, and no more are looked at once one has got none. A job at a
    limit is passed over; with `assoc_limit_stop` it gets a place: where it could start now but for the limit, when
    the next one of the plan ends, or in 500 s.

    `stirred` tells whether the cycle itself was news for the next one: a job has started, one was planned later than
    its nodes have room for it, or idle nodes are marked as planned, in this cycle or the one before.
    """

    def __init__(self, given) -> None:
        self.window = given["bf_window"] * 60 * SECOND
        self.step = given["bf_window_linear"] * SECOND
        self.resolution = given["bf_resolution"] * SECOND
        self.tests = given["bf_max_job_test"]
        self.starts = given["bf_max_job_start"]
        self.per_user = given["bf_max_job_user"]
        self.per_part = given["bf_max_job_part"]
        self.per_user_part = given["bf_max_job_user_part"]
        self.per_assoc = given["bf_max_job_assoc"]
        self.places = given["bf_job_part_count_reserve"]
        self.min_age = given["bf_min_age_reserve"] * SECOND
        self.min_prio = given["bf_min_prio_reserve"]
        self.per_array = given["bf_max_job_array_resv"]
        self.plans_limited = given["assoc_limit_stop"]
        self.arrays = None
        self.parts = None
        self.willrun = None
        self.chance = None
        self.homes = {}  # the account of each user that one lists, by name; and the numbers of users and accounts
        self.codes = {}
        self.users = []
        self.counts = {}  # jobs looked at, by what limits them
        self.of_user = integers(64)  # and by user, the unknown one first
        self.ahead = integers(64)  # as many, and those that are still to be looked at
        self.planned = {}  # places given, by queue
        self.tasks = {}  # and by array; one of which a task got none is full
        self.tested = self.started = 0
        self.stirred = self.kept_idle = False
        self.watched = self.seen = -1
        self.asked = self.naming = False  # as in `Slurm`
        self.awaited = -1  # where in `ordered` the watched job is, unless it is known to get no place; -1: nowhere
        self.bounds = integers(64)  # by request and queue: when there may be room, by what runs
        self.bounded = integers(64, -1)  # what ran when they were found
        self.ageing = False
        self.moved = False  # whether a job was planned later than its nodes have room
        self.causes = 0  # what has happened since the last cycle
        # the last cycle: up to when one more is the same, if nothing happens; what it looked at, and what it has told
        self.until = -1
        self.ran = self.moves = -1
        self.order = self.planned_order = 0
        self.ordered = integers(64)
        self.listed = integers(64)
        self.seqs = integers(64)
        self.lengths = integers(64)
        self.hope = integers(64)  # where in `ordered` those are that may start
        self.hopes = 0
        self.length = 0
        self.keen = False  # whether no try counts but those that may find a place
        self.brief = False  # whether it ended when no job could start any more
        self.partial = False  # whether jobs were left without a look, which might have got a place
        self.waiting_in = integers(1)  # how many wait in each queue
        self.told = integers(64)
        self.times = integers(64)
        self.tellings = 0
        self.sought = -1  # the job that was watched
        self.answered = self.named = False  # what was `asked` and to be `naming` then
        self.start_planned = -1  # when the watched job has its place; -1: none was found
        self.rival = -1  # of the jobs before it whose places meet its nodes the first to start; -1: none
        self.rival_start = NEVER
        self.sighted = -1  # the same, where the cycle came to it

    def settle(self, parts: Partitions):
        """Get to know the nodes."""
        self.parts = parts
        self.willrun = WillRun(parts.ledger, self.step, parts.space.out)
        self.chance = Chance(parts.space, self.willrun, self.window, self.resolution)
        self.waiting_in = integers(len(parts.nodes))
        return 0

    def run(self, p: Pass):
        """The cycle."""
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        last: cython.Py_ssize_t
        listed: cython.longlong = -1  # how many had started when the hopes were listed
        close: cython.longlong = p.now + self.window
        parts: Partitions = self.parts
        p.release()
        if self.is_same(p):
            return self.repeat(p)
        self.counts.clear()
        self.of_user[:] = 0
        self.planned.clear()
        self.tasks.clear()
        self.tested = self.started = 0
        self.stirred = self.kept_idle
        self.kept_idle = self.moved = False
        self.tellings = 0
        self.until = NEVER
        self.sighted = self.awaited = -1
        self.sought = self.watched
        self.answered, self.named = self.asked, self.naming
        self.start_planned = self.rival = -1
        self.rival_start = NEVER
        self.brief = self.partial = self.keen = False
        self.chance.begin(p.now)
        parts.map_reservations(p.now - p.now % self.resolution, close - close % self.resolution)
        if p.chooses():
            slot = p.raw_queue.head()
            while slot >= 0 and not self.is_done():
                self.consider(p, slot)
                slot = p.raw_queue.behind(slot)
        else:
            self.list_jobs(p)
            self.find_watched()
            self.keen = self.ageing and not self.plans_limited and self.length < self.tests
            self.brief = not p.heard and self.ageing and not self.plans_limited
            last = self.length
            while i < last and not self.is_done():
                if self.brief:
                    if listed != self.started:  # one that has started may have kept others from being too many
                        listed = self.started
                        self.list_hopes(p, i)
                        self.find_watched()
                    last = self.last_hope(p, i)
                    if self.awaits(p, i):
                        last = max(last, self.awaited + 1)
                    if last == 0:
                        break
                self.consider(p, self.ordered[i])
                i += 1
                if self.started != listed:
                    last = self.length
        self.partial = self.brief and i < self.length
        parts.ledger.lift()
        self.stirred |= self.moved or self.kept_idle or self.started > 0
        self.conclude(p)
        return 0

    def is_done(self):
        """Whether enough jobs were tried or started."""
        return self.tested >= self.tests or (self.starts > 0 and self.started >= self.starts)

    def list_jobs(self, p: Pass):
        """The waiting jobs in order, in `ordered`; `order` grows where they are others than at the last listing."""
        i: cython.Py_ssize_t
        same: cython.bint = True
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        line: Line
        if self.moves == p.raw_queue.moves:
            return 0
        self.moves = p.raw_queue.moves
        while len(self.ordered) < p.raw_queue.size:
            self.ordered = doubled(self.ordered)
            self.seqs = doubled(self.seqs)
            self.lengths = doubled(self.lengths)
            self.hope = doubled(self.hope)
            self.listed = doubled(self.listed)
        if p.lines is None:
            count = self.add_jobs(p, p.raw_queue, 0, 0)
        else:
            for lines in p.lines.tiers:
                i = count
                for line in lines:
                    count = self.add_jobs(p, line.queue, i, count)
        self.waiting_in[:] = 0
        for i in range(count):
            slot = self.listed[i]
            self.waiting_in[self.parts.partition(p.jobs.at[slot].queue)] += 1
            same = same and self.ordered[i] == slot and self.seqs[i] == p.jobs.at[slot].seq
            same = same and self.lengths[i] == p.jobs.at[slot].estimate
            self.ordered[i] = slot
            self.seqs[i] = p.jobs.at[slot].seq
            self.lengths[i] = p.jobs.at[slot].estimate
        self.order += not same or count != self.length
        self.length = count
        return 0

    def add_jobs(self, p: Pass, queue: Queue, begin, count):
        """Merge the jobs of one more queue into those listed from `begin` on; how many are listed."""
        i: cython.Py_ssize_t = count - 1
        j: cython.Py_ssize_t = queue.size - 1
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        slots: cython.longlong[::1] = queue.ordered()
        while j >= 0:  # the last ones first: what is there moves to the end
            a = slots[j]
            b = self.listed[i] if i >= begin else a
            if p.jobs.at[a].key < p.jobs.at[b].key or (
                p.jobs.at[a].key == p.jobs.at[b].key and p.jobs.at[a].seq < p.jobs.at[b].seq
            ):
                self.listed[i + j + 1] = b
                i -= 1
            else:
                self.listed[i + j + 1] = a
                j -= 1
        return count + queue.size

    def list_hopes(self, p: Pass, first):
        """Which jobs, from `first` on, could start now if nothing were planned: no limit refuses them, they are not one
        too many of their user's, and there is room. Where no observer hears what is planned, and the next cycle comes
        whatever happens in this one, none behind the last of these is looked at."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        user: cython.longlong
        counts: cython.bint = self.per_user > 0 and self.per_part == self.per_user_part == self.per_assoc == 0
        self.hopes = 0
        self.ahead[:] = self.of_user
        for i in range(first, self.length):
            slot = self.ordered[i]
            user = p.jobs.at[slot].user
            if p.barred(slot):
                continue
            if counts and self.arrays is None:
                self.make_room(user)
                if self.ahead[user + 1] >= self.per_user:
                    continue
                self.ahead[user + 1] += 1
            if self.bound(slot, p.jobs.at[slot].shape, self.parts.partition(p.jobs.at[slot].queue)) < 0:
                self.hope[self.hopes] = i
                self.hopes += 1
        return 0

    def last_hope(self, p: Pass, first):
        """How many jobs there are up to the last one, from `first` on, that could start now beside what is planned so
        far; 0: none. What is planned later makes no room, nor does time up to where others come in."""
        space: NodeSpace = self.parts.space
        slot: cython.Py_ssize_t
        next: cython.Py_ssize_t
        length: cython.longlong
        while self.hopes > 0 and self.hope[self.hopes - 1] >= first:
            slot = self.ordered[self.hope[self.hopes - 1]]
            length = max(p.jobs.at[slot].estimate, 1)
            self.willrun.aim(slot)
            space.open(self.parts.partition(p.jobs.at[slot].queue), p.now)
            space.gather(p.now + length)
            if self.willrun.reaches(-1):
                return self.hope[self.hopes - 1] + 1
            self.hopes -= 1
            next = space.follow(p.now + length)
            if next >= 0:
                self.until = min(self.until, space.begin[next] - 1)
            elif space.reach < space.count:
                self.until = min(self.until, space.begin[space.reach] - length - 1)
        return 0

    def find_watched(self):
        """Where the watched job is in `ordered`."""
        i: cython.Py_ssize_t
        for i in range(self.length if self.watched >= 0 else 0):
            if self.ordered[i] == self.watched:
                self.awaited = i
                break
        return 0

    def awaits(self, p: Pass, first):
        """Whether a job is watched, from `first` on in `ordered`, and what is wanted of it is not known yet: whether
        the cycle comes to it, its place, or the place of another one that keeps it from the room that it has now. One
        that would be looked at and get no place is not waited for."""
        slot: cython.Py_ssize_t = self.watched
        queue: cython.Py_ssize_t
        bound: cython.longlong
        if self.awaited < first:
            return False
        if self.arrays is not None or self.starts > 0 or self.tested + self.awaited - first >= self.tests:
            return True
        if not p.barred(slot):
            queue = self.parts.partition(p.jobs.at[slot].queue)
            bound = self.bound(slot, p.jobs.at[slot].shape, queue)
            if self.naming and bound < 0:
                return True
            if self.asked:
                if self.chance.first(slot, queue, max(p.jobs.at[slot].estimate, 1), bound) < NEVER:
                    return True
                self.until = min(self.until, self.chance.until)
        self.awaited = -1
        self.seen = p.now
        self.sighted = slot
        return False

    def make_room(self, user):
        while user + 1 >= len(self.of_user):
            self.of_user = doubled(self.of_user)
            self.ahead = doubled(self.ahead)
        return 0

    def conclude(self, p: Pass):
        """How long the next cycles are the same as this one."""
        ledger: ResourceLedger = self.parts.ledger
        timed: cython.bint = p.has_timed_limits()
        choosing: cython.bint = p.chooses()
        if self.started > 0 or self.tested >= self.tests or self.parts.reserved or ledger.pins > 0:
            self.until = -1
        if timed or choosing or self.plans_limited or self.min_age > 0 or self.min_prio > 0 or ledger.closing < NEVER:
            self.until = -1
        self.willrun.list_running()
        if self.willrun.running > 0:  # one that outlives its expected end may end any moment
            self.until = min(self.until, self.willrun.ends[0] - 1)
        self.ran = ledger.node_starts.written
        self.planned_order = self.order
        self.causes = 0
        return 0

    def is_same(self, p: Pass):
        """Whether the cycle is the same as the last one."""
        if p.now > self.until or self.ran != self.parts.ledger.node_starts.written or self.causes & (LIMIT | ESTIMATE):
            return False
        if self.parts.ledger.pins > 0 or self.parts.ledger.closing < NEVER:
            return False
        if (p.heard and self.brief) or (self.watched >= 0 and self.watched != self.sought):
            return False
        if self.watched >= 0 and ((self.asked and not self.answered) or (self.naming and not self.named)):
            return False
        if self.causes & ~(TIMER | CAPACITY):
            self.moves = -1
        self.list_jobs(p)
        return self.order == self.planned_order

    def repeat(self, p: Pass):
        """What the last cycle has done, which has started nothing."""
        i: cython.Py_ssize_t
        self.causes = 0
        self.stirred = self.moved or self.kept_idle
        for i in range(self.tellings if p.heard else 0):
            p.expect(self.told[i], self.times[i])
        if self.watched >= 0 and self.watched == self.sighted:
            self.seen = p.now
        return 0

    def array_of(self, p: Pass, slot):
        """The array of which the job is a task, by number; -1: of none."""
        row: cython.longlong = p.jobs.at[slot].row
        return self.arrays[row] if self.arrays is not None and 0 <= row < len(self.arrays) else -1

    def consider(self, p: Pass, slot):
        """Try the job, unless so many tasks of its array have a place already."""
        array: cython.longlong = self.array_of(p, slot)
        places: cython.longlong
        started: cython.longlong = self.started
        if array < 0:
            return self.try_queues(p, slot)
        places = self.tasks.get(array, 0)
        if places >= self.per_array:
            return 0
        self.kept = False
        self.try_queues(p, slot)
        if self.started == started:  # one that has a place in one of its queues and starts in another does not count
            self.tasks[array] = places + 1 if self.kept else self.per_array
        return 0

    def try_queues(self, p: Pass, slot):
        """Try the job in its queue, or in one after the other of several."""
        k: cython.Py_ssize_t
        choice: cython.longlong = p.jobs.at[slot].choice
        if slot == self.watched:
            self.seen = p.now
            self.sighted = slot
        if choice < 0:
            self.try_here(p, slot)
            return 0
        for k in range(p.lines.choices.first[choice], p.lines.choices.first[choice + 1]):
            p.choose(slot, k)
            if self.try_here(p, slot):
                break
        return 0

    def try_here(self, p: Pass, slot):
        """Start the job in its queue, or give it a place; whether it has started."""
        ledger: ResourceLedger = self.parts.ledger
        queue: cython.Py_ssize_t = self.parts.partition(p.jobs.at[slot].queue)
        end: cython.longlong = p.now + max(p.jobs.at[slot].estimate, 1)
        now_only: cython.bint
        refused: cython.bint = p.barred(slot)
        if refused and not self.plans_limited:
            return False
        now_only = self.now_only(p, slot, queue)
        if self.too_many(p, slot, queue):
            return False
        if not ledger.licensed(slot, p.jobs.at[slot].shape, p.now, end):
            return False
        return self.place(p, slot, now_only, refused)

    def place(self, p: Pass, slot, now_only, refused):
        """Time after time: from `start` on the nodes that are kept for no job, and when they have room. A `keen` cycle
        leaves out tries that can find no place before the next one."""
        space: NodeSpace = self.parts.space
        look: WillRun = self.willrun
        length: cython.longlong = max(p.jobs.at[slot].estimate, 1)
        x: cython.Py_ssize_t = p.jobs.at[slot].shape
        least: cython.Py_ssize_t = max(self.parts.ledger.nodes_of[x], 1)
        queue: cython.Py_ssize_t = self.parts.partition(p.jobs.at[slot].queue)
        bound: cython.longlong = self.bound(slot, x, queue)
        counted: cython.bint = self.keen
        start: cython.longlong = p.now
        later: cython.longlong
        time: cython.longlong
        next: cython.Py_ssize_t
        if self.keen and not now_only:
            bound = max(bound, self.chance.first(slot, queue, length, bound))
            if bound >= NEVER:
                self.until = min(self.until, self.chance.until)
                return False
        look.aim(slot)
        space.open(queue, start)
        while True:
            next = space.follow(start + length)
            later = space.begin[next] if next >= 0 else -1
            if not now_only and later >= 0 and bound > later and counted:
                start = later
                space.at = next
                continue
            time = NEVER
            if space.gather(start + length) >= least:
                self.tested += not counted
                counted = True
                if now_only or later < 0 or (bound <= later and look.reaches(later)):
                    time = look.when(now_only)
                    self.rely(p.now, start, later, length)
            elif later < 0 or now_only:
                self.rely(p.now, start, later, length)
            if time >= NEVER:
                if later < 0 or now_only:
                    return False
                start = later
                space.at = next
                continue
            if time < start:
                time = start
                self.moved = True
            if time <= p.now and not refused:
                return self.start(p, slot)
            if time <= p.now:
                time = later if later >= 0 else p.now + AT_A_LIMIT
            if now_only:
                return False
            if later >= 0 and time > later:
                start = later
                space.at = next
                continue
            if time > p.now + self.window:
                self.until = min(self.until, time - self.window - 1)
                return False
            if time >= bound and self.keep(p, slot, time):
                return False
            start = time
            space.open(queue, start)

    def rely(self, now, start, later, length):
        """How long the answer to a try from `start` on is the same, if nothing happens meanwhile.

        A try that starts now starts later next time: others may be free from then on, or some no longer to its end.
        Tries at which too few nodes have room before the next one have no say: fewer nodes have not more."""
        if start > now:
            self.until = min(self.until, start)
            return 0
        if later >= 0:
            self.until = min(self.until, later - 1)
            self.until = min(self.until, self.parts.space.constant(length))
        elif self.parts.space.reach < self.parts.space.count:
            self.until = min(self.until, self.parts.space.begin[self.parts.space.reach] - length - 1)
        return 0

    def bound(self, slot, x, queue):
        """No start before this time has room on nodes of the queue, whichever are kept for others; by what runs."""
        written: cython.longlong = self.parts.ledger.node_starts.written
        at: cython.Py_ssize_t = x * len(self.parts.nodes) + queue
        while at >= len(self.bounds):
            self.bounds = doubled(self.bounds)
            self.bounded = np.concatenate([self.bounded, integers(len(self.bounded), -1)])
        if self.bounded[at] != written:
            self.bounded[at] = written
            self.willrun.aim(slot)
            self.bounds[at] = self.willrun.bound(self.parts.space.sets, queue * self.parts.space.words)
        return self.bounds[at]

    def start(self, p: Pass, slot):
        """Start the job on the usable nodes; where it does not fit there beside reservations, it waits."""
        ledger: ResourceLedger = self.parts.ledger
        ledger.restrict(self.parts.space.out)
        fits: cython.bint = ledger.fits(slot)
        if fits:
            p.start_here(slot)
            self.started += 1
        ledger.lift()
        self.until = -1
        return fits

    def has_idle(self, nodes):
        """Whether no job runs on one of these nodes."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        word: cython.longlong
        ledger: ResourceLedger = self.parts.ledger
        for w in range(len(nodes)):
            word = nodes[w]
            while word != 0:
                i = w * WORD + __builtin_ctzll(word)
                word &= word - 1
                if ledger.timelines.used[i * ledger.timelines.kinds] == 0:
                    return True
        return False

    def keep(self, p: Pass, slot, time):
        """Keep whole nodes for the job from `time` on; False where some are kept for another job."""
        start: cython.longlong = time - time % self.resolution
        end: cython.longlong = time + max(p.jobs.at[slot].estimate, 1)
        queue: cython.Py_ssize_t = self.parts.partition(p.jobs.at[slot].queue)
        end -= end % self.resolution
        if time >= self.parts.space.close:
            self.until = -1
        self.willrun.choose()
        if self.parts.space.overlaps(self.willrun.nodes, time, end):  # what is planned ends at no time between
            return False
        self.planned[queue] = self.planned.get(queue, 0) + 1
        self.kept = True
        self.kept_idle = self.kept_idle or self.has_idle(self.willrun.nodes)
        end = max(end, start + self.resolution)
        self.parts.space.reserve(self.willrun.nodes, start, end)
        if end >= self.parts.space.close:  # the plan will reach there one day
            time_left: cython.longlong = start if start >= self.parts.space.close else end
            self.until = min(self.until, time_left + self.resolution - self.window - 1)
        if self.watched >= 0:
            self.compare(p, slot, time)
        if p.heard:
            self.tell(p, slot, time)
        return True

    def compare(self, p: Pass, slot, time):
        """What the place of a job is to the watched one: its own, or in its way. A place is in the way if the cycle
        comes to it first, and it has nodes of the watched job's queue."""
        queue: cython.Py_ssize_t
        if slot == self.watched:
            self.start_planned = time
        elif self.sighted < 0 and (time < self.rival_start or (time == self.rival_start and slot < self.rival)):
            queue = self.parts.partition(p.jobs.at[self.watched].queue)
            if p.jobs.at[self.watched].choice >= 0 or self.parts.space.meets(queue, self.willrun.nodes):
                self.rival, self.rival_start = slot, time
        return 0

    def tell(self, p: Pass, slot, time):
        """The job is expected to start then."""
        if self.tellings == len(self.told):
            self.told = doubled(self.told)
            self.times = doubled(self.times)
        self.told[self.tellings] = slot
        self.times[self.tellings] = time
        self.tellings += 1
        return p.expect(slot, time)

    def now_only(self, p: Pass, slot, queue):
        """Whether the job gets no place if it cannot start now."""
        if self.min_prio > 0 and -p.jobs.at[slot].key < self.min_prio:
            return True
        if self.min_age > 0 and p.now - p.jobs.at[slot].eligible < self.min_age:
            return True
        return self.places > 0 and self.planned.get(queue, 0) >= self.places

    def charged(self, account, user):
        """The account of a job: its own or, where it names none, its user's; by name if no job names that."""
        if account >= 0 or user < 0 or not self.homes:
            return account
        if user >= len(self.users):
            self.users = list(self.codes["user"])
        home = self.homes.get(self.users[user])
        return account if home is None else self.codes["account"].get(home, home)

    def too_many(self, p: Pass, slot, queue):
        """Whether so many like this one have been looked at already; else it is counted."""
        user: cython.longlong = p.jobs.at[slot].user
        kinds: list = []
        if self.per_user > 0:
            self.make_room(user)
            if self.of_user[user + 1] >= self.per_user:
                return True
        if self.per_user_part > 0:
            kinds.append((("user part", user, queue), self.per_user_part))
        if self.per_part > 0:
            kinds.append((("part", queue), self.per_part))
        if self.per_assoc > 0:
            kinds.append((("assoc", self.charged(p.jobs.at[slot].account, user), user), self.per_assoc))
        for kind, most in kinds:
            if self.counts.get(kind, 0) >= most:
                return True
        for kind, _ in kinds:
            self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.per_user > 0:
            self.of_user[user + 1] += 1
        return False
