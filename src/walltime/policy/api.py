"""The plug-in interface: the parts of a scheduler, and the pass in which a policy decides.

Built-in parts are compiled; a Python class that extends one of these bases and overrides its hook is called the same
way. A job is a number (its slot), valid while the job is in the system; `Pass.job(slot)` gives a view with names.
"""

from __future__ import annotations

import enum
from array import array
from typing import Any, NamedTuple

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, QueuePosition, State
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.queue.choices import Choices
from walltime.kernel.queue.lines import LinesQueue
from walltime.kernel.queue.waiting import Queue
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in api.pxd

NEVER = cython.declare(cython.longlong, _NEVER)
LAST = cython.declare(cython.longlong, (1 << 63) - 1)  # the largest key


class Cause(enum.IntFlag):
    """Why a pass takes place. A shortcut in a policy names the causes under which it holds."""

    RELEASE = 1  # resources were given back
    ARRIVAL = 2  # a job joined the queue
    ORDER = 4  # the queue changed otherwise: a job left it, keys moved
    LIMIT = 8  # a limit moved
    CAPACITY = 16  # the machine grew or shrank
    TIMER = 32  # a policy or its rhythm asked to be called
    ESTIMATE = 64  # a running job outlived its expected end


class Decision(enum.IntEnum):
    """What a policy can decide."""

    START = 0
    RESERVE = 1
    CANCEL = 2
    PREEMPT = 3
    WAKE = 4


if not cython.compiled:
    WAITING = State.WAITING
    OUTSIDE = QueuePosition.OUTSIDE
    ARRIVAL = Cause.ARRIVAL
    START, RESERVE, CANCEL, PREEMPT, WAKE = Decision


def require_open(p):
    """The pass, where it is one that is not over; else PolicyError. Asked at the top of every compiled `schedule`."""
    if p is None:
        raise PolicyError("a policy was called without a pass")
    if not p.open:
        p.complain()
    return p


def _list(nodes):
    some = [str(node) for node in nodes]
    return f"node {some[0]}" if len(some) == 1 else f"nodes {', '.join(some[:8])}{', ...' if len(some) > 8 else ''}"


def views():
    """The module of the views, which builds upon this one."""
    from walltime.policy import views

    return views


class InOrder(NamedTuple):
    """Backfilling that goes through the queue in order, starts what fits, and keeps a place for the first jobs that do
    not: what a rhythm has to know of such a policy to make passes of its own."""

    reservations: int
    """How many jobs get a place; NEVER: all of them."""
    candidates: Any = None
    """The order in which jobs behind the last reservation are tried, a `Candidates`; None: the queue's own."""
    overtakes: bool = True
    """Whether a job may start before one that stands before it."""
    lasting: str = ""
    """The parameter by which something outlasts a pass, where there is one."""


@cython.cclass
class Policy:
    """Decides, in one pass, which waiting jobs start: the `backfill` part of a scheduler.

    One that keeps promises to many jobs sets `plans`, and gets a ledger that is made for that. One under which no job
    ever overtakes may set `strict`: predictions of starts are better for it. One in Python may set `lazy` where it has
    nothing to do about jobs that join behind the first one and cannot start: it is not called for them. `rule` declares
    what a rhythm may take over; without one every pass is the policy's. One that looks at what users hold names an
    order that is told of it, `charged`.
    """

    def __init__(self) -> None:
        self.plans = False
        self.strict = False
        self.lazy = False
        self.rule = None
        self.charged = None

    def attach(self, surroundings):
        """Get to know the cluster, before the first job of a run; see `walltime.policy.surroundings`."""
        return 0

    def prepare(self, seed, where):
        """Called once, before the first pass: the scenario's seed, and a name of what is scheduled, for policies that
        draw numbers."""
        return None

    def schedule(self, p: Pass):
        """Look at the pass and call its `start`, `reserve`, ...; called once per instant at which something changed."""
        raise NotImplementedError(f"{type(self).__name__}.schedule")


