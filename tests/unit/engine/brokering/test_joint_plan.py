"""One plan over several clusters: schedules by hand."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import InputError, PolicyError


def simulate(optimise, clusters=None, broker="first", **columns):
    """Two clusters of two cores, all jobs sent to the first of them."""
    jobs = {"submit": [0, 0, 0], "cores": [2, 2, 1], "run_time": [1000, 100, 50]} | columns
    clusters = clusters or [{"name": "a", "cores": 2}, {"name": "b", "cores": 2}]
    planned = [{"scheduler": {"backfill": "plan"}} | cluster for cluster in clusters]
    broker = {"name": broker} | ({} if optimise is None else {"optimise": optimise})
    return walltime.simulate(
        {
            "workload": {"table": walltime.Workload.from_columns(**jobs)},
            "clusters": planned,
            "broker": broker,
            "record": {"plans": True},
        }
    )


def search(**more):
    return {"name": "gap-search", "objectives": {"wait": 1}, "on": ["arrivals"], "rounds": 30} | more


def places(result):
    jobs = result.jobs.sort("job_id")
    return list(zip(jobs["start"].to_list(), jobs["cluster"].cast(str).to_list(), strict=True))


def test_jobs_go_to_the_cluster_where_the_plan_has_them_earliest():
    """The second job waits for the first, and the third behind both; on the other cluster they wait least if the short
    one goes first."""
    assert places(simulate(None)) == [(0.0, "a"), (1000.0, "a"), (1100.0, "a")]
    result = simulate(search(operators={"cluster": 1}))
    assert places(result) == [(0.0, "a"), (50.0, "b"), (0.0, "b")]
    assert result.record.facts["planned_moves"] == 2
    assert walltime.audit(result) == []


def test_without_the_operator_they_stay():
    assert places(simulate(search(operators={"gap": 1}))) == places(simulate(None))


def test_the_record_of_plans_tells_of_moves():
    plans = simulate(search(operators={"cluster": 1})).record.plans
    assert plans.filter(plans["job_id"] == 2)["planned"].to_list()[-1] <= 100.0


def test_a_job_goes_only_where_it_may_and_can():
    """The other cluster is too small for the second job; the third is bound to the first cluster."""
    narrow = [{"name": "a", "cores": 2}, {"name": "b", "cores": 1}]
    result = simulate(search(), narrow)
    assert places(result)[1][1] == "a"
    assert places(result)[2] == (0.0, "b")


def test_a_limit_of_the_other_cluster_is_respected():
    """ann has a job on each cluster, and may have one core there: the second stays behind the first."""
    limited = [{"name": "a", "cores": 2}, {"name": "b", "cores": 2, "limits": [{"per": "user", "running_cores": 1}]}]
    result = simulate(search(), limited, user=["ann", "ann", "ann"], cores=[2, 1, 1])
    assert walltime.audit(result) == []
    starts = [start for start, cluster in places(result) if cluster == "b"]
    assert starts in ([0.0], [0.0, 50.0], [0.0, 100.0])


def test_jobs_keep_the_time_from_which_they_wait():
    result = simulate(search(every=300, on=["ends"], operators={"cluster": 1}))
    assert places(result)[1][0] in (300.0, 350.0)  # looked at for the first time after 300 s
    assert result.jobs.sort("job_id")["wait"].to_list()[1] == places(result)[1][0]


def test_what_cannot_plan_several_clusters_is_refused():
    with pytest.raises(InputError, match="several clusters"):
        simulate(search(), [{"name": "a", "cores": 2}, {"name": "b", "cores": 2, "scheduler": {"backfill": "easy"}}])
    with pytest.raises(InputError, match="with operators"):
        simulate({"name": "neighbourhoods"})
    with pytest.raises(InputError, match=r"with operators|cp-sat needs OR-Tools"):
        simulate({"name": "cp-sat"})


@pytest.mark.parametrize(
    ("wanted", "backfill", "told"),
    [
        ("{name: tabuu}", "plan", "7: unknown optimise part: 'tabuu'; did you mean 'tabu'"),
        ("{name: tabu, rounds: -5}", "plan", "7: broker.optimise: tabu: rounds takes a number of evaluations above 0"),
        ("tabu", "easy", "7: broker.optimise is for several clusters with `backfill: plan`: 'easy'"),
        ("neighbourhoods", "plan", "7: broker.optimise takes an optimiser with operators: 'neighbourhoods'"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, wanted, backfill, told):
    path = tmp_path / "s.yaml"
    path.write_text(
        "workload: {generate: {jobs: 5, cores: 8}}\n"
        "clusters:\n"
        f"  - {{name: a, cores: 8, scheduler: {{backfill: {backfill}}}}}\n"
        "  - {name: b, cores: 8, scheduler: {backfill: plan}}\n"
        "broker:\n  name: least-loaded\n"
        f"  optimise: {wanted}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as refused:
        walltime.simulate(path)
    assert f"s.yaml:{told}" in str(refused.value)


def test_an_objective_that_fails_is_named_with_the_time():
    def fails(plan):
        raise ValueError("no figure")

    with pytest.raises(PolicyError, match=r"broker: the objective .*fails failed: ValueError: no figure \(time 0 s\)"):
        simulate(search(objectives={fails: 1}))
