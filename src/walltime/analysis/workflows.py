"""Workflows of a result: how long each took, as a whole, however it was submitted. Times in seconds.

- wait: from its submission to the start of its first job; run: from there to the end of its last; turnaround: both;
- critical_path: what the run would take on an endless machine; stretch: turnaround / critical path;
- between: what its tasks waited on the way, run - critical path (a pilot does not, a chain does);
- core_hours: held by its jobs; idle_core_hours: of these, not used by its tasks, which only a pilot has.

All but the wait are of workflows that have completed: all of their jobs have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from walltime.core.errors import InputError
from walltime.core.tables import Record

COLUMNS = (
    "workflow",
    "name",
    "way",
    "tasks",
    "state",
    "submit",
    "start",
    "end",
    "wait",
    "run",
    "turnaround",
    "stretch",
    "critical_path",
    "between",
    "core_hours",
    "idle_core_hours",
)
_NEEDED = ("workflow", "state", "submit", "start", "end", "cores", "held_time", "phase")
FIGURES = ("wait", "run", "turnaround", "stretch", "between", "core_hours", "idle_core_hours")


def find_workflows(record: Record) -> pl.DataFrame:
    """A row for each workflow, in order of submission; raises InputError where there are none.

    Where jobs have phases, those of the experiment alone.
    """
    from walltime.analysis.metrics import in_experiment

    known: dict[str, dict[str, Any]] = record.facts.get("workflows") or {}
    if not known:
        raise InputError("the result has no workflows (workload.workflows in a scenario)")
    names = next(iter(known.values()))
    told = {name: [one.get(name) for one in known.values()] for name in names}
    about = pl.DataFrame({"workflow": list(known)} | told, strict=False)
    held = pl.col("cores") * pl.col("held_time").fill_null(0.0)
    needed = replace(record, jobs=record.jobs.select(*_NEEDED))
    jobs = in_experiment(needed).jobs.with_columns(pl.col("workflow", "state").cast(pl.String))
    jobs = jobs.filter(pl.col("workflow").is_not_null())
    whole = jobs.group_by("workflow").agg(
        pl.col("submit").min(),
        pl.col("start").min(),
        pl.col("end").max(),
        (held.sum() / 3600).alias("core_hours"),
        pl.col("state").filter(pl.col("state") != "completed").first().fill_null("completed").alias("state"),
    )
    done = pl.col("state") == "completed"
    table = whole.join(about, on="workflow").with_columns(
        (pl.col("start") - pl.col("submit")).alias("wait"),
        pl.when(done).then(pl.col("end") - pl.col("start")).alias("run"),
        pl.when(done).then(pl.col("end") - pl.col("submit")).alias("turnaround"),
        pl.when(done).then((pl.col("core_hours") - pl.col("work") / 3600).clip(0.0)).alias("idle_core_hours"),
    )
    return table.with_columns(
        (pl.col("turnaround") / pl.col("critical_path")).alias("stretch"),
        (pl.col("run") - pl.col("critical_path")).clip(0.0).alias("between"),
    ).sort("submit", "workflow").select(COLUMNS)  # fmt: skip


def sum_up_workflows(record: Record) -> list[dict[str, Any]]:
    """For each name and way: how many, how many completed, the medians of what each took, and the core-hours in all."""
    if not record.facts.get("workflows"):
        return []
    table = find_workflows(record)
    medians = [pl.col(name).median().alias(f"median_{name}") for name in FIGURES[:5]]
    totals = [pl.col(name).sum() for name in FIGURES[5:]]
    counts = [pl.len().alias("workflows"), (pl.col("state") == "completed").sum().alias("completed")]
    return table.group_by("name", "way", maintain_order=True).agg(*counts, *medians, *totals).to_dicts()
