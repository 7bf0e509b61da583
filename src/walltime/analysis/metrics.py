"""The figures of one result. All means are over started jobs; what cannot be said is None, never NaN.

- wait: the job's `wait` column, end - submit - the time it held resources (start - submit for one still running).
- response: end - submit, of started jobs that have ended.
- bounded slowdown: max(1, (end - submit) / max(run, 10 s)), of the same jobs.
- utilization: used core-seconds over the core-seconds available from the first submission to the last end; inside the
  observation window for `utilization_window`.
- phases: where jobs have them, all figures of jobs are over the experiment alone; counts of states, makespan and
  utilization are of everything.
- size classes: 1, 2-7, 8-63, 64-511, 512+ cores, the same for every table and picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.cells import bound_slowdowns, find_longest, sum_held
from walltime.analysis.intervals import ABSENT, Held, find_capacity, find_down, find_held, find_horizon, find_jobs
from walltime.analysis.statistics import (
    Groups,
    group_means,
    max_seconds,
    mean,
    mean_seconds,
    quantiles,
    quantiles_seconds,
)
from walltime.analysis.users import sum_up_users
from walltime.analysis.workflows import sum_up_workflows
from walltime.core.digest import digest
from walltime.core.errors import InputError
from walltime.core.tables import SCHEMA, STATES, Figures, Record, is_label, label_codes, ticks
from walltime.core.time import NEVER, SECOND, microseconds

BOUND = 10.0
"""Seconds below which a run time does not inflate the slowdown."""

EDGES = (0.1, 0.9)
"""The quantiles of the submission times between which the observation window is, where nothing else is said."""

QUANTILES = (0.5, 0.95)
"""Those of waits and slowdowns that a summary tells."""

SIZES = {"1": 1, "2-7": 2, "8-63": 8, "64-511": 64, "512+": 512}
"""Size classes by their smallest number of cores."""

EXPERIMENT = "experiment"
"""The phase of a generated workload that is analysed."""

KEYS = ("user", "group", "account", "queue", "qos", "size", "resource", "cluster")
"""What `by` can group by; by `resource` are jobs with GPUs (`gpus`) and without (`cores`)."""
DERIVED = ("size", "resource")
"""Those that are no column of the jobs table; every job has them."""
PEOPLE = ("user", "group", "account")
"""Those that tell people apart, the finest first."""


def summarise(
    record: Record, *, warmup: float | None = None, cooldown: float | None = None, digested: bool = True
) -> dict[str, Any]:
    """Every headline figure of the record, ready for strict JSON; times in seconds.

    The observation window begins `warmup` seconds after the first submission and ends `cooldown` seconds before the
    last one; without them at the 10 % and the 90 % quantile of the submission times. Where jobs have phases, means and
    the window are those of the experiment alone; counts and makespan are of everything. Without `digested` there is
    no digest of the tables.
    """
    from walltime.analysis.resources import sum_up_resources

    if isinstance(record, Figures):
        return record.summarise(warmup=warmup, cooldown=cooldown)
    seen = in_experiment(record)
    window = find_seen_window(record, seen, warmup, cooldown)
    waits = _sum_up_waits(find_waits(seen))
    skipped = dict(record.facts.get("skipped") or {})
    return {
        "schema": SCHEMA,
        "jobs": record.jobs.height,
        "started": _complete(record.jobs, "start", "wait").height,
        **count_states(record),
        "skipped": sum(skipped.values()),
        "skipped_reasons": skipped,
        "rejected_reasons": dict(record.facts.get("rejected_reasons") or {}),
        "cancelled_reasons": dict(record.facts.get("cancelled_reasons") or {}),
        "deadlines": (record.facts.get("conditions") or {}).get("deadlines"),
        "workflows": sum_up_workflows(record),
        "closed_loop": sum_up_users(seen),
        "held": None if record.facts.get("held") is None else dict(record.facts["held"]),
        "backfilled": int(record.jobs["backfilled"].sum() or 0),
        "perfect_estimates": int(record.facts.get("perfect_estimates") or 0),
        **_measure_use(record, seen, window),
        "means_over": "started jobs" if seen is record else "started jobs of the experiment phase",
        **waits,
        "mean_response": mean_seconds(find_responses(seen)),
        **_sum_up_slowdowns(seen),
        "area_weighted_bounded_slowdown": weigh_by_area(seen),
        "jain_fairness": jain(seen),
        "longest_wait_by_size": dict(starvation(seen).select("size", "longest_wait").iter_rows()),
        "recorded": compare_recorded(seen, waits),
        "longest_queue": record.facts.get("longest_queue"),
        "overrun": record.facts.get("overrun"),
        "origin": record.facts.get("origin"),
        "clusters": find_capacity(record),
        "resources": sum_up_resources(record, window),
        "digest": digest(record.jobs, record.allocations) if digested else None,
        "facts": record.facts,
    }


def _sum_up_waits(waits: np.ndarray) -> dict[str, float | None]:
    median, late = quantiles_seconds(waits, QUANTILES)
    return {
        "mean_wait": mean_seconds(waits),
        "median_wait": median,
        "p95_wait": late,
        "max_wait": max_seconds(waits),
    }


def _sum_up_slowdowns(record: Record) -> dict[str, float | None]:
    values = bounded_slowdowns(record)
    median, late = quantiles(values, QUANTILES)
    return {
        "mean_bounded_slowdown": mean(values),
        "median_bounded_slowdown": median,
        "p95_bounded_slowdown": late,
    }


def in_experiment(record: Record) -> Record:
    """The record with the jobs of the experiment phase alone; itself where no job has a phase."""
    if record.jobs["phase"].null_count() == record.jobs.height:
        return record
    return replace(record, jobs=record.jobs.filter(is_label(record.jobs["phase"], EXPERIMENT)))


def bounded_slowdowns(record: Record) -> np.ndarray:
    """max(1, (end - submit) / max(run, 10 s)) of each started job that has ended, in row order; run is its work."""
    values = slowdown_column(record.jobs)
    known = ~np.isnan(values)
    return values if known.all() else values[known]


def slowdown_column(jobs: pl.DataFrame) -> np.ndarray:
    """The bounded slowdown, NaN where it does not apply."""
    wait, held, run = (jobs[name].cast(pl.Float64).to_numpy() for name in ("wait", "held_time", "run_time"))
    values = bound_slowdowns(wait, held, run, BOUND)
    for name in ("start", "end"):
        if jobs[name].null_count():
            values[jobs[name].is_null().to_numpy()] = np.nan
    return values


def weigh_by_area(record: Record) -> float | None:
    """The mean bounded slowdown in which a job counts by its area, cores times run time; None where there is none."""
    values, area = find_areas(record)
    return float(np.average(values, weights=area)) if len(values) else None


def find_areas(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """The bounded slowdowns, and the areas, of the jobs that have both."""
    values = slowdown_column(record.jobs)
    area = record.jobs["cores"].cast(pl.Float64).to_numpy() * record.jobs["run_time"].cast(pl.Float64).to_numpy()
    known = ~np.isnan(values) & (area > 0)
    return (values, area) if known.all() else (values[known], area[known])


def find_waits(record: Record) -> np.ndarray:
    """The waits of the started jobs, in microseconds."""
    return ticks(_complete(record.jobs, "start", "wait")["wait"])


def find_responses(record: Record) -> np.ndarray:
    """From submission to end, of the started jobs that have ended, in microseconds."""
    ended = _complete(record.jobs, "submit", "start", "end")
    return np.asarray(ticks(ended["end"]) - ticks(ended["submit"]))


def _complete(jobs: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The columns, of the jobs that have all of them; not copied where that is every job."""
    columns = jobs.select(names)
    return columns.drop_nulls() if any(columns[name].null_count() for name in names) else columns


