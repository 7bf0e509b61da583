"""Thinking now and then, as Slurm does: a quick main pass on events, and a backfill pass every so often.

The parameters have the names and units of Slurm's `SchedulerParameters` where they mean the same
(https://slurm.schedmd.com/slurm.conf.html, sched_config.html).
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.policies.backfill.candidates import Candidates  # noqa: F401 - as in periodic.pxd
from walltime.policies.rhythm.parameters import NO_PASS, check_flag, check_main_interval, check_number
from walltime.policy.api import Cause, Decision, Pass, Policy, Rhythm, require_open

NEVER = cython.declare(cython.longlong, _NEVER)
MAIN = cython.declare(cython.int, 1)  # kinds of passes
FULL = cython.declare(cython.int, 2)
BACKFILL = cython.declare(cython.int, 4)
OTHERS = cython.declare(cython.longlong, -1)  # a policy of its own ways
NO_BACKFILL = cython.declare(cython.longlong, -2)
LAST = cython.declare(cython.longlong, (1 << 62))

if not cython.compiled:
    ARRIVAL, ESTIMATE, ORDER, TIMER = Cause.ARRIVAL, Cause.ESTIMATE, Cause.ORDER, Cause.TIMER
    RESERVE = Decision.RESERVE


@cython.cclass
class Periodic(Rhythm):
    """A main pass when something happens and every `sched_interval`, a backfill pass every `bf_interval`.

    The **main pass** goes through the waiting jobs in order and starts what fits; a queue stops at its first job that
    does not fit, and with it every queue that shares nodes with it. Reservations are not looked at. On events
    (submissions unless `defer`, ends, cancellations, limits that move) it looks at `default_queue_depth` jobs, and
    comes at least `sched_min_interval` microseconds after the last one on events; every `sched_interval` seconds (-1:
    there is no main pass at all) it looks at all.

    The **backfill pass** takes place every `bf_interval` seconds. It looks at the first `bf_max_job_test` jobs in
    order, of each user at most `bf_max_job_user` (0: any number), those at a limit not counted. A job that delays no
    reservation starts; of the others as many as the scheduler's `backfill` part says get a reservation (easy one,
    depth so many, conservative all of them, aggressive none), unless it would begin more than `bf_window` minutes
    ahead. Every pass plans from scratch. Ends in a plan are rounded up to multiples of `bf_resolution` seconds. A pass
    takes no simulated time, so nothing changes under it: `bf_continue` is true.

    Intervals are counted from the time zero of the simulation.
    """

    def __init__(
        self,
        sched_interval=60,
        sched_min_interval=2,
        default_queue_depth=100,
        defer=False,
        bf_interval=30,
        bf_window=1440,
        bf_resolution=60,
        bf_max_job_test=500,
        bf_max_job_user=0,
        bf_continue=True,
    ) -> None:
        Rhythm.__init__(self)
        self.forgets = self.replans = True
        check_main_interval(sched_interval)
        check_number("sched_min_interval", sched_min_interval, 0, "microseconds")
        check_number("default_queue_depth", default_queue_depth, 1, "jobs")
        check_number("bf_interval", bf_interval, 1, "seconds")
        check_number("bf_window", bf_window, 1, "minutes")
        check_number("bf_resolution", bf_resolution, 1, "seconds")
        check_number("bf_max_job_test", bf_max_job_test, 1, "jobs")
        check_number("bf_max_job_user", bf_max_job_user, 0, "jobs, 0 for any number")
        check_flag("defer", defer)
        if bf_continue is not True:
            raise InputError(
                "bf_continue can only be true: a backfill pass takes no simulated time, so nothing changes under it",
                value=bf_continue,
            )
        self.sched_interval = sched_interval * SECOND if sched_interval > 0 else -1
        self.sched_min_interval = sched_min_interval
        self.default_queue_depth = default_queue_depth
        self.defer = defer
        self.bf_interval = bf_interval * SECOND
        self.bf_window = bf_window * 60 * SECOND
        self.bf_resolution = bf_resolution * SECOND
        self.bf_max_job_test = bf_max_job_test
        self.bf_max_job_user = bf_max_job_user
        self.depth = NO_BACKFILL
        self.candidates = None
        self.last_main = -NEVER
        self.last_full = self.last_backfill = -1
        self.missed = 0  # what has happened since the last backfill pass,
        self.pending = 0  # and since the last main pass
        self.cut = False  # whether that stopped at its depth
        self.free_profile = FreeProfile()
        self.units = 0  # of the job that is looked at, where these are counted
        self.counted = False
        self.chosen = integers(64)
        self.before = integers(64)  # the jobs that the last backfill pass looked at, by order of entry
        self.befores = -1
        self.users = {}
        self.reserved = 0
        self.started = False
        self.watched = -1  # a job that is watched: when a backfill pass last looked at it
        self.seen = -1
        self.planned = -1  # when the last backfill pass took place that was not left out
        self.skipped = 0  # backfill passes that would have found everything as it was

    def attach(self, policy: Policy, ageing, lanes=None):
        Rhythm.attach(self, policy, ageing, lanes)
        self.share = None if lanes is None else np.ascontiguousarray(lanes, np.uint8)
        self.blocked = integers(0 if lanes is None else len(lanes))
        rule = policy.rule
        if rule is None:
            self.depth = OTHERS
            return
        if not rule.overtakes:
            self.depth = NO_BACKFILL
            if self.sched_interval < 0:
                raise InputError(NO_PASS)
            return
        if rule.lasting:
            what = f"{type(policy).__name__.lower()} with {rule.lasting}"
            raise InputError(f"backfill {what}, and the periodic rhythm, which plans again at each pass")
        self.depth = rule.reservations
        self.candidates = rule.candidates
        if self.candidates is not None and self.candidates.order.dynamic:
            self.ageing = True

    def keeps_promises(self, policy: Policy) -> bool:
        return policy.plans and self.depth == OTHERS  # else each of its own passes plans from scratch

    # ---- when

    def passes_due(self, now, causes):
        """Which passes take place now."""
        passes: cython.int = 0
        due: cython.bint
        happened: cython.int = (causes | self.pending) & ~TIMER
        events: cython.int = happened & ~ESTIMATE
        if self.defer:
            events &= ~ARRIVAL
        if self.sched_interval > 0:
            if now % self.sched_interval == 0 and self.last_full != now and (self.cut or happened or self.ageing):
                passes |= FULL
            elif events and now >= self.last_main + self.sched_min_interval:
                passes |= MAIN
        due = self.depth != NO_BACKFILL and now % self.bf_interval == 0 and self.last_backfill != now
        if due and (self.missed or causes & ~TIMER or self.ageing):
            passes |= BACKFILL
        return passes

    def due(self, now, causes):
        self.require_attached()
        return self.passes_due(now, causes) != 0

    def next(self, now, causes):
        self.require_attached()
        time: cython.longlong = NEVER
        soon: cython.longlong
        happened: cython.int = (causes | self.pending) & ~TIMER
        events: cython.int = happened & ~ESTIMATE
        if self.defer:
            events &= ~ARRIVAL
        if self.sched_interval > 0:
            if self.cut or happened or self.ageing:
                time = now - now % self.sched_interval + self.sched_interval
            soon = self.last_main + self.sched_min_interval
            if events and now < soon < time:
                time = soon
        if self.depth != NO_BACKFILL and (self.missed or causes & ~TIMER or self.ageing):
            soon = now - now % self.bf_interval + self.bf_interval
            if soon < time:
                time = soon
        return time

    def schedule(self, p: Pass):
        self.require_attached()
        passes: cython.int = self.passes_due(require_open(p).now, p.causes)
        self.missed |= p.causes & ~TIMER
        self.pending |= p.causes & ~TIMER
        if passes & FULL:
            self.last_full = p.now
            self.run_main(p, LAST)
        elif passes & MAIN:
            self.last_main = p.now
            self.run_main(p, self.default_queue_depth)
        if passes & BACKFILL:
            self.last_backfill = p.now
            self.started = False
            self.run_backfill(p)
            self.missed = ORDER if self.started else 0  # then others are among the first now
        return 0

    # ---- the main pass

    def run_main(self, p: Pass, depth):
        """Start what fits in order; a queue stops at its first job that does not."""
        slot: cython.Py_ssize_t
        tested: cython.longlong = 0
        lane: cython.Py_ssize_t
        decided: cython.Py_ssize_t = p.decided
        self.pending = 0
        p.release()
        if self.share is not None:
            self.blocked[:] = 0
        slot = p.raw_queue.head()
        while slot >= 0 and tested < depth:
            tested += 1
            lane = p.jobs.at[slot].lane
            if self.share is None or not self.blocked[lane]:
                if p.fits(slot):
                    p.start(slot)
                elif self.share is None:
                    slot = -1
                    break
                else:
                    self.stop(p, lane, depth == LAST)
            slot = p.raw_queue.behind(slot)
        self.cut = slot >= 0
        if self.share is not None:
            p.pass_over_none()
        if p.decided > decided:
            self.missed |= ORDER
        return 0

    def stop(self, p: Pass, lane, unseen):
        """The lane's first job does not fit: it and those that share nodes with it stop; where their jobs are not
        counted either, they are not even looked at."""
        other: cython.Py_ssize_t
        for other in range(self.share.shape[1]):
            if self.share[lane, other]:
                self.blocked[other] = 1
                if unseen:
                    p.pass_over(other)
        return 0

    # ---- the backfill pass

    def run_backfill(self, p: Pass):
        if self.depth == OTHERS:
            p.set_causes(self.missed | ORDER)  # it has not seen the passes in between: no shortcut holds
            self.policy.schedule(p)
            self.started = True  # it may have
            return 0
        self.reserved = 0
        self.users.clear()
        return self.run_listed(p) if p.lines is None else self.run_lines(p)

    def run_listed(self, p: Pass):
        """No job's place in the list changes during the pass, as there are no limits."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self.collect(p)
        brief: cython.bint
        if self.repeats(p, n) and not self.missed & ~ARRIVAL:
            self.skipped += 1  # the same jobs in the same order, all else as it was: time alone lets no job start
            return 0
        p.release()
        self.planned = p.now
        self.counted = p.raw_ledger.foresee(self.free_profile)
        brief = self.counted and not p.heard and self.watched < 0 and self.candidates is None
        if brief:
            n = self.last_hope(p, 0, n)
        while i < n and (self.reserved < self.depth or self.candidates is None):
            self.consider(p, self.chosen[i])
            i += 1
            if brief:
                n = self.last_hope(p, i, n)
        return self.start_ranked(p, list(self.chosen[i:n])) if i < n else 0

    def last_hope(self, p: Pass, i, n):
        """How many jobs there are up to the last one, from the i-th on, that could start now beside what is planned so
        far. Where a plan lasts no longer than its pass and no observer hears of it, those behind need no look: less and
        less is free while a pass goes on, so none of them will start."""
        while n > i and not self.fits(p, self.chosen[n - 1]):
            n -= 1
        return n

    def collect(self, p: Pass):
        """The jobs that the pass looks at, in order; how many."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0
        many: cython.Py_ssize_t = self.bf_max_job_test
        if self.bf_max_job_user > 0 or many > p.raw_queue.size:
            many = p.raw_queue.size
        while len(self.chosen) < many:
            self.chosen = doubled(self.chosen)
        n = p.raw_queue.leading(many, self.chosen)
        if self.bf_max_job_user == 0:
            return n
        for i in range(n):
            if kept < self.bf_max_job_test and not self.too_many(p, self.chosen[i]):
                self.chosen[kept] = self.chosen[i]
                kept += 1
        return kept

    def repeats(self, p: Pass, n):
        """Whether the list is that of the last time; it is remembered for the next."""
        i: cython.Py_ssize_t
        same: cython.bint = n == self.befores
        if self.candidates is not None:
            return False
        while len(self.before) < n:
            self.before = doubled(self.before)
        for i in range(n):
            if self.before[i] != p.jobs.at[self.chosen[i]].seq:
                same = False
                self.before[i] = p.jobs.at[self.chosen[i]].seq
        self.befores = n
        return same

    def run_lines(self, p: Pass):
        """The limits are asked when it is a job's turn: what has started before it in this pass counts."""
        rest: list = []
        tested: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        p.release()
        self.planned = p.now
        self.counted = p.raw_ledger.foresee(self.free_profile)
        slot = p.raw_queue.head()
        while slot >= 0 and tested < self.bf_max_job_test:
            if p.admits(slot) and not self.too_many(p, slot):
                tested += 1
                if self.reserved < self.depth or self.candidates is None:
                    self.consider(p, slot)
                else:
                    rest.append(slot)
            slot = p.raw_queue.behind(slot)
        return self.start_ranked(p, rest) if rest else 0

    def too_many(self, p: Pass, slot):
        """Whether so many of the user's jobs have been looked at already; else this one is counted."""
        user: cython.longlong
        if self.bf_max_job_user == 0:
            return False
        user = p.jobs.at[slot].user
        seen = self.users.get(user, 0)
        self.users[user] = seen + 1
        return seen >= self.bf_max_job_user

    def start_ranked(self, p: Pass, rest):
        """Those behind the last reservation, in the candidates' order."""
        slot: cython.Py_ssize_t
        for slot in self.candidates.rank(p, rest):
            if self.fits(p, slot):
                self.start(p, slot)
        return 0

    def consider(self, p: Pass, slot):
        """Start the job, or reserve for it, or let it wait."""
        if self.fits(p, slot):
            return self.start(p, slot)
        if self.reserved < self.depth and p.admits(slot):
            return self.reserve(p, slot)
        return 0

    def fits(self, p: Pass, slot):
        """Whether the job can start now, and stay until its rounded end, beside the reservations made so far; asked
        before it is started or reserved for."""
        until: cython.longlong = self.up(p.now + max(p.jobs.at[slot].estimate, 1))
        if self.counted:
            self.units = p.raw_ledger.units(slot)
        if slot == self.watched:
            self.seen = p.now
        if self.counted:
            return self.free_profile.fits(self.units, until) and (p.lines is None or p.fits(slot))
        return p.fits_for(slot, until - p.now)

    def start(self, p: Pass, slot):
        if self.counted:
            self.free_profile.hold(p.now, p.now + max(p.jobs.at[slot].estimate, 1), self.units)
        self.started = True
        return p.start(slot)

    def reserve(self, p: Pass, slot):
        """Keep the earliest time for the job, where that lies in the window.

        Its end is rounded up; where it cannot stay so long at its first time, it has the first at which it can.
        """
        length: cython.longlong = max(p.jobs.at[slot].estimate, 1)
        time: cython.longlong = self.earliest(p, slot, p.jobs.at[slot].estimate)
        if time - p.now > self.bf_window:
            return 0
        length = self.up(time + length) - time
        time = self.earliest(p, slot, length)
        if time - p.now > self.bf_window:
            return 0
        if self.counted:
            self.free_profile.hold(time, time + length, self.units)
            p.decide(RESERVE, slot, time)
        else:
            p.promise(slot, time, length)
        self.reserved += 1
        return 0

    def earliest(self, p: Pass, slot, length):
        """The first time at which the job can have its resources for so long."""
        if self.counted:
            return self.free_profile.earliest(self.units, max(length, 1))
        return p.plan_for(slot, length)

    def up(self, time):
        """The time, rounded up to the resolution."""
        return (time + self.bf_resolution - 1) // self.bf_resolution * self.bf_resolution
