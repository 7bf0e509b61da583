"""A schedule as rectangles: which jobs are shown, which rows they cover, and what the rest looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ref

import numpy as np
import polars as pl

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.charts.chart import shorten
from walltime.analysis.charts.schedule.lanes import shade, stack_cores, stack_nodes
from walltime.analysis.charts.schedule.outages import (
    RESERVED,
    Outages,
    find_outages,
    place_on_nodes,
    place_on_top,
    times_of,
)
from walltime.analysis.intervals import Held, find_capacity, find_held, find_horizon, find_jobs
from walltime.analysis.metrics import core_seconds
from walltime.analysis.resources import read_numbers
from walltime.cluster import hostlist
from walltime.cluster.nodes import expand
from walltime.core.tables import Record, ticks
from walltime.core.time import SECOND

MOST_JOBS = 50_000
"""Jobs that are shown one by one; of more, those that hold the most core-seconds."""
MOST_BLOCKS = 8
"""Rectangles for each job that may be shown: jobs scattered over many nodes are shown in smaller number."""
MOST_NAMES, MOST_PARTS = 20_000, 12
"""Nodes that are told by their names, and groups of nodes by partition."""
_SHADE = (640, 160)
_MADE: list[tuple[ref[Record], ref[Schedule]]] = []
"""Whole schedules that are in use: a report shows three pictures of each, and a million jobs take two seconds."""
_Blocks = tuple[np.ndarray, ...]
"""Rectangles: number of the allocation, lowest row, the row above the highest."""


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

    `outcome` is how each of these times of running ended; `cut` says that the job ran again later. `hidden` maps how
    full the cells of the picture are with jobs that are not shown (rows by columns, from the lowest row and from
    `first`), `veil` how full of them is what the shown jobs leave of each cell; both are None where all are shown.
    `rule` says which are.
    """

    jobs: pl.DataFrame
    of: np.ndarray
    start: np.ndarray
    end: np.ndarray
    low: np.ndarray
    high: np.ndarray
    outcome: pl.Series
    cut: np.ndarray
    first: float
    last: float
    bands: tuple[Band, ...]
    outages: Outages
    rule: str
    hidden: np.ndarray | None = None
    veil: np.ndarray | None = None
    names: tuple[str, ...] = ()
    """The names of the nodes, where the site gives them."""
    parts: tuple[Band, ...] = ()
    """Neighbouring nodes of the same partitions, where there are several and each has nodes of its own."""

    @property
    def nodes(self) -> np.ndarray:
        """The lowest row of each node; none where a cluster is a plain number of cores."""
        known = all(len(band.nodes) for band in self.bands)
        return np.concatenate([band.nodes for band in self.bands]) if known else np.zeros(0, np.int64)

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
    tight: bool = False,
) -> Schedule:
    """The schedule of a record. `window` (seconds) leaves out jobs that did not run in it; `only` are numbers of jobs.

    With `tight`, a node whose time is shared has as many rows as it ever had tasks, not one for each of its places.

    On nodes every job is where the record says. On a plain number of cores there is no record, and the picture chooses,
    for the jobs that it shows: were all of them to take part, a large job would be in hundreds of pieces.
    """
    held, extent = find_held(record), _extent(record, window)
    rows, used = find_jobs(record), core_seconds(record)
    inside = (held.end > np.maximum(held.start, extent[0])) & (held.start < extent[1])
    bands = _bands(record, _find_peaks(record, held) if tight and record.facts.get("shared_time") else {})
    floor = _Floor(record, bands, held, np.flatnonzero(inside), find_outages(record, *extent))
    candidates = np.zeros(record.jobs.height, bool)
    candidates[rows[inside]] = True
    order = _rank(record, candidates, used, only)[:limit]
    order = order[: floor.count_affordable(rows, order, MOST_BLOCKS * limit)]
    while True:
        shown = np.zeros(record.jobs.height, bool)
        shown[order] = True
        of, low, high = floor.place(shown[rows])
        if len(of) <= MOST_BLOCKS * limit or len(order) < 2:
            break
        order = order[: max(1, len(order) * 4 // 5)]
    hidden, veil = floor.shade(shown[rows], (of, low, high), extent)
    chosen = record.jobs if shown.all() else record.jobs.filter(pl.Series(shown))
    return Schedule(
        jobs=chosen.with_columns(pl.Series("core_seconds", used[shown])),
        of=(np.cumsum(shown) - 1)[rows[of]],
        start=held.start[of] / SECOND,
        end=held.end[of] / SECOND,
        low=low,
        high=high,
        outcome=record.allocations["outcome"].cast(pl.String).gather(of),
        cut=_find_cut(rows, held)[of],
        first=extent[0] / SECOND,
        last=extent[1] / SECOND,
        bands=floor.bands,
        outages=floor.outages,
        rule=_tell_rule(shown, candidates, used, window),
        hidden=hidden,
        veil=veil,
        names=_find_names(record),
        parts=_find_parts(record, floor.bands),
    )


def _find_names(record: Record) -> tuple[str, ...]:
    """The names of the nodes of the only cluster; none where it does not tell them, or has too many for a page."""
    told = list((record.facts.get("nodes") or {}).values())
    text = told[0].get("names") if len(told) == 1 else None
    names = tuple(hostlist.expand(text)) if text else ()
    return names if len(names) <= MOST_NAMES else ()


def _find_parts(record: Record, bands: tuple[Band, ...]) -> tuple[Band, ...]:
    """Runs of nodes that belong to the same partitions; those of all nodes tell nothing."""
    if len(bands) != 1 or not len(bands[0].nodes):
        return ()
    own = {name: text for name, text in (record.facts.get("queues") or {}).get(bands[0].name, {}).items() if text}
    lows = bands[0].nodes
    sets = {name: set(read_numbers(text).tolist()) for name, text in own.items()}
    sets = {name: nodes for name, nodes in sets.items() if len(nodes) < len(lows)}
    members = [tuple(name for name, nodes in sets.items() if node in nodes) for node in range(len(lows))]
    starts = [node for node, mine in enumerate(members) if not node or mine != members[node - 1]]
    if not 2 <= len(starts) <= MOST_PARTS:
        return ()
    edges = [*(int(lows[node]) for node in starts), bands[0].high]
    return tuple(
        Band(" + ".join(members[node]), edges[index], edges[index + 1], lows[:0]) for index, node in enumerate(starts)
    )


def lay_out_all(record: Record) -> Schedule:
    """The schedule of a record with all of its jobs; the one made before, if it is still in use."""
    _MADE[:] = [(made, plan) for made, plan in _MADE if made() is not None and plan() is not None]
    for made, known in _MADE:
        if made() is record and (found := known()) is not None:
            return found
    plan = lay_out(record, 1 << 62)
    _MADE.append((ref(record), ref(plan)))
    return plan


class _Floor:
    """The rows of the picture, and where the allocations `mine` (by number) and the outages lie on them."""

    def __init__(
        self, record: Record, bands: tuple[Band, ...], held: Held, mine: np.ndarray, closed: pl.DataFrame
    ) -> None:
        self.held, self.mine, self.bands = held, mine[np.argsort(held.start[mine], kind="stable")], bands
        self.owned = [self.mine[part] for part in self._by_band(record.allocations["cluster"].gather(self.mine))]
        self.fixed = [self._on_nodes(record, band, owned) for band, owned in zip(self.bands, self.owned, strict=True)]
        self.closed, self.outages = closed, Outages(closed, *(np.zeros(0, np.int64) for _ in range(3)))
        self.shut = [np.flatnonzero(part) for part in self._by_band(closed["cluster"])]

    def _by_band(self, names: pl.Series) -> list[np.ndarray]:
        """Which of the rows belong to each band; all of them, where there is one only."""
        texts = names.cast(pl.String)
        if len(self.bands) == 1:
            return [np.ones(len(texts), bool)]
        return [(texts == band.name).fill_null(False).to_numpy() for band in self.bands]

    def _on_nodes(self, record: Record, band: Band, owned: np.ndarray) -> _Blocks | None:
        """The rectangles of all allocations on a cluster of nodes; None where no record says which cores they had."""
        texts = record.allocations["nodes"].gather(owned)
        if not len(band.nodes) or (len(texts) and texts.is_null().all()):
            return None
        sizes = np.diff(np.append(band.nodes, band.high))
        of, low, high = stack_nodes(*self._times(owned), read_ranges(texts), sizes)
        return owned[of], low + band.low, high + band.low

    def _times(self, owned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ascontiguousarray(self.held.start[owned]), np.ascontiguousarray(self.held.end[owned])

    def count_affordable(self, rows: np.ndarray, order: np.ndarray, most: int) -> int:
        """How many of these jobs (by row), from the first on, have at most `most` rectangles on nodes; at least one."""
        pieces = np.zeros(len(rows) and int(rows.max()) + 1, np.int64)
        for fixed in self.fixed:
            if fixed is not None:
                pieces += np.bincount(rows[fixed[0]], minlength=len(pieces))
        return max(1, int(np.searchsorted(np.cumsum(pieces[order]), most, side="right")))

    def place(self, shown: np.ndarray) -> _Blocks:
        """The rectangles of those allocations that are shown: allocation, lowest row, the row above the highest."""
        parts, closed = [], []
        for band, owned, fixed, shut in zip(self.bands, self.owned, self.fixed, self.shut, strict=True):
            if fixed is not None:
                parts.append(tuple(column[shown[fixed[0]]] for column in fixed))
                closed.append(self._close_nodes(band, shut))
                continue
            jobs, down = self._stack(band, owned[shown[owned]], shut)
            parts.append(jobs)
            closed += [down, self._reserve(band, shut)]
        self.outages = Outages(self.closed, *(np.concatenate(columns) for columns in zip(*closed, strict=True)))
        whose, low, high = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        fits = low < high  # an illegal schedule has rows above its machine
        return whose[fits], low[fits], high[fits]

    def _stack(self, band: Band, chosen: np.ndarray, shut: np.ndarray) -> tuple[_Blocks, _Blocks]:
        """Jobs, and what was down, on a plain number of cores: no row has two of them at once."""
        down = shut[(self.closed["kind"].gather(shut).cast(pl.String) != RESERVED).to_numpy()]
        begin, end = times_of(self.closed[down])
        start, stop = np.append(begin, self.held.start[chosen]), np.append(end, self.held.end[chosen])
        cores = np.append(self.closed["cores"].to_numpy()[down], self.held.cores[chosen])
        order = np.argsort(start, kind="stable")
        of, low, high = stack_cores(start[order], stop[order], cores[order], band.high - band.low)
        of, low, high = order[of], low + band.low, np.minimum(high + band.low, band.high)
        is_job = of >= len(down)
        jobs = chosen[of[is_job] - len(down)], low[is_job], high[is_job]
        return jobs, (down[of[~is_job]], low[~is_job], high[~is_job])

    def _reserve(self, band: Band, shut: np.ndarray) -> _Blocks:
        """What was reserved on a plain number of cores."""
        mine = shut[(self.closed["kind"].gather(shut).cast(pl.String) == RESERVED).to_numpy()]
        of, low, high = place_on_top(self.closed["cores"].to_numpy()[mine], band.low, band.high)
        return mine[of], low, high

    def _close_nodes(self, band: Band, shut: np.ndarray) -> _Blocks:
        """What was down or reserved of a cluster of nodes; outages that name no nodes are not drawn."""
        ranges = read_ranges(self.closed["nodes"].gather(shut))
        of, low, high = place_on_nodes(ranges, band.nodes, band.high)
        return shut[of], low, high

    def shade(
        self, shown: np.ndarray, blocks: _Blocks, extent: tuple[int, int]
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """How full the cells of the picture are with what is not shown, and how full what is seen of them is.

        On a plain number of cores it is spread evenly over what the shown jobs leave free at that time.
        """
        if bool(shown[self.mine].all()):
            return None, None
        rows = max(band.high for band in self.bands) or 1
        lines = min(_SHADE[1], rows)
        out = np.zeros((lines, _SHADE[0]))
        down = self.outages.kinds != RESERVED
        shut = tuple(column[down] for column in (self.outages.of, self.outages.low, self.outages.high))
        taken = self._map(blocks, extent, lines, rows) + self._map(shut, extent, lines, rows, times_of(self.closed))
        for band, owned, fixed in zip(self.bands, self.owned, self.fixed, strict=True):
            if fixed is not None:
                out += self._map(tuple(column[~shown[fixed[0]]] for column in fixed), extent, lines, rows)
                continue
            hidden = owned[~shown[owned]]
            heights = np.minimum(self.held.cores[hidden], band.high - band.low)
            work = self._map((hidden, np.zeros(len(hidden), np.int64), heights), extent, 1, rows)[0] * lines
            edges = np.clip(np.arange(lines + 1) * (rows / lines), band.low, band.high)
            free = np.maximum(np.diff(edges)[:, None] * (lines / rows) - taken, 0.0)
            total = free.sum(axis=0)
            out += free * np.divide(work, total, out=np.zeros_like(work), where=total > 1e-12)
        rest = 1.0 - taken
        return out, np.minimum(np.divide(out, rest, out=np.zeros_like(out), where=rest > 1e-3), 1.0)

    def _map(
        self,
        blocks: _Blocks,
        extent: tuple[int, int],
        lines: int,
        rows: int,
        times: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> np.ndarray:
        """How full each cell is with these rectangles; `times` are the starts and ends of other owners than jobs."""
        of, low, high = blocks
        unit = (extent[1] - extent[0]) / _SHADE[0]
        sides = times or (self.held.start, self.held.end)
        left, right = ((np.clip(side[of], *extent) - extent[0]) / unit for side in sides)
        return np.asarray(shade(left, right, low * (lines / rows), high * (lines / rows), _SHADE[0], lines))


def _find_cut(rows: np.ndarray, held: Held) -> np.ndarray:
    """Of each allocation, whether its job (by row) held something again later."""
    order = np.lexsort((held.start, rows))
    cut = np.zeros(len(rows), bool)
    cut[order[:-1]] = rows[order][1:] == rows[order][:-1]
    return cut


def _bands(record: Record, rows: dict[str, np.ndarray]) -> tuple[Band, ...]:
    """The clusters on top of each other, the first at the bottom; `rows` of the nodes, where they are not its cores."""
    bands, base = [], 0
    for name, cores in (find_capacity(record) or {"cluster": int(record.allocations["cores"].max() or 1)}).items():  # type: ignore[arg-type]
        described = (record.facts.get("nodes") or {}).get(name)
        nodes = np.zeros(0, np.int64)
        if described:
            sizes = rows.get(name, expand(described["cores"]))
            nodes, cores = base + np.cumsum(sizes) - sizes, int(sizes.sum())
        bands.append(Band(name, base, base + cores, nodes))
        base += cores
    return tuple(bands)


def _find_peaks(record: Record, held: Held) -> dict[str, np.ndarray]:
    """The most tasks that each node of each cluster ever had at a time, at least one."""
    clusters, peaks = record.allocations["cluster"].cast(pl.String), {}
    for name, described in (record.facts.get("nodes") or {}).items():
        owned = np.flatnonzero((clusters == name).fill_null(False).to_numpy())
        placed = Placements(record.allocations["nodes"], owned)
        # An end comes before a start at the same instant.
        time = np.concatenate((held.end[placed.of], held.start[placed.of]))
        node, step = np.tile(placed.node, 2), np.concatenate((-placed.cores, placed.cores))
        order = np.lexsort((np.arange(len(time)), time, node))
        peaks[name] = np.ones(len(expand(described["cores"])), np.int64)
        np.maximum.at(peaks[name], node[order], np.cumsum(step[order]))  # every node is empty in the end
    return peaks


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


def _rank(record: Record, candidates: np.ndarray, used: np.ndarray, only: np.ndarray | None) -> np.ndarray:
    """The jobs that may be shown, those with the most core-seconds first."""
    if only is not None:
        candidates = candidates & np.isin(record.jobs["job_id"].to_numpy(), only)
    order = np.flatnonzero(candidates)
    return np.asarray(order[np.argsort(-used[order], kind="stable")])


def _tell_rule(
    shown: np.ndarray, candidates: np.ndarray, used: np.ndarray, window: tuple[float | None, float | None]
) -> str:
    """Which jobs are shown, in words."""
    place = "" if window == (None, None) else " that ran in this window"
    total, count = int(candidates.sum()), int(shown.sum())
    if count == total:
        return f"All {total:,} jobs{place} are shown."
    area = float(used[candidates].sum())
    share = 100 * float(used[shown].sum()) / area if area else 100.0
    words = "over 99 %" if share >= 99 else f"{share:.0f} %"
    return (
        f"{count:,} of the {total:,} jobs{place} are shown one by one: those with the most core-seconds, "
        f"{words} of the work. The grey behind them is the rest."
    )


def explain_rows(plans: Sequence[Schedule], which: str = "a job had") -> str:
    """What to say where no record says which cores a job had, or were down; nothing where all clusters have nodes."""
    bands = [band for plan in plans for band in plan.bands]
    plain = list(dict.fromkeys(shorten(band.name) for band in bands if not len(band.nodes)))
    if not plain:
        return ""
    what = ", ".join(plain) if len({band.name for band in bands}) > 1 else "The cluster"
    words = "are numbers of cores" if len(plain) > 1 else "is a number of cores"
    return f"{what} {words}: which of them {which} is the picture's choice."
