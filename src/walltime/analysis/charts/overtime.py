"""Pictures of the system over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Chart, Line, Panel, short_names, shorten
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, find_unit, group, time_axis
from walltime.analysis.intervals import find_held, find_horizon, find_jobs
from walltime.analysis.metrics import DERIVED, KEYS
from walltime.analysis.monitoring import GROUPS, NODES
from walltime.analysis.resources import CORES, find_uses, name_resource
from walltime.analysis.series import TimeGrid, group_series
from walltime.core.errors import InputError
from walltime.core.tables import ticks
from walltime.core.time import SECOND, format_duration

FAIR_SHARE = "fair_share_factor"
"""The series (one entity a user) that the picture of fair-share factors is drawn from."""
MOST_CLUSTERS = 8
"""Clusters that the picture of utilization shows one by one."""
MOST_PANELS = 8
"""Groups that have a panel of their own in the picture of resources."""
_KINDS = ("used", "available")
USE = "usage"
"""The series (core-seconds, one entity a user or account) of what users are charged with, after decay."""


def utilization(results: Sequence[Shown]) -> Chart:
    """Used cores over available cores; of several clusters also a panel for each of them."""
    pairs = [(_series(result, "used_cores"), _series(result, "available_cores")) for result in results]
    names = list(dict.fromkeys(name for used, _ in pairs for name in used.values))
    sizes = {name: max(float(np.max(out.values[name])) for _, out in pairs if name in out.values) for name in names}
    chosen = sorted(names, key=lambda name: -sizes[name])[:MOST_CLUSTERS] if len(names) > 1 else []
    unit = find_unit(results)
    panels = []
    for name in (None, *(name for name in names if name in chosen)):
        lines = []
        for number, (label, (used, available)) in enumerate(zip(find_labels(results), pairs, strict=True)):
            if name is None:
                share = share_of(sum_all(used), sum_all(available))
            elif name in used.values:
                share = share_of(used.values[name], available.values[name])
            else:
                continue
            lines.append(Line(label, used.time, share, number, step=True, fill=len(results) == 1))
        axis = Axis(f"used {unit} / available {unit}", "share", low=0, high=1)
        title = "" if not chosen else "all clusters" if name is None else shorten(name)
        panels.append(Panel(time_axis(results), axis, tuple(lines), title))
    notes = [*_interval_note(results)]
    if len(names) > len(chosen) > 0:
        notes.append(f"{len(chosen)} of {len(names):,} clusters: the largest.")
    return Chart("utilization", "Utilization", tuple(panels), find_clock(results), tuple(notes))


def cores(results: Sequence[Shown]) -> Chart:
    """Requested (used and waited for), used and available cores; a panel for each result."""
    panels, unit = [], find_unit(results)
    for label, result in zip(find_labels(results), results, strict=True):
        used, waiting, available = (
            sum_all(_series(result, name)) for name in ("used_cores", "waiting_cores", "available_cores")
        )
        time = _series(result, "used_cores").time
        marks = (
            Line("requested", time, used + waiting, "waiting", step=True),
            Line("used", time, used, "used", step=True, fill=True),
            Line("available", time, available, "available", step=True, dashed=True),
        )
        title = label if len(results) > 1 else ""
        panels.append(Panel(time_axis(results), Axis(unit, "count", low=0), marks, title))
    return Chart("cores", f"Requested, used and available {unit}", same_height(panels), find_clock(results))


def jobs(results: Sequence[Shown]) -> Chart:
    """Running and waiting jobs; a panel for each result."""
    panels = []
    for label, result in zip(find_labels(results), results, strict=True):
        running, waiting = _series(result, "running_jobs"), _series(result, "waiting_jobs")
        marks = (
            Line("waiting", waiting.time, sum_all(waiting), "waiting", step=True),
            Line("running", running.time, sum_all(running), "used", step=True),
        )
        title = label if len(results) > 1 else ""
        panels.append(Panel(time_axis(results), Axis("jobs", "count", low=0), marks, title))
    return Chart("jobs", "Running and waiting jobs", same_height(panels), find_clock(results))


def queue(results: Sequence[Shown]) -> Chart:
    """Waiting jobs, and the cores that they ask for."""
    panels = []
    for name, words in (("waiting_jobs", "waiting jobs"), ("waiting_cores", f"{find_unit(results)} waited for")):
        marks = []
        for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
            waiting = _series(result, name)
            marks.append(Line(label, waiting.time, sum_all(waiting), number, step=True, fill=len(results) == 1))
        panels.append(Panel(time_axis(results), Axis(words, "count", low=0), tuple(marks)))
    return Chart("queue", "The queue", tuple(panels), find_clock(results))


def usage(results: Sequence[Shown], by: str = "user", of: str = "cores", most: int = 7) -> Chart:
    """Cores (or GPUs, ...) in use over time by user (or queue, ...); the heaviest ones, and the rest together."""
    result = only_one(results, "usage")
    uses = find_uses(result.record)
    if of not in uses:
        raise InputError("no such resource is counted in this result", value=of, choices=uses)
    amounts = uses[of].held
    grouping = group(result, by, most)
    record = result.record
    held, horizon = find_held(record), find_horizon(record)
    first = int(ticks(record.jobs["submit"]).min())
    grid = TimeGrid.over(first, max(horizon or first, first), 150)
    codes = grouping.codes[find_jobs(record)]
    time = (grid.first + grid.length * np.arange(grid.count)) / SECOND
    marks: list[Line] = []
    below = np.zeros(grid.count)
    for number, name in enumerate(grouping.names):
        mine = codes == number
        start, stop = grid.locate(held.start[mine]), grid.locate(held.end[mine])
        values = grid.means((start, amounts[mine]), (stop, -amounts[mine]))
        colour = "muted" if number == most - 1 and len(grouping.names) == most else number
        marks.append(Line(name, time, below + values, colour, step=True, fill=True, base=below))
        below = below + values
    unit = find_unit(results) if of == CORES else name_resource(of)
    panel = Panel(time_axis(results), Axis(f"{unit} in use", "count", low=0), tuple(marks))
    note = f"On top of each other; means over intervals of {format_duration(grid.length / SECOND)}."
    return Chart("usage", f"{unit[0].upper()}{unit[1:]} in use by {by}", (panel,), find_clock(results), (note,))


def resources(results: Sequence[Shown], of: str | None = None, by: str | None = None) -> Chart:
    """How much of each resource is in use over time: cores, GPUs, memory, licences; `by` queue a panel for each.

    Of a queue it is the share of its own nodes; of other groups, the amount.
    """
    known = list(dict.fromkeys(name for result in results for name in find_uses(result.record)))
    if of is not None and of not in known:
        raise InputError("no such resource is counted in these results", value=of, choices=known)
    if by is not None:
        return _by_group(results, of or CORES, by)
    panels = [_draw(results, name) for name in ([of] if of else known) if _is_used(results, name)]
    if not panels:
        raise InputError("no job holds any of it", value=of)
    return Chart("resources", "Use of each resource", tuple(panels), find_clock(results))


def _is_used(results: Sequence[Shown], name: str) -> bool:
    return any(name in uses and uses[name].held.any() for uses in (find_uses(result.record) for result in results))


def _draw(results: Sequence[Shown], name: str) -> Panel:
    lines = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        used, there = (Series(result.series.filter(pl.col("series") == f"{kind}_{name}")) for kind in _KINDS)
        if used.values and there.values:
            share = share_of(sum_all(used), sum_all(there))
            lines.append(Line(label, used.time, share, number, step=True, fill=len(results) == 1))
    return Panel(time_axis(results), _axis(), tuple(lines), name_resource(name))


def _axis() -> Axis:
    return Axis("used / available", "share", low=0, high=1)


def _by_group(results: Sequence[Shown], of: str, by: str) -> Chart:
    """A panel for each group, the heaviest first."""
    if by not in KEYS:
        raise InputError("unknown key to group by", value=by, choices=KEYS)
    if by not in DERIVED and not any(result.record.jobs[by].count() for result in results):
        raise InputError(f"the jobs tell no {by}", value=by)
    tables = [group_series(result.record, by) for result in results]
    used, there = ([Series(_choose(table, kind, of, by)) for table in tables] for kind in _KINDS)
    names = list(dict.fromkeys(name for one in used for name, values in one.values.items() if np.any(values > 0)))
    if not names:
        raise InputError("no job holds any of it", value=of)
    panels = []
    shares = all(name in one.values for name in names for one in there)
    for name in names[:MOST_PANELS]:
        lines = []
        for number, (label, own, have) in enumerate(zip(find_labels(results), used, there, strict=True)):
            if name in own.values:
                values = share_of(own.values[name], have.values[name]) if shares else own.values[name]
                lines.append(Line(label, own.time, values, number, step=True, fill=len(results) == 1))
        axis = _axis() if shares else Axis(name_resource(of), "count", low=0)
        panels.append(Panel(time_axis(results), axis, tuple(lines), shorten(name)))
    notes = [f"{MOST_PANELS} of {len(names):,}: those that use most."] if len(names) > MOST_PANELS else []
    title = f"{name_resource(of)[0].upper()}{name_resource(of)[1:]} in use by {by}"
    return Chart("resources", title, tuple(panels), find_clock(results), tuple(notes))


def _choose(table: pl.DataFrame, kind: str, of: str, by: str) -> pl.DataFrame:
    return table.filter(pl.col("series") == f"{kind}_{of}_by_{by}")


def load(results: Sequence[Shown]) -> Chart:
    """How much of the time at least so many cores were in use, as a share of the machine."""
    marks = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        share = np.sort(share_of(sum_all(_series(result, "used_cores")), sum_all(_series(result, "available_cores"))))
        time = np.arange(len(share), -1, -1) / max(len(share), 1)
        marks.append(Line(label, time[:-1], share, number))
    x = Axis("share of the time", "share", low=0, high=1)
    panel = Panel(
        x, Axis(f"at least this share of the {find_unit(results)} in use", "share", low=0, high=1), tuple(marks)
    )
    return Chart("load", "Load duration", (panel,), find_clock(results), _interval_note(results))


def free(results: Sequence[Shown]) -> Chart:
    """Idle cores over time, and those that are idle while a job waits; a panel for each result."""
    panels, unit = [], find_unit(results)
    for label, result in zip(find_labels(results), results, strict=True):
        used, available = _series(result, "used_cores"), _series(result, "available_cores")
        idle = np.maximum(sum_all(available) - sum_all(used), 0.0)
        wanted = np.where(sum_all(_series(result, "waiting_jobs")) >= 1, idle, 0.0)
        marks = (
            Line("idle", used.time, idle, "used", step=True),
            Line("idle while a job waits", used.time, wanted, "waiting", step=True, fill=True),
        )
        title = label if len(results) > 1 else ""
        panels.append(Panel(time_axis(results), Axis(f"idle {unit}", "count", low=0), marks, title))
    notes = (*_interval_note(results), "A job waits: at least one job in the mean of the interval.")
    return Chart("free", f"Idle {unit}", same_height(panels), find_clock(results), notes)


DIFFERENCES = {
    "used_cores": "cores in use",
    "running_jobs": "running jobs",
    "waiting_jobs": "waiting jobs",
    "waiting_cores": "cores waited for",
}
"""Series of which two results can be subtracted, in words."""


def difference(results: Sequence[Shown], of: str = "used_cores") -> Chart:
    """Two results over time: how many more or fewer cores are in use (or jobs waiting, ...) than under the first."""
    if len(results) != 2:
        raise InputError(f"the plot difference compares two results; {len(results)} were given")
    if of not in DIFFERENCES:
        raise InputError("there is no such series to compare", value=of, choices=DIFFERENCES)
    old, new = find_labels(results)
    one, other = (_series(result, of) for result in results)
    last = max(one.time[-1], other.time[-1])
    step = max(float(np.diff(series.time).min(initial=last)) for series in (one, other)) or 1.0
    time = np.arange(min(one.time[0], other.time[0]), last + step / 2, step)
    change = _at(other, time) - _at(one, time)
    if not change.any():
        raise InputError(f"{new} and {old} never differ in this", value=of)
    marks = (
        Line(f"more under {new}", time, np.maximum(change, 0.0), 1, step=True, fill=True, base=np.zeros(len(time))),
        Line(f"less under {new}", time, np.minimum(change, 0.0), 0, step=True, fill=True, base=np.zeros(len(time))),
    )
    words = DIFFERENCES[of].replace("cores", find_unit(results))
    panel = Panel(time_axis(results), Axis(f"change of {words}", "count"), marks)
    title = f"{words.capitalize()}, {new} minus {old}"
    return Chart("difference", title, (panel,), find_clock(results), _interval_note(results))


def _at(series: Series, time: np.ndarray) -> np.ndarray:
    """The sum over the clusters at these times, zero outside of the series."""
    index = np.searchsorted(series.time, time, side="right") - 1
    step = float(np.diff(series.time).min(initial=np.inf))
    inside = (index >= 0) & (time < series.time[-1] + step)
    return np.where(inside, sum_all(series)[index], 0.0)


def fairshare(results: Sequence[Shown], most: int = 8) -> Chart:
    """The fair-share factor of each user over time, and their use as it counts; of those who used most."""
    result = only_one(results, "fairshare")
    factors = _entities(result, FAIR_SHARE, "fair-share factors: its scheduler has no fair share")
    used = result.series.filter(pl.col("series") == USE)
    whole = factors.select("entity").unique().join(used, on="entity", how="left")
    ranked = whole.group_by("entity").agg(pl.col("value").fill_null(0.0).sum())
    chosen = ranked.sort("value", "entity", descending=[True, False])["entity"].head(most).to_list()
    panels = [Panel(time_axis(results), Axis("fair-share factor", "number", low=0), _lines(factors, chosen))]
    if used.height:
        hours = used.with_columns(pl.col("value") / 3600)
        panels.append(Panel(time_axis(results), Axis("use that counts (core-hours)", low=0), _lines(hours, chosen)))
    notes = [f"{most} of {ranked.height:,}: those whose use counts most, over the whole time."]
    kept = tuple(notes if ranked.height > most else ())
    return Chart("fairshare", "Fair-share factors", tuple(panels), find_clock(results), kept)


def shares(results: Sequence[Shown], most: int = 10) -> Chart:
    """The dominant share of each user over time, of cores, memory or GPUs as a part of what there is; and how many of
    the user's jobs wait. Of those who used most."""
    result = only_one(results, "shares")
    table = group_series(result.record, "user", 300)
    if not table.height:
        raise InputError(f"{result.label}: the jobs tell no user")
    share = table.filter(pl.col("series") == "dominant_share_by_user")
    waiting = table.filter(pl.col("series") == "waiting_jobs_by_user")
    ranked = share.group_by("entity", maintain_order=True).agg(pl.col("value").sum())
    chosen = ranked.sort("value", "entity", descending=[True, False])["entity"].head(most).to_list()
    panels = (
        Panel(time_axis(results), Axis("dominant share", "share", low=0), _lines(share, chosen)),
        Panel(time_axis(results), Axis("waiting jobs", "count", low=0), _lines(waiting, chosen)),
    )
    kept = (f"{most} of {ranked.height:,}: those with the largest shares.",) if ranked.height > most else ()
    return Chart("shares", "Dominant shares", panels, find_clock(results), kept)


