"""A schedule as rectangles: which jobs are shown, which rows they cover, and what the rest looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from walltime.analysis.charts.lanes import shade, stack_cores, stack_nodes
from walltime.analysis.intervals import Held, find_capacity, find_held, find_horizon
from walltime.analysis.metrics import core_seconds
from walltime.cluster.nodes import expand
from walltime.core.tables import Record, ticks
from walltime.core.time import SECOND

MOST_JOBS = 50_000
"""Jobs that are shown one by one; of more, those that hold the most core-seconds."""
MOST_BLOCKS = 4
"""Rectangles for each job that may be shown: jobs scattered over many nodes are shown in smaller number."""
_SHADE = (640, 160)


@dataclass(frozen=True)
class Band:
    """The rows of one cluster, from `low` to below `high`; `nodes` are the lowest rows of its nodes, if it has any."""

    name: str
    low: int
    high: int
    nodes: np.ndarray


@dataclass(frozen=True)
class Schedule:
    """Rectangles of `jobs`: `of` is the row in `jobs`, times in seconds, rows from `low` to below `high`.

    `hidden` maps how full the cells of the picture are with jobs that are not shown (rows by columns, from the lowest
    row and from `first`), or is None where all are shown. `rule` says which are.
    """

    jobs: pl.DataFrame
    of: np.ndarray
    start: np.ndarray
    end: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first: float
    last: float
    bands: tuple[Band, ...]
    rule: str
    hidden: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """The height of the picture in cores."""
        return max((band.high for band in self.bands), default=1) or 1


def lay_out(
    record: Record,
    limit: int = MOST_JOBS,
    *,
    window: tuple[float | None, float | None] = (None, None),
    only: np.ndarray | None = None,
) -> Schedule:
    """The schedule of a record. `window` (seconds) leaves out jobs that did not run in it; `only` are numbers of jobs.

    All allocations take part in finding the rows, so that two pictures of one schedule agree, whatever they show.
    """
    held, bands = find_held(record), _bands(record)
    of, low, high = _stack(record, held, bands)
    extent = _extent(record, window)
    rows, used = _rows_of(record), core_seconds(record)
    inside = (held.end[of] > extent[0]) & (held.start[of] < extent[1])
    of, low, high = of[inside], low[inside], high[inside]
    shown, rule = _choose(record, rows[of], used, limit, window, only)
    visible = shown[rows[of]]
    mine = of[visible]
    return Schedule(
        jobs=record.jobs.filter(pl.Series(shown)).with_columns(pl.Series("core_seconds", used[shown])),
        of=(np.cumsum(shown) - 1)[rows[mine]],
        start=held.start[mine] / SECOND,
        end=held.end[mine] / SECOND,
        low=low[visible],
        high=high[visible],
        first=extent[0] / SECOND,
        last=extent[1] / SECOND,
        bands=bands,
        rule=rule,
        hidden=_shade(held, (of[~visible], low[~visible], high[~visible]), extent, max(b.high for b in bands)),
    )


def _bands(record: Record) -> tuple[Band, ...]:
    """The clusters on top of each other, the first at the bottom."""
    bands, base = [], 0
    for name, cores in (find_capacity(record) or {"cluster": int(record.allocations["cores"].max() or 1)}).items():  # type: ignore[arg-type]
        described = (record.facts.get("nodes") or {}).get(name)
        nodes = np.zeros(0, np.int64)
        if described:
            sizes = expand(described["cores"])
            nodes, cores = base + np.cumsum(sizes) - sizes, int(sizes.sum())
        bands.append(Band(name, base, base + cores, nodes))
        base += cores
    return tuple(bands)


def _stack(record: Record, held: Held, bands: Sequence[Band]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rectangles of all allocations: whose, lowest row, the row above the highest."""
    names = record.allocations["cluster"].cast(pl.String)
    parts = []
    for band in bands:
        mine = np.flatnonzero((names == band.name).to_numpy()) if len(bands) > 1 else np.arange(len(held.start))
        mine = mine[np.argsort(held.start[mine], kind="stable")]
        start, end = np.ascontiguousarray(held.start[mine]), np.ascontiguousarray(held.end[mine])
        texts = record.allocations["nodes"].gather(mine)
        if len(band.nodes) and not texts.is_null().all():
            sizes = np.diff(np.append(band.nodes, band.high))
            of, low, high = stack_nodes(start, end, read_ranges(texts), sizes)
        else:
            of, low, high = stack_cores(start, end, np.ascontiguousarray(held.cores[mine]), band.high - band.low)
        parts.append((mine[of], low + band.low, np.minimum(high + band.low, band.high)))
    whose, low, high = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    fits = low < high  # an illegal schedule has rows above its machine
    return whose[fits], low[fits], high[fits]


