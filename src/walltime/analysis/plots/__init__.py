"""Pictures of results for notebooks and files: `result.plot.utilization()`, `plot("cdf", one, other)`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.charts import KINDS, find_kind, make_chart
from walltime.core.errors import InputError
from walltime.core.files import check_file, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from walltime.analysis.charts.chart import Chart
    from walltime.analysis.charts.quantities import Shown

FORMATS = ("png", "svg", "pdf", "html")
DPI = 150


class Picture:
    """A chart that shows itself in a notebook, and can be saved. `chart` is the data, `figure` matplotlib's Figure."""

    def __init__(
        self, chart: Chart, theme: str = "light", width: float | None = None, height: float | None = None
    ) -> None:
        from walltime.analysis.charts.palette import find_theme

        for name, size in (("width", width), ("height", height)):
            if size is not None and not 1 <= size <= 100:
                raise InputError(f"the {name} of a picture is 1 to 100 inches", value=size)
        self.chart = chart
        self.theme = find_theme(theme)
        self.size = width, height

    @functools.cached_property
    def figure(self) -> Figure:
        """Drawn when first asked for."""
        from walltime.analysis.plots.drawing import draw

        return draw(self.chart, self.theme, *self.size)

    def save(self, path: str | Path, *, dpi: int = DPI, force: bool = True) -> Path:
        """Writes the picture as its suffix says (.png, .svg, .pdf, .html), whole or not at all; returns the path."""
        target = check_picture(path, force=force)
        if target.suffix.lower() == ".html":
            from walltime.analysis.report.page import make_picture_page

            data = make_picture_page(self.chart, self.theme.name).encode()
        else:
            data = self.render(target.suffix.lower()[1:], dpi)
        return write_whole(target, data)

    def render(self, format: str = "png", dpi: int = DPI) -> bytes:
        """The picture as PNG, SVG or PDF; the same bytes each time."""
        import warnings

        import matplotlib

        from walltime.analysis.plots.style import settings

        nothing = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        buffer = BytesIO()
        with matplotlib.rc_context(settings(self.theme)), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")
            self.figure.savefig(buffer, format=format, dpi=dpi, metadata=nothing[format])
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.render("png", 110)

    def __repr__(self) -> str:
        return f"<Picture {self.chart.kind}: {self.chart.title}>"


class Plots:
    """The pictures of one result, a method for each kind: `result.plot.utilization(theme="dark")`.

    Each takes the options of its kind, and `theme`, `width` and `height` (inches); `beside` are further results.
    """

    def __init__(self, result: Shown) -> None:
        self._result = result

    def __getattr__(self, name: str) -> Callable[..., Picture]:
        if name.startswith("_"):
            raise AttributeError(name)
        kind = find_kind(name)

        def make(*beside: Shown, **options: Any) -> Picture:
            return plot(kind.name, self._result, *beside, **options)

        make.__name__, make.__doc__ = name, inspect.getdoc(kind.load())
        return make

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in KINDS]


def plot(
    kind: str,
    *results: Shown,
    theme: str = "light",
    width: float | None = None,
    height: float | None = None,
    **options: Any,
) -> Picture:
    """A picture of one result or several; raises InputError for what they do not have.

    Options: those of the kind, the theme ("light" or "dark"), width and height in inches. `kind` is one of
    `walltime plot --list`; the first result is the baseline where there is one.
    """
    from walltime.analysis.charts.chart import shorten

    chart = make_chart(kind, results, **options)
    if len(results) == 1:  # several are told apart in the picture itself
        chart = replace(chart, title=f"{chart.title} – {shorten(results[0].label, 40)}")
    return Picture(chart, theme, width, height)


def check_picture(path: str | Path, *, force: bool = True) -> Path:
    """The path, if a picture may be written there; raises InputError. Ask before long work."""
    target = Path(path)
    if target.suffix.lower()[1:] not in FORMATS:
        what = "the suffix of a picture's file says what is written"
        raise InputError(what, value=target.suffix or target.name, choices=[f".{name}" for name in FORMATS])
    return check_file(target, force=force)
