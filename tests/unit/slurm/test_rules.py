"""Slurm's own documented rules hold in virtual time: backfilling, limits, qualities of service, preemption."""

import random
import re
from datetime import UTC, datetime

import pytest

from walltime import Workload
from walltime.core.time import SECOND
from walltime.site.associations import Association, Associations, Quality
from walltime.site.nodes import Node
from walltime.slurm import engine
from walltime.slurm.paused import Frozen
from walltime.slurm.site import Site

pytestmark = pytest.mark.usefixtures("slurm")

NODES = tuple(Node(f"n{i}", 4, cores=4) for i in range(1, 5))
MACHINE = (
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_Core",
    "SchedulerType=sched/backfill",
    "NodeName=n[1-4] NodeAddr=127.0.0.1 CPUs=4 CoresPerSocket=4 State=UNKNOWN",
)
BATCH = "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP"


def run(site, **columns):
    """The jobs after the run, with their first start and last end in seconds since the trace's zero; and the log."""
    started = engine.start(site, Workload.from_columns(**columns))
    with started.controller as controller:
        started.simulation.run()
        finished = (controller.folder / "jobs").read_text()
    for job in started.jobs:
        job.began = (job.attempts[0].start - started.base) / SECOND if job.attempts else None
        job.ended = (job.end - started.base) / SECOND if job.end is not None else None
    return started.jobs, finished


def most_at_once(jobs, weight=lambda job: 1):
    """The largest total weight of jobs that run at the same time."""
    edges = sorted((at, step * weight(job)) for job in jobs for at, step in ((job.began, 1), (job.ended, -1)))
    total = most = 0
    for _, step in edges:
        total += step
        most = max(most, total)
    return most


def test_no_backfilled_job_delays_the_one_before_it():
    site = Site("t", (*MACHINE, "PriorityType=priority/basic", BATCH), NODES)
    first, head, fits, too_long = run(
        site,
        submit=[0, 10, 20, 30],
        run_time=[600, 100, 300, 3000],
        requested_time=[600, 600, 300, 3600],
        cores=[12, 16, 4, 4],
    )[0]
    assert head.began - first.ended <= 60 + 30  # bf_resolution, and one interval
    assert fits.backfilled is False  # noted only by note_reasons
    assert fits.ended < head.began  # it overtook
    assert too_long.began >= head.began  # it would have been in the way