def loads(results: Sequence[Shown], by: str = "node-group", most: int = 10) -> Chart:
    """The load of cores, memory and other resources over time, and of the disks and the network that programs use: of
    each group of nodes, or of each node (`by: node`); of those with the largest loads."""
    result = only_one(results, "loads")
    if by not in (GROUPS, NODES):
        raise InputError("loads are kept by", value=by, choices=(GROUPS, NODES))
    suffix = f"_by_{by.replace('-', '_')}"
    table = result.series.filter(pl.col("series").str.starts_with("load_") & pl.col("series").str.ends_with(suffix))
    if not table.height:
        raise InputError(f"{result.label}: the result has no loads; record: {{by: [{by}]}} keeps them", value=by)
    ranked = table.group_by("entity", maintain_order=True).agg(pl.col("value").sum())
    chosen = ranked.sort("value", "entity", descending=[True, False])["entity"].head(most).to_list()
    panels = []
    for name in table["series"].unique(maintain_order=True).to_list():
        mine = table.filter(pl.col("series") == name)
        known = [entity for entity in chosen if entity in set(mine["entity"])]
        title = name_resource(name.removeprefix("load_").removesuffix(suffix))
        panels.append(Panel(time_axis(results), Axis("load", "share", low=0), _lines(mine, known), title))
    kept = (f"{most} of {ranked.height:,}: those with the largest loads.",) if ranked.height > most else ()
    return Chart("loads", f"Loads by {by}", tuple(panels), find_clock(results), kept)


