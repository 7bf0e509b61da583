"""The figures of `sdiag` over a whole run: how often the controller looked at its queue, how deep, and for how long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

DAY = 86_400
"""Seconds. The controller sets its figures to zero at midnight, UTC."""
_LINE = re.compile(r"^\s+([^:]+?):\s+(\d+)\s*$", re.MULTILINE)


class SdiagFigure(NamedTuple):
    """A figure: what sdiag calls it, and whether days are summed up, averaged over cycles, or the largest counts."""

    label: str
    way: str


MAIN = {
    "cycles": SdiagFigure("Total cycles", "sum"),
    "mean_depth": SdiagFigure("Mean depth cycle", "mean"),
    "mean_cycle": SdiagFigure("Mean cycle", "mean"),
    "longest_cycle": SdiagFigure("Max cycle", "max"),
}
BACKFILL = {
    "started": SdiagFigure("Total backfilled jobs (since last slurm start)", "max"),
    "cycles": SdiagFigure("Total cycles", "sum"),
    "mean_queue": SdiagFigure("Queue length mean", "mean"),
    "mean_depth": SdiagFigure("Depth Mean", "mean"),
    "mean_tried": SdiagFigure("Depth Mean (try depth)", "mean"),
    "mean_cycle": SdiagFigure("Mean cycle", "mean"),
    "longest_cycle": SdiagFigure("Max cycle", "max"),
}
"""By our name. Of a cycle: jobs in line, jobs looked at, jobs for which a place was sought, microseconds."""


def summarise(texts: Iterable[str], timed: bool) -> dict[str, dict[str, float]]:
    """The figures of a run, from what sdiag printed at the end of each day and of the run.

    Cycles take simulated time only where computing is charged (`timed`); else their lengths are left out. Lengths are
    in seconds.
    """
    days = [_split(text) for text in texts]
    parts = {"main": (MAIN, [main for main, _ in days]), "backfill": (BACKFILL, [rest for _, rest in days])}
    return {name: _combine(figures, found, timed) for name, (figures, found) in parts.items()}


def _split(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """The lines of the main scheduler, and those of backfilling; without backfilling sdiag leaves those out."""
    _, _, rest = text.partition("Main schedule statistics")
    main, _, rest = rest.partition("Backfilling stats")
    backfill, _, _ = rest.partition("Latency for")
    return _read(main), _read(backfill)


def _read(text: str) -> dict[str, int]:
    return {label.lower(): int(value) for label, value in _LINE.findall(text)}


def _combine(figures: Mapping[str, SdiagFigure], days: list[dict[str, int]], timed: bool) -> dict[str, float]:
    cycles = [day.get("total cycles", 0) for day in days]
    combined: dict[str, float] = {}
    for name, (label, way) in figures.items():
        if name.endswith("_cycle") and not timed:
            continue
        values = [day.get(label.lower(), 0) for day in days]
        if way == "mean":
            whole = sum(value * count for value, count in zip(values, cycles, strict=True))
            value = whole / sum(cycles) if sum(cycles) else 0.0
        else:
            value = sum(values) if way == "sum" else max(values, default=0)
        combined[name] = value / 1e6 if name.endswith("_cycle") else value
    return combined
