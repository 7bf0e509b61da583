"""Features that come later must fit the engine's interfaces as they are: small plug-ins, each proving one of them."""

import heapq
import random

import pytest

import walltime
from building import add_cluster
from walltime.core.errors import PolicyError
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.engine.brokering.dispatch import Dispatch, GlobalQueue
from walltime.engine.loop import Rank
from walltime.engine.recording.tables import build_tables
from walltime.execution.model import Execution
from walltime.execution.trace import TraceExecution
from walltime.kernel.jobs import QueuePosition, State, writable
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.source import Observer, Source
from walltime.policies.backfill.aggressive import Aggressive
from walltime.policies.backfill.easy import Easy
from walltime.policies.backfill.none import NoBackfill
from walltime.policies.broker.load import LeastLoaded
from walltime.policies.order.fcfs import Fcfs
from walltime.policy.api import Broker, Cause, FunctionPolicy, Pass, Policy


def table(*jobs, **columns):
    """Jobs as (submit, run, requested, cores) in seconds."""
    submit, run, requested, cores = zip(*jobs, strict=True)
    return Workload.from_columns(submit=submit, run_time=run, requested_time=requested, cores=cores, **columns)


def simulate(workload, *cores, policy=Easy, execution=TraceExecution, until=NEVER, broker=None, **options):
    """The simulation and its two tables, as lists of rows."""
    arrivals = Arrivals([workload])
    if broker is not None:
        options["scheduling"] = Dispatch([GlobalQueue("", None, broker)])
    simulation = make_simulation(arrivals, execution(), **options)
    for index, size in enumerate(cores):
        ledger = CoreLedger(simulation.jobs, size, index)
        add_cluster(simulation, ledger, policy())
    simulation.run(until)
    jobs, allocations = build_tables(simulation, arrivals, [f"c{index}" for index in range(len(cores))])
    return simulation, jobs.to_dicts(), allocations.to_dicts()


# ---- a live source: users who submit when a job of theirs ends


class Watcher(Observer):
    def __init__(self, user):
        self.user = user

    def moved(self, engine, slot, before, after):
        if after == State.COMPLETED:
            self.user.job_ended(engine.now)
        return 0


class ClosedLoopUser(Source):
    """Thinks for ten seconds after each completion, then submits the next job, `rounds` times."""

    def __init__(self, rounds):
        super().__init__()
        self.rounds = rounds

    def job_ended(self, now):
        if self.rounds > 0:
            self.rounds -= 1
            self.next = now + 10 * SECOND

    def fire(self, now):
        self.next = NEVER
        self.engine.submit(run_time=5 * SECOND, requested_time=5 * SECOND, cores=2, user="ann")
        return 0


def test_a_live_source_submits_on_completion():
    user = ClosedLoopUser(rounds=3)
    _, jobs, _ = simulate(table((0, 7, 7, 1)), 4, sources=[(Rank.ARRIVALS, user)], observers=[Watcher(user)])
    assert [(job["submit"], job["start"], job["end"]) for job in jobs] == [
        (0, 0, 7),
        (17, 17, 22),
        (32, 32, 37),
        (47, 47, 52),
    ]
    assert [job["user"] for job in jobs] == [None, "ann", "ann", "ann"]
    assert [job["cores"] for job in jobs] == [1, 2, 2, 2]


# ---- several clusters and a broker


class MostFree(Broker):
    """The cluster with the most free cores that is large enough."""

    def route(self, slot, clusters):
        return max(
            (cluster for cluster in clusters if cluster.ledger.possible(slot)),
            key=lambda cluster: (cluster.ledger.free, -cluster.index),
        ).index


class WaitGlobally(Broker):
    """Jobs wait at the broker until some cluster has room."""

    def route(self, slot, clusters):
        for cluster in clusters:
            if cluster.ledger.possible(slot) and cluster.ledger.fits(slot) and cluster.queue.size == 0:
                return cluster.index
        return -1


def test_a_second_cluster_with_a_broker():
    workload = table((0, 10, 10, 3), (1, 10, 10, 3), (2, 10, 10, 4), (3, 1, 1, 9))
    _, jobs, allocations = simulate(workload, 4, 8, broker=MostFree())
    assert [job["cluster"] for job in jobs] == ["c1", "c1", "c0", None]
    assert [job["start"] for job in jobs] == [0, 1, 2, None]
    assert jobs[3]["state"] == "rejected"
    assert [row["cluster"] for row in allocations] == ["c1", "c1", "c0"]