@cython.cclass
class Rhythm:
    """When a scheduler thinks: asked at every instant at which something happens while a job waits.

    This base has a pass whenever something has happened; another one overrides `due` and `next`, and `schedule` where
    its passes are of several kinds. A policy's shortcuts hold as long as every pass is handed to it: what happened in
    between comes together in `Pass.causes`.
    """

    def __init__(self) -> None:
        self.policy = None
        self.ageing = False
        self.lanes = None
        self.replans = False  # whether every pass plans from scratch, so that no promise outlasts one
        self.forgets = False  # whether what happens while no job waits is of no interest later
        self.asks_limits = False  # whether its passes look at jobs at a limit, too, and ask what keeps them waiting

    def attach(self, policy: Policy, ageing, lanes=None):
        """Called once: the policy whose passes these are, whether the order of the waiting changes with time alone,
        and, where queues have nodes of their own, by pairs of lanes whether they share nodes."""
        self.policy = policy
        self.ageing = ageing
        self.lanes = lanes

    def keeps_promises(self, policy: Policy) -> bool:
        """Whether the policy's promises outlast a pass; asked once, after `attach`."""
        return policy.plans

    def set_partitions(self, masks):
        """Called before the first pass where there are queues: the nodes of each, by number; None for all."""
        return None

    def set_arrays(self, arrays):
        """Called before the first pass: the array of each row of the workload, by number; -1 for no task of one."""
        return None

    def set_surroundings(self, around):
        """Called before the first pass: the cluster, and the numbers under which the job table knows its users."""
        return None

    def idle(self, now, causes):
        """No job waits: called where the rhythm `forgets`, when the last one has left and with what happens then."""
        return None

    def overlooks(self):
        """Whether it misses that a job which was put back, and has paused, waits again; asked when one does. If it
        does, it has to look at all jobs later."""
        return False

    def due(self, now, causes):
        """Whether a pass takes place now (microseconds); `causes` is what has happened since the last one. Asking
        changes nothing."""
        return causes != 0

    def schedule(self, p: Pass):
        """The pass."""
        self.require_attached()
        self.policy.schedule(p)

    def require_attached(self):
        if self.policy is None:
            raise PolicyError(f"{type(self).__name__}: it is attached to no policy")
        return 0

    def next(self, now, causes):
        """When to be asked again whatever happens until then, or NEVER; asked while a job waits."""
        return NEVER


@cython.cclass
class FunctionPolicy(Policy):
    """A plain function of the pass as a policy."""

    def __init__(self, function) -> None:
        self.function = function

    def schedule(self, p: Pass):
        self.function(p)
        return 0


@cython.cclass
class Order:
    """Which job is next: its key, lower first, ties by order of entry.

    A static order is asked for `key` once, when the job joins the queue. One with `dynamic` set is asked for `keys` of
    all waiting jobs, before each pass. One with `periodic` set is asked for `key` when a job joins and for `keys` of
    all of them whenever `renew`, which is called before each pass, tells a larger number than last. A key is a 64-bit
    integer: microseconds for times, `float_key` for the rest. One with `charges` set is told which jobs start and stop.
    A dynamic one with `joint` set is asked for the keys of all jobs of a pass at once, whatever queues they are in.
    A periodic one with `remembers` set looks at a job in `key` alone; `keys` follows from that and from the time.
    """

    def __init__(self) -> None:
        self.dynamic = False
        self.joint = False
        self.periodic = False
        self.charges = False
        self.remembers = False

    def attach(self, surroundings):
        """Get to know the cluster, before the first job of a run; see `walltime.policy.surroundings`."""
        return 0

    def set_time(self, now):
        """It is `now`: told to a periodic order before it is asked for the key of a job that joins."""
        return 0

    def key(self, jobs: JobTable, slot):
        """The job's key; it stays while the job waits, or until the keys are renewed."""
        raise NotImplementedError(f"{type(self).__name__}.key")

    def keys(self, jobs: JobTable, slots, now, keys):
        """Write the key that each of the slots has at `now` (microseconds) into `keys`."""
        raise NotImplementedError(f"{type(self).__name__}.keys")

    def renew(self, now):
        """How often what the keys follow has been brought up to date by `now`; it is, if that is due."""
        return 0

    def started(self, jobs: JobTable, slot, now, cores):
        """The job has got its resources, among them so many cores, which may be more than it asked for."""
        return 0

    def stopped(self, jobs: JobTable, slot, now):
        """The job has given its resources back, for good or for a while; `jobs.start` still tells since when."""
        return 0

    def parts(self, jobs: JobTable, slot, now):
        """What the job's key is made of, by name, as numbers for a person; nothing for a key without parts."""
        return {}

    def history(self):
        """What to draw of the run, as {series: {entity: [(time in microseconds, value), ...]}}."""
        return {}


