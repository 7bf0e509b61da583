"""The slow twin's outcomes of a site as the tables of a result, for the audit."""

from __future__ import annotations

from typing import Any

import polars as pl
from test_site_twin import simulate_slowly

from walltime.api import Result
from walltime.core.tables import ALLOCATIONS, JOBS, STATES, Record, workload_columns
from walltime.core.time import SECOND
from walltime.scenario import Scenario


def audited_slowly(scenario: Scenario) -> Result:
    """A result whose schedule is the twin's."""
    workload, cluster = scenario.read_workload(), scenario.clusters[0]
    told = {name: column.cast(JOBS[name]) for name, column in workload_columns(workload).items()}
    rows, allocations = [], []
    for outcome in simulate_slowly(scenario):
        start, end = (None if time is None else time / SECOND for time in (outcome.start, outcome.end))
        submit, requested = (
            float(workload.column(name)[outcome.row]) / SECOND for name in ("submit", "requested_time")
        )
        cores = int(workload.column("cores")[outcome.row])
        lasted = None if start is None or end is None else end - start
        row: dict[str, Any] = dict.fromkeys(JOBS) | {name: column[outcome.row] for name, column in told.items()}
        row |= {"submit": submit, "eligible": submit, "start": start, "end": end, "requested_time": requested}
        row |= {"cores": cores, "run_time": lasted, "wait": None if start is None else start - submit}
        row |= {"queue": outcome.queue, "state": outcome.state, "restarts": 0, "backfilled": outcome.backfilled}
        row |= {"lost_core_seconds": 0.0, "cluster": None if outcome.state == "rejected" else cluster.name}
        rows.append(row)
        if start is not None:
            held = sum_cores(outcome.nodes) if outcome.nodes else cores
            allocation = {"job_id": row["job_id"], "attempt": 0, "cluster": cluster.name, "start": start, "end": end}
            allocations.append(allocation | {"cores": held, "nodes": outcome.nodes, "outcome": outcome.state})
    layout = cluster.layout()
    facts = {
        "clusters": {cluster.name: cluster.total_cores},
        "nodes": {} if layout is None else {cluster.name: layout.facts()},
        "overrun": "kill",
    }
    states = pl.Enum(STATES)
    record = Record(
        pl.DataFrame(rows, schema=JOBS).with_columns(pl.col("state").cast(states)),
        pl.DataFrame(allocations, schema=ALLOCATIONS).with_columns(pl.col("outcome").cast(states)),
        facts,
    )
    return Result(scenario, record)


def sum_cores(text: str) -> int:
    """All cores of `0-3:24,7:5`."""
    total = 0
    for part in text.split(","):
        numbers, _, cores = part.partition(":")
        first, _, last = numbers.partition("-")
        total += (int(last or first) - int(first) + 1) * int(cores)
    return total