def test_jobs_may_wait_at_the_broker():
    _, jobs, _ = simulate(table((0, 10, 10, 4), (0, 6, 6, 4), (0, 5, 5, 4)), 4, 4, broker=WaitGlobally())
    assert [(job["cluster"], job["start"]) for job in jobs] == [("c0", 0), ("c1", 0), ("c1", 6)]


def test_a_broker_that_sends_a_job_where_it_cannot_run_is_named():
    class Wrong(Broker):
        def route(self, slot, clusters):
            return 0

    with pytest.raises(PolicyError, match=r"Wrong.*job 1 to cluster c0.*more cores than the cluster has"):
        simulate(table((0, 10, 10, 6)), 4, 8, broker=Wrong())


def test_a_job_cancelled_at_the_broker_is_gone():
    workload = table((0, 10, 10, 4), (0, 6, 6, 4), (0, 5, 5, 4), cancel=[None, None, 3])
    _, jobs, _ = simulate(workload, 4, 4, broker=WaitGlobally())
    assert (jobs[2]["state"], jobs[2]["start"], jobs[2]["end"]) == ("cancelled", None, 3)


# ---- an execution model that interrupts and resumes


class Sliced(Execution):
    """Every job is suspended after each 4 s of running and resumed 1 s later, until its work is done."""

    def __init__(self):
        super().__init__()
        self.events = []

    def begin(self, slot):
        jobs = self.engine.jobs
        work = jobs.requested[slot] - jobs.progress[slot]
        kind, after = ("end", work) if work <= 4 * SECOND else ("pause", 4 * SECOND)
        self.plan(self.engine.now + after, slot, kind)
        return NEVER  # not known for certain: the engine keeps a timer for the limit

    def interrupt(self, slot, keep):
        if keep:
            jobs = self.engine.jobs
            writable(jobs, "progress")[slot] += self.engine.now - jobs.start[slot]
        return 0

    def plan(self, time, slot, kind):
        heapq.heappush(self.events, (int(time), int(slot), kind))
        self.next = self.events[0][0]

    def fire(self, now):
        while self.events and self.events[0][0] <= now:
            _, slot, kind = heapq.heappop(self.events)
            if kind == "end":
                self.engine.finish(slot, State.COMPLETED)
            elif kind == "pause":
                self.engine.suspend(slot)
                self.plan(now + SECOND, slot, "resume")
            else:
                self.engine.resume(slot)
        self.next = self.events[0][0] if self.events else NEVER
        return 0


def test_an_execution_model_that_interrupts_and_resumes():
    _, jobs, allocations = simulate(table((0, 10, 10, 2), (1, 3, 3, 4)), 6, execution=Sliced)
    first = [(row["start"], row["end"], row["outcome"]) for row in allocations if row["job_id"] == 1]
    assert first == [(0, 4, "suspended"), (5, 9, "suspended"), (10, 12, "completed")]
    assert (jobs[0]["start"], jobs[0]["end"], jobs[0]["run_time"], jobs[0]["wait"]) == (0, 12, 10, 2)
    assert (jobs[1]["start"], jobs[1]["end"]) == (1, 4)


# ---- policies in Python


def test_a_function_is_a_policy_and_sees_names():
    seen = []

    def shortest_that_fits(p):
        for slot in sorted(p.waiting(), key=p.requested):
            if p.fits(slot):
                seen.append((p.job(slot).job_id, p.job(slot).wait, Cause(p.causes)))
                p.start(slot)

    _, jobs, _ = simulate(
        table((0, 10, 10, 4), (1, 8, 8, 4), (2, 3, 3, 4)), 4, policy=lambda: FunctionPolicy(shortest_that_fits)
    )
    assert [job["start"] for job in jobs] == [0, 13, 10]
    assert seen == [(1, 0, Cause.ARRIVAL), (3, 8, Cause.RELEASE), (2, 12, Cause.RELEASE)]