@cython.cclass
class Estimate:
    """How long the scheduler believes a job will run; asked when the job joins the queue. Never sets a kill limit.

    `oracle` marks one that knows the actual run time: results made with it are labelled as perfect estimates.
    One with `learns` set is told of each job that ended, and how long it ran.
    """

    def __init__(self) -> None:
        self.oracle = False
        self.learns = False

    def ended(self, jobs: JobTable, slot, run):
        """The job left after having run for so many microseconds."""
        return 0

    def estimate(self, jobs: JobTable, slot):
        """The estimate in microseconds."""
        raise NotImplementedError(f"{type(self).__name__}.estimate")


@cython.cclass
class Broker:
    """Which cluster a job goes to."""

    def prepare(self, jobs: JobTable, clusters, seed):
        """Called once, before the run, with the table of jobs, all clusters and the scenario's seed."""
        return 0

    def route(self, slot, clusters):
        """The `index` of one of the clusters, or -1: the job waits globally, and is asked about again when something
        changes in a cluster.

        `clusters`, each a `walltime.policy.clusters.ClusterView`, are those that may take the job, at least one, in
        the order of the scenario: it is possible there, and no rule binds it elsewhere; where jobs are held until they
        can start, those that would start it at once.
        """
        raise NotImplementedError(f"{type(self).__name__}.route")


def float_key(value):
    """An integer that sorts as the float does, so that any quantity can be a key; what is not a number comes last."""
    bits: cython.longlong = 0
    if value != value:
        return LAST
    value = value + 0.0  # there is one zero
    if cython.compiled:
        memcpy(cython.address(bits), cython.address(value), 8)  # noqa: F821 - of the C library
    else:
        bits = array("q", array("d", [value]).tobytes())[0]
    return bits if bits >= 0 else bits ^ LAST


class Job:
    """A view of one job, by names; valid during the pass."""

    __slots__ = ("_jobs", "_now", "slot")

    def __init__(self, jobs: JobTable, slot: int, now: int) -> None:
        self._jobs = jobs
        self._now = now
        self.slot = slot

    def __repr__(self) -> str:
        return f"<job {self.job_id}: {self.cores} cores, {self.requested_time:g} s requested, {self.state}>"

    @property
    def job_id(self) -> int:
        return int(self._jobs.job_id[self.slot])

    @property
    def cores(self) -> int:
        return int(self._jobs.cores[self.slot])

    @property
    def submit(self) -> float:
        """Seconds."""
        return int(self._jobs.submit[self.slot]) / SECOND

    @property
    def eligible(self) -> float:
        """Seconds."""
        return int(self._jobs.eligible[self.slot]) / SECOND

    @property
    def requested_time(self) -> float:
        """Seconds."""
        return int(self._jobs.requested[self.slot]) / SECOND

    @property
    def estimate(self) -> float:
        """Seconds."""
        return int(self._jobs.estimate[self.slot]) / SECOND

    @property
    def wait(self) -> float:
        """Seconds since it became eligible."""
        return (self._now - int(self._jobs.eligible[self.slot])) / SECOND

    @property
    def priority(self) -> int:
        return int(self._jobs.priority[self.slot])

    @property
    def user(self) -> int:
        """The user's code, -1 for none."""
        return int(self._jobs.user[self.slot])

    @property
    def state(self) -> str:
        return State(int(self._jobs.state[self.slot])).name.lower()


