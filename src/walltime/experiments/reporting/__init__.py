"""The report of an experiment: one HTML file; and its pictures one by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.charts.chart import Chart
    from walltime.analysis.plots import Picture
    from walltime.experiments.reporting.contents import ReportContents
    from walltime.experiments.store import Store

GRIDS = ("heat-map", "curves")
"""Pictures that an experiment alone has: of one figure over its grid."""
SPREADS = ("cdf", "histogram", "boxes")
"""Pictures that results have too: how a quantity is spread over the jobs of each cell."""
KINDS = (*GRIDS, *SPREADS)
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
    of: str | None = None,
    x: str | None = None,
    by: str | None = None,
    **look: Any,
) -> Picture:
    """A picture of an experiment; raises InputError.

    `heat-map` and `curves` are of the figure `of` (mean_wait), over the axis `x`. `cdf`, `histogram` and `boxes` are of
    the variable `of` (wait) over the jobs of each cell, `by` classes of cores or core-hours; of what the analysis
    `distributions` has kept. `look` is what pictures of results take: `theme`, `width`, `height`.
    """
    from walltime.analysis.plots import Picture
    from walltime.experiments.reporting.contents import ReportContents
    from walltime.experiments.store import Store

    if kind not in KINDS:
        raise InputError("unknown kind of picture of an experiment", value=kind, choices=KINDS)
    for option, value, kinds in (("x", x, GRIDS), ("by", by, SPREADS)):
        if value is not None and kind not in kinds:
            raise InputError(f"the plot {kind} of an experiment has no such option", value=option)
    if isinstance(store, Store):
        return Picture(_draw(ReportContents(store, name), kind, of, x, by), **look)
    with Store(store) as opened:
        return Picture(_draw(ReportContents(opened, name), kind, of, x, by), **look)


def _draw(contents: ReportContents, kind: str, of: str | None, x: str | None, by: str | None) -> Chart:
    from walltime.analysis.charts.grids import draw_curves, draw_map
    from walltime.experiments.reporting.spread import draw_boxes, draw_cdf, draw_histogram

    if kind in GRIDS:
        draw = draw_map if kind == "heat-map" else draw_curves
        return draw(contents.grid(of or "mean_wait"), x)
    spread = {"cdf": draw_cdf, "histogram": draw_histogram, "boxes": draw_boxes}[kind]
    return spread(contents, of or "wait", by)