def _lines(table: pl.DataFrame, chosen: list[str]) -> tuple[Line, ...]:
    """A line for each of the entities, in the colours of their order."""
    lines = []
    for number, (name, label) in enumerate(zip(chosen, short_names(chosen), strict=True)):
        mine = table.filter(pl.col("entity") == name).sort("time")
        lines.append(Line(label, mine["time"].to_numpy(), mine["value"].to_numpy(), number, step=True))
    return tuple(lines)


class Series:
    """One series of a result: the same times for each entity (cluster)."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.values: dict[str, np.ndarray] = {}
        self.time = np.zeros(0)
        for (name,), rows in table.group_by("entity", maintain_order=True):
            self.time = rows["time"].to_numpy()
            self.values[str(name)] = rows["value"].to_numpy()


def _series(result: Shown, name: str) -> Series:
    table = result.series.filter(pl.col("series") == name)
    if not table.height:
        raise InputError(f"{result.label}: the result has no such series", value=name)
    return Series(table)


def sum_all(series: Series) -> np.ndarray:
    """The sum over the clusters."""
    return np.asarray(np.sum(list(series.values.values()), axis=0))


def share_of(used: np.ndarray, available: np.ndarray) -> np.ndarray:
    """What is used of what is there, NaN where nothing is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(available > 0, used / available, np.nan)


