"""Pictures of what is used of each resource: cores, GPUs, memory, licences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Chart, Line, Panel, shorten
from walltime.analysis.charts.overtime import Series, share_of, sum_all
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, time_axis
from walltime.analysis.metrics import DERIVED, KEYS
from walltime.analysis.resources import CORES, find_uses, name_resource
from walltime.analysis.series import group_series
from walltime.core.errors import InputError

MOST_PANELS = 8
"""Groups that have a panel of their own."""


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


_KINDS = ("used", "available")


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