def count_states(record: Record) -> dict[str, int]:
    """How many jobs are in each state, also in those that none is in."""
    codes, names = label_codes(record.jobs["state"])
    found = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    states = {state: found.get(state, 0) for state in STATES}
    return {**states, "killed": states["timeout"]}


def _measure_use(record: Record, seen: Record, window: tuple[int, int] | tuple[None, None]) -> dict[str, Any]:
    """Makespan, core-seconds and utilization, in the whole and in the observation window: the experiment, if any."""
    held, capacity, down = find_held(record), sum(find_capacity(record).values()), list(find_down(record).values())
    submit = ticks(record.jobs["submit"])
    used = held.core_sum() / SECOND
    first = int(submit.min()) if len(submit) else None
    last = int(held.end.max()) if len(held.end) else None
    return {
        "makespan": None if first is None or last is None else (last - first) / SECOND,
        "utilization": _utilization(held, capacity, down, first, last),
        "utilization_window": _utilization(held, capacity, down, *window),
        "goodput": _goodput(record, capacity, down, first, last),
        "down_core_seconds": sum(one.core_sum(first, last) for one in down) / SECOND,
        "window": _describe_window(seen, *window),
        "core_seconds": used,
        "lost_core_seconds": float(record.jobs["lost_core_seconds"].sum() or 0.0),
        "first_submit": None if first is None else first / SECOND,
        "last_end": None if last is None else last / SECOND,
    }