def _entities(result: Shown, name: str, what: str) -> pl.DataFrame:
    table = result.series.filter(pl.col("series") == name)
    if not table.height:
        raise InputError(f"{result.label}: the result has no {what}", value=name)
    return table


def _interval_note(results: Sequence[Shown]) -> tuple[str, ...]:
    lengths = [float(times[1] - times[0]) for result in results if len(times := _series(result, "used_cores").time) > 1]
    return (f"Means over intervals of {format_duration(max(lengths))}.",) if lengths else ()


def same_height(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """The panels with one vertical scale, so that they can be compared."""
    tops: list[float] = []
    for panel in panels:
        for mark in panel.marks:
            if isinstance(mark, Line) and len(mark.y):
                tops.append(float(np.nanmax(mark.y)))
    if len(panels) < 2 or not tops:
        return tuple(panels)
    top = max(tops) * 1.04 or 1.0
    return tuple(
        Panel(panel.x, Axis(panel.y.label, panel.y.kind, low=0, high=top), panel.marks, panel.title) for panel in panels
    )


def only_one(results: Sequence[Shown], kind: str) -> Shown:
    """The result of a picture that shows one only; raises InputError for several."""
    if len(results) != 1:
        raise InputError(f"the plot {kind} shows one result; {len(results)} were given")
    return results[0]
