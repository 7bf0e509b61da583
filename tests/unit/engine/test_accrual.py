"""Limits on how many waiting jobs grow older, worked out by hand."""

import pytest

import walltime
from walltime.core.errors import InputError, UnsupportedError
from walltime.pipeline import find_engine
from walltime.scenario import parse

ORDER = {"name": "multifactor", "weights": {"age": 100_000}, "max_age": "1d", "interval": 60}


def starts(limits, users, submit, order=ORDER, **more):
    """Who starts, one after the other: all jobs need the machine and run for 2,000 s, the first one for 9,000."""
    size = len(users)
    jobs = walltime.Workload.from_columns(
        submit=submit, run_time=[9000] + [2000] * (size - 1), requested_time=[9600] + [2400] * (size - 1),
        cores=[4] * size, user=users, **more,
    )  # fmt: skip
    cluster = {"cores": 4, "limits": limits, "scheduler": {"order": order, "backfill": "none"}}
    result = walltime.simulate(jobs, cluster=cluster)
    assert result.audit() == []
    return [user + str(job) for _, job, user in sorted(result.jobs.select("start", "job_id", "user").rows())]


ANN_FIRST = ["cy", *["ann"] * 4, *["bo"] * 3]
LATER = [0, 10, 11, 12, 13, 4000, 4001, 4002]


def test_without_a_limit_the_oldest_are_first():
    assert starts([], ANN_FIRST, LATER) == ["cy1", "ann2", "ann3", "ann4", "ann5", "bo6", "bo7", "bo8"]


def test_a_user_grows_older_with_two_jobs_at_a_time():
    """Ann's third job begins to age at 9,000 s, when her first starts; bo's first two have aged since 4,000 s."""
    expected = ["cy1", "ann2", "ann3", "bo6", "bo7", "ann4", "ann5", "bo8"]
    assert starts([{"per": "user", "accruing_jobs": 2}], ANN_FIRST, LATER) == expected


def test_where_none_grows_older_the_order_of_entry_is_left():
    assert starts([{"accruing_jobs": 0}], ANN_FIRST, LATER) == starts([], ANN_FIRST, LATER)


def test_age_from_submission_knows_no_limit():
    order = ORDER | {"accrue_always": True}
    assert starts([{"per": "user", "accruing_jobs": 2}], ANN_FIRST, LATER, order) == starts([], ANN_FIRST, LATER)


def test_the_qos_decides_before_the_user():
    """Ann's jobs would age one by one; those of the QOS `fast` do two by two, whatever she has beside them."""
    limits = [{"per": "user", "accruing_jobs": 1}, {"qos": "fast", "accruing_jobs": 2}]
    qos = ["usual", "usual", "fast", "fast", "fast", "usual", "usual", "usual"]
    expected = ["cy1", "ann2", "ann3", "ann4", "bo6", "ann5", "bo7", "bo8"]
    assert starts(limits, ANN_FIRST, LATER, qos=qos) == expected


def test_what_cannot_be_said():
    with pytest.raises(InputError, match="accruing_jobs of a queue"):
        parse({"workload": "x", "cluster": {"cores": 4, "limits": [{"per": "queue", "accruing_jobs": 1}]}})
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    clusters = [{"name": "a", "cores": 1, "limits": [{"accruing_jobs": 1}]}, {"name": "b", "cores": 1}]
    with pytest.raises(UnsupportedError, match=r"limits\.0\.accruing_jobs: in one of several clusters"):
        walltime.simulate({"workload": {"table": jobs}, "clusters": clusters, "broker": "least-loaded"})


@pytest.mark.parametrize("engine", ["native", "slurm"])
def test_an_order_without_age_refuses_the_limit(engine):
    """One of the site's own may know it, and so may that of a queue."""
    cluster = {"nodes": "1x4", "limits": [{"running_jobs": 9}, {"accruing_jobs": 1}]}
    scheduler = {"order": "fcfs", "backfill": "conservative", "rhythm": "slurm"}

    def find(**changed):
        made = parse({"workload": "x", "engine": engine, "cluster": cluster | {"scheduler": scheduler} | changed})
        return [problem for problem in find_engine(engine).unsupported(made) if "accruing" in problem[0]]

    assert find() == [("cluster.limits.1.accruing_jobs", "age, which the order fcfs does not count; multifactor does")]
    assert find(scheduler=scheduler | {"order": ORDER}) == []
    assert find(scheduler=scheduler | {"order": "mine:Order"}) == []
    assert find(queues={"long": {"order": ORDER}}) == []
