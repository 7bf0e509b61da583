"""What a run did to jobs that wait for others and to deadlines, as facts of its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import ticks
from walltime.core.time import NEVER, SECOND, microseconds
from walltime.core.workload import MISSING, Workload
from walltime.engine.dependencies import Dependencies
from walltime.engine.loop import Simulation
from walltime.scenario import Scenario
from walltime.workload.users.submitted import find_origins


def count_conditions(
    workload: Workload | Iterable[Workload],
    jobs: pl.DataFrame,
    simulation: Simulation,
    scenario: Scenario,
    acts: Mapping[str, Any],
) -> dict[str, Any]:
    """`conditions` with the counts of `dependencies` and `deadlines`, and `preceding_ignored`, where there are any.

    A deadline is missed by a job that did not complete by it; it is open for one that is still there, where the
    simulation was cut off before. Lateness is over the jobs that completed late. `acts` of users tell which jobs are
    parts of others.
    """
    facts: dict[str, Any] = {}
    if not isinstance(workload, Workload):
        return facts
    if not scenario.dependencies.preceding and workload.has("preceding_job"):
        facts["preceding_ignored"] = int(np.count_nonzero(workload.column("preceding_job") != MISSING))
    if workload.notes.get("workflows"):
        facts["workflows"] = workload.notes["workflows"]
    counts: dict[str, Any] = {}
    for name in ("begin", "array", "cancel", "patience"):
        if workload.has(name) and (count := int(np.count_nonzero(workload.column(name) != MISSING))):
            counts[name] = {"jobs": count}
    waits = simulation.find(Dependencies)
    if waits is not None:
        counts["dependencies"] = {"jobs": waits.jobs, "never_met": waits.doomed}
    if workload.has("deadline") and np.any(workload.column("deadline") != MISSING):
        counts["deadlines"] = _count_deadlines(workload, jobs, scenario.until, acts)
    return facts | ({"conditions": counts} if counts else {})


def _count_deadlines(
    workload: Workload, jobs: pl.DataFrame, until: float | None, acts: Mapping[str, Any]
) -> dict[str, Any]:
    """Of the jobs with a deadline: kept, missed, open at the cut-off; and by how much the late ones were late. A
    deadline keeps its distance from the job's submission, which users may move."""
    asked = pl.DataFrame({name: workload.column(name) for name in ("job_id", "submit", "deadline")}).unique("job_id")
    mine = jobs.select("state", "end", came=pl.Series(ticks(jobs["submit"])))
    origin = pl.Series("job_id", find_origins(jobs["job_id"].to_numpy(), acts))
    both = mine.with_columns(origin).join(asked, on="job_id", how="left", maintain_order="left")
    moved = pl.col("deadline") + pl.col("came").min().over("job_id") - pl.col("submit")
    both = both.with_columns(deadline=pl.when(pl.col("deadline") != MISSING).then(moved))
    deadline = both["deadline"].fill_null(MISSING).to_numpy()  # jobs that came live have none
    state, end = both["state"].cast(pl.String).to_numpy(), ticks(both["end"])
    dated = deadline != MISSING
    completed = dated & (state == "completed")
    kept = completed & (end <= deadline)
    there = dated & np.isin(state, ("running", "waiting"))
    still_open = there & (deadline >= (NEVER if until is None else microseconds(until)))
    missed = dated & ~kept & ~still_open
    late = (end - deadline)[missed & completed] / SECOND
    return {
        "jobs": int(np.count_nonzero(dated)),
        "kept": int(np.count_nonzero(kept)),
        "missed": int(np.count_nonzero(missed)),
        "open": int(np.count_nonzero(still_open)),
        "mean_lateness": float(late.mean()) if len(late) else None,
        "longest_lateness": float(late.max()) if len(late) else None,
    }