def test_the_controllers_own_record_agrees():
    site = Site("t", (*MACHINE, "PriorityType=priority/basic", BATCH), NODES)
    jobs, finished = run(
        site, submit=[0] * 12, run_time=[7, 60, 61, 100] * 3, requested_time=[120] * 12, cores=[1, 4, 8, 16] * 3
    )
    found = re.findall(r"JobId=(\d+) .*JobState=(\w+) .*StartTime=(\S+) EndTime=(\S+)", finished)
    assert len(found) == len(jobs)
    for number, state, *times in found:
        job = next(job for job in jobs if job.number == int(number))
        assert state.lower() == job.state
        seconds = [int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) for text in times]
        assert seconds == [job.attempts[0].start // SECOND, job.attempts[0].end // SECOND]


def accounts(**limits):
    return Associations(
        (
            Association("a", share=1),
            Association("a", "ann", "a", limits=limits, qos=("normal", "small"), is_default=True),
            Association("a", "bo", "a", is_default=True),
        ),
        (Quality("normal"), Quality("small", {"MaxTRESPU": "cpu=4", "Priority": "100"})),
    )


LIMITED = (
    *MACHINE,
    "PriorityType=priority/multifactor",
    "PriorityWeightQOS=1000",
    "AccountingStorageEnforce=associations,limits,qos",
    BATCH,
)


def test_a_limit_on_running_jobs_binds_its_user_alone():
    site = Site("t", LIMITED, NODES, associations=accounts(MaxJobs="2"))
    jobs, _ = run(site, submit=[0] * 10, run_time=[100] * 10, requested_time=[120] * 10, user=["ann", "bo"] * 5)
    assert {job.state for job in jobs} == {"completed"}
    assert most_at_once(jobs[0::2]) == 2
    assert most_at_once(jobs[1::2]) == 5


def test_a_limit_of_a_quality_of_service_binds_its_jobs():
    site = Site("t", LIMITED, NODES, associations=accounts())
    jobs, _ = run(
        site,
        submit=[0] * 6,
        run_time=[100] * 6,
        requested_time=[120] * 6,
        cores=[2] * 6,
        user=["ann"] * 6,
        qos=["small"] * 4 + ["normal"] * 2,
    )
    assert most_at_once(jobs[:4], lambda job: 2) == 4
    assert all(job.began < 10 for job in jobs[4:])


def test_who_has_no_account_is_rejected():
    site = Site("t", LIMITED, NODES, associations=accounts())
    jobs, _ = run(site, submit=[0, 0], run_time=[5, 5], requested_time=[60, 60], user=["ann", "stranger"])
    assert [job.state for job in jobs] == ["completed", "rejected"]
    assert "account" in jobs[1].reason


def test_a_higher_tier_preempts_and_the_job_comes_back():
    lines = (
        *MACHINE,
        "PriorityType=priority/basic",
        "PreemptType=preempt/partition_prio",
        "PreemptMode=REQUEUE",
        "PartitionName=low Nodes=ALL Default=YES PriorityTier=1 State=UP",
        "PartitionName=high Nodes=ALL PriorityTier=2 State=UP",
    )
    site = Site("t", lines, NODES, ("low", "high"), "low")
    low, high = run(
        site,
        submit=[0, 200],
        run_time=[1000, 100],
        requested_time=[1200, 120],
        cores=[16, 16],
        queue=["low", "high"],
    )[0]
    assert 200 <= high.began < 300
    assert [attempt.outcome for attempt in low.attempts] == ["requeued", "completed"]
    assert low.attempts[1].start >= high.attempts[0].end


def test_a_suspended_job_ends_later():
    lines = (
        *MACHINE,
        "PriorityType=priority/basic",
        "PreemptType=preempt/partition_prio",
        "PreemptMode=SUSPEND,GANG",
        "PartitionName=low Nodes=ALL Default=YES PriorityTier=1 OverSubscribe=FORCE:1 State=UP",
        "PartitionName=high Nodes=ALL PriorityTier=2 OverSubscribe=FORCE:1 State=UP",
    )
    site = Site("t", lines, NODES, ("low", "high"), "low")
    low, high = run(
        site,
        submit=[0, 200],
        run_time=[600, 100],
        requested_time=[1200, 120],
        cores=[16, 16],
        queue=["low", "high"],
    )[0]
    assert 200 <= high.began < 300
    assert low.state == "completed"
    assert low.ended - low.began >= 700 - 1
    extra = engine.LAUNCH + engine.COMPLETION
    assert low.attempts[0].held(low.end) == 600 * SECOND + extra  # its cores were another's meanwhile
    assert len(low.attempts[0].pauses) == 1


def test_charged_computing_makes_the_time_limit_of_a_pass_bite():
    """A hundred blocked jobs stand before one that fits: a pass that is cut short never comes to it."""
    size, blocked = 64, 100
    nodes = tuple(Node(f"n{i}", 4, cores=4) for i in range(1, size + 1))
    jobs = Workload.from_columns(
        submit=[0, *[10] * blocked, 20],
        run_time=[3000, *[50] * blocked, 60],
        requested_time=[3600, *[60] * blocked, 120],
        cores=[4 * (size - 1), *[4 * size] * blocked, 4],
    )

    def begin_of_last(most, cost):
        lines = [line.replace("n[1-4]", f"n[1-{size}]") for line in MACHINE]
        lines += ["PriorityType=priority/basic", f"SchedulerParameters=bf_max_time={most}", BATCH]
        started = engine.start(Site("t", tuple(lines), nodes), jobs, options=engine.SlurmOptions(cost=cost))
        with started.controller:
            started.simulation.run(started.base + 400 * SECOND)
        attempts = started.jobs[-1].attempts
        return (attempts[0].start - started.base) / SECOND if attempts else None

    assert begin_of_last(1, cost=0.0) < 60  # deciding takes no time: the limit of a second has no effect
    assert begin_of_last(1, cost=1000.0) is None  # a millisecond of computing is a second
    assert begin_of_last(3600, cost=1000.0) > 20  # with room enough, the pass comes to its end


def test_in_no_cycle_a_backfilled_job_delays_one_that_was_tested():
    """Beyond bf_resolution, by what the controller itself expects of every waiting job after each cycle.

    Its plan has to leave room for each of them beside all that runs then, the backfilled jobs included; and what it
    expects of the first in line, whom no other may delay, does not move from cycle to cycle.
    """
    size, interval, resolution = 24, 30, 60
    draw = random.Random(5)
    length = [60 * draw.choice([1, 2, 3, 5, 8]) for _ in range(size)]
    cores = [draw.choice([1, 2, 4, 8, 12, 16]) for _ in range(size)]
    lines = (*MACHINE, "PriorityType=priority/basic", f"SchedulerParameters=bf_continue,bf_interval={interval}", BATCH)
    jobs = Workload.from_columns(submit=[0] * size, run_time=length, requested_time=length, cores=cores)
    started = engine.start(Site("t", lines, NODES), jobs)
    overtaken = checked = 0
    first: dict[int, float] = {}
    with started.controller as controller:
        frozen = Frozen(started)
        for at in range(5, 2400, interval):
            started.simulation.run(started.base + at * SECOND)
            frozen.execute("squeue -h -t PD -o '%i %S'", {})
            told = re.findall(r"(\d+) (\d\S+)", (controller.folder / "said").read_text())
            plan = {int(job) - 1: datetime.fromisoformat(time + "+00:00").timestamp() - started.base / SECOND
                    for job, time in told}  # fmt: skip
            held = {row: job.attempts[0].start - started.base for row, job in enumerate(started.jobs)
                    if job.state == "running"}  # fmt: skip
            held = {row: begin / SECOND + length[row] for row, begin in held.items()}
            for row, begin in sorted(plan.items()):  # first come, first served
                late = begin + resolution
                used = sum(cores[other] for other, end in held.items() if end > late)
                used += sum(
                    cores[other] for other in plan if other < row and late - length[other] < plan[other] <= begin
                )
                assert used + cores[row] <= 16
                checked += 1
                overtaken += any(other > row for other in held)
            if plan:
                assert plan[min(plan)] <= first.setdefault(min(plan), plan[min(plan)]) + resolution
        frozen.close()
    assert checked > 100
    assert overtaken > 20
    for row, expected in first.items():
        assert started.jobs[row].attempts[0].start - started.base <= (expected + resolution + interval) * SECOND
