"""Brokers: a few jobs each, whose clusters and starts were worked out by hand, for the engine and for its slow twin.

Jobs ask for as long as they run. A schedule is written as the cluster and the start of each job, in order of entry.
"""

from __future__ import annotations

from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import parse

SCHEDULERS = ("fast", "slow")
TWO = [{"name": "a", "cores": 4}, {"name": "b", "cores": 8}]


def jobs(*rows: tuple[int, int, int], **columns: Any) -> Workload:
    """Jobs as (submit, time, cores)."""
    submit, time, cores = zip(*rows, strict=True)
    return Workload.from_columns(submit=submit, run_time=time, requested_time=time, cores=cores, **columns)


@pytest.fixture(params=SCHEDULERS)
def schedule(request: pytest.FixtureRequest) -> Any:
    """(cluster, start) of each job, by the compiled engine or by the twin."""

    def run(workload: Workload, clusters: list[dict[str, Any]], broker: Any, **own: Any) -> list[Any]:
        part = {"name": broker} if isinstance(broker, str) else broker
        keys = {"workload": {"table": workload}, "clusters": clusters, "broker": part | own}
        if request.param == "slow":
            done = reference.simulate(parse(keys))
            return [(job.cluster, None if job.start is None else job.start / SECOND) for job in done]
        result = api.simulate(keys)
        assert result.audit() == []
        return result.jobs.select("cluster", "start").rows()

    return run


def test_first(schedule: Any) -> None:
    """Everybody goes to a while it is large enough, however long its queue."""
    got = schedule(jobs((0, 10, 4), (0, 10, 4), (0, 10, 5), (1, 10, 9)), TWO, "first")
    assert got == [("a", 0), ("a", 10), ("b", 0), (None, None)]


def test_round_robin(schedule: Any) -> None:
    """a, b, a in turn; the fourth is too large for what is next but one, and b has its turn twice: then a again."""
    got = schedule(jobs((0, 10, 1), (0, 10, 1), (0, 10, 1), (1, 10, 5), (2, 10, 5), (3, 10, 1)), TWO, "round-robin")
    assert [cluster for cluster, _ in got] == ["a", "b", "a", "b", "b", "a"]


def test_least_loaded(schedule: Any) -> None:
    """Loads before each: 0, 0 -> a; 2/4, 0 -> b; 2/4, 4/8 -> a, the first of equals; 4/4, 4/8 -> b; 1, 1 -> a, where it
    waits; 8/4, 1 -> b."""
    got = schedule(jobs((0, 10, 2), (0, 10, 4), (0, 10, 2), (0, 10, 4), (0, 5, 4), (0, 5, 4)), TWO, "least-loaded")
    assert got == [("a", 0), ("b", 0), ("a", 0), ("b", 0), ("a", 10), ("b", 10)]


def test_most_free(schedule: Any) -> None:
    """Free: 4, 8 -> b; 4, 5 -> b; 4, 2 -> a; 1, 2 -> b, where 3 cores wait for 2: so 1, -1 -> a."""
    got = schedule(jobs((0, 10, 3), (0, 10, 3), (1, 9, 3), (2, 5, 3), (3, 5, 1)), TWO, "most-free")
    assert got == [("b", 0), ("b", 0), ("a", 1), ("b", 10), ("a", 3)]


def test_shortest_queue(schedule: Any) -> None:
    """While nobody waits, the lower load; then the two full ones get one waiting job each in turn."""
    rows = [(0, 10, 4), (0, 10, 8), (1, 10, 4), (2, 10, 8), (3, 10, 4)]
    got = schedule(jobs(*rows), TWO, "shortest-queue")
    assert got == [("a", 0), ("b", 0), ("a", 10), ("b", 10), ("a", 20)]


def test_earliest_start_plans_those_who_wait(schedule: Any) -> None:
    """Both are full until 10 and 12. The third (4 cores) would start on a at 10; the fourth behind it at 30, but on b
    at 12; the fifth (4 cores) fits beside the fourth on b at 12; the sixth (8 cores) has to wait for both there."""
    rows = [(0, 10, 4), (0, 12, 8), (1, 20, 4), (2, 8, 4), (3, 4, 4), (4, 1, 8)]
    got = schedule(jobs(*rows), TWO, "earliest-start")
    assert got == [("a", 0), ("b", 0), ("a", 10), ("b", 12), ("b", 12), ("b", 20)]


