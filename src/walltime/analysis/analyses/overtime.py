"""What happens in the course of an experiment: waits and use in equal intervals, and the use of the whole of it.

The experiment is the time in which its jobs are submitted: where jobs have phases, those of the phase of this name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.analyses.jobs import CORE_HOURS, core_hours
from walltime.analysis.intervals import find_capacity, find_held
from walltime.analysis.metrics import in_experiment
from walltime.analysis.series import TimeGrid
from walltime.core.errors import InputError
from walltime.core.tables import Record, ticks
from walltime.core.time import SECOND, microseconds

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown


def measure_minutes(result: Shown, interval: float = 60.0, phases: str = "experiment") -> pl.DataFrame:
    """A row for each interval: `time`, the `jobs` submitted in it and their `median_wait`, all and by core-hours, and
    the mean `utilization`, also without what pilot jobs hold and do not use (`useful`).

    `interval` in seconds. `phases: all` also has fill, stabilization and drain. A job that has not started has waited
    longer than all others.
    """
    if phases not in ("experiment", "all"):
        raise InputError("minutes: phases", value=phases, choices=("experiment", "all"))
    if not interval > 0:
        raise InputError("minutes: the interval must be longer than zero", value=interval)
    record = result.record
    jobs = record.jobs if phases == "all" else in_experiment(record).jobs
    if not jobs.height:
        return pl.DataFrame(schema={"time": pl.Float64, "jobs": pl.Int64, "utilization": pl.Float64})
    length = microseconds(interval)
    submit = ticks(jobs["submit"])
    begin = int(submit.min()) // length * length
    grid = TimeGrid(begin, length, int(submit.max() - begin) // length + 1)
    used, useful = (values / _capacity(record) for values in _measure_cores(record, grid))
    table = pl.DataFrame({
        "place": np.arange(grid.count), "time": (begin + length * np.arange(grid.count)) / SECOND,
        "utilization": used, "useful": useful,
    })  # fmt: skip
    waits = jobs.select(
        pl.Series("place", (submit - begin) // length), pl.col("wait").fill_null(float("inf")), hours=core_hours()
    )
    medians = [pl.len().alias("jobs"), pl.col("wait").median().alias("median_wait")]
    for label, low in CORE_HOURS.items():
        above = min((bound for bound in CORE_HOURS.values() if bound > low), default=float("inf"))
        mine = pl.col("hours").is_between(low, above, closed="left")
        medians.append(pl.col("wait").filter(mine).median().alias(f"median_wait {label}"))
    found = table.join(waits.group_by("place").agg(*medians), on="place", how="left", maintain_order="left")
    found = found.with_columns(pl.col("jobs").fill_null(0)).drop("place")
    return found.with_columns(pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64)).name.keep())


def measure_use(result: Shown) -> dict[str, Any]:
    """The shares of the machine that were held, and held and used, from the first submission of the experiment to the
    last: `utilization` and `useful`. They differ by what pilot jobs hold and do not use."""
    record = result.record
    submit = ticks(in_experiment(record).jobs["submit"])
    if not len(submit) or submit.max() == submit.min():
        return {"utilization": None, "useful": None}
    grid = TimeGrid(int(submit.min()), int(submit.max() - submit.min()), 1)
    used, useful = (float(values[0]) / _capacity(record) for values in _measure_cores(record, grid))
    return {"utilization": used, "useful": useful}


def _measure_cores(record: Record, grid: TimeGrid) -> tuple[np.ndarray, np.ndarray]:
    """The means of the cores that are held, and of those that are held and used, in each interval.

    What a pilot does not use is taken to be spread evenly over its time.
    """
    held = find_held(record)
    begin, end = (np.maximum(times, grid.first) for times in (held.start, held.end))
    start, stop = grid.locate(begin), grid.locate(end)
    used = grid.means((start, held.cores), (stop, -held.cores))
    idle = held.cores * _idle_share(record)
    if not idle.any():
        return used, used
    return used, used - grid.means((start, idle), (stop, -idle))


def _idle_share(record: Record) -> np.ndarray:
    """Of each allocation's cores the share that its pilot job does not use; 0 of other jobs."""
    known = record.facts.get("workflows") or {}
    pilots = {label: facts["work"] for label, facts in known.items() if facts["way"] == "single"}
    if not pilots:
        return np.zeros(record.allocations.height)
    work = pl.DataFrame({"workflow": list(pilots), "work": list(pilots.values())})
    jobs = record.jobs.select("job_id", pl.col("workflow").cast(pl.String), "cores", "run_time")
    shares = jobs.join(work, on="workflow", how="inner").select(
        "job_id", idle=(1 - pl.col("work") / (pl.col("cores") * pl.col("run_time"))).clip(0.0, 1.0)
    )
    joined = record.allocations.select("job_id").join(shares, on="job_id", how="left", maintain_order="left")
    return joined["idle"].fill_null(0.0).fill_nan(0.0).to_numpy()


def _capacity(record: Record) -> float:
    return float(max(1, sum(find_capacity(record).values())))
