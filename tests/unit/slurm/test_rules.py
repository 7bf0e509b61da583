"""Slurm's own documented rules hold in virtual time: backfilling, limits, qualities of service, preemption."""

import re
from datetime import UTC, datetime

import pytest

from walltime import Workload
from walltime.core.time import SECOND
from walltime.slurm import engine
from walltime.slurm.associations import Association, Associations, Quality
from walltime.slurm.site import Node, Site

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
    assert fits.backfilled is False  # noted only by note_backfilled
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
    assert [attempt.outcome for attempt in low.attempts] == ["failed", "completed"]
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
