"""The pictures of what was inferred of a log's users: pauses, batches, sessions, and the week."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.time import SECOND, format_duration
from walltime.workload.compare_page import style, write_figure
from walltime.workload.users.sessions import Acts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REACTS, _BREAK = "#0072B2", "#E69F00"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def write_page(acts: Acts, facts: dict[str, Any], path: str | Path) -> None:
    """Writes the page, all or nothing, in the format of the suffix."""
    import matplotlib as mpl

    with mpl.rc_context(style()):
        write_figure(draw(acts, facts), path, lambda svg: _page(facts, svg))


def _page(facts: dict[str, Any], svg: str) -> str:
    title = html.escape(f"Users of {facts['source'] or 'a log'}")
    line = f"{facts['users']:,} users, {facts['jobs']:,} jobs in {facts['batches']:,} batches and "
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff }}
body {{ max-width: 1120px; margin: 2em auto; padding: 0 1em }}
svg {{ width: 100%; height: auto }}
</style></head><body>
<h1>{title}</h1>
<p>{line}{facts["sessions"]:,} sessions</p>
{svg}
</body></html>
"""


def draw(acts: Acts, facts: dict[str, Any]) -> Figure:
    """Four pictures on one figure."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(style()):
        figure = Figure(figsize=(11, 7))
        figure.subplots_adjust(left=0.07, right=0.985, bottom=0.08, top=0.94, hspace=0.4, wspace=0.2)
        axes = figure.subplots(2, 2)
        _pauses(axes[0][0], acts, facts["thresholds"]["session_gap"])
        _week(axes[0][1], facts)
        people = acts.user >= 0
        _counts(axes[1][0], acts.sizes[people], "Jobs of a batch")
        _counts(axes[1][1], np.bincount(acts.session[people])[np.unique(acts.session[people])], "Batches of a session")
    return figure


def _pauses(axes: Axes, acts: Acts, gap: float) -> None:
    """How long users had given no sign before a batch, in steps of equal ratio."""
    follows = (acts.before >= 0) | (acts.after >= 0)
    idle = np.maximum(acts.idle[follows] / SECOND, 1.0)
    edges = np.geomspace(1.0, max(float(idle.max(initial=10.0)), gap * 2), 61).tolist()
    reacts = acts.after[follows] >= 0
    axes.hist([idle[reacts], idle[~reacts]], edges, stacked=True, color=[_REACTS, _BREAK],
              label=["after a completion", "after an arrival"])  # fmt: skip
    axes.axvline(gap, color="black", linewidth=1)
    axes.set_xscale("log")
    ticks = [tick for tick in (1, 60, 600, 3600, 6 * 3600, 86_400, 7 * 86_400) if tick <= edges[-1]]
    axes.set_xticks(ticks, [format_duration(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_title("Pause before a batch; the line ends a session")
    axes.legend(frameon=False)


def _week(axes: Axes, facts: dict[str, Any]) -> None:
    counts = facts["batches_by_hour_of_week"]
    axes.fill_between(range(168), counts, step="post", color=_REACTS)
    axes.set_xticks(range(0, 168, 24), _DAYS)
    axes.set_ylim(0)
    axes.set_title("Batches by the hour of the week")


def _counts(axes: Axes, values: np.ndarray, title: str) -> None:
    """The share of those that have more, on a logarithmic scale."""
    ordered = np.sort(values)
    share = 1 - np.arange(len(ordered)) / max(len(ordered), 1)
    axes.step(ordered, share, where="post", color=_REACTS)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(f"{title}: share that has at least so many")