def test_earliest_start_where_nobody_overtakes(schedule: Any) -> None:
    """Cluster a has 2 cores free, but its queue keeps its order: behind the third job, from 10 to 20, nobody starts
    before 20, and b has the lower load. With EASY the fourth starts on a at once."""
    rows = [(0, 10, 2), (0, 20, 8), (1, 10, 4), (2, 3, 1)]
    strict = [{"name": "a", "cores": 4, "scheduler": {"backfill": "none"}}, TWO[1]]
    easy = [{"name": "a", "cores": 4, "scheduler": {"backfill": "easy"}}, TWO[1]]
    assert schedule(jobs(*rows), strict, "earliest-start")[2:] == [("a", 10), ("b", 20)]
    assert schedule(jobs(*rows), easy, "earliest-start")[3] == ("a", 2)


def test_weighted(schedule: Any) -> None:
    """a is twice as reliable, b has more free: reliability 1 and 0.5, available 0.5 and 1. With weights 1 and 1 they
    are equal and a is first; after it a has nothing left (1 against 1.5)."""
    clusters = [TWO[0] | {"attributes": {"reliability": 1}}, TWO[1] | {"attributes": {"reliability": 0.5}}]
    broker = {"name": "weighted", "weights": {"reliability": 1, "available": 1}}
    assert schedule(jobs((0, 10, 4), (1, 10, 4)), clusters, broker) == [("a", 0), ("b", 1)]


def test_random_is_drawn_for_each_job_alone() -> None:
    """Another broker's queue, other clusters' sizes or fewer jobs do not change what a job draws."""
    rows = [(second, 1, 1) for second in range(60)]
    full = api.simulate({"workload": jobs(*rows), "clusters": TWO, "broker": "random", "seed": 7})
    few = api.simulate({"workload": jobs(*rows[:30]), "clusters": [TWO[1], TWO[0]], "broker": "random", "seed": 7})
    drawn = full.jobs["cluster"].to_list()
    assert {"a": "b", "b": "a"}[drawn[0]] == few.jobs["cluster"][0]
    assert [{"a": "b", "b": "a"}[name] for name in drawn[:30]] == few.jobs["cluster"].to_list()
    assert 15 < drawn.count("a") < 45
    other = api.simulate({"workload": jobs(*rows), "clusters": TWO, "broker": "random", "seed": 8})
    assert other.jobs["cluster"].to_list() != drawn


def test_fastest_takes_the_fast_nodes_and_runs_shorter() -> None:
    """Work of 10 s takes 5 s at twice the speed; everybody goes there, and waits."""
    clusters = [
        {"name": "a", "nodes": {"count": 1, "cores": 4, "speed": 1}},
        {"name": "b", "nodes": {"count": 1, "cores": 4, "speed": 2}},
    ]
    result = api.simulate({"workload": jobs((0, 10, 4), (0, 10, 4)), "clusters": clusters, "broker": "fastest"})
    assert result.jobs.select("cluster", "start", "end").rows() == [("b", 0, 5), ("b", 5, 10)]
    held = {"name": "fastest", "hold": True}
    result = api.simulate({"workload": jobs((0, 10, 4), (0, 10, 4)), "clusters": clusters, "broker": held})
    assert result.jobs.select("cluster", "start", "end").rows() == [("b", 0, 5), ("a", 0, 10)]


def test_held_jobs_wait_until_a_cluster_could_start_them(schedule: Any) -> None:
    """b is free at 6 and takes the third; the fourth is small enough for a at 10."""
    rows = [(0, 10, 4), (0, 6, 8), (1, 5, 5), (2, 5, 4)]
    assert schedule(jobs(*rows), TWO, "first", hold=True) == [("a", 0), ("b", 0), ("b", 6), ("a", 10)]


def test_held_jobs_overtake_or_not(schedule: Any) -> None:
    """The second wants all of b, which is in use; the third is small. Who may overtake starts at once."""
    rows = [(0, 10, 5), (1, 5, 8), (2, 5, 2)]
    assert schedule(jobs(*rows), TWO, "least-loaded", hold=True)[2] == ("a", 2)
    strict = schedule(jobs(*rows), TWO, "least-loaded", hold=True, overtake=False)
    assert strict == [("b", 0), ("b", 10), ("a", 10)]


