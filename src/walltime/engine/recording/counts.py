"""What a run did to jobs that wait for others and to deadlines, as facts of its record."""

from __future__ import annotations

from collections.abc import Mapping
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


class RunCounts:
    """Counts over the jobs of a run, all at once or piece by piece."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.notes: dict[str, Any] = {}
        self.ignored = 0
        self.told = dict.fromkeys(("begin", "array", "cancel", "patience"), 0)
        self.deadlines = DeadlineCounts(scenario.until)

    def add(self, jobs: pl.DataFrame, workload: Workload, acts: Mapping[str, Any] | None = None) -> None:
        """Jobs of the result and what the workload says of them; `acts` of users tell which are parts of others."""
        if not self.scenario.dependencies.preceding and workload.has("preceding_job"):
            self.ignored += _count(workload, "preceding_job")
        self.notes |= {name: workload.notes[name] for name in ("workflows",) if workload.notes.get(name)}
        for name in self.told:
            if workload.has(name):
                self.told[name] += _count(workload, name)
        if workload.has("deadline") and _count(workload, "deadline"):
            self.deadlines.add(workload, jobs, acts or {})

    def facts(self, simulation: Simulation) -> dict[str, Any]:
        """`conditions` with the counts of `dependencies` and `deadlines`, and `preceding_ignored`, where there are
        any."""
        facts = {"preceding_ignored": self.ignored} if self.ignored else {}
        facts |= self.notes
        counts: dict[str, Any] = {name: {"jobs": count} for name, count in self.told.items() if count}
        waits = simulation.find(Dependencies)
        if waits is not None:
            counts["dependencies"] = {"jobs": waits.jobs, "never_met": waits.doomed}
        if self.deadlines.asked:
            counts["deadlines"] = self.deadlines.facts()
        return facts | ({"conditions": counts} if counts else {})


def _count(workload: Workload, name: str) -> int:
    return int(np.count_nonzero(workload.column(name) != MISSING))


class DeadlineCounts:
    """Of the jobs with a deadline: kept, missed, open at the cut-off; and by how much the late ones were late.

    A deadline is missed by a job that did not complete by it; it is open for one that is still there, where the
    simulation was cut off before. Lateness is over the jobs that completed late.
    """

    def __init__(self, until: float | None) -> None:
        self.until = NEVER if until is None else microseconds(until)
        self.jobs = self.kept = self.missed = self.open = self.late = 0
        self.lateness = self.longest = 0.0
        self.asked = False

    def add(self, workload: Workload, jobs: pl.DataFrame, acts: Mapping[str, Any]) -> None:
        """A deadline keeps its distance from the job's submission, which users may move."""
        self.asked = True
        names = ("job_id", "submit", "deadline")
        asked = pl.DataFrame({name: workload.column(name) for name in names}).unique("job_id")
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
        still_open = there & (deadline >= self.until)
        missed = dated & ~kept & ~still_open
        late = (end - deadline)[missed & completed] / SECOND
        self.jobs += int(np.count_nonzero(dated))
        self.kept += int(np.count_nonzero(kept))
        self.missed += int(np.count_nonzero(missed))
        self.open += int(np.count_nonzero(still_open))
        self.late += len(late)
        self.lateness += float(late.sum())
        self.longest = max(self.longest, float(late.max())) if len(late) else self.longest

    def facts(self) -> dict[str, Any]:
        """The counts, and the mean and the longest lateness."""
        return {
            "jobs": self.jobs,
            "kept": self.kept,
            "missed": self.missed,
            "open": self.open,
            "mean_lateness": self.lateness / self.late if self.late else None,
            "longest_lateness": self.longest if self.late else None,
        }