def test_a_policy_can_be_woken():
    times = []

    class EveryMinute(Policy):
        def schedule(self, p):
            times.append((p.now // SECOND, bool(p.causes & Cause.TIMER)))
            if not p.causes & Cause.TIMER:
                p.wake((p.now // (60 * SECOND) + 1) * 60 * SECOND)
            while p.causes & Cause.TIMER and (job := p.head()) >= 0 and p.fits(job):
                p.start(job)
            return 0

    _, jobs, _ = simulate(table((0, 10, 10, 1), (70, 10, 10, 1)), 4, policy=EveryMinute)
    assert [job["start"] for job in jobs] == [60, 120]
    assert times == [(0, False), (60, True), (70, False), (120, True)]


def start_twice(p):
    slot = p.head()
    p.start(slot)
    p.start(slot)


def start_too_much(p):
    first, second = p.waiting()
    p.start(first)
    p.start(second)


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        (start_too_much, r"start_too_much: job 2 \(4 cores\) started, but it does not fit: 3 cores are free"),
        (start_twice, r"start_twice: job 1 \(1 cores\) is not waiting in this cluster's queue"),
        (lambda p: p.start(999), "asked about 999, which is not a job"),
        (lambda p: p.cancel(-1), "asked about -1, which is not a job"),
        (lambda p: p.cores(10**9), "asked about 1000000000, which is not a job"),
        (lambda p: p.candidate(7000), "asked about 7000, which is not a job"),
        (lambda p: p.preempt(p.head()), r"job 1 \(1 cores\) preempted, but it is not running"),
        (lambda p: p.wake(p.now), "woken at 0 s, which is not in the future"),
    ],
)
def test_a_violation_names_policy_job_cluster_and_time(policy, complaint):
    with pytest.raises(PolicyError, match=complaint + r".*\(cluster c0, time 0 s\)"):
        simulate(table((0, 10, 10, 1), (0, 9, 9, 4)), 4, policy=lambda: FunctionPolicy(policy))


def test_a_pass_is_over_when_it_is_over():
    kept = []

    def keep(p):
        kept.append(p)
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)

    simulate(table((0, 1, 1, 1)), 4, policy=lambda: FunctionPolicy(keep))
    with pytest.raises(PolicyError, match="the pass is over"):
        kept[0].head()


def test_an_error_in_a_policy_crosses_the_core_and_leaves_nothing_decided():
    passes = []

    def broken(p):
        passes.append(p)
        p.start(p.head())
        raise ValueError("boom")

    arrivals = Arrivals([table((0, 1, 1, 3))])
    simulation = make_simulation(arrivals, TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, 4), FunctionPolicy(broken))
    with pytest.raises(ValueError, match="boom"):
        simulation.run()
    assert simulation.clusters[0].free == 4
    assert simulation.jobs.state[0] == State.WAITING
    assert simulation.jobs.position[0] != QueuePosition.OUTSIDE
    for look in (lambda p: p.free, lambda p: p.ledger.free, lambda p: p.queue.size, lambda p: p.queue.head()):
        with pytest.raises(PolicyError, match="the pass is over"):
            look(passes[0])


def test_a_broker_in_python_may_ask_a_built_in_one():
    class Careful(LeastLoaded):
        def route(self, slot, clusters):
            with pytest.raises(PolicyError, match="asks about the job that it is asked about"):
                LeastLoaded.route(self, slot + 1, clusters)
            with pytest.raises(PolicyError, match="chooses among clusters"):
                LeastLoaded.route(self, slot, [object()])
            return LeastLoaded.route(self, slot, clusters)

    jobs = walltime.Workload.from_columns(
        submit=[0, 1, 2], run_time=[9, 9, 9], requested_time=[9, 9, 9], cores=[2, 2, 2]
    )
    clusters = [{"name": "a", "cores": 4}, {"name": "b", "cores": 4}]
    digests = [
        walltime.simulate({"workload": jobs, "clusters": clusters, "broker": broker}).digest
        for broker in ("least-loaded", Careful())
    ]
    assert digests[0] == digests[1]


def test_the_tables_of_a_pass_cannot_be_changed():
    def meddle(p):
        for change in (
            lambda: p.jobs.cores.__setitem__(0, 10**8),
            lambda: p.jobs.drop(0),
            lambda: p.jobs.drop(10**8),
            lambda: p.jobs.add(0, 1, 1, 1),
            lambda: p.queue.next(10**8),
            lambda: p.ledger.fits(10**8),
            lambda: Pass.admits(1, 2**31),
            lambda: Fcfs().key(p.jobs, 10**8),
            lambda: Fcfs().key(None, 0),
        ):
            with pytest.raises((PolicyError, ValueError, TypeError)):
                change()
        p.start(p.head())

    simulate(table((0, 1, 1, 3)), 4, policy=lambda: FunctionPolicy(meddle))


def test_time_that_stands_still_is_an_error_naming_the_policy():
    class Again(Source):
        def fire(self, now):
            self.engine.submit(run_time=0, requested_time=0, cores=1)
            return 0

    source = Again()
    source.next = 0
    with pytest.raises(PolicyError, match="NoBackfill: time stands still at 0 s"):
        simulate(table((0, 1, 1, 1)), 4, policy=NoBackfill, sources=[(Rank.ARRIVALS, source)])


