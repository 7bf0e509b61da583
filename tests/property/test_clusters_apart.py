"""Clusters to which jobs are bound one by one schedule as they would alone, whatever rules and machines they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walltime import api
from walltime.core.random import stream
from walltime.core.workload import Workload

QUEUES = {"short": {"max_time": 40, "priority": 5}, "long": {"priority": 1, "per_user": {"running_jobs": 2}}}
ROUTES = [{"queue": "short", "max_time": 40}, {"queue": "long"}]
CLUSTERS: list[dict[str, Any]] = [
    {"cores": 9, "scheduler": {"order": "sjf", "backfill": "conservative"}},
    {"nodes": "3x4", "queues": QUEUES, "routes": ROUTES, "scheduler": {"backfill": "easy", "place": "first-fit"}},
    {"nodes": {"count": 4, "cores": 3, "speed": 2.5}, "scheduler": {"backfill": {"name": "depth", "depth": 3}}},
    {"nodes": {"count": 3, "cores": 4, "memory": 100, "gpus": 1}, "scheduler": {"order": "wfp3"}},
    {"cores": 7, "limits": [{"per": "user", "running_cores": 4}], "scheduler": {"backfill": "aggressive"}},
    {"nodes": "4x2", "sharing": "whole", "scheduler": {"order": "largest", "backfill": "none"}},
    {
        "nodes": [{"count": 2, "cores": 4, "name": "a"}, {"count": 1, "cores": 4, "name": "b"}],
        "queues": {"x": {"nodes": "a", "default": True}, "y": {"nodes": "b", "users": ["u0"]}},
        "routes": [{"queue": "y", "users": ["u0"]}],
        "limits": [{"submitted_jobs": 12}],
    },
]


def draw(seed: int) -> Workload:
    """Jobs of a few users, some with memory and GPUs; who goes where is the group."""
    random = stream(seed, "apart")
    size = 120
    run = random.integers(0, 60, size)
    return Workload.from_columns(
        job_id=list(range(1, size + 1)),
        submit=np.sort(random.integers(0, 250, size)).tolist(),
        run_time=run.tolist(),
        requested_time=(run + random.integers(0, 40, size)).tolist(),
        cores=random.integers(1, 9, size).tolist(),
        memory=random.choice([1, 40, 90], size).tolist(),
        gpus=random.choice([0, 0, 0, 1], size).tolist(),
        user=[f"u{number}" for number in random.integers(0, 3, size)],
        group=[f"g{number}" for number in random.integers(0, len(CLUSTERS), size)],
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("hold", [False, True])
def test_bound_clusters_are_as_alone(seed: int, hold: bool) -> None:
    workload = draw(seed)
    clusters = [cluster | {"name": f"c{number}"} for number, cluster in enumerate(CLUSTERS)]
    bind = [{"groups": [f"g{number}"], "clusters": [f"c{number}"]} for number in range(len(clusters))]
    broker = {"name": "random", "bind": bind}
    together = api.simulate({"workload": workload, "clusters": clusters, "broker": broker, "seed": seed})
    assert together.audit() == []
    if (
        hold
    ):  # a job waits globally instead; all else that can be said is that the schedule is legal, and all are served
        broker |= {"hold": True}
        held = api.simulate({"workload": workload, "clusters": clusters, "broker": broker, "seed": seed})
        assert held.audit() == []
        assert (held.jobs["state"] == "waiting").sum() == 0
        return
    fields = ["job_id", "state", "start", "end", "queue", "wait"]
    for number, cluster in enumerate(clusters):
        rows = [row for row, name in enumerate(workload.label_names("group")) if name == f"g{number}"]
        mine = np.isin(workload.column("group"), rows)
        if not mine.any():
            continue
        part = Workload({name: np.asarray(values)[mine] for name, values in workload.columns.items()}, workload.labels)
        alone = api.simulate({"workload": part, "clusters": [cluster], "seed": seed})
        numbers = part.column("job_id").tolist()
        expected = alone.jobs.select(fields).rows()
        got = together.jobs.filter(together.jobs["job_id"].is_in(numbers)).select(fields).rows()
        rejected = {row[0] for row in expected if row[1] == "rejected"}
        got = [(*row[:4], None, *row[5:]) if row[0] in rejected else row for row in got]
        expected = [(*row[:4], None, *row[5:]) if row[0] in rejected else row for row in expected]
        assert got == expected, cluster["name"]
