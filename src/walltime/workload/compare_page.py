"""The pictures of a comparison of two workloads: histograms and distribution functions, rhythm, autocorrelation.

One page, self-contained: HTML with the pictures inside (.html), or the pictures alone (.svg, .png, .pdf). Colours are
Okabe and Ito's, which the colour-blind tell apart.
"""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.files import replacing
from walltime.core.time import format_duration
from walltime.workload.compare import Variable, WorkloadComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".html", ".svg", ".png", ".pdf")
_A, _B = "#0072B2", "#E69F00"
_TITLES = {
    "interarrival": "Gap between submissions",
    "cores": "Cores",
    "requested_time": "Requested time",
    "run_time": "Run time",
    "accuracy": "Accuracy",
    "core_hours": "Work of a job",
    "memory": "Memory of a job",
    "gpus": "GPUs of a job",
}
_BINS = 40
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def check_page(path: str | Path) -> None:
    """Raises InputError where the page could not be written, for its suffix."""
    if not str(path).lower().endswith(SUFFIXES):
        raise InputError("a page of pictures ends in", value=Path(path).suffix, choices=SUFFIXES)


def write_page(comparison: WorkloadComparison, path: str | Path) -> None:
    """Writes the page, all or nothing, in the format of the suffix."""
    import matplotlib as mpl

    check_page(path)
    with mpl.rc_context(style()):
        write_figure(draw(comparison), path, lambda svg: _page(comparison, svg))


def write_figure(figure: Figure, path: str | Path, page: Callable[[str], str]) -> None:
    """Writes a figure, all or nothing, in the format of the suffix; as HTML the `page` that is made of its SVG."""
    check_page(path)
    kind = Path(path).suffix.lower()[1:]
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg" if kind == "html" else kind, dpi=110, metadata=_metadata(kind))
    data = buffer.getvalue()
    if kind == "html":
        svg = data.decode("utf-8")
        data = page(svg[svg.index("<svg") :]).encode("utf-8")
    with replacing(path) as draft:
        draft.write_bytes(data)


def _metadata(kind: str) -> dict[str, Any]:
    """No dates: the same comparison gives the same bytes."""
    return {"png": {"Software": None}, "pdf": {"CreationDate": None}}.get(kind, {"Date": None})


