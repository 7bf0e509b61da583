"""The compiled engine and its slow twin give the same schedule, on random workloads full of ties and odd cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload

POLICIES = ("fcfs", "easy", "aggressive", "conservative")
QUICK = POLICIES[:3]
"""Those whose twin is quick enough for long queues."""
OVERRUNS = ("kill", "extend")
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # explaining a failure takes minutes
HORIZON = 3_000 * 3600 * SECOND
"""Far enough for every increment of a corrected end to be used, where a job would otherwise never end."""


@dataclass(frozen=True)
class Case:
    """One simulation: everything that both engines are told."""

    workload: Workload
    cores: int
    policy: str = "easy"
    overrun: str = "kill"
    until: int | None = None

    def __repr__(self) -> str:
        """What is needed to type the case in again, in microseconds."""
        columns = {name: values.tolist() for name, values in self.workload.columns.items()}
        return f"Case({self.cores} cores, {self.policy}, {self.overrun}, until {self.until}, {columns})"


# ---------------------------------------------------------------------------------------------- the two engines


def simulate(case: Case) -> api.Result:
    """The compiled engine's result."""
    until = None if case.until is None else case.until / SECOND
    return api.simulate(case.workload, cores=case.cores, policy=case.policy, overrun=case.overrun, until=until)


FIELDS = ("job_id", "state", "eligible", "start", "end", "run_time", "backfilled")
"""What is compared, of every job."""


def fast_rows(result: api.Result) -> list[tuple[object, ...]]:
    """What the compiled engine says of each job."""
    return result.jobs.select(FIELDS).rows()


def slow_rows(case: Case) -> list[tuple[object, ...]]:
    """What the twin says of each job."""
    outcomes = reference.simulate_cores(case.workload, case.cores, case.policy, case.overrun, case.until)
    rows = []
    for job in outcomes:
        times = (job.eligible, job.start, job.end, job.run)
        seconds = (None if time is None else time / SECOND for time in times)
        rows.append((job.job_id, job.state, *seconds, job.backfilled))
    return rows


def check_agreement(case: Case) -> None:
    """Fail unless both engines say the same of every job, and name the first job of which they do not."""
    fast, slow = fast_rows(simulate(case)), slow_rows(case)
    if fast == slow:
        return
    different = [pair for pair in zip(fast, slow, strict=False) if pair[0] != pair[1]]
    first = f"engine {different[0][0]}, twin {different[0][1]}" if different else f"jobs: {len(fast)}, {len(slow)}"
    pytest.fail(f"{len(different)} jobs differ in {FIELDS}; first: {first}; {case!r:.2000}", pytrace=False)


# ---------------------------------------------------------------------------------------------- small scenarios


def build_workload(jobs: list[tuple[int, int, int, int, int, int]], unit: int) -> Workload:
    """Rows of (submit, cores, run, requested, begin, cancel), times in units, negative for a missing one."""
    rows = sorted(jobs, key=lambda job: job[0])
    table = np.array(rows, np.int64).reshape(-1, 6).T.copy()
    columns = {"submit": table[0] * unit, "cores": table[1]}
    for name, values in zip(("run_time", "requested_time", "begin", "cancel"), table[2:], strict=True):
        columns[name] = np.where(values < 0, MISSING, values * unit)
    return Workload(columns)


@st.composite
def workloads(draw: st.DrawFn, shortest: int = 0) -> tuple[Workload, int]:
    """A few jobs on a few cores, all times small multiples of one unit: ties everywhere; half without odd jobs."""
    cores = draw(st.integers(2, 8))
    unit = draw(st.sampled_from([1, SECOND, 20 * SECOND, 1800 * SECOND, 360_000 * SECOND]))
    latest = draw(st.sampled_from([3, 0, 12]))
    length, missing = st.integers(shortest, 9), st.just(MISSING)
    odd = draw(st.booleans())
    job = st.tuples(
        st.integers(0, latest),
        st.integers(1, cores) | st.just(cores + 1) if odd else st.integers(1, cores),
        length | missing if odd else length,
        length,
        missing | st.integers(0, 20) if odd else missing,
        missing | missing | st.integers(0, 30) if odd else missing,
    )
    fewest = draw(st.sampled_from([10, 5, 1]))
    return build_workload(draw(st.lists(job, min_size=fewest, max_size=20)), unit), cores


