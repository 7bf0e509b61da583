"""The report of an experiment: one HTML file; and its pictures one by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.plots import Picture
    from walltime.experiments.store import Store

KINDS = ("heat-map", "curves")
"""The pictures of an experiment."""


def report_experiment(
    store: Store | str | Path,
    name: str,
    path: str | Path,
    *,
    title: str | None = None,
    figures: tuple[str, ...] = (),
    force: bool = True,
) -> Path:
    """Writes the report of an experiment of a store, and returns its path; raises InputError.

    It has the grid as heat maps and curves with intervals, the verdicts in words, who gains and who loses between any
    two cells, and the schedules of runs that were kept whole. `figures` are drawn besides those of the headline.
    """
    from walltime.analysis.report import check_report
    from walltime.core.files import write_whole
    from walltime.experiments.reporting.page import make_page
    from walltime.experiments.store import Store

    target = check_report(path, force=force)
    if isinstance(store, Store):
        return write_whole(target, make_page(store, name, title=title, more=figures).encode())
    with Store(store) as opened:
        return write_whole(target, make_page(opened, name, title=title, more=figures).encode())


def plot_experiment(
    store: Store | str | Path,
    name: str,
    kind: str = "curves",
    *,
    of: str = "mean_wait",
    x: str | None = None,
    **look: Any,
) -> Picture:
    """A picture of an experiment: `heat-map` or `curves` of the figure `of`, over the axis `x`; raises InputError.

    `look` is what pictures of results take: `theme`, `width`, `height`.
    """
    from walltime.analysis.charts.grids import draw_curves, draw_map
    from walltime.analysis.plots import Picture
    from walltime.experiments.reporting.contents import Contents
    from walltime.experiments.store import Store

    if kind not in KINDS:
        raise InputError("unknown kind of picture of an experiment", value=kind, choices=KINDS)
    draw = draw_map if kind == "heat-map" else draw_curves
    if isinstance(store, Store):
        return Picture(draw(Contents(store, name).grid(of), x), **look)
    with Store(store) as opened:
        return Picture(draw(Contents(opened, name).grid(of), x), **look)