def draw(comparison: WorkloadComparison) -> Figure:
    """All pictures on one figure: two a variable, then the rhythm and the autocorrelations."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = len(comparison.variables) + 2
    with mpl.rc_context(style()):
        figure = Figure(figsize=(11, 2.9 * rows))
        # Fixed margins: a layout engine would take longer than all the drawing.
        figure.subplots_adjust(
            left=0.07, right=0.985, bottom=0.45 / (2.9 * rows), top=1 - 0.6 / (2.9 * rows), hspace=0.5, wspace=0.2
        )
        axes = figure.subplots(rows, 2, squeeze=False)
        for row, variable in zip(axes, comparison.variables, strict=False):
            _histogram(row[0], variable)
            _distribution(row[1], variable)
        _rhythm(axes[-2], comparison)
        _autocorrelation(axes[-1], comparison)
        axes[0][0].legend(
            handles=[_handle(_A, comparison.names[0]), _handle(_B, comparison.names[1])],
            loc="lower left",
            bbox_to_anchor=(0, 1.12),
            ncols=2,
            frameon=False,
            borderaxespad=0,
        )
    return figure


def style() -> Any:
    """How all pages of workloads look."""
    return {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e6e6e6",
        "axes.axisbelow": True,
        "figure.facecolor": "white",
        "svg.hashsalt": "walltime",
        "svg.fonttype": "none",
    }


def _handle(colour: str, name: str) -> Any:
    from matplotlib.patches import Patch

    shown = name if len(name) <= 48 else "…" + name[-47:]
    return Patch(color=colour, label=shown, alpha=0.8)


def _is_wide(variable: Variable) -> bool:
    """Whether the values need a logarithmic axis."""
    low = min(float(np.quantile(variable.a, 0.25)), float(np.quantile(variable.b, 0.25)))
    high = max(float(variable.a[-1]), float(variable.b[-1]))
    return variable.name != "accuracy" and high > 50 * max(low, 1.0)


def _edges(variable: Variable, wide: bool) -> np.ndarray:
    low, high = min(variable.a[0], variable.b[0]), max(variable.a[-1], variable.b[-1])
    if variable.name == "accuracy":
        return np.linspace(0, min(max(float(high), 1.0), 1.5), _BINS + 1)
    if wide:
        return np.geomspace(
            max(float(low), 1.0 if variable.name != "core_hours" else 0.001), max(float(high), 2.0), _BINS
        )
    return np.linspace(float(low), float(high) if high > low else float(low) + 1, _BINS)


def _histogram(axes: Axes, variable: Variable) -> None:
    wide = _is_wide(variable)
    edges = _edges(variable, wide)
    for values, colour, filled in ((variable.a, _A, True), (variable.b, _B, False)):
        counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
        if filled:
            axes.stairs(counts, edges, color=colour, fill=True, alpha=0.45)
        axes.stairs(counts, edges, color=colour, linewidth=1.5)
    if wide:
        axes.set_xscale("log")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_title(f"{_TITLES[variable.name]}: histogram")
    axes.set_ylabel("share of the jobs")
    _label(axes, variable)


def _distribution(axes: Axes, variable: Variable) -> None:
    wide = _is_wide(variable)
    for values, colour, width in ((variable.a, _A, 2.2), (variable.b, _B, 1.4)):
        points = np.unique(np.quantile(values, np.linspace(0, 1, 1001), method="inverted_cdf"))
        share = np.searchsorted(values, points, side="right") / len(values)
        axes.step(points, share, where="post", color=colour, linewidth=width)
    if wide:
        axes.set_xscale("symlog" if variable.a[0] <= 0 or variable.b[0] <= 0 else "log")
    if variable.name == "accuracy":
        axes.set_xlim(0, 1.5 if max(variable.a[-1], variable.b[-1]) > 1 else 1)
    axes.set_ylim(0, 1.02)
    axes.set_title(f"{_TITLES[variable.name]}: distribution (KS distance {variable.ks:.3f})")
    axes.set_ylabel("share of the jobs up to x")
    _label(axes, variable)


def _label(axes: Axes, variable: Variable) -> None:
    """The unit; times and memory in words that people use."""
    name = _TITLES[variable.name].lower() if variable.name != "gpus" else "GPUs of a job"
    if variable.unit in ("s", "bytes") and axes.get_xscale() != "linear":
        ticks = (
            {1: "1 s", 60: "1 min", 3600: "1 h", 86_400: "1 d", 604_800: "1 w"}
            if variable.unit == "s"
            else {1 << 20: "1 MiB", 1 << 30: "1 GiB", 1 << 40: "1 TiB"}
        )
        low, high = axes.get_xlim()
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 2:
            axes.set_xticks(inside, [ticks[tick] for tick in inside])
            axes.set_xlabel(name)
            return
    if variable.unit == "bytes":
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / (1 << 30):g} GiB")
    plain = variable.unit in ("cores", "bytes", "GPUs")
    axes.set_xlabel(name if plain else f"{name} ({variable.unit})")


def _rhythm(axes: Any, comparison: WorkloadComparison) -> None:
    a, b = (hours.reshape(7, 24) for hours in comparison.hours)
    distance = comparison.rhythm
    for side, colour, width in ((a, _A, 2.2), (b, _B, 1.4)):
        axes[0].step(
            np.arange(25), np.append(side.sum(0), side.sum(0)[-1]), where="post", color=colour, linewidth=width
        )
    axes[0].set_title(f"Submissions by hour of the day (variation {distance['hour of the day']:.3f})")
    axes[0].set_xlabel("hour of the day")
    axes[0].set_ylabel("share of the jobs")
    axes[0].set_xlim(0, 24)
    axes[0].set_xticks(range(0, 25, 4))
    index = np.arange(7)
    axes[1].bar(index - 0.2, a.sum(1), 0.38, color=_A, alpha=0.8)
    axes[1].bar(index + 0.2, b.sum(1), 0.38, color=_B, alpha=0.8)
    axes[1].set_xticks(index, _DAYS)
    axes[1].set_title(f"Submissions by day of the week (variation {distance['day of the week']:.3f})")
    axes[1].set_xlabel("day of the week")
    axes[1].set_ylabel("share of the jobs")
    for each in axes:
        each.set_ylim(bottom=0)


def _autocorrelation(axes: Any, comparison: WorkloadComparison) -> None:
    shown = {"submissions in an hour": "lag (hours)", "run_time": "lag (jobs)"}
    for each, (name, unit) in zip(axes, shown.items(), strict=True):
        pair = comparison.autocorrelations[name]
        for values, colour, marker in ((pair[0], _A, "o"), (pair[1], _B, "s")):
            each.plot(np.arange(1, len(values) + 1), values, color=colour, marker=marker, markersize=3, linewidth=1.2)
        title = "submissions in an hour" if name != "run_time" else "run times from job to job (ranks)"
        each.set_title(f"Autocorrelation of {title}")
        each.set_xlabel(unit)
        each.set_ylabel("correlation")
        each.axhline(0, color="#888888", linewidth=0.8)


def _page(comparison: WorkloadComparison, svg: str) -> str:
    names = [html.escape(name) for name in comparison.names]
    head = "".join(
        f"<th>{cell}</th>" for cell in ("", "KS", "Wasserstein / mean", "median A", "median B", "95 % A", "95 % B")
    )
    rows = "".join(
        f"<tr><th>{html.escape(_TITLES[v.name])}</th><td>{v.ks:.3f}</td>"
        f"<td>{'–' if v.relative is None else f'{v.relative:.3f}'}</td>"
        + "".join(f"<td>{show_value(v, value)}</td>" for key in ("50%", "95%") for value in v.quantiles()[key])
        + "</tr>"
        for v in comparison.variables
    )
    others = {f"{key}: total variation": value for key, value in (comparison.rhythm | comparison.labels).items()}
    more = "".join(f"<tr><th>{html.escape(key)}</th><td>{value:.3f}</td></tr>" for key, value in others.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Workloads compared</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff }}
body {{ max-width: 1120px; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse; margin: 1em 0 }}
th, td {{ padding: .25em .8em; text-align: right; border-bottom: 1px solid #e6e6e6 }}
th:first-child {{ text-align: left }}
svg {{ width: 100%; height: auto }}
.a {{ color: {_A} }} .b {{ color: #9a6a00 }}
</style></head><body>
<h1>Workloads compared</h1>
<p><b class="a">A</b> {names[0]}, {comparison.jobs[0]:,} jobs<br>
<b class="b">B</b> {names[1]}, {comparison.jobs[1]:,} jobs</p>
<table><tr>{head}</tr>{rows}</table>
<table>{more}</table>
<p>KS is the largest difference of the two distribution functions; Wasserstein the area between them over A's mean;
total variation the share of jobs that would have to be elsewhere. 0 is the same.</p>
{svg}
</body></html>
"""


def show_value(variable: Variable, value: float) -> str:
    """A value for a table: times and memory in words."""
    if variable.unit == "s":
        return format_duration(value)
    if variable.unit == "bytes":
        return f"{value / (1 << 30):,.2f} GiB"
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
