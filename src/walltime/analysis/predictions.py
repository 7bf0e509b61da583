"""How far ahead a scheduler can be believed: what it had planned before a job started, and what became of that.

M. Soysal and others ask it of data that is to be staged before a job starts: it must be known when and where.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.weeks import WEEK
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown

AHEAD = (60.0, 600.0, 3600.0, 12 * 3600.0)
"""So many seconds before the start."""
FIGURES = ("mean_error", "median_error", "p90_error", "within_minute", "within_ten_minutes", "sooner", "later", "nodes")
COLUMNS = {"ahead": pl.Float64, "jobs": pl.Int64, "known": pl.Float64} | dict.fromkeys(FIGURES, pl.Float64)
"""Errors in seconds, the rest as shares of the jobs that had a plan by then: sooner and later by more than a minute, on
the very nodes that were planned. `known` is the share of jobs that waited by then and had a plan."""
CLASSES = (0.0, 1.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0, math.inf)
"""Planned waits that are alike, in seconds."""
ENOUGH = 20  # past jobs, for an interval
INTERVALS = {
    **{"planned_wait": pl.Float64, "past": pl.Int64, "jobs": pl.Int64, "coverage": pl.Float64},
    **{"sooner": pl.Float64, "later": pl.Float64, "width": pl.Float64},
}
"""By class of planned waits, from its least on, and in the last row for all: how many jobs were learned from and judged
on, the share that started within the interval, its ends, in seconds after the planned start, and its mean width."""
LEVELS = tuple(number / 1000 for number in (*range(500, 980, 10), *range(980, 1001, 2)))
"""Shares that an interval may be asked for, so that in the end it holds the share that is wanted."""


def look_back(result: Shown, ahead: float) -> pl.DataFrame:
    """A row for each job that waited so many seconds before it started: its `start`, what was `planned` then, empty for
    nothing, and on which `nodes`, with those that it `got`."""
    if result.record.plans is None:
        raise InputError(f"{result.label}: the result has no plans; run it with `record: {{plans: true}}`")
    jobs = result.record.jobs.filter(pl.col("start").is_not_null() & (pl.col("start") - pl.col("eligible") >= ahead))
    asked = jobs.select("job_id", "start").with_columns(time=pl.col("start") - ahead).sort("time")
    found = asked.join_asof(result.record.plans.sort("time"), on="time", by="job_id", check_sortedness=False)
    where = result.record.allocations.unique("job_id", keep="first")
    if "nodes" not in where.columns:
        return found.with_columns(got=pl.lit(None, pl.String))
    return found.join(where.select("job_id", got="nodes"), on="job_id", how="left")


def judge_plans(result: Shown) -> pl.DataFrame:
    """A row for each time ahead: how many jobs waited by then, how many had a plan, and how far off it was."""
    return pl.DataFrame([{"ahead": ahead} | _describe(look_back(result, ahead)) for ahead in AHEAD], schema=COLUMNS)


def _describe(found: pl.DataFrame) -> dict[str, Any]:
    planned = found.filter(pl.col("planned").is_not_null())
    errors = (planned["start"] - planned["planned"]).to_numpy()
    off = np.abs(errors)
    if not len(off):
        return {"jobs": found.height, "known": 0.0 if found.height else None}
    named = planned.filter(pl.col("nodes").is_not_null() & pl.col("got").is_not_null())
    same = [_numbers(row["nodes"]) == _numbers(row["got"]) for row in named.iter_rows(named=True)]
    return {
        "jobs": found.height,
        "known": len(off) / found.height,
        "mean_error": float(off.mean()),
        "median_error": float(np.median(off)),
        "p90_error": float(np.quantile(off, 0.9)),
        "within_minute": float((off <= 60).mean()),
        "within_ten_minutes": float((off <= 600).mean()),
        "sooner": float((errors < -60).mean()),
        "later": float((errors > 60).mean()),
        "nodes": sum(same) / len(same) if same else None,
    }


def _numbers(text: str) -> set[int]:
    """The numbers of the nodes of `0-3:24,7:5`, or of `0-3,7`."""
    found: set[int] = set()
    for item in text.split(","):
        first, _, last = item.partition(":")[0].partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def mean_error(result: Shown, ahead: float) -> float | None:
    """How far off plans were on average so many seconds before the starts; None where there were none."""
    return _describe(look_back(result, ahead)).get("mean_error")


def draw_errors(results: Sequence[Shown], **look: Any) -> Any:
    """The picture `predictions` of these results."""
    from walltime.analysis.charts.relation import predictions
    from walltime.analysis.plots import Picture

    return Picture(predictions(results), **look)


def judge_intervals(result: Shown, share: float = 0.9, held_out: float = 1 / 3) -> pl.DataFrame:
    """How often jobs start within the interval that past errors promise, on jobs that were not learned from.

    A job's plan when it comes is a time; with how wrong plans of such jobs were so far it is an interval, which `share`
    of them should hit. Errors are learned from the jobs that had started before the last part `held_out` of the log;
    the intervals are judged on the jobs that came in that part. Such jobs are those with a planned wait of that class.
    The intervals are as wide as the weeks that were learned from teach (`cover_weeks`).
    """
    for name, value in (("share", share), ("held_out", held_out)):
        if isinstance(value, bool) or not 0 < value < 1:
            raise InputError(f"{name} is a part between 0 and 1", value=value)
    if result.record.plans is None:
        raise InputError(f"{result.label}: the result has no plans; run it with `record: {{plans: true}}`")
    plans = result.record.plans.unique("job_id", keep="first", maintain_order=True).select("job_id", "planned")
    jobs = find_errors(result.record.jobs, plans)
    border = _find_border(jobs, held_out)
    past, judged = jobs.filter(pl.col("start") < border), jobs.filter(pl.col("submit") >= border)
    rows = _judge_classes(past, judged, cover_weeks(past, share)[1])
    count = sum(row[2] for row in rows)
    if count:
        hits, width = (sum(row[2] * row[k] for row in rows) / count for k in (3, 6))
        rows.append((None, past.height, count, hits, None, None, width))
    return pl.DataFrame(rows, schema=INTERVALS, orient="row")


def find_errors(jobs: pl.DataFrame, plans: pl.DataFrame) -> pl.DataFrame:
    """Every job that started and had a plan when it came (`job_id`, `planned`): by how much it started later."""
    started = jobs.filter(pl.col("start").is_not_null()).select("job_id", "submit", "eligible", "start")
    return started.join(plans, on="job_id").with_columns(
        planned_wait=pl.col("planned") - pl.col("eligible"), error=pl.col("start") - pl.col("planned")
    )


def find_interval(past: pl.DataFrame, planned_wait: float, share: float) -> tuple[int, float, float] | None:
    """How much sooner and later than planned `share` of past jobs with such a planned wait started, and how many these
    were; None where they are too few to tell.

    The ends are errors of past jobs, so far apart that one more job of the same kind starts between them with that
    probability (split conformal prediction; V. Vovk and others, "Algorithmic Learning in a Random World", 2005).
    """
    low = max(low for low in CLASSES if low <= max(planned_wait, 0.0))
    errors = _errors_of(past, low)
    return None if len(errors) < ENOUGH else (len(errors), *_find_ends(errors, share))


@dataclass(frozen=True)
class Week:
    """How intervals that were learned before a week did in it: how many jobs were judged, the share of these that
    started within theirs, and the mean width in seconds."""

    jobs: int
    coverage: float
    width: float


def cover_weeks(jobs: pl.DataFrame, share: float) -> tuple[list[Week], float]:
    """How intervals did in each week of the log but the first, on the jobs that were planned to wait, each learned from
    what had started before that week; and the share to ask for in the week to come. Of a log of less than two weeks,
    the same of its last third.

    Weeks are not alike: what holds for one more job of the past holds for fewer of a week to come. So the share that is
    asked for is the least with which the weeks before, each judged by those before it, would have been covered as
    wanted.
    """
    weeks = [_judge_levels(past, judged) for past, judged in _divide(jobs)]
    found = [week[_find_level(weeks[:number], share)] for number, week in enumerate(weeks)]
    return [week for week in found if week.jobs], LEVELS[_find_level(weeks, share)]


def _divide(jobs: pl.DataFrame) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """For each week but the first what had started before it, and the jobs that came in it and were planned to wait."""
    submit = jobs["submit"].to_numpy()
    if not len(submit):
        return []
    first, last = float(submit.min()), float(submit.max())
    borders = [first + WEEK * number for number in range(1, int((last - first) // WEEK) + 1)]
    if len(borders) < 2:
        borders = [_find_border(jobs, 1 / 3)]
    waiting = jobs.filter(pl.col("planned_wait") >= CLASSES[1])
    return [
        (jobs.filter(pl.col("start") < begin), waiting.filter((pl.col("submit") >= begin) & (pl.col("submit") < end)))
        for begin, end in pairwise([*borders, math.inf])
    ]


def _judge_levels(past: pl.DataFrame, judged: pl.DataFrame) -> list[Week]:
    """How a week would have done with each of LEVELS."""
    classes = [(_errors_of(past, low), _of_class(judged, low)) for low in CLASSES[1:-1]]
    known = [(errors, asked) for errors, asked in classes if len(errors) >= ENOUGH and asked.height]
    count = sum(asked.height for _, asked in known)
    weeks = []
    for level in LEVELS:
        told = [_try(asked, *_find_ends(errors, level)) for errors, asked in known]
        hits, width = (sum(found[k] for found in told) / max(count, 1) for k in (0, 1))
        weeks.append(Week(count, hits, width))
    return weeks


def _find_level(weeks: list[list[Week]], share: float) -> int:
    """The number of the least of LEVELS with which these weeks were covered as wanted; of the highest where with none,
    and of that which is wanted where there is nothing to judge by."""
    judged = sum(week[0].jobs for week in weeks)
    if not judged:
        return min(range(len(LEVELS)), key=lambda number: abs(LEVELS[number] - share))
    for number in range(len(LEVELS)):
        if sum(week[number].jobs * week[number].coverage for week in weeks) >= share * judged:
            return number
    return len(LEVELS) - 1


def _of_class(jobs: pl.DataFrame, low: float) -> pl.DataFrame:
    """The jobs whose planned wait is of the class from `low` on."""
    high = CLASSES[CLASSES.index(low) + 1]
    return jobs.filter((pl.col("planned_wait") >= low) & (pl.col("planned_wait") < high))


def _errors_of(past: pl.DataFrame, low: float) -> Any:
    return np.sort(_of_class(past, low)["error"].to_numpy())


def _find_ends(errors: Any, share: float) -> tuple[float, float]:
    """Two of the errors, which are in order."""
    early = math.floor((1 - share) / 2 * (len(errors) + 1)) - 1
    late = math.ceil((1 + share) / 2 * (len(errors) + 1)) - 1
    return float(errors[max(early, 0)]), float(errors[min(late, len(errors) - 1)])


def _try(asked: pl.DataFrame, early: float, late: float) -> tuple[int, float]:
    """How many jobs started within, and the sum of the widths: no job starts before it comes."""
    errors, planned = asked["error"].to_numpy(), asked["planned_wait"].to_numpy()
    hits = int(((errors >= early) & (errors <= late)).sum())
    return hits, float((np.maximum(planned + late, 0) - np.maximum(planned + early, 0)).sum())


def _judge_classes(past: pl.DataFrame, judged: pl.DataFrame, share: float) -> list[tuple[Any, ...]]:
    """A row of INTERVALS for each class of planned waits that has been learned and can be judged."""
    rows: list[tuple[Any, ...]] = []
    for low in CLASSES[:-1]:
        asked = _of_class(judged, low)
        learned = find_interval(past, low, share)
        if learned is None or not asked.height:
            continue
        known, early, late = learned
        hits, width = _try(asked, early, late)
        rows.append((low, known, asked.height, hits / asked.height, early, late, width / asked.height))
    return rows


def _find_border(jobs: pl.DataFrame, held_out: float) -> float:
    """Where the last part of the log begins."""
    submit = np.append(jobs["submit"].to_numpy(), [] if jobs.height else [0.0])
    return float(submit.max() - held_out * np.ptp(submit))