@cython.final
@cython.cclass
class Pass:
    """One scheduling pass over one cluster: what waits, what is free, and the decisions taken so far.

    Decisions take effect on the pass's own view at once (the ledger and the queue), and in the simulation when the
    pass is over; a policy that raises leaves nothing behind. After the pass, every call raises PolicyError.
    """

    def __init__(self, jobs: JobTable, queue: Queue, ledger: Ledger, cluster, policy) -> None:
        if jobs is None or queue is None or ledger is None:
            raise PolicyError("a pass has jobs, a queue and a ledger")
        self.jobs = jobs
        self.raw_queue = queue
        self.raw_ledger = ledger
        self.lines = queue if isinstance(queue, LinesQueue) else None
        self.quotas = None if self.lines is None else self.lines.quotas
        self.number = 0
        self.node_set = -1  # all nodes of its queues, where these are not all of the cluster's
        self.cluster = cluster
        self.policy = policy
        self.now = 0
        self.causes = 0
        self.fresh = 0  # those of this instant
        self.heard = True  # whether anything wants to be told of promises; else a plan for one pass need not tell them
        self.amid = False  # whether more is still to happen at this instant: jobs expected to end now may not have
        self.open = False
        self.kind = integers(64)
        self.slot = integers(64)
        self.value = integers(64)
        self.decided = 0
        self.keeps = self.lines is not None and not policy.plans  # which jobs have a promise until `release`
        self.promised = integers(8)
        self.promised_seq = integers(8)
        self.promises = 0

    @property
    def queue(self):
        """The waiting jobs as a policy in Python sees them: a view that checks what it is asked."""
        return views().QueueView(self)

    @property
    def ledger(self):
        """The resources as a policy in Python sees them: a view that checks what it is asked."""
        return views().LedgerView(self)

    # ---- looking

    def head(self):
        """The first waiting job, or -1."""
        if not self.open:
            self.complain()
        return self.raw_queue.head()

    def next(self, slot):
        """The waiting job behind this one, or -1."""
        self.check_place(slot)
        return self.raw_queue.next(slot)

    def candidate(self, after=-1):
        """The first waiting job (behind `after`, if given) that fits now without touching a reservation, or -1."""
        found: cython.Py_ssize_t = after
        if not self.open or after != -1:
            self.check_place(after)
        while True:
            found = self.raw_queue.find(
                self.raw_ledger.free, self.raw_ledger.extra, self.raw_ledger.window, found, self.raw_ledger.longest
            )
            if found < 0:
                return found
            if self.lines is not None and self.jobs.at[found].choice >= 0:
                if self.fits_by_rules(found):
                    return found
            elif self.raw_ledger.fits(found):  # the queue has asked the limits
                return found

    def fits(self, slot):
        """Whether the job could start now, for its estimate, without touching another job's reservation, and the
        limits admit it. A job with a choice of queues is then in the first one where it could."""
        self.check(slot)
        return self.would_fit(slot)

    def would_fit(self, slot):
        """The same, of any job that is described as one that waits here."""
        return self.raw_ledger.fits(slot) if self.lines is None else self.fits_by_rules(slot)

    def fits_by_rules(self, slot):
        k: cython.Py_ssize_t
        choice: cython.longlong = self.jobs.at[slot].choice
        choices: Choices = self.lines.choices
        queue: cython.longlong = self.jobs.at[slot].queue
        shape: cython.longlong = self.jobs.at[slot].shape
        rules: cython.longlong = self.jobs.at[slot].rules
        if choice < 0:
            return not self.barred(slot) and self.raw_ledger.fits(slot)
        for k in range(choices.first[choice], choices.first[choice + 1]):
            choices.put(self.jobs, slot, k)
            if not self.barred(slot) and self.raw_ledger.fits(slot):
                return True
        self.jobs.at[slot].queue = queue  # where it has a promise, or would start last time
        self.jobs.at[slot].shape = shape
        self.jobs.at[slot].rules = rules
        return False

    def admits(self, slot):
        """Whether the limits let the job start now."""
        self.look(slot)
        return self.lines is None or self.lines.refuser(slot) < 0

    def barred(self, slot):
        """Whether a limit keeps the job from starting now in the queue that it is tried in."""
        return self.quotas is not None and self.quotas.refuser(slot) >= 0

    def chooses(self):
        """Whether a job waits in several queues, of which it starts in one."""
        return self.lines is not None and len(self.lines.choosers) > 0

    def has_timed_limits(self):
        """Whether time alone may have a limit let a job in."""
        return self.quotas is not None and self.quotas.timed

    def fits_for(self, slot, length):
        """Whether `fits` is true for so long instead of the job's estimate."""
        estimate: cython.longlong = self.jobs.at[slot].estimate
        fits: cython.bint
        self.jobs.at[slot].estimate = length
        fits = self.fits(slot)
        self.jobs.at[slot].estimate = estimate
        return fits

    def earliest(self, slot):
        """The first time from which the job would fit for its estimate, as far as the estimates tell; NEVER if none.

        That is beside what runs and what is held: what a reservation is made from. When it would start behind the jobs
        that wait before it is another question, which its cluster answers.
        """
        self.check(slot)
        return self.plan(slot)

    def plan(self, slot):
        """The same, the job being in the queue where that is earliest, of those whose limits admit it."""
        k: cython.Py_ssize_t
        choice: cython.longlong = self.jobs.at[slot].choice
        best: cython.Py_ssize_t = -1
        first: cython.longlong = NEVER
        time: cython.longlong
        choices: Choices
        if choice < 0:
            return self.raw_ledger.earliest(slot, self.now)
        choices = self.lines.choices
        for k in range(choices.first[choice], choices.first[choice + 1]):
            choices.put(self.jobs, slot, k)
            if self.barred(slot):
                continue
            time = self.raw_ledger.earliest(slot, self.now)
            if time < first:
                first = time
                best = k
        if best >= 0:
            choices.put(self.jobs, slot, best)
            self.raw_ledger.earliest(slot, self.now)  # what it found is what `hold` takes up
        return first

    def plan_for(self, slot, length):
        """The same for so long instead of the job's estimate."""
        estimate: cython.longlong = self.jobs.at[slot].estimate
        time: cython.longlong
        self.jobs.at[slot].estimate = length
        time = self.plan(slot)
        self.jobs.at[slot].estimate = estimate
        return time

    def waiting(self) -> list:
        """Every waiting job in queue order: convenient, and linear in the queue's length."""
        if not self.open:
            self.complain()
        return self.raw_queue.slots()

    def job(self, slot) -> Job:
        """A view of the job by names, times in seconds."""
        self.look(slot)
        return Job(self.jobs, slot, self.now)

    def cores(self, slot):
        """Cores that the job asks for."""
        self.look(slot)
        return self.jobs.at[slot].cores

    def requested(self, slot):
        """The job's requested time in microseconds."""
        self.look(slot)
        return self.jobs.at[slot].requested

    def estimate(self, slot):
        """The scheduler's estimate of the job's run time in microseconds."""
        self.look(slot)
        return self.jobs.at[slot].estimate

    def waited(self, slot):
        """Microseconds since the job became eligible."""
        self.look(slot)
        return self.now - self.jobs.at[slot].eligible

    @property
    def free(self) -> int:
        """Cores free now."""
        if not self.open:
            self.complain()
        return self.raw_ledger.free

    @property
    def size(self) -> int:
        """How many jobs wait."""
        if not self.open:
            self.complain()
        return self.raw_queue.size

    def why(self, slot) -> str:
        """Why the waiting job does not start at this point of the pass, for a person; costs a look at the ledger."""
        i: cython.Py_ssize_t = slot
        self.check(i)
        cores: cython.longlong = self.jobs.at[i].cores
        free: cython.longlong = self.raw_ledger.free
        first: cython.Py_ssize_t
        kind, counter = self.verdict(i, self.now)
        if kind == "limit":
            return f"limit: {self.quotas.why(counter, i)}"
        if kind == "resources":
            where = "" if cores > free else ", but not on the nodes that it needs"
            return f"resources: it needs {cores} cores, {free} are free{where}"
        if kind == "reservation":
            when = f" in {self.raw_ledger.window / SECOND:g} s" if self.raw_ledger.window < NEVER else ""
            return f"reservation: it would delay a job that has been promised its start{when}"
        if self.lines is not None:
            self.lines.catch_up(self.lines.line_of(i))
        first = self.raw_queue.head()
        if first >= 0 and first != i and self.raw_queue.precedes(first, i):
            return f"priority: it fits, but stands behind job {self.jobs.at[first].job_id}"
        return "nothing: it fits and may start"

    def verdict(self, slot, now):
        """What keeps the waiting job back as things stand at `now`, whatever is before it: ("limit", its counter),
        ("resources", -1), ("reservation", -1) where it would delay one, or ("", -1). It may be asked at any time, and
        changes nothing: the one answer to "why not?", to which `why` and `explain` give words."""
        i: cython.Py_ssize_t = slot
        if not 0 <= i < self.jobs.size:
            raise self.violation(-1, f"asked about {slot}, which is not a job")
        estimate: cython.longlong = self.jobs.at[i].estimate
        chosen = self.jobs.table[i].copy() if self.jobs.at[i].choice >= 0 else None  # where it stands now
        counter: cython.Py_ssize_t = -1
        self.raw_ledger.set_time(now)
        if self.quotas is not None:
            self.quotas.set_time(now)
            counter = self.lines.refuser(i)
        if counter >= 0:
            return "limit", counter
        self.jobs.at[i].estimate = 1  # only what is kept for this very moment is in its way then
        kind = "" if self.would_fit(i) else "resources"
        self.jobs.at[i].estimate = estimate
        if not kind and not self.would_fit(i):
            kind = "reservation"
        if chosen is not None:
            self.jobs.table[i] = chosen
        return kind, -1

    # ---- deciding

    def start(self, slot):
        """Start the job now."""
        self.check(slot)
        if not self.would_fit(slot):
            raise self.refusal(slot)
        return self.start_here(slot)

    def start_heads(self):
        """Start the first waiting job, and the one that is then the first, as long as it fits; the job that does not,
        or -1 where none is left."""
        slot: cython.Py_ssize_t
        if not self.open:
            self.complain()
        slot = self.raw_queue.head()
        while slot >= 0 and self.would_fit(slot):
            self.start_head(slot)
            slot = self.raw_queue.head()
        return slot

    def start_candidates(self):
        """Start every candidate, in the queue's order; how many there were."""
        before: cython.Py_ssize_t = self.decided
        slot: cython.Py_ssize_t = self.candidate(-1)
        while slot >= 0:
            self.start_here(slot)
            slot = self.candidate(-1)
        return self.decided - before

    def fits_on(self, slot, nodes):
        """Whether `fits` is true where only these nodes, given by number, may be used."""
        self.check(slot)
        self.raw_ledger.confine(nodes)
        try:
            return self.fits(slot)
        finally:
            self.raw_ledger.lift()

    def start_on(self, slot, nodes):
        """Start the job now on these nodes, given by number; of more than it needs, on those that its `place` part
        chooses."""
        self.check(slot)
        self.raw_ledger.confine(nodes)
        try:
            if not self.fits(slot):
                raise self.violation(slot, f"started on {_list(nodes)}, but it does not fit there")
            return self.start_here(slot)
        finally:
            self.raw_ledger.lift()

    def choose(self, slot, k):
        """The job is in that one of its queues."""
        self.lines.choices.put(self.jobs, slot, k)
        return 0

    def start_here(self, slot):
        """The same in the queue that it is in, where it is known to fit."""
        self.jobs.at[slot].backfilled = self.raw_queue.ahead(slot)
        return self.begin_job(slot)

    def start_head(self, slot):
        """The same for the job that the queue has just named as its first: only jobs that are passed over may stand
        before it."""
        self.jobs.at[slot].backfilled = self.lines is not None and self.lines.passing and self.lines.ahead(slot)
        return self.begin_job(slot)

    def begin_job(self, slot):
        i: cython.Py_ssize_t = self.decided
        self.jobs.at[slot].expected_end = self.now + self.jobs.at[slot].estimate
        self.raw_ledger.take(slot)
        if self.quotas is not None:
            self.jobs.at[slot].start = self.now
            self.quotas.take(slot)
        self.jobs.at[slot].promise = -1
        self.raw_queue.remove(slot)
        if i == len(self.kind):
            self.widen()
        self.kind[i] = START
        self.slot[i] = slot
        self.decided = i + 1
        return 0

    def reserve(self, slot):
        """Promise the job the earliest time at which it fits, and keep all others from delaying it; the time.

        The promise stands until `release`, or until the job is reserved again, starts or leaves. NEVER, and no promise,
        where the job cannot be planned (the machine has shrunk below it).
        """
        time: cython.longlong
        self.check(slot)
        self.raw_ledger.loosen(slot)
        time = self.plan(slot)
        if time < NEVER:
            self.promise(slot, time, self.jobs.at[slot].estimate)
        else:
            self.raw_ledger.unhold(slot)
            self.jobs.at[slot].promise = -1
        return time

    def reserve_best(self, slot):
        """Promise the job the start of the gap that it fills best; of several queues in the one where it is first."""
        i: cython.Py_ssize_t = slot
        self.check(i)
        self.raw_ledger.loosen(i)
        if self.plan(i) < NEVER:
            self.promise(i, self.raw_ledger.best_gap(i), self.jobs.at[i].estimate)

    def open_draft(self, draft, slots, count):
        """Let the promises of these jobs be changed together until the draft is closed."""
        i: cython.Py_ssize_t
        for i in slots[:count]:
            self.check(i)
            if self.jobs.at[i].promise < self.now:
                raise self.violation(i, "has no promise that could be changed")
        draft.open(self.raw_ledger, slots, count)

    def adopt(self, draft) -> int:
        """Close the draft, and promise each of its jobs the start that it has there; how many have another one."""
        i: cython.Py_ssize_t
        changes = draft.commit()
        for i, start in changes:
            self.check(i)
            self.jobs.at[i].promise = start
            self.decide(RESERVE, i, start)
        return len(changes)

    def promise(self, slot, time, length):
        """Promise the job this time, for so long: one that `plan_for` has just found, or a later one."""
        estimate: cython.longlong = self.jobs.at[slot].estimate
        self.jobs.at[slot].estimate = length
        self.raw_ledger.hold(slot, time)
        self.jobs.at[slot].estimate = estimate
        self.jobs.at[slot].promise = time
        return self.decide(RESERVE, slot, time)

    def expect(self, slot, time):
        """Note that a plan which lasts no longer than this pass has the job start then, if it never had it earlier."""
        if 0 <= self.jobs.at[slot].promise <= time:
            return 0
        self.jobs.at[slot].promise = time
        return self.decide(RESERVE, slot, time)

    def withdraw(self, slot, counter):
        """The job has come to a limit, told by its counter: it has no promise any more, and waits there."""
        self.raw_ledger.unhold(slot)
        self.jobs.at[slot].promise = -1
        return self.lines.park(slot, counter)

    def advance(self, slot):
        """Move the job's promise to the earliest time at which it fits, never later than it is; the time."""
        before: cython.longlong
        time: cython.longlong
        self.check(slot)
        before = self.jobs.at[slot].promise
        if before < 0:
            raise self.violation(slot, "has no promise to advance")
        if self.jobs.at[slot].choice < 0:
            time = self.raw_ledger.advance(slot)
        else:
            self.raw_ledger.loosen(slot)
            time = self.plan(slot)
            self.raw_ledger.hold(slot, time)
            self.jobs.at[slot].promise = time
        if time != before:
            self.decide(RESERVE, slot, time)
        return time

    def release(self):
        """Take every reservation of this cluster back."""
        if not self.open:
            self.complain()
        self.forget_promises()
        return self.raw_ledger.release_holds()

    def release_but(self, slot):
        """The same; but where only this job has a reservation, what is kept for it may stay until it is reserved again:
        whether it does. Its own is not in its way; no other job may be asked about meanwhile."""
        self.forget_promises()
        if self.raw_ledger.holds_only(slot) or self.raw_ledger.keeps_number(slot):
            self.jobs.at[slot].promise = -1
            return True
        self.raw_ledger.release_holds()
        return False

    def forget_promises(self):
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for i in range(self.promises):
            slot = self.promised[i]
            if self.jobs.at[slot].seq == self.promised_seq[i] and self.jobs.at[slot].cluster == self.raw_ledger.index:
                self.jobs.at[slot].promise = -1
        self.promises = 0
        return 0

    def stand(self):
        """Whether no job that has been promised a start since the last `release` has come to a limit."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        if self.quotas is None:
            return True
        for i in range(self.promises):
            slot = self.promised[i]
            if self.jobs.at[slot].cluster != self.raw_ledger.index:
                return False  # it has moved
            if self.jobs.at[slot].promise >= 0 and self.quotas.refuser(slot) >= 0:
                return False
        return True

    def note(self, slot):
        """Remember that the job has a promise, so that `release` can take it back."""
        if self.promises == len(self.promised):
            self.promised = doubled(self.promised)
            self.promised_seq = doubled(self.promised_seq)
        self.promised[self.promises] = slot
        self.promised_seq[self.promises] = self.jobs.at[slot].seq
        self.promises += 1
        return 0

    def cancel(self, slot):
        """Take a waiting job out of the system."""
        self.check(slot)
        self.raw_queue.remove(slot)
        return self.decide(CANCEL, slot, 0)

    def preempt(self, slot):
        """Stop a running job and queue it again; its resources are free once the pass is over."""
        self.look(slot)
        if (
            self.jobs.at[slot].holding != 1
            or self.jobs.at[slot].state == WAITING
            or self.jobs.at[slot].cluster != self.raw_ledger.index
            or self.jobs.at[slot].seq < 0
        ):
            raise self.violation(slot, "preempted, but it is not running")
        return self.decide(PREEMPT, slot, 0)

    def wake(self, time):
        """Have another pass at this time (microseconds), whatever happens until then."""
        if not self.open:
            self.complain()
        if time >= NEVER:
            raise self.violation(-1, "asked to be woken at a time that never comes")
        if time <= self.now:
            raise self.violation(-1, f"asked to be woken at {time / SECOND:g} s, which is not in the future")
        return self.decide(WAKE, -1, time)

    # ---- for a rhythm

    def pass_over(self, lane):
        """No job of this lane is told any more, until `pass_over_none`."""
        return self.lines.pass_over(lane)

    def pass_over_none(self):
        return self.lines.pass_none()

    def set_causes(self, causes):
        """What has happened since the policy's own last pass, where the rhythm made others in between."""
        self.causes = causes
        return 0

    # ---- for the engine

    def begin(self, now, causes):
        self.now = now
        self.causes = self.fresh = causes
        self.open = True
        self.decided = 0
        return 0

    def is_idle(self):
        """Whether nothing has happened since the last pass but that jobs joined behind the first one, none of which may
        start now; where limits or several queues have a say that is not asked."""
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        if self.causes != ARRIVAL or self.lines is not None or not self.raw_queue.quiet(self.raw_queue.head()):
            return False
        slot = self.raw_queue.fresh(0)
        while slot > -2:
            if slot >= 0 and self.raw_ledger.fits(slot):
                return False
            i += 1
            slot = self.raw_queue.fresh(i)
        return True

    def end(self):
        self.open = False
        return self.raw_queue.settle()

    def rollback(self):
        """Undo the decisions in the ledger and the queue, the last first."""
        i: cython.Py_ssize_t = self.decided - 1
        while i >= 0:
            if self.kind[i] == START:
                self.raw_ledger.give(self.slot[i])
                if self.quotas is not None:
                    self.quotas.give(self.slot[i])
                self.jobs.at[self.slot[i]].backfilled = 0
            if self.kind[i] == START or self.kind[i] == CANCEL:
                self.raw_queue.push(self.slot[i])
            elif self.kind[i] == RESERVE:
                self.raw_ledger.unhold(self.slot[i])
            i -= 1
        self.decided = 0
        return 0

    def decide(self, kind, slot, value):
        i: cython.Py_ssize_t = self.decided
        if kind == RESERVE and self.lines is not None:
            self.lines.bring_home(slot)
            if self.keeps:
                self.note(slot)
        if i == len(self.kind):
            self.widen()
        self.kind[i] = kind
        self.slot[i] = slot
        self.value[i] = value
        self.decided = i + 1
        return 0

    def widen(self):
        """Room for twice as many decisions."""
        self.kind = doubled(self.kind)
        self.slot = doubled(self.slot)
        self.value = doubled(self.value)
        return 0

    def look(self, slot):
        """Raise unless the pass is open and the number is that of a job."""
        if not self.open:
            self.complain()
        if not 0 <= slot < self.jobs.size:
            raise self.violation(slot, f"asked about {slot}, which is not a job (-1 means that there is none)")
        return 0

    def check(self, slot):
        """Raise unless the pass is open and the job waits in this cluster."""
        if self.open and 0 <= slot < self.jobs.size and self.waits_here(slot):
            return 0
        self.look(slot)
        raise self.violation(slot, "is not waiting in this cluster's queue")

    def waits_here(self, slot):
        return (
            self.jobs.at[slot].state == WAITING
            and self.jobs.at[slot].position != OUTSIDE
            and self.jobs.at[slot].cluster == self.raw_ledger.index
            and self.jobs.at[slot].domain == self.number
        )

    def check_place(self, slot):
        """Raise unless the pass is open and the job waits here, or has left the queue in this very pass."""
        i: cython.Py_ssize_t = self.decided - 1
        self.look(slot)
        if self.waits_here(slot):
            return 0
        while i >= 0:
            if self.slot[i] == slot and self.kind[i] != PREEMPT:
                return 0
            i -= 1
        raise self.violation(slot, "is not waiting in this cluster's queue")

    def complain(self):
        raise PolicyError(f"{self.name()}: the pass is over; decide inside schedule()")

    def violation(self, slot, what) -> PolicyError:
        """The error that names the policy, the job, the time and the cluster."""
        job = ""
        i: cython.Py_ssize_t = slot
        if self.jobs is not None and 0 <= i < self.jobs.size:
            job = f"job {self.jobs.at[i].job_id} ({self.jobs.at[i].cores} cores) "
        return PolicyError(f"{self.name()}: {job}{what} (cluster {self.cluster}, time {self.now / SECOND:g} s)")

    def refusal(self, slot) -> PolicyError:
        """The error of a job that is started where it may not."""
        if not self.open:
            self.complain()
        i: cython.Py_ssize_t = slot
        if not 0 <= i < self.jobs.size:
            return self.violation(-1, f"started {slot}, which is not a job")
        kind, counter = self.verdict(i, self.now)
        if kind == "limit":
            return self.violation(i, f"started, but a limit refuses it: {self.quotas.why(counter, i)}")
        return self.violation(i, f"started, but it does not fit: {self.raw_ledger.free} cores are free")

    def name(self) -> str:
        """The policy's name for messages."""
        function = getattr(self.policy, "function", None)
        return getattr(function, "__qualname__", None) or type(self.policy).__qualname__
