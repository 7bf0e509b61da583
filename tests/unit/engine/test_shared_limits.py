"""Limits that count over all clusters of a scenario together: schedules worked out by hand."""

import pytest

import walltime
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError


def scenario(jobs, overtake=True, shared=True, **limits):
    limit = {"user": "ann", "running_cores": 4} | limits
    clusters = [{"name": name, "cores": 4, "limits": [limit]} for name in ("a", "b")]
    columns = {name: [job[place] for job in jobs] for place, name in enumerate(("submit", "run_time", "cores", "user"))}
    broker = {"name": "first", "hold": True, "overtake": overtake, "shared_limits": shared}
    return {
        "workload": {"table": walltime.Workload.from_columns(**columns)},
        "clusters": clusters,
        "broker": broker,
    }


FULL = [(0, 100, 4, "ann"), (0, 100, 4, "ann"), (0, 50, 2, "bo")]


@pytest.mark.parametrize(
    ("overtake", "shared", "starts"),
    [
        (True, True, [0, 100, 0]),  # ann has her four cores in a; bo overtakes in b
        (False, True, [0, 100, 100]),  # the head is at its quota, and holds up bo
        (True, False, [0, 0, 100]),  # four cores in each of them
    ],
)
def test_one_quota_for_both(overtake, shared, starts):
    result = walltime.simulate(scenario(FULL, overtake, shared))
    assert result.jobs["start"].to_list() == starts
    assert result.audit() == []


def test_what_ends_in_one_cluster_lets_a_job_start_in_the_other():
    jobs = [(0, 100, 4, "ann"), (1, 300, 2, "bo"), (50, 100, 4, "cy"), (60, 100, 2, "ann")]
    result = walltime.simulate(scenario(jobs))
    assert result.jobs["start"].to_list() == [0, 1, 100, 100]
    assert result.jobs["cluster"].cast(str).to_list() == ["a", "b", "a", "b"]
    assert result.audit() == []


def test_two_jobs_at_one_instant_do_not_pass_one_quota_through_two_clusters():
    jobs = [(0, 100, 3, "ann"), (0, 100, 3, "ann"), (0, 100, 1, "ann")]
    result = walltime.simulate(scenario(jobs))
    assert result.jobs["start"].to_list() == [0, 100, 0]
    assert result.audit() == []


def test_the_audit_counts_over_both():
    result = walltime.simulate(scenario(FULL, shared=False))
    broker = result.scenario.broker.model_copy(update={"shared_limits": True})
    other = result.scenario.model_copy(update={"broker": broker})
    broken = audit(result.record, workload=result.scenario.read_workload(), scenario=other)
    assert [violation.rule for violation in broken] == ["quota"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"broker": {"name": "first", "shared_limits": True}}, "only with hold"),
        ({"clusters": [{"name": "a", "cores": 4, "limits": [{"user": "ann", "running_cores": 4}]},
                       {"name": "b", "cores": 4}]}, "other limits than a"),
    ],
)  # fmt: skip
def test_limits_that_cannot_be_shared_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        walltime.simulate(scenario(FULL) | change)


def test_parts_have_their_nodes_where_there_are_none():
    """Two jobs of two nodes with a GPU on each want four, also of a plain number of cores: they go one by one."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0],
        run_time=[10, 10],
        cores=[4, 2],
        parts=["1x3+1x1", "1x1+1x1"],
        gpus_per_node=[1, 1],
        user=["a", "a"],
    )
    clusters = [{"name": name, "cores": 8, "limits": [{"user": "a", "running_gpus": 2}]} for name in ("a", "b")]
    for system in ({"cluster": clusters[0]}, {"clusters": clusters, "broker": "first"}):
        result = walltime.simulate({"workload": {"table": jobs}} | system)
        assert result.jobs["start"].to_list() == [0, 10]
        assert result.audit() == []


def test_more_nodes_than_cores_are_taken_as_told_where_there_are_none():
    """Two jobs tell one core and two nodes with a GPU on each: four GPUs; a limit of three lets one of them run."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0], run_time=[10, 10], cores=[1, 1], nodes=[2, 2], gpus_per_node=[1, 1], user=["a", "a"]
    )
    cluster = {"cores": 8, "limits": [{"user": "a", "running_gpus": 3}]}
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.jobs["start"].to_list() == [0, 10]
    assert result.audit() == []
