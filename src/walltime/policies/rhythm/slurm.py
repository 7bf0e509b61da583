"""Slurm's own planner: the main scheduling pass, and when it and the backfill cycle take place.

The parameters have the names and units of Slurm's `SchedulerParameters`
(https://slurm.schedmd.com/slurm.conf.html, sched_config.html); the rules are those of release 22.05.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_space import NodeSpace, count_nodes, no_nodes, put_node  # noqa: F401 - as in slurm.pxd
from walltime.policies.rhythm.parameters import NO_PASS, check_flag, check_main_interval, check_number
from walltime.policies.rhythm.slurm_cycle import Cycle, Partitions
from walltime.policies.rhythm.will_run import WillRun
from walltime.policy.api import Cause, Pass, Policy, Rhythm, require_open

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
MAIN = cython.declare(cython.int, 1)  # kinds of passes
FULL = cython.declare(cython.int, 2)
BACKFILL = cython.declare(cython.int, 4)
NO_BACKFILL = cython.declare(cython.longlong, -2)
NUMBERS = {
    "batch_sched_delay": (0, "seconds"),
    "sched_min_interval": (0, "microseconds"),
    "default_queue_depth": (0, "jobs"),
    "partition_job_depth": (0, "jobs, 0 for any number"),
    "sched_max_job_start": (0, "jobs, 0 for any number"),
    "bf_interval": (1, "seconds"),
    "bf_window": (1, "minutes"),
    "bf_window_linear": (0, "seconds, 0 for windows that double"),
    "bf_resolution": (1, "seconds"),
    "bf_max_job_test": (1, "jobs"),
    "bf_max_job_start": (0, "jobs, 0 for any number"),
    "bf_max_job_user": (0, "jobs, 0 for any number"),
    "bf_max_job_part": (0, "jobs, 0 for any number"),
    "bf_max_job_user_part": (0, "jobs, 0 for any number"),
    "bf_max_job_assoc": (0, "jobs, 0 for any number"),
    "bf_job_part_count_reserve": (0, "jobs, 0 for any number"),
    "bf_min_age_reserve": (0, "seconds"),
    "bf_min_prio_reserve": (0, "a priority"),
    "bf_max_job_array_resv": (1, "jobs"),
}
"""The parameters that are whole numbers: the least, and of what."""

if not cython.compiled:
    ESTIMATE, LIMIT, RELEASE, TIMER = Cause.ESTIMATE, Cause.LIMIT, Cause.RELEASE, Cause.TIMER


@cython.cclass
class Slurm(Rhythm):
    """The passes of Slurm's controller on a cluster with nodes.

    The **main pass** goes through the waiting jobs in order and starts what fits now. The first job of a queue that
    does not fit stops its queue, and takes that queue's nodes out of the pass: jobs of other queues go on with their
    other nodes. It does not stop it where it waits for licences, where reservations of the machine leave it too few
    nodes, or where it has waited for less than `bf_min_age_reserve` seconds or has a priority below
    `bf_min_prio_reserve`. On a job's end it comes at once; on submissions and all else at the next whole second, at
    least `batch_sched_delay` seconds after the last of these; every `sched_interval` seconds it looks at all jobs,
    else at the first `default_queue_depth`. A job at a limit is passed over, or, with `assoc_limit_stop`, stops its
    queue, too, unless the limit is on the number of jobs. An array is looked at until one of its tasks does not start.

    The **backfill cycle** is in `slurm_cycle`. It comes at a whole second, at least `bf_interval` seconds after the
    last one, once there has been news at its instant or since then, or where the order of the jobs changes with time.
    News is all that happens to jobs and nodes, a main pass that met a job of a stopped queue, one that waits for
    licences, or one with fewer nodes left than it wants, and what a cycle finds by `Cycle.stirred`. Where no job waits
    then, it finds nothing, and the next counts from it. `bf_job_part_count_reserve` says for how many jobs of a queue
    it keeps nodes, or, where that is not given, the scheduler's `backfill` part does: `conservative` for all, `depth`
    for so many, `easy` for one; with `none` there is no cycle.

    Both take no simulated time. Intervals are counted from time zero.
    """

    def __init__(
        self,
        sched_interval=60,
        sched_min_interval=2,
        batch_sched_delay=3,
        default_queue_depth=100,
        partition_job_depth=0,
        sched_max_job_start=0,
        defer=False,
        bf_interval=30,
        bf_window=1440,
        bf_window_linear=0,
        bf_resolution=60,
        bf_continue=False,
        bf_max_job_test=500,
        bf_max_job_start=0,
        bf_max_job_user=0,
        bf_max_job_part=0,
        bf_max_job_user_part=0,
        bf_max_job_assoc=0,
        bf_job_part_count_reserve=0,
        bf_min_age_reserve=0,
        bf_min_prio_reserve=0,
        bf_max_job_array_resv=20,
        assoc_limit_stop=False,
    ) -> None:
        Rhythm.__init__(self)
        given = dict(locals())
        for name, (least, unit) in NUMBERS.items():
            check_number(name, given[name], least, unit)
        check_main_interval(sched_interval)
        for name in ("defer", "bf_continue", "assoc_limit_stop"):
            check_flag(name, given[name])
        self.forgets = self.replans = self.asks_limits = True
        self.sched_interval = sched_interval * SECOND if sched_interval > 0 else -1
        self.sched_min_interval = sched_min_interval
        self.batch_sched_delay = batch_sched_delay * SECOND
        self.default_queue_depth = default_queue_depth
        self.partition_job_depth = partition_job_depth
        self.sched_max_job_start = sched_max_job_start
        self.defer = defer
        self.assoc_limit_stop = assoc_limit_stop
        self.rejected = -1  # the array of which a task has not started in this pass
        self.bf_interval = bf_interval * SECOND
        self.cycle = Cycle(given)
        self.parts = None
        self.masks = []
        self.depth = NO_BACKFILL
        self.last_main = self.last_called = self.last_backfill = -NEVER
        self.last_full = -1
        self.news = NEVER  # the first time at which something has happened since the last backfill cycle
        self.pending = 0  # what has happened since the last main pass
        self.cut = False  # whether that has left out jobs: for their number, or in a stopped queue
        self.begun = 0
        # the last main passes of both kinds, where they have started nothing: what ran, and how the queue was
        self.vain_ran = integers(2, -1)
        self.vain_order = integers(2)
        self.vain_cut = integers(2)
        self.vain_stirred = integers(2)
        self.stirred = False  # whether it was news for the backfill cycle
        self.stirred_at = -NEVER  # the last time with news for it, of a main pass or of what has happened
        self.watched = self.seen = self.planned = -1  # as in `Periodic`
        self.asked_from = -NEVER  # from when on a cycle is to find the watched job's own place
        self.naming = True  # whether it is to find the job that has the watched one's, where that has room
        self.partial = False  # whether it has left jobs without a look

    def attach(self, policy: Policy, ageing, lanes=None):
        Rhythm.attach(self, policy, ageing, lanes)
        rule = policy.rule
        if rule is None or rule.lasting or (rule.overtakes and rule.reservations == 0):
            raise InputError(
                "the slurm rhythm plans itself; of the backfill part it takes how many jobs of a queue get a place",
                value=type(policy).__name__,
                choices=["none", "easy", "depth", "conservative"],
            )
        if not rule.overtakes:
            self.depth = NO_BACKFILL
            if self.sched_interval < 0:
                raise InputError(NO_PASS)
        else:
            self.depth = rule.reservations if rule.reservations < NEVER else 0
        if rule.candidates is not None:
            raise InputError("candidates: the slurm rhythm looks at jobs in their order")
        self.cycle.places = self.cycle.places or max(self.depth, 0)

    def keeps_promises(self, policy: Policy) -> bool:
        return False  # every cycle plans from scratch

    def set_partitions(self, masks):
        self.masks = masks

    def set_arrays(self, arrays):
        self.cycle.arrays = arrays

    def set_surroundings(self, around):
        accounts = around.cluster.accounts
        self.cycle.homes = {user: name for name, account in accounts.items() for user in account.users or ()}
        self.cycle.codes = around.codes

    # ---- when

    def queued(self, happened):
        """Of what has happened, that which waits for the controller's own beat."""
        return happened & ~ESTIMATE & (~RELEASE if not self.defer else -1)

    def called(self, now):
        """When the last pass took place that was not at once; every so often there is one, of interest or not."""
        return max(self.last_called, now - now % self.sched_interval)

    def passes_due(self, now, causes):
        """Which passes take place now."""
        passes: cython.int = 0
        happened: cython.int = (causes | self.pending) & ~TIMER
        if self.sched_interval > 0:
            if now % self.sched_interval == 0 and self.last_full != now and (self.cut or happened or self.ageing):
                passes |= FULL
            elif self.is_at_once(now, happened) or self.is_queued(now, happened):
                passes |= MAIN
        if self.depth != NO_BACKFILL and now % SECOND == 0 and self.is_missed(now, causes):
            passes |= BACKFILL if now >= self.cycled(now) + self.bf_interval else 0
        return passes

    def cycled(self, now):
        """When the last cycle took place before `now`, also one that found no job waiting."""
        time: cython.longlong
        if self.news >= NEVER:
            return self.last_backfill
        time = (max(self.news, self.last_backfill + self.bf_interval) + SECOND - 1) // SECOND * SECOND
        return time if time < now else self.last_backfill

    def is_missed(self, now, causes):
        """Whether something has happened since that cycle, or the order changes with time."""
        return causes & ~TIMER or self.ageing or (self.news < NEVER and self.cycled(now) == self.last_backfill)

    def note(self, now):
        """Something has happened."""
        last: cython.longlong = self.cycled(now)
        if last != self.last_backfill:
            self.last_backfill = last
            self.news = NEVER
        self.news = min(self.news, now)
        return 0

    def idle(self, now, causes):
        self.pending = 0
        if causes & ~TIMER:
            self.note(now)

    def overlooks(self):
        """A begin time that has come wakes nothing: the job waits for the pass that looks at all of them."""
        self.cut = True
        return self.sched_interval > 0

    def is_at_once(self, now, happened):
        """Whether a job has ended, and the pause since the last pass of this kind is over."""
        return happened & RELEASE and not self.defer and now >= self.last_main + self.sched_min_interval

    def is_queued(self, now, happened):
        """Whether it is time for what waits for the controller's beat."""
        return self.queued(happened) and now % SECOND == 0 and now >= self.called(now) + self.batch_sched_delay

    def due(self, now, causes):
        self.require_attached()
        return self.passes_due(now, causes) != 0

    def next(self, now, causes):
        self.require_attached()
        time: cython.longlong = NEVER
        soon: cython.longlong
        happened: cython.int = (causes | self.pending) & ~TIMER
        if self.sched_interval > 0:
            if self.cut or happened or self.ageing:
                time = now - now % self.sched_interval + self.sched_interval
            if self.queued(happened):
                soon = max(now + 1, self.called(now) + self.batch_sched_delay)
                time = min(time, (soon + SECOND - 1) // SECOND * SECOND)
            soon = self.last_main + self.sched_min_interval
            if happened & RELEASE and not self.defer and now < soon < time:
                time = soon
        if causes & ~TIMER:
            self.note(now)
        if self.depth != NO_BACKFILL and self.is_missed(now, causes):
            soon = max(now + 1, self.cycled(now) + self.bf_interval)
            time = min(time, (soon + SECOND - 1) // SECOND * SECOND)
        return time

    def schedule(self, p: Pass):
        self.require_attached()
        passes: cython.int = self.passes_due(require_open(p).now, p.causes)
        if p.causes & ~TIMER:
            self.note(p.now)
        self.pending |= p.causes & ~TIMER
        self.cycle.causes |= p.causes
        if p.causes & (LIMIT | ESTIMATE):
            self.vain_ran[0] = self.vain_ran[1] = -1
        self.settle(p)
        self.begun = 0
        self.stirred = False
        if passes & FULL:
            self.last_full = self.last_called = p.now
            self.run_main(p, True)
        elif passes & MAIN:
            if self.is_at_once(p.now, self.pending):
                self.last_main = p.now
            else:
                self.last_called = p.now
            self.run_main(p, False)
        if self.stirred or p.fresh & ~TIMER:
            self.stirred_at = p.now
        if passes & BACKFILL:
            self.last_backfill = self.planned = p.now
            self.cycle.watched = self.watched
            self.cycle.asked = p.now >= self.asked_from
            self.cycle.naming = self.naming or self.cycle.asked
            self.cycle.ageing = self.ageing
            self.cycle.run(p)
            self.news = p.now if self.cycle.stirred or self.stirred_at == p.now else NEVER
            self.seen = self.cycle.seen
            self.partial = self.cycle.partial
        return 0

    def settle(self, p: Pass):
        """Get to know the nodes, at the first pass."""
        if self.parts is None:
            if not isinstance(p.raw_ledger, ResourceLedger):
                raise InputError("rhythm: slurm plans with nodes; give the cluster nodes")
            self.parts = Partitions(p.raw_ledger, self.masks)
            self.parts.ledger.time_nodes()  # from now on it writes down which nodes have changed
            self.stopped = integers(len(self.parts.nodes))
            self.looked = integers(len(self.parts.nodes))
            self.open = no_nodes(self.parts.ledger.n)
            self.clear = no_nodes(self.parts.ledger.n)
            self.cycle.settle(self.parts)
        return 0

    @property
    def start_planned(self) -> int:
        """When the last cycle has the watched job start; -1: it has found no place for it, or was not asked."""
        return self.cycle.start_planned

    @property
    def rival(self) -> tuple[int, int] | None:
        """Of the jobs that the last cycle came to before the watched one, and whose places have nodes of its queue, the
        first to start: (start, slot). None: there is none, or it was not asked."""
        cycle: Cycle = self.cycle
        return None if cycle.rival < 0 else (cycle.rival_start, cycle.rival)

    # ---- the main pass

    def run_main(self, p: Pass, full):
        """Start what fits in order; a queue stops at its first job that does not, and its nodes are left out."""
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        tested: cython.longlong = 0
        self.pending = 0
        self.cut = False
        self.rejected = -1
        p.release()
        if self.is_vain(p, full):
            self.cut = self.vain_cut[full]
            self.stirred = self.vain_stirred[full]
            if self.stirred:
                self.note(p.now)
            return 0
        ran: cython.longlong = self.parts.ledger.node_starts.written
        self.stopped[:] = 0
        self.looked[:] = 0
        self.open[:] = -1
        self.parts.map_reservations(p.now, NEVER)
        self.parts.ledger.restrict(self.open)
        if p.chooses():
            slot = p.raw_queue.head()
            while slot >= 0 and not self.is_over(full, tested):
                tested += self.try_main(p, slot)
                slot = p.raw_queue.behind(slot)
            self.cut |= slot >= 0
        else:
            self.cycle.list_jobs(p)
            while i < self.cycle.length and not self.is_over(full, tested) and not self.is_at_rest():
                tested += self.try_main(p, self.cycle.ordered[i])
                i += 1
            self.cut |= i < self.cycle.length
        self.parts.ledger.lift()
        self.cut |= self.stirred
        self.vain_ran[full] = ran if self.begun == 0 and not self.heeds_time(p) else -1
        self.vain_order[full] = self.cycle.order
        self.vain_cut[full] = self.cut
        self.vain_stirred[full] = self.stirred
        self.stirred |= self.begun > 0
        if self.stirred:
            self.note(p.now)
        return 0

    def is_over(self, full, tested):
        """Whether the pass has looked at enough jobs, or started enough."""
        if not full and tested > self.default_queue_depth:
            return True
        return self.sched_max_job_start > 0 and self.begun == self.sched_max_job_start

    def is_at_rest(self):
        """Whether all queues in which jobs wait are stopped, and that is news already: what is left adds nothing."""
        k: cython.Py_ssize_t
        if not self.stirred:
            return False
        for k in range(len(self.stopped)):  # noqa: SIM110, a generator is slow
            if not self.stopped[k] and self.cycle.waiting_in[k] > 0:
                return False
        return True

    def is_vain(self, p: Pass, full):
        """Whether the last pass of this kind has started nothing, and nothing that matters has happened since."""
        if self.vain_ran[full] != self.parts.ledger.node_starts.written or self.heeds_time(p):
            return False
        self.cycle.list_jobs(p)
        return self.vain_order[full] == self.cycle.order

    def heeds_time(self, p: Pass):
        """Whether a pass may find something only because time has passed; or has other effects than to start jobs."""
        ledger: ResourceLedger = self.parts.ledger
        if ledger.pins > 0 or ledger.closing < NEVER or p.has_timed_limits():
            return True
        if self.cycle.min_age > 0 or self.cycle.min_prio > 0:
            return True
        return p.chooses()

    def try_main(self, p: Pass, slot):
        """Try the job in its queue, or in one after the other of several; how many times it counts for the depth."""
        k: cython.Py_ssize_t
        queue: cython.Py_ssize_t
        tested: cython.int = 0
        first: cython.Py_ssize_t = 0
        last: cython.Py_ssize_t = 1
        choice: cython.longlong = p.jobs.at[slot].choice
        array: cython.longlong = self.cycle.array_of(p, slot)
        if array >= 0 and array == self.rejected:
            return 0
        self.rejected = array
        if choice >= 0:
            first, last = p.lines.choices.first[choice], p.lines.choices.first[choice + 1]
        for k in range(first, last):
            if choice >= 0:
                p.choose(slot, k)
            queue = self.parts.partition(p.jobs.at[slot].queue)
            if self.partition_job_depth > 0:
                self.looked[queue] += 1
                if self.looked[queue] > self.partition_job_depth:
                    self.cut = True
                    continue
            tested += 1
            if self.stopped[queue]:
                self.stirred = True
            elif self.try_here(p, slot):
                self.rejected = -1
                return tested
        return tested

    def try_here(self, p: Pass, slot):
        """Start the job in its queue if it fits there now; else stop the queue, unless the job is none that does."""
        ledger: ResourceLedger = self.parts.ledger
        look: WillRun = self.cycle.willrun
        x: cython.Py_ssize_t = p.jobs.at[slot].shape
        w: cython.Py_ssize_t
        queue: cython.Py_ssize_t = self.parts.partition(p.jobs.at[slot].queue)
        end: cython.longlong = p.now + max(p.jobs.at[slot].estimate, 1)
        if p.barred(slot):
            if self.assoc_limit_stop and not p.quotas.full(slot) and not self.spares(p, slot):
                self.stop(queue)
            return False
        look.aim(slot)
        if look.has_room(self.open) and ledger.fits(slot):
            p.start_here(slot)
            self.begun += 1
            return True
        if not ledger.licensed(slot, x, p.now, end):
            self.stirred = True
            return False
        least: cython.Py_ssize_t = max(ledger.nodes_of[x], 1)
        nodes: cython.longlong[::1] = self.parts.nodes[queue]
        if self.parts.reserved:
            self.parts.space.open(queue, p.now)
            if self.parts.space.gather(end) < least:
                return False
        for w in range(len(self.clear)):
            self.clear[w] = nodes[w] & self.open[w]
        if count_nodes(self.clear) < least:
            self.stirred = True
            self.stop(queue)
        elif not self.spares(p, slot) and (look.comes_free(self.clear) or self.parts.holds_idle(x, self.clear)):
            self.stop(queue)
        return False

    def spares(self, p: Pass, slot):
        """Whether others may go before the job though it does not fit."""
        cycle: Cycle = self.cycle
        if cycle.min_age > 0 and p.now - p.jobs.at[slot].eligible < cycle.min_age:
            self.cut = True  # it may stop its queue once it is older
            return True
        return cycle.min_prio > 0 and -p.jobs.at[slot].key < cycle.min_prio

    def stop(self, queue):
        w: cython.Py_ssize_t
        nodes: cython.longlong[::1] = self.parts.nodes[queue]
        self.stopped[queue] = 1
        for w in range(len(self.open)):
            self.open[w] &= ~nodes[w]
        return 0
