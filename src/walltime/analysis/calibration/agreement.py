"""The waits of a log beside those of its replay, by queue, size class and hour, and one figure of trust.

The waits compared are those since a job became eligible: what its user or another job held it for is the same in both.
Trust is the part of all waiting that log and replay have in common, over cells of queue, size class and hour of day:
the sum of n min(a, b) over the sum of n max(a, b), where a and b are a cell's mean waits in log and replay and n its
jobs. 1: every cell waits as in the log; 0: jobs wait in one of both only. Its interval is that of other logs of this
site: stretches of this one, an hour at least, are drawn again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.metrics import SIZES, in_experiment, size_codes
from walltime.core.errors import InputError
from walltime.core.tables import Record
from walltime.core.time import SECOND
from walltime.core.workload import Workload

KEYS = ("queue", "size", "hour", "account", "qos", "user")
CELLS = ("queue", "size", "hour")
CLOSE, NEAR = 0.2, 60.0
"""A group is reproduced where its mean wait is within a fifth, or a minute, of the log's."""
FEW = 20
"""Jobs below which a group is not judged."""
DRAWS, STRETCHES = 1000, 200
"""How often stretches of the log are drawn for the interval of trust, and into how many it is divided at most."""
REPRODUCED, SHORTER, LONGER, TOO_FEW = "reproduced", "too short", "too long", "few jobs"


def find_waits(record: Record, workload: Workload) -> pl.DataFrame:
    """A row for each job whose wait both the log and the replay tell, times in seconds.

    `recorded` and `replayed` are waits since the job became eligible, `recorded_all` and `replayed_all` since its
    submission; `held` is what lies between. With the columns of `KEYS`, and `job_id`, `submit`, `cores`, `gpus`.
    """
    from walltime.analysis.audit.rules import find_rows

    jobs = in_experiment(record).jobs
    jobs = jobs.filter(pl.all_horizontal(pl.col("start", "wait", "recorded_wait").is_not_null()))
    if not jobs.height:
        raise InputError("the log does not tell how long its jobs waited, so a replay cannot be compared with it")
    rows = find_rows(jobs["job_id"].to_numpy(), workload)
    begin = np.where(rows >= 0, workload.column("begin")[rows], -1) / SECOND
    submit = jobs["submit"].to_numpy()
    held = np.where(begin >= 0, np.maximum(begin - submit, 0.0), 0.0)
    names = list(SIZES)
    since = jobs["start"].to_numpy() - jobs["eligible"].to_numpy()
    return jobs.select(
        "job_id",
        "submit",
        "cores",
        "gpus",
        *(pl.col(key).cast(pl.String) for key in ("queue", "account", "qos", "user")),
        pl.Series("size", [names[code] for code in size_codes(jobs["cores"].to_numpy())], dtype=pl.String),
        pl.Series("hour", _find_hours(submit, record.facts.get("origin") or {}), dtype=pl.Int64),
        pl.Series("held", np.minimum(held, jobs["recorded_wait"].to_numpy())),
        pl.col("recorded_wait").alias("recorded_all"),
        pl.Series("replayed_all", jobs["start"].to_numpy() - submit),
        pl.Series("recorded", np.maximum(jobs["recorded_wait"].to_numpy() - held, 0.0)),
        pl.Series("replayed", np.maximum(since, 0.0)),
    )


def _find_hours(submit: np.ndarray, origin: Mapping[str, Any]) -> np.ndarray:
    """The hour of the day of each submission, in the log's own time zone where that is known."""
    if origin.get("epoch") is None:
        return (submit // 3600).astype(np.int64) % 24
    moments = pl.Series(((submit + float(origin["epoch"])) * 1000).astype(np.int64)).cast(pl.Datetime("ms", "UTC"))
    return moments.dt.convert_time_zone(origin.get("timezone") or "UTC").dt.hour().to_numpy()


def measure_trust(waits: pl.DataFrame, cells: tuple[str, ...] = CELLS) -> float:
    """The part of all waiting that log and replay have in common; by job for no cells."""
    if cells:
        pairs = waits.group_by(cells).agg(pl.len(), pl.col("recorded", "replayed").mean())
    else:
        pairs = waits.select(pl.lit(1).alias("len"), "recorded", "replayed")
    count, log, replay = (pairs[name].to_numpy() for name in ("len", "recorded", "replayed"))
    more = float(np.sum(count * np.maximum(log, replay)))
    return float(np.sum(count * np.minimum(log, replay))) / more if more else 1.0


def bound_trust(waits: pl.DataFrame) -> tuple[float, float]:
    """The 95 % interval of trust: of stretches of the log, drawn with replacement; the same every time. A log of one
    stretch tells nothing about others."""
    submit = waits["submit"].to_numpy()
    length = max(3600.0, float(np.ptp(submit)) / STRETCHES)
    stretch = ((submit - submit.min()) // length).astype(np.int64)
    cell = waits.select(pl.struct(CELLS).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    sums = np.zeros((2, int(stretch.max()) + 1, int(cell.max()) + 1))
    for side, name in enumerate(("recorded", "replayed")):
        np.add.at(sums[side], (stretch, cell), waits[name].to_numpy())
    present = np.unique(stretch)
    if len(present) < 2:
        return 0.0, 1.0
    drawn = np.random.default_rng(0).multinomial(len(present), np.full(len(present), 1 / len(present)), DRAWS)
    log, replay = (drawn @ side[present] for side in sums)
    more = np.maximum(log, replay).sum(axis=1)
    trust = np.divide(np.minimum(log, replay).sum(axis=1), more, out=np.ones(DRAWS), where=more > 0)
    figure = measure_trust(waits)
    moved = trust + (figure - float(np.mean(trust)))  # a draw has fewer stretches than a log, and less in common
    low, high = np.clip(np.quantile(moved, [0.025, 0.975]), 0.0, 1.0)
    return min(float(low), figure), max(float(high), figure)


def compare_groups(waits: pl.DataFrame, key: str) -> pl.DataFrame:
    """Waits in the log and in the replay of each group: means, medians, 95 % quantiles, trust and a verdict."""
    columns = ("recorded", "replayed")
    figures = [
        expression.alias(f"{figure}_{column}")
        for column in columns
        for figure, expression in (
            ("mean", pl.col(column).mean()),
            ("median", pl.col(column).median()),
            ("p95", pl.col(column).quantile(0.95, "linear")),
        )
    ]
    table = waits.group_by(key).agg(pl.len().alias("jobs"), *figures)
    cells = tuple(dict.fromkeys((*CELLS, key)))
    trust = [measure_trust(waits.filter(pl.col(key).eq_missing(name)), cells) for name in table[key].to_list()]
    table = table.with_columns(pl.Series("trust", trust, dtype=pl.Float64))
    verdicts = [judge(row["jobs"], row["mean_recorded"], row["mean_replayed"]) for row in table.iter_rows(named=True)]
    table = table.with_columns(pl.Series("verdict", verdicts, dtype=pl.String))
    if key == "size":
        place = {name: number for number, name in enumerate(SIZES)}
        return table.sort(pl.col(key).replace_strict(place, return_dtype=pl.Int64))
    return table.sort(key) if key == "hour" else table.sort("jobs", key, descending=[True, False])


def judge(jobs: int, recorded: float, replayed: float) -> str:
    """Whether a group's mean wait is reproduced."""
    if jobs < FEW:
        return TOO_FEW
    if abs(replayed - recorded) <= max(NEAR, CLOSE * recorded):
        return REPRODUCED
    return SHORTER if replayed < recorded else LONGER
