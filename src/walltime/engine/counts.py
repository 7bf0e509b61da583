"""What a run did to jobs that wait for others and to deadlines, as facts of its record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import ticks
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload
from walltime.engine.loop import Simulation


def count_conditions(
    workload: Workload | Iterable[Workload], jobs: pl.DataFrame, simulation: Simulation, preceding: bool
) -> dict[str, Any]:
    """`dependencies`, `deadlines` and `preceding_ignored`, each where there is something to say.

    A deadline is missed by a job that ended after it, or that will: not completed, and the clock has passed it. Lateness
    is over the jobs that ended late; a job that never ran has none.
    """
    facts: dict[str, Any] = {}
    waits = simulation.dependencies
    if waits is not None:
        facts["dependencies"] = {"jobs": waits.jobs, "never_met": waits.doomed}
    if not isinstance(workload, Workload):
        return facts
    if not preceding and workload.has("preceding_job"):
        facts["preceding_ignored"] = int(np.count_nonzero(workload.column("preceding_job") != MISSING))
    if workload.has("deadline") and np.any(workload.column("deadline") != MISSING):
        facts["deadlines"] = _count_deadlines(workload, jobs, simulation.now)
    return facts


def _count_deadlines(workload: Workload, jobs: pl.DataFrame, now: int) -> dict[str, Any]:
    """Of the jobs with a deadline: kept, missed, open at the cut-off; and by how much the late ones were late."""
    asked = pl.DataFrame({"job_id": workload.column("job_id"), "deadline": workload.column("deadline")})
    both = jobs.select("job_id", "state", "end").join(asked.unique("job_id"), on="job_id", how="left")
    deadline = both["deadline"].fill_null(MISSING).to_numpy()  # jobs that came live have none
    state, end = both["state"].cast(pl.String).to_numpy(), ticks(both["end"])
    mine = deadline != MISSING
    completed = mine & (state == "completed")
    kept = completed & (end <= deadline)
    still_open = mine & np.isin(state, ("running", "waiting")) & (now <= deadline)
    missed = mine & ~kept & ~still_open
    late = (end - deadline)[missed & completed] / SECOND
    return {
        "jobs": int(np.count_nonzero(mine)),
        "kept": int(np.count_nonzero(kept)),
        "missed": int(np.count_nonzero(missed)),
        "open": int(np.count_nonzero(still_open)),
        "mean_lateness": float(late.mean()) if len(late) else None,
        "longest_lateness": float(late.max()) if len(late) else None,
    }
