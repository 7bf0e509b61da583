"""A global order that is kept to the letter gives, before one cluster, what it gives in that cluster's twin."""

from __future__ import annotations

from typing import Any

import pytest
from test_fairshare_twin import draw_order
from test_orders_twin import draw_jobs

from twin import reference
from walltime import api
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import parse


def starts_slowly(workload: Workload, cluster: dict[str, Any], order: Any) -> list[Any]:
    scheduler = {"order": order, "backfill": "none"}
    done = reference.simulate(parse({"workload": {"table": workload}, "cluster": cluster | {"scheduler": scheduler}}))
    return [(job.job_id, job.state, job.start) for job in done]


@pytest.mark.parametrize("seed", range(25))
def test_the_twin_of_one_cluster_agrees(seed: int) -> None:
    """One cluster that starts at once what is sent, and a global queue that no job overtakes: the queue of a cluster
    without backfilling."""
    workload, cores = draw_jobs(stream(seed, "global order"), 20)
    order, extra = draw_order(seed)
    if "weights" in order:
        order["weights"] |= {"partition": 0, "association": 0, "job_size": 0}
    cluster = {"cores": cores, **extra}
    broker = {"name": "first", "hold": True, "overtake": False, "order": order}
    scheduler = {"backfill": "none"}
    result = api.simulate({"workload": workload, "clusters": [cluster | {"scheduler": scheduler}], "broker": broker})
    assert result.audit() == []
    slow = starts_slowly(workload, cluster, order)
    fast = [
        (row["job_id"], row["state"], None if row["start"] is None else round(row["start"] * 1e6))
        for row in result.jobs.iter_rows(named=True)
    ]
    assert fast == slow