def read_ranges(texts: pl.Series) -> np.ndarray:
    """Rows (number in `texts`, first node, last node, cores on each) of allocations' nodes, such as `0-3:24,7:5`."""
    table = pl.DataFrame({"of": np.arange(len(texts)), "text": texts.cast(pl.String)}).drop_nulls()
    table = table.with_columns(pl.col("text").str.split(",")).explode("text")
    groups = pl.col("text").str.extract_groups(r"^(?<first>\d+)(?:-(?<last>\d+))?:(?<cores>\d+)$")
    table = table.with_columns(groups.alias("parts")).unnest("parts").drop_nulls("cores")
    table = table.with_columns(pl.col("last").fill_null(pl.col("first")))
    return np.ascontiguousarray(table.select(pl.col("of", "first", "last", "cores").cast(pl.Int64)).to_numpy())


def _extent(record: Record, window: tuple[float | None, float | None]) -> tuple[int, int]:
    """First and last moment of the picture, in microseconds."""
    submit, horizon = ticks(record.jobs["submit"]), find_horizon(record)
    first = int(submit.min()) if len(submit) else 0
    low = first if window[0] is None else round(window[0] * SECOND)
    high = (horizon or first) if window[1] is None else round(window[1] * SECOND)
    return low, max(high, low + SECOND)


def _rows_of(record: Record) -> np.ndarray:
    """The row among the jobs of each allocation."""
    ids, allocated = record.jobs["job_id"].to_numpy(), record.allocations["job_id"].to_numpy()
    if not len(ids):
        return np.zeros(len(allocated), np.int64)
    order = np.argsort(ids, kind="stable")
    return np.asarray(order[np.minimum(np.searchsorted(ids, allocated, sorter=order), len(ids) - 1)])


def _choose(
    record: Record,
    blocks: np.ndarray,
    used: np.ndarray,
    limit: int,
    window: tuple[float | None, float | None],
    only: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Which jobs are shown, and the rule in words; `blocks` are the jobs' rows of the rectangles in the window."""
    each = np.bincount(blocks, minlength=record.jobs.height)
    candidates = each > 0
    place = "" if window == (None, None) else " that ran in this window"
    total, area = int(candidates.sum()), float(used[candidates].sum())
    if only is not None:
        candidates &= np.isin(record.jobs["job_id"].to_numpy(), only)
    order = np.flatnonzero(candidates)
    order = order[np.argsort(-used[order], kind="stable")]
    room = np.cumsum(each[order]) <= max(limit * MOST_BLOCKS, 1)
    order = order[room][:limit]
    shown = np.zeros(record.jobs.height, bool)
    shown[order] = True
    if len(order) == total:
        return shown, f"All {total:,} jobs{place} are shown."
    share = 100 * float(used[order].sum()) / area if area else 100.0
    words = "over 99 %" if share >= 99 else f"{share:.0f} %"
    return shown, (
        f"{len(order):,} of the {total:,} jobs{place} are shown one by one: those with the most core-seconds, "
        f"{words} of the work. The grey behind them is the rest."
    )


def _shade(held: Held, blocks: tuple[np.ndarray, ...], extent: tuple[int, int], rows: int) -> np.ndarray | None:
    """The map of what the given rectangles (whose, low, high) leave of the picture; None where there are none."""
    of, low, high = blocks
    if not len(of):
        return None
    columns, lines = _SHADE[0], min(_SHADE[1], rows)
    unit = (extent[1] - extent[0]) / columns
    left, right = ((np.clip(side[of], *extent) - extent[0]) / unit for side in (held.start, held.end))
    return np.asarray(shade(left, right, low * (lines / rows), high * (lines / rows), columns, lines))
