"""Why a job waited, in words of resources: cases worked by hand."""

from __future__ import annotations

import walltime
from walltime.core.workload import Origin, Workload

SITE = {
    "name": "site",
    "nodes": [
        {"name": "c", "count": 2, "cores": 4, "memory": "8G"},
        {"name": "g", "count": 4, "cores": 4, "memory": "8G", "gpus": 4},
    ],
    "licences": {"matlab": 1},
    "queues": {"main": {"nodes": ["c"], "default": True}, "gpu": {"nodes": ["g"]}},
}


def explain(job: int, origin: Origin | None = None, **columns) -> walltime.explain:
    jobs = Workload.from_columns(**columns)
    jobs = jobs if origin is None else jobs.replace(dict(jobs.columns), origin=origin)
    return walltime.explain(walltime.simulate({"workload": jobs, "cluster": SITE}), job)


def test_gpus_of_a_partition_become_free_one_after_the_other() -> None:
    """Three of four nodes with 4 GPUs each are held until 100, 50 and 30 s; the fourth job wants all of them."""
    times = [100, 50, 30, 10]
    columns = {"submit": [0, 0, 0, 5], "run_time": times, "requested_time": times, "cores": [1, 1, 1, 4]}
    columns |= {"nodes": [1, 1, 1, 4], "gpus": [4, 4, 4, 16], "queue": ["gpu"] * 4}
    told = explain(4, **columns)
    (cause,) = told.causes
    assert (
        cause.text == "it needs 4 GPUs on each of 4 nodes in partition gpu; 1 node had that, 2 from 30 s, 3 from 50 s"
    )
    assert cause.facts["resources"]["gpus"] == {"needs": 16, "free": 4, "most_free": 12}
    assert cause.facts["resources"]["cores"] == {"needs": 4, "free": 13, "most_free": 15}
    each = {"cores": 1, "gpus": 4}
    assert cause.facts["nodes"] == {"needs": 4, "free": 1, "most_free": 3, "each": each}
    dated = explain(4, Origin(1_791_151_200.0, "Europe/Prague"), **columns)
    assert dated.causes[0].text.endswith("2 from 2026-10-05 00:00:30, 3 from 2026-10-05 00:00:50")
    assert told.facts["GPUs"] == 16


def test_memory_and_licences_are_named_too() -> None:
    """Both nodes of main have their memory taken until 40 s, and the licence is taken until 60 s."""
    times = [40, 60, 10]
    told = explain(
        3,
        submit=[0, 0, 5],
        run_time=times,
        requested_time=times,
        cores=[2, 1, 2],
        nodes=[2, 1, 2],
        memory_per_node=[8 << 30, -1, 4 << 30],
        licences=["", "matlab:1", "matlab:1"],
        queue=["main", "gpu", "main"],
    )
    assert [one.kind for one in told.causes] == ["resources"]
    assert told.causes[0].text == (
        "it needs 4 GiB of memory on each of 2 nodes in partition main; no node had that, 2 from 40 s, "
        "and 1 of matlab; 0 were free"
    )


def test_enough_in_all_is_not_enough_on_each_node() -> None:
    """Two GPUs on each of four nodes are eight: as many are free from 30 s on, when two nodes have all of their four.
    The third has two of its own from 50 s on, the fourth from 70 s on."""
    times = [30, 50, 70, 10]
    told = explain(
        4,
        submit=[0, 0, 0, 5],
        run_time=times,
        requested_time=times,
        cores=[2, 1, 1, 4],
        nodes=[2, 1, 1, 4],
        gpus_per_node=[3, 4, 4, 2],
        queue=["gpu"] * 4,
    )
    (cause,) = told.causes
    assert cause.end == 70
    assert (
        cause.text == "it needs 2 GPUs on each of 4 nodes in partition gpu; no node had that, 2 from 30 s, 3 from 50 s"
    )
    assert cause.facts["resources"]["gpus"] == {"needs": 8, "free": 2, "most_free": 12}
    assert cause.facts["nodes"]["most_free"] == 3


def test_two_resources_may_be_free_on_different_nodes() -> None:
    """Two nodes have four cores free, two other ones four GPUs: none has both until 40 s."""
    told = explain(
        5,
        submit=[0, 0, 0, 0, 5],
        run_time=[40, 40, 60, 60, 10],
        requested_time=[40, 40, 60, 60, 10],
        cores=[4, 4, 1, 1, 6],
        nodes=[1, 1, 1, 1, 2],
        gpus=[0, 0, 4, 4, 4],
        queue=["gpu"] * 5,
    )
    assert told.causes[0].text == ("it needs 3 cores and 2 GPUs on each of 2 nodes in partition gpu; no node had that")


def test_nodes_that_are_down_have_nothing() -> None:
    """Three of the four are in maintenance until 20 s; a job has half of the GPUs of the fourth."""
    reservation = {"name": "care", "start": 0, "length": 20, "nodes": ["g[1-3]"]}
    site = SITE | {"reservations": [reservation]}
    jobs = Workload.from_columns(
        submit=[0, 5],
        run_time=[30, 10],
        requested_time=[30, 10],
        cores=[1, 4],
        nodes=[1, 4],
        gpus=[2, 16],
        queue=["gpu"] * 2,
    )
    told = walltime.explain(walltime.simulate({"workload": jobs, "cluster": site}), 2)
    texts = [cause.text for cause in told.causes]
    assert texts[0] == ("it needs 1 core and 4 GPUs on each of 4 nodes in partition gpu; no node had that, 3 from 20 s")


def test_enough_in_all_but_not_on_one_node() -> None:
    """A job of one node wants 4 cores; each node of main has 2 free."""
    times = [50, 50, 10]
    told = explain(
        3,
        submit=[0, 0, 5],
        run_time=times,
        requested_time=times,
        cores=[4, 1, 4],
        nodes=[2, 1, 1],
        queue=["main", "gpu", "main"],
    )
    assert told.causes[0].text == "it needs 4 cores on one node in partition main; no node had that"


def test_one_node_is_not_spoken_of_where_the_sum_tells_more() -> None:
    """All of main has three cores free, and later none."""
    times = [50, 50, 30, 10]
    told = explain(
        4,
        submit=[0, 0, 0, 5],
        run_time=times,
        requested_time=times,
        cores=[4, 1, 1, 4],
        nodes=[1, 1, 1, 1],
        queue=["main", "main", "gpu", "main"],
    )
    assert told.causes[0].text == "it needs 4 cores in partition main; 3 were free there"


def test_cores_anywhere_are_spoken_of_in_all() -> None:
    told = explain(
        3, submit=[0, 0, 5], run_time=[50, 30, 10], requested_time=[50, 30, 10], cores=[4, 3, 6], queue=["main"] * 3
    )
    assert told.causes[0].text == "it needs 6 cores in partition main; 1 were free there, 4 from 30 s"
