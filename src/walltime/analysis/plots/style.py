"""How matplotlib is told to look like the rest: fonts, lines and colours of a theme, without touching its globals."""

from __future__ import annotations

from typing import Any

from walltime.analysis.charts.palette import Theme


def settings(theme: Theme) -> Any:
    """The matplotlib settings of a theme, for `rc_context`; names are never read as formulas."""
    return {
        "font.family": ["DejaVu Sans"],
        "font.size": 9,
        "text.parse_math": False,
        "text.usetex": False,  # a matplotlibrc in the current folder could have LaTeX run
        "text.color": theme.ink,
        "axes.titlesize": 9.5,
        "axes.titlelocation": "left",
        "axes.labelsize": 9,
        "axes.labelcolor": theme.soft,
        "axes.edgecolor": theme.grid,
        "axes.facecolor": theme.ground,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": theme.grid,
        "grid.linewidth": 0.6,
        "xtick.color": theme.grid,
        "ytick.color": theme.grid,
        "xtick.labelcolor": theme.soft,
        "ytick.labelcolor": theme.soft,
        "figure.facecolor": theme.ground,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "lines.linewidth": 1.4,
        "svg.hashsalt": "walltime",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        "path.simplify": True,
    }
