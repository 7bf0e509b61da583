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
    assert cause.text == "it needs 16 GPUs in partition gpu; 4 were free there, 8 from 30 s, 12 from 50 s"
    assert cause.facts["resources"]["gpus"] == {"needs": 16, "free": 4, "most_free": 12}
    assert cause.facts["resources"]["cores"] == {"needs": 4, "free": 13, "most_free": 15}
    dated = explain(4, Origin(1_791_151_200.0, "Europe/Prague"), **columns)
    assert dated.causes[0].text.endswith("8 from 2026-10-05 00:00:30, 12 from 2026-10-05 00:00:50")
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
        "it needs 8 GiB of memory in partition main; 0 GiB were free there, 16 GiB from 40 s, "
        "and 1 of matlab; 0 were free"
    )


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
    assert told.causes[0].text == (
        "it needs 4 cores in partition main; 4 were free there, but not where and as it needs them"
    )
