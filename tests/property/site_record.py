"""The slow twin's outcomes of a site as the tables of a result, for the audit."""

from __future__ import annotations

from typing import Any

import polars as pl

from twin import reference
from twin.jobs import write_shares
from twin.outages import Outages
from walltime.api import Result
from walltime.core.tables import ALLOCATIONS, JOBS, OUTAGES, OUTCOMES, STATES, Record, workload_columns
from walltime.core.time import SECOND
from walltime.scenario import Cluster, Scenario


def audited_slowly(scenario: Scenario) -> Result:
    """A result whose schedule is the twin's."""
    workload, cluster = scenario.read_workload(), scenario.clusters[0]
    told = {name: column.cast(JOBS[name]) for name, column in workload_columns(workload).items()}
    rows, allocations = [], []
    clock = reference.play(scenario)
    for outcome in reference.outcomes(clock):
        start, end = (None if time is None else time / SECOND for time in (outcome.start, outcome.end))
        submit, requested = (
            float(workload.column(name)[outcome.row]) / SECOND for name in ("submit", "requested_time")
        )
        cores = int(workload.column("cores")[outcome.row])
        held = sum(span.end - span.start for span in outcome.intervals)
        lasted = None if outcome.run is None else outcome.run / SECOND
        if end is None or start is None:
            wait = None
        else:
            wait = (outcome.end - int(workload.column("submit")[outcome.row]) - held) / SECOND
        row: dict[str, Any] = dict.fromkeys(JOBS) | {name: column[outcome.row] for name, column in told.items()}
        row |= {"submit": submit, "eligible": submit, "start": start, "end": end, "requested_time": requested}
        row |= {"cores": cores, "run_time": lasted, "wait": wait}
        row |= {"held_time": None if start is None else held / SECOND}
        row |= {"queue": outcome.queue, "state": outcome.state, "restarts": outcome.restarts}
        row |= {"backfilled": outcome.backfilled, "lost_core_seconds": outcome.lost / SECOND}
        row |= {"cluster": None if outcome.state == "rejected" else cluster.name}
        rows.append(row)
        for span in outcome.intervals:
            allocation = {"job_id": row["job_id"], "attempt": span.attempt, "cluster": cluster.name}
            allocation |= {"start": span.start / SECOND, "end": span.end / SECOND, "nodes": span.nodes}
            allocation |= {"cores": sum_cores(span.nodes) if span.nodes else cores, "outcome": span.outcome}
            allocations.append(allocation)
    layout = cluster.layout()
    facts = {
        "clusters": {cluster.name: cluster.total_cores},
        "nodes": {} if layout is None else {cluster.name: layout.facts()},
        "overrun": scenario.execution.overrun,
        "limit_slack": scenario.execution.overtime + (scenario.execution.limit_check or 0),
    }
    record = Record(
        pl.DataFrame(rows, schema=JOBS).with_columns(pl.col("state").cast(pl.Enum(STATES))),
        pl.DataFrame(allocations, schema=ALLOCATIONS).with_columns(pl.col("outcome").cast(pl.Enum(OUTCOMES))),
        facts,
        outages=_outages(clock.sites[0].outages, cluster),
    )
    return Result(scenario, record)


def _outages(disturbed: Outages, cluster: Cluster) -> pl.DataFrame | None:
    """The table of outages."""
    layout = cluster.layout()
    rows = []
    for kind, name, start, end, nodes, cores in disturbed.record:
        shares = [] if layout is None else [(node, int(layout.cores()[node])) for node in sorted(nodes)]
        text, last = write_shares(shares), None if end is None else end / SECOND
        rows.append((cluster.name, start / SECOND, last, kind, name, text, cores))
    return pl.DataFrame(rows, schema=OUTAGES, orient="row") if rows else None


def sum_cores(text: str) -> int:
    """All cores of `0-3:24,7:5`."""
    total = 0
    for part in text.split(","):
        numbers, _, cores = part.partition(":")
        first, _, last = numbers.partition("-")
        total += (int(last or first) - int(first) + 1) * int(cores)
    return total
