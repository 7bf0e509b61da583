"""Several clusters under a broker, in each of which much gets in the way: nobody is lost, and everything is legal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS

from walltime import api
from walltime.core.random import stream
from walltime.core.workload import COLUMNS, Workload, encode_labels, sort_by_submission

BROKERS = (
    "random",
    "round-robin",
    "least-loaded",
    "most-free",
    "shortest-queue",
    "earliest-start",
    "fastest",
    {"name": "weighted", "weights": {"available": 2, "start": -1, "queue": -0.5}},
)
ENDED = ("completed", "timeout", "failed", "cancelled", "rejected")
PERIODIC = {"name": "periodic", "sched_interval": 3, "bf_interval": 7}


def join(parts: list[Workload]) -> Workload:
    """The jobs of several workloads as one, in order of submission; `profile` tells from which each of them is."""
    columns: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    for name, column in COLUMNS.items():
        if name in ("job_id", "profile") or not any(part.has(name) for part in parts):
            continue
        values = [value for part in parts for value in part.column(name)]
        if column.kind == "label":
            names = [name_of(part, name, code) for part in parts for code in part.column(name)]
            columns[name], labels[name] = encode_labels(names)
        else:
            columns[name] = values if column.kind == "text" else np.array(values, np.int64)
    columns["profile"] = np.concatenate([np.full(len(part), number, np.int32) for number, part in enumerate(parts)])
    labels["profile"] = [f"p{number}" for number in range(len(parts))]
    columns["job_id"] = np.arange(1, len(columns["profile"]) + 1)
    return Workload(sort_by_submission(columns), labels)


def name_of(workload: Workload, column: str, code: int) -> str | None:
    return workload.label_names(column)[code] if code >= 0 else None


def told(jobs: Any, fields: list[str]) -> list[Any]:
    """Rows of a table of jobs; whoever was rejected has come to no queue, where there are several clusters."""
    return [("rejected",) if row[0] == "rejected" else row for row in jobs.select(fields).rows()]


def draw_grid(seed: int, count: int) -> tuple[list[dict[str, Any]], dict[str, Any], list[Workload]]:
    """Clusters in which much happens, how jobs run on all of them, and the jobs that were drawn with each."""
    clusters, execution, parts = [], {}, []
    for number in range(count):
        site, jobs = draw_disrupted(1000 * seed + number, KINDS[(seed + number) % len(KINDS)])
        cluster = site["cluster"] | {"name": f"c{number}"}
        if number == 0:
            execution = {key: value for key, value in site["execution"].items() if key != "overrun"}
        elif "checkpoint" in site["execution"] and "checkpoint" not in execution:
            cluster["interrupted"] = "requeue"
            if cluster["scheduler"].get("preempt", {}).get("mode") == "checkpoint":
                cluster["scheduler"]["preempt"]["mode"] = "suspend"
        for rule in cluster.get("reservations", ()):
            if "every" in rule:
                rule.setdefault("times", 2)  # without an end, the failures of all clusters would go on for months
        clusters.append(cluster)
        parts.append(jobs)
    return clusters, execution, parts


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_lost(seed: int) -> None:
    random = stream(seed, "disrupted grid")
    clusters, execution, parts = draw_grid(seed, 2 + seed % 3)
    clusters.append({"name": "quiet", "cores": 5, "scheduler": {"rhythm": PERIODIC, "backfill": "easy"}})
    workload = join(parts)
    broker: dict[str, Any] = {"hold": bool(random.integers(0, 2)), "overtake": bool(random.integers(0, 2))}
    if random.integers(0, 3):
        broker["migrate"] = {"gain": 1, "most": 3} | ({} if random.integers(0, 2) else {"every": 5})
    for part in BROKERS[seed % 2 :: 2]:
        asked = broker | ({"name": part} if isinstance(part, str) else part)
        scenario = {"workload": workload, "clusters": clusters, "broker": asked, "execution": execution, "seed": seed}
        result = api.simulate(scenario)
        assert result.audit() == []
        assert sorted(result.jobs["job_id"]) == list(range(1, len(workload) + 1))
        unfinished = result.jobs.filter(~result.jobs["state"].is_in(ENDED))
        bound = set(workload.column("job_id")[workload.column("reservation") >= 0].tolist())
        assert set(unfinished["job_id"]) <= bound, asked
        done = result.allocations.filter(result.allocations["outcome"] == "completed")["job_id"]
        assert sorted(done) == sorted(result.jobs.filter(result.jobs["state"] == "completed")["job_id"])
        assert api.simulate(scenario).digest == result.digest


@pytest.mark.parametrize("seed", range(20))
def test_bound_clusters_are_as_alone(seed: int) -> None:
    """But what is drawn at random for one cluster, its failures and places, is not what is drawn for another."""
    clusters, execution, parts = draw_grid(seed + 100, 3)
    for cluster in clusters:
        cluster["failures"] = [source for source in cluster.get("failures", ()) if "at" in source]
        if cluster["scheduler"].get("place") in ("random", "contiguous"):
            cluster["scheduler"]["place"] = "first-fit"
    workload = join(parts)
    bind = [{"types": [f"p{number}"], "clusters": [f"c{number}"]} for number in range(3)]
    base = {"execution": execution, "seed": seed}
    together = api.simulate(
        base | {"workload": workload, "clusters": clusters, "broker": {"name": "random", "bind": bind}}
    )
    assert together.audit() == []
    fields = ["state", "start", "end", "queue", "wait", "restarts", "lost_core_seconds"]
    for number, (cluster, part) in enumerate(zip(clusters, parts, strict=True)):
        mine = workload.select(np.flatnonzero(workload.column("profile") == number))
        alone = api.simulate(base | {"workload": mine, "clusters": [cluster]})
        got = together.jobs.filter(together.jobs["job_id"].is_in(mine.column("job_id").tolist()))
        assert len(got) == len(part)
        assert told(got, fields) == told(alone.jobs, fields), cluster