@st.composite
def cases(
    draw: st.DrawFn, policies: tuple[str, ...] = POLICIES, overruns: tuple[str, ...] = OVERRUNS, shortest: int = 0
) -> Case:
    """A workload under one policy, one rule for over-long jobs, with or without a cut-off."""
    workload, cores = draw(workloads(shortest))
    overrun = draw(st.sampled_from(overruns))
    last = int(workload.columns["submit"][-1])
    until = draw(st.none() | st.integers(0, 15).map(lambda tenths: max(1, last * tenths // 10)))
    if overrun == "extend" and until is None and (workload.columns["run_time"] == MISSING).any():
        until = HORIZON
    return Case(workload, cores, draw(st.sampled_from(policies)), overrun, until)


def many(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("overrun", OVERRUNS)
@many(80)
@given(data=st.data())
def test_the_engine_agrees_with_its_twin(policy, overrun, data):
    check_agreement(data.draw(cases((policy,), (overrun,))))


@many(150)
@given(cases())
def test_the_audit_finds_nothing(case):
    assert audit(simulate(case)) == []


@many(200)
@given(cases(("easy",), ("kill",), shortest=1))
def test_easy_never_delays_the_blocked_head(case):
    """Without jobs of zero length: these make several passes at one instant, which the tables cannot tell apart."""
    assert audit(simulate(case), promise=True) == []


@many(100)
@given(cases())
def test_the_same_case_gives_the_same_digest(case):
    assert simulate(case).summary["digest"] == simulate(case).summary["digest"]


@many(150)
@given(cases(("fcfs",)))
def test_under_fcfs_jobs_start_in_queue_order(case):
    jobs = simulate(case).jobs
    entered = jobs.with_row_index("row").filter(jobs["eligible"].is_not_null()).sort("eligible", "row")
    started = entered["start"].drop_nulls().to_list()
    assert all(earlier <= later for earlier, later in pairwise(started))
    unstarted = entered.filter(entered["state"] != "cancelled")["start"].is_null().to_list()
    assert unstarted == sorted(unstarted), "a job started although one before it in the queue still waits"


@pytest.mark.parametrize("request_minutes", [0, 1, 45])
def test_every_correction_of_an_outrun_estimate_is_seen(request_minutes):
    """A job runs 1,000 hours beyond its request and blocks the head: the candidates' starts tell the shadow times."""
    minute = 60 * SECOND
    candidates = [(0, 1, 1, round(1.3**power), -1, -1) for power in range(37)]  # up to 16,000 minutes
    jobs = [(0, 3, 60_000, request_minutes, -1, -1), (0, 4, 1, 1, -1, -1), *candidates]
    case = Case(build_workload(jobs, minute), 4, "easy", "extend")
    assert len({row[FIELDS.index("start")] for row in slow_rows(case)}) > 10
    check_agreement(case)


# ------------------------------------------------------------------------------------- larger random workloads


def draw_case(seed: int, fewest: int, most: int) -> Case:
    """Jobs with heavy ties; by chance many distinct core counts or powers of two, a short or a long queue."""
    random = stream(seed, "twin")
    size, cores = int(random.integers(fewest, most + 1)), int(random.choice([4, 17, 64, 500]))
    powers = random.random() < 0.3
    wide = np.minimum(cores, 1 << random.integers(0, 9, size)) if powers else random.integers(1, cores + 1, size)
    run = random.integers(0, 30, size)
    requested = np.where(random.random(size) < 0.7, run + random.integers(0, 40, size), random.integers(0, 30, size))
    submit = np.sort(random.integers(0, int(random.choice([5, 200, 3000])), size))
    times = {"submit": submit, "run_time": run, "requested_time": requested}
    if random.random() < 0.5:  # some are cancelled, held or too large
        times["cancel"] = np.where(random.random(size) < 0.1, submit + random.integers(-5, 300, size), MISSING)
        times["begin"] = np.where(random.random(size) < 0.1, submit + random.integers(-5, 300, size), MISSING)
        wide = np.where(random.random(size) < 0.01, cores + 1, wide)
    unit = int(random.choice([1, SECOND, 30 * SECOND]))
    columns = {name: np.where(values < 0, MISSING, values * unit) for name, values in times.items()}
    overrun = str(random.choice(OVERRUNS))
    until = int(random.integers(1, 3000)) * unit if random.random() < 0.2 else None
    return Case(Workload(columns | {"cores": wide}), cores, overrun=overrun, until=until)


@pytest.mark.parametrize("policy", QUICK)
def test_the_engine_agrees_with_its_twin_on_long_queues(policy):
    """Others each day, as of short ones: soak_twins.py."""
    for seed in range(40):
        check_agreement(replace(draw_case(seed, 300, 500), policy=policy))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_engine_agrees_with_its_twin_on_many_short_queues(policy):
    for seed in range(1000, 1200):
        check_agreement(replace(draw_case(seed, 3, 30), policy=policy))


@pytest.mark.parametrize("policy", QUICK)
def test_the_engine_agrees_with_its_twin_on_thousands_of_jobs(policy):
    """The index of the queue and the table of jobs grow and shrink several times over."""
    check_agreement(replace(draw_case(3003, 3000, 6000), policy=policy))