def test_the_global_queue_has_an_order(schedule: Any) -> None:
    """All three wait for the only place; the shortest is first."""
    rows = [(0, 10, 8), (1, 9, 8), (2, 3, 8), (3, 5, 8)]
    got = schedule(jobs(*rows), [TWO[1]], "first", hold=True, order="sjf")
    assert [start for _, start in got] == [0, 18, 10, 13]


def test_a_job_that_has_migrated_has_its_place_in_the_new_queue_at_once(schedule: Any) -> None:
    """At 0 all have waited for nothing, and b's order is that of entry. The fourth moves from a, and stands first in b:
    the look at b's first two ends with the sixth. The seventh, behind it, would gain too, but is not looked at."""
    asked = [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1]
    cores = [1, 1, 1, 3, 2, 1, 1, 1, 1, 1, 1, 1]
    workload = Workload.from_columns(submit=[0] * 12, run_time=[0] * 12, requested_time=asked, cores=cores)
    clusters = [
        {"name": "a", "cores": 3, "scheduler": {"order": "smallest", "backfill": "easy"}},
        {"name": "b", "cores": 4, "scheduler": {"order": "wfp3", "backfill": "easy"}},
    ]
    got = schedule(workload, clusters, "least-loaded", overtake=False, migrate={"gain": 1, "most": 1, "depth": 2})
    assert "".join(cluster for cluster, _ in got) == "abbbbbbababa"


def test_a_waiting_job_migrates(schedule: Any) -> None:
    """All were sent to a; at 10 b would start the second 10 s earlier, and the third beside it 30 s earlier."""
    rows = [(0, 20, 4), (1, 20, 4), (2, 20, 4), (3, 1, 8)]
    got = schedule(jobs(*rows), TWO, "first", migrate={"gain": 5, "every": 10})
    assert got == [("a", 0), ("b", 10), ("b", 10), ("b", 3)]


def test_a_small_gain_is_not_enough(schedule: Any) -> None:
    """b could start the second at 10, a does at 12."""
    rows = [(0, 12, 4), (1, 5, 4)]
    assert schedule(jobs(*rows), TWO, "first", migrate={"gain": 3, "every": 10}) == [("a", 0), ("a", 12)]
    assert schedule(jobs(*rows), TWO, "first", migrate={"gain": 2, "every": 10}) == [("a", 0), ("b", 10)]


def test_a_global_order_by_fair_share() -> None:
    """Both clusters are busy until 10 with ann's jobs; of those that wait globally, bo's comes first, then in turn."""
    order = {"name": "fairshare", "formula": "classic", "interval": 0, "half_life": 0}
    table = jobs(*((0, 10, 4), (0, 10, 8), (1, 10, 8), (2, 20, 8), (3, 10, 4)), user=["ann", "ann", "ann", "bo", "ann"])
    broker = {"name": "first", "hold": True, "order": order}
    result = api.simulate({"workload": table, "clusters": TWO, "broker": broker})
    assert result.audit() == []
    assert result.jobs.select("cluster", "start").rows() == [("a", 0), ("b", 0), ("b", 30), ("b", 10), ("a", 10)]
    plain = api.simulate({"workload": table, "clusters": TWO, "broker": broker | {"order": "fcfs"}})
    assert plain.jobs["start"].to_list() == [0, 0, 10, 20, 10]
    assert {"broker/ann", "broker/bo"} <= set(result.series["entity"])


def test_a_global_order_by_factors() -> None:
    """The QOS alone decides: high before low, whatever came first."""
    order = {"name": "multifactor", "weights": {"qos": 1000}, "qos": {"high": 10, "low": 1}, "interval": 0}
    table = jobs((0, 10, 8), (1, 10, 8), (2, 10, 8), qos=["low", "low", "high"])
    broker = {"name": "first", "hold": True, "order": order, "overtake": False}
    result = api.simulate({"workload": table, "clusters": TWO, "broker": broker})
    assert result.jobs["start"].to_list() == [0, 20, 10]