def find_seen_window(
    record: Record, seen: Record, warmup: float | None = None, cooldown: float | None = None
) -> tuple[int, int] | tuple[None, None]:
    """The observation window, which is that of the experiment where jobs have phases."""
    if seen is not record and seen.jobs.height and warmup is None and cooldown is None:
        inside = ticks(seen.jobs["submit"])
        return int(inside.min()), int(inside.max())
    return find_window(ticks(record.jobs["submit"]), warmup, cooldown)


def find_window(
    submit: np.ndarray, warmup: float | None = None, cooldown: float | None = None
) -> tuple[int, int] | tuple[None, None]:
    """The observation window in microseconds; nothing where it would be empty."""
    if not len(submit):
        return None, None
    inner = [int(np.rint(edge)) for edge in np.quantile(submit, EDGES)]
    return choose_window(inner, (int(submit.min()), int(submit.max())), warmup, cooldown)


def choose_window(
    inner: Sequence[int], outer: Sequence[int], warmup: float | None, cooldown: float | None
) -> tuple[int, int] | tuple[None, None]:
    """The window between the `inner` quantiles of the submissions, or so far inside the `outer` ones."""
    low, high = inner
    if warmup is not None:
        low = outer[0] + microseconds(_not_negative("warmup", warmup))
    if cooldown is not None:
        high = outer[1] - microseconds(_not_negative("cooldown", cooldown))
    return (low, high) if low < high else (None, None)


def _not_negative(name: str, seconds: float) -> float:
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{name} is not a number of seconds of at least 0", value=seconds)
    return seconds


def _utilization(held: Held, capacity: int, down: list[Held], first: int | None, last: int | None) -> float | None:
    available = find_available(capacity, down, first, last)
    return held.core_sum(first, last) / available if available > 0 else None


def find_utilizations(record: Record, spans: Sequence[tuple[int, int]]) -> list[float | None]:
    """The utilization between two instants (microseconds), for each such pair."""
    held, capacity, down = find_held(record), sum(find_capacity(record).values()), list(find_down(record).values())
    return [_utilization(held, capacity, down, first, last) for first, last in spans]


def find_available(capacity: int, down: list[Held], first: int | None, last: int | None) -> float:
    """Core-microseconds that were there, without what was down."""
    if first is None or last is None or last <= first or capacity <= 0:
        return 0
    return capacity * (last - first) - sum(one.core_sum(first, last) for one in down)