def test_preemption_by_a_policy_requeues_the_victim():
    class Urgent(Policy):
        def schedule(self, p):
            while (job := p.head()) >= 0:
                if p.fits(job):
                    p.start(job)
                    continue
                running = [s for s in p.jobs.slots() if p.jobs.state[s] == State.RUNNING]
                victims = [s for s in running if p.jobs.priority[s] < p.jobs.priority[job]]
                if victims:
                    p.preempt(victims[0])
                break
            return 0

    class ByPriority(Fcfs):
        def key(self, jobs, slot):
            return -int(jobs.priority[slot])

    arrivals = Arrivals([table((0, 10, 10, 4), (3, 2, 2, 4), priority=[0, 9])])
    simulation = make_simulation(arrivals, TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, 4), Urgent(), ByPriority())
    simulation.run()
    jobs, _ = build_tables(simulation, arrivals, ["c0"])
    rows = jobs.to_dicts()
    assert [(row["start"], row["end"], row["restarts"]) for row in rows] == [(0, 15, 1), (3, 5, 0)]
    assert rows[0]["lost_core_seconds"] == 12


def test_reservations_are_told_to_observers():
    class Promises(Observer):
        def __init__(self):
            self.made = []

        def promised(self, engine, slot, time):
            self.made.append((engine.now // SECOND, int(engine.jobs.job_id[slot]), time // SECOND))
            return 0

    promises = Promises()
    simulate(table((0, 10, 20, 3), (1, 5, 5, 4), (2, 4, 4, 1)), 4, observers=[promises])
    assert promises.made[0] == (1, 2, 20)


def test_a_pass_after_every_event_sees_half_of_an_instant():
    """Two jobs end at 10 s. One pass for both lets the wide job start; a pass after the first end fills its place."""
    workload = table((0, 10, 10, 2), (0, 10, 10, 2), (1, 5, 5, 4), (2, 30, 30, 2))
    _, together, _ = simulate(workload, 4, policy=Aggressive)
    assert [job["start"] for job in together] == [0, 0, 10, 15]
    _, apart, _ = simulate(workload, 4, policy=Aggressive, per_event=True)
    assert [job["start"] for job in apart] == [0, 0, 40, 10]


def test_a_stream_of_batches_gives_the_same_schedule():
    workload = table(*[(i, 7 + i % 5, 20, 1 + i % 4) for i in range(100)], user=[f"u{i % 7}" for i in range(100)])
    _, whole, _ = simulate(workload, 4)
    arrivals = Arrivals(workload.batches(9))
    simulation = make_simulation(arrivals, TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, 4), Easy())
    simulation.run()
    jobs, _ = build_tables(simulation, arrivals, ["c0"])
    assert jobs.to_dicts() == whole


def test_a_pass_says_why_a_job_does_not_start():
    answers = {}

    def ask(p):
        p.release()
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)
        for slot in p.waiting():
            answers.setdefault(p.job(slot).job_id, p.why(slot))
        if job >= 0:
            p.reserve(job)
            for slot in p.waiting():
                answers[p.job(slot).job_id, "after"] = p.why(slot)

    workload = table((0, 10, 10, 3), (0, 5, 5, 4), (0, 20, 20, 1), (0, 7, 7, 1))
    simulate(workload, 4, policy=lambda: FunctionPolicy(ask), until=0)
    assert answers[2] == "resources: it needs 4 cores, 1 are free"
    assert answers[3] == "priority: it fits, but stands behind job 2"
    assert answers[3, "after"] == "reservation: it would delay a job that has been promised its start in 10 s"
    assert answers[4, "after"] == "priority: it fits, but stands behind job 2"


def test_conservative_keeps_every_promise_that_it_made_at_submission():
    from walltime.policies.backfill.conservative import Conservative

    class Promises(Observer):
        def __init__(self):
            self.first, self.broken = {}, []

        def promised(self, engine, slot, time):
            self.first.setdefault(int(engine.jobs.job_id[slot]), time)

        def moved(self, engine, slot, before, after):
            if after == State.RUNNING and engine.now > self.first[int(engine.jobs.job_id[slot])]:
                self.broken.append(int(engine.jobs.job_id[slot]))

    rng = random.Random(5)
    jobs = []
    for _ in range(600):
        run = rng.randint(1, 40)
        jobs.append((rng.randint(0, 2000), run, run + rng.choice([0, 0, rng.randint(0, 60)]), rng.randint(1, 8)))
    promises = Promises()
    arrivals = Arrivals([table(*jobs)])
    simulation = make_simulation(arrivals, TraceExecution(), observers=[promises])
    add_cluster(simulation, PlanLedger(simulation.jobs, 8), Conservative())
    simulation.run()
    assert len(promises.first) == 600
    assert promises.broken == []