def _goodput(record: Record, capacity: int, down: list[Held], first: int | None, last: int | None) -> float | None:
    """The work of completed jobs over what could have been done on what was available, at the nodes' mean speed; what
    was lost or spent on checkpoints or on changes from task to task is not in it."""
    available = find_available(capacity, down, first, last) * find_rate(record)
    return sum_work(record) / available if available > 0 else None


def sum_work(record: Record) -> int:
    """The core-microseconds of work of completed jobs."""
    done = is_label(record.jobs["state"], "completed")
    cores = np.where(done, record.jobs["cores"].to_numpy(), 0)
    return sum_held(np.zeros_like(cores), ticks(record.jobs["run_time"]), cores, 0, NEVER)


def find_rate(record: Record) -> float:
    """The work that a core, or a place on one whose time is shared, does in a second: the mean of all clusters."""
    capacity, nodes = find_capacity(record), record.facts.get("nodes") or {}
    work = sum(cores * float((nodes.get(name) or {}).get("rate", 1.0)) for name, cores in capacity.items())
    return work / total if (total := sum(capacity.values())) else 1.0


def _describe_window(record: Record, first: int | None, last: int | None) -> dict[str, Any]:
    """The window's bounds, and the waits of the jobs submitted inside it."""
    if first is None or last is None:
        return {"start": None, "end": None, "jobs": 0, "mean_wait": None, "mean_bounded_slowdown": None}
    submit = ticks(record.jobs["submit"])
    columns = record.jobs.select("start", "end", "wait", "held_time", "run_time")
    if np.all(submit[1:] >= submit[:-1]):
        low, high = np.searchsorted(submit, first), np.searchsorted(submit, last, side="right")
        inside = columns.slice(int(low), int(high - low))
    else:
        inside = columns.filter((submit >= first) & (submit <= last))
    part = Record(inside, record.allocations)
    return {
        "start": first / SECOND,
        "end": last / SECOND,
        "jobs": inside.height,
        "mean_wait": mean_seconds(find_waits(part)),
        "mean_bounded_slowdown": mean(bounded_slowdowns(part)),
    }


def compare_recorded(record: Record, waits: dict[str, float | None] | None = None) -> dict[str, Any]:
    """Waits as the original log has them beside the simulated ones, over the started jobs that have both.

    `waits` are the figures of all waits, where they are known: they need not be found again if every job has both.
    """
    both = _complete(record.jobs, "start", "wait", "recorded_wait")
    recorded = _sum_up_waits(ticks(both["recorded_wait"]))
    if waits is None or both.height < _complete(record.jobs, "start", "wait").height:
        waits = _sum_up_waits(ticks(both["wait"]))
    simulated = {f"simulated_{name}": waits[name] for name in ("mean_wait", "median_wait", "p95_wait")}
    return {"jobs": both.height, **recorded, **simulated}


# Groups


def by(record: Record, key: str) -> pl.DataFrame:
    """Jobs, core-seconds, waits and bounded slowdowns by user, group, account, queue, qos, size or cluster.

    `jobs` counts all jobs, `started` those the waits are over. Sorted by core-seconds, the heaviest first; size classes
    by size. Jobs without a value are in a group of their own, with an empty key. Where jobs have phases, those of the
    experiment alone count.
    """
    record = in_experiment(record)
    codes, names = group_codes(record.jobs, key)
    groups, jobs = len(names), record.jobs
    started = jobs["start"].is_not_null().to_numpy()
    wait = np.where(started, jobs["wait"].cast(pl.Float64).to_numpy(), np.nan)
    waits = Groups.of(codes, wait, groups)
    table = pl.DataFrame(
        {
            key: pl.Series(names, dtype=pl.String),
            "jobs": np.bincount(codes, minlength=groups).astype(np.int64),
            "started": np.bincount(codes[started], minlength=groups).astype(np.int64),
            "core_seconds": np.bincount(codes, core_seconds(record), groups),
            "mean_wait": group_means(codes, wait, groups),
            "median_wait": waits.quantile(0.5),
            "p95_wait": waits.quantile(0.95),
            "max_wait": waits.quantile(1.0),
            "mean_bounded_slowdown": group_means(codes, slowdown_column(jobs), groups),
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    if key == "resource":
        table = table.filter(pl.col("jobs") > 0)
    return table if key == "size" else table.sort("core_seconds", key, descending=[True, False], maintain_order=True)


def group_codes(jobs: pl.DataFrame, key: str) -> tuple[np.ndarray, list[str | None]]:
    """The number of each job's group, and the groups' names."""
    if key not in KEYS:
        raise InputError("unknown key to group by", value=key, choices=KEYS)
    if key == "size":
        return size_codes(jobs["cores"].to_numpy()), list(SIZES)
    if key == "resource":
        return (jobs["gpus"].fill_null(0).to_numpy() > 0).astype(np.int64), ["cores", "gpus"]
    return label_codes(jobs[key])


def size_codes(cores: np.ndarray) -> np.ndarray:
    """The number of the size class of each number of cores, in the order of SIZES."""
    return np.maximum(np.searchsorted(list(SIZES.values()), cores, side="right") - 1, 0)


def core_seconds(record: Record) -> np.ndarray:
    """Core-seconds held by each job, in row order."""
    held = find_held(record)
    used = (held.end - held.start) * (held.cores / SECOND)
    rows = find_jobs(record)
    known = rows >= 0
    return np.bincount(rows[known], used[known], record.jobs.height)


def starvation(record: Record) -> pl.DataFrame:
    """The longest wait of each size class so far: `size`, `job_id`, `longest_wait`, `state` of that job.

    Unlike `max_wait`, it counts jobs that never started: cancelled ones to their end, waiting ones to the cut-off.
    """
    jobs = record.jobs
    rejected = is_label(jobs["state"], "rejected")
    if rejected.any():
        jobs = jobs.filter(~rejected)
    waited = _waits_so_far(jobs, find_horizon(record))
    rows = []
    for size, worst in zip(SIZES, find_longest(waited, jobs["cores"].to_numpy(), list(SIZES.values())), strict=True):
        if worst >= 0:
            job = jobs.row(int(worst), named=True)
            rows.append((size, job["job_id"], int(waited[worst]) / SECOND, str(job["state"])))
    kinds = {"size": pl.String, "job_id": pl.Int64, "longest_wait": pl.Float64, "state": pl.String}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _waits_so_far(jobs: pl.DataFrame, horizon: int | None) -> np.ndarray:
    """The waits in microseconds; of jobs that never started until they left, or until the horizon."""
    waits = ticks(jobs["wait"])
    if not jobs["start"].null_count():
        return waits
    submit, start, end = (ticks(jobs[name], ABSENT) for name in ("submit", "start", "end"))
    leaving = np.where(end != ABSENT, end, submit if horizon is None else np.maximum(submit, horizon))
    return np.where(start == ABSENT, leaving - submit, waits)


def jain(record: Record) -> float | None:
    """Jain's fairness index over the users' mean bounded slowdowns: 1 if all fare alike, 1/n if one bears it all.

    (sum x)^2 / (n sum x^2): R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC-TR-301, 1984. None where the jobs have no users.
    """
    if not record.jobs["user"].count():
        return None
    codes, names = group_codes(record.jobs, "user")
    values = group_means(codes, slowdown_column(record.jobs), len(names))
    named = np.array([name is not None for name in names])
    return jain_index(values[named & ~np.isnan(values)])


def jain_index(values: Sequence[float] | np.ndarray) -> float | None:
    """(sum x)^2 / (n sum x^2) of values that are not negative; None for none."""
    given = np.asarray(values, np.float64)
    squares = float(np.sum(given * given))
    return float(np.sum(given)) ** 2 / (len(given) * squares) if squares else None
