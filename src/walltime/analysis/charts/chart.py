"""What a picture shows, without how it is drawn: axes, marks, panels. Everything is plain data.

Two renderers read it: `walltime.analysis.plots` (matplotlib: PNG, SVG, PDF) and the page of `walltime.analysis.report`
(HTML). A colour is a number of the palette, or a role: "used", "waiting", "available", "muted", "ink", "change".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

if TYPE_CHECKING:
    from walltime.analysis.charts.schedule.colouring import Colouring
    from walltime.analysis.charts.schedule.layout import Schedule

Colour = int | str
_WEEK = 7 * 86_400
ORDINARY = 200_000_000_000
"""Seconds that calendars can express; what is beyond is shown as a number of days."""


@dataclass(frozen=True)
class Clock:
    """How a time of the trace is written: as a date where the trace tells when it began, else as days since its zero.

    `shift` are the seconds to add to get the local time since 1970, in a `zone` such as UTC+2:00; `changes` are (from
    when on, shift, zone), where clocks are put forward or back.
    """

    shift: float | None = None
    zone: str = ""
    changes: tuple[tuple[float, float, str], ...] = ()

    @classmethod
    def of(cls, origin: dict[str, Any] | None, first: float, last: float | None = None) -> Clock:
        """From the `origin` among a record's facts; the zone is followed from `first` to `last`, times of the trace."""
        epoch = (origin or {}).get("epoch")
        if epoch is None or not 0 <= epoch + first < ORDINARY:
            return cls()
        name = (origin or {}).get("timezone")
        try:
            zone = ZoneInfo(str(name)) if name else UTC
            shift = _find_offset(float(epoch) + first, zone)
        except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
            return cls(float(epoch), "UTC")
        end = min(float(epoch) + (first if last is None else last), float(ORDINARY - _WEEK))
        changes = [
            (moment - epoch, epoch + offset, _name_zone(offset))
            for moment, offset in _find_changes(float(epoch) + first, end, zone)
        ]
        return cls(float(epoch) + shift, _name_zone(shift), tuple(changes))

    def pieces(self, low: float, high: float) -> list[tuple[float, float, float, str]]:
        """From when on, until when, shift and zone, for each part of the time from low to high; none without dates."""
        if self.shift is None:
            return []
        told = [(-math.inf, self.shift, self.zone), *self.changes]
        ends = [*(begin for begin, _, _ in told[1:]), math.inf]
        pieces = [(begin, end, shift, zone) for (begin, shift, zone), end in zip(told, ends, strict=True)]
        return [one for one in pieces if one[0] <= high and one[1] > low]

    def describe(self, first: float, last: float) -> str:
        """What to write at an axis of time from first to last: the dates too, as the ticks may be hours only."""
        pieces = self.pieces(first, last)
        if not pieces:
            return _describe_days(first, last)
        sides = (first + pieces[0][2], last + pieces[-1][2])
        begin, end = (datetime.fromtimestamp(side, UTC) for side in sides)
        days = [f"{day.day} {day:%b %Y}" for day in (begin, end)]
        if begin.year == end.year:
            days[0] = f"{begin.day} {begin:%b}"
        span = days[1] if begin.date() == end.date() else " to ".join(days)
        return f"date ({' / '.join(dict.fromkeys(zone for *_, zone in pieces))}), {span}"


def _find_offset(moment: float, zone: tzinfo) -> float:
    """Seconds that local time is ahead of UTC."""
    return (datetime.fromtimestamp(moment, zone).utcoffset() or timedelta()).total_seconds()


def _name_zone(offset: float) -> str:
    hours, minutes = divmod(round(abs(offset) / 60), 60)
    return "UTC" if not offset else f"UTC{'-' if offset < 0 else '+'}{hours}:{minutes:02d}"


def _find_changes(first: float, last: float, zone: tzinfo) -> list[tuple[float, float]]:
    """When local time is put forward or back between two moments, to the second, and by how much it is ahead then."""
    if zone is UTC:
        return []
    found, known = [], _find_offset(first, zone)
    while first < last:
        after = min(first + _WEEK, last)
        if (offset := _find_offset(after, zone)) != known:
            low, high = first, after
            while high - low > 0.5:
                middle = (low + high) / 2
                low, high = (middle, high) if _find_offset(middle, zone) == known else (low, middle)
            found.append((float(round(high)), offset))
            known = offset
        first = after
    return found


def _describe_days(first: float, last: float) -> str:
    """The words for times since the trace's zero, as the ticks write them."""
    day = int(first // 86_400)
    if last - first >= 8 * 86_400:
        return "days since time zero of the trace"
    if int(last // 86_400) > day:
        return "days, hours:minutes since time zero of the trace"
    words = "hours:minutes" + (":seconds" if last - first < 600 else "")
    return f"{words} since time zero of the trace" if day == 0 else f"{words} on day {day:,} of the trace"


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows (with its unit, where the values do not carry one), and how.

    `kind` is how values are written: number, count, share, duration (seconds), time (the trace's clock) or category.
    """

    label: str
    kind: str = "number"
    log: bool = False
    categories: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """Points joined in order. With `step`, a value holds until the next point; `fill` fills down to `base`, or zero."""

    label: str
    x: np.ndarray
    y: np.ndarray
    colour: Colour = 0
    step: bool = False
    fill: bool = False
    dashed: bool = False
    base: np.ndarray | None = None


@dataclass(frozen=True)
class Bars:
    """A bar for each category, with an interval where `low` and `high` are given (NaN for none).

    Of changes (the colour "change") those are pale whose interval has zero in it, or that have none.
    """

    label: str
    values: np.ndarray
    colour: Colour = 0
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@dataclass(frozen=True)
class Boxes:
    """A box for each category: rows of `figures` are the 5 %, 25 %, 50 %, 75 % and 95 % quantiles; NaN for none."""

    label: str
    figures: np.ndarray
    means: np.ndarray
    counts: np.ndarray
    colour: Colour = 0


@dataclass(frozen=True)
class Points:
    """Single points. `names` tells each of them, where they are few."""

    label: str
    x: np.ndarray
    y: np.ndarray
    colour: Colour = 0
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """A map: `values[row, column]` between `y[row]`, `y[row + 1]` and `x[column]`, `x[column + 1]`; NaN is empty.

    On a category axis the edges are -0.5, 0.5, ... `scale` says how the colours are to be read. `diverging` colours
    have their middle at 1 (log) or 0.
    """

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    scale: Axis
    diverging: bool = False


@dataclass(frozen=True)
class ScheduleBlocks:
    """A schedule: which job held which cores when, and what the colours of the jobs mean."""

    schedule: Schedule
    colouring: Colouring


Mark = Line | Bars | Boxes | Points | Cells | ScheduleBlocks


@dataclass(frozen=True)
class Panel:
    """Marks over one pair of axes. In a panel of bars or boxes the categories are on the vertical axis."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""


@dataclass(frozen=True)
class Chart:
    """A picture: one panel, or several of the same kind. `notes` say what a reader must know."""

    kind: str
    title: str
    panels: tuple[Panel, ...]
    clock: Clock = field(default_factory=Clock)
    notes: tuple[str, ...] = ()

    @property
    def marks(self) -> list[Mark]:
        """The marks of all panels."""
        return [mark for panel in self.panels for mark in panel.marks]


def align(chart: Chart) -> Chart:
    """The chart with one scale of time for all its panels, so that they can be compared."""
    sides = [side for panel in chart.panels if panel.x.kind == "time" for side in _time_range(panel)]
    if len(chart.panels) < 2 or not sides:
        return chart
    panels = tuple(
        replace(panel, x=replace(panel.x, low=min(sides), high=max(sides))) if panel.x.kind == "time" else panel
        for panel in chart.panels
    )
    return replace(chart, panels=panels)


def _time_range(panel: Panel) -> list[float]:
    """First and last time of a panel."""
    if panel.x.low is not None and panel.x.high is not None:
        return [panel.x.low, panel.x.high]
    times = [mark.x for mark in panel.marks if isinstance(mark, Line | Points | Cells) and len(mark.x)]
    return [float(f(values)) for values in times for f in (np.min, np.max)]


def clean(name: str) -> str:
    """A name without control characters, among them those that turn the direction of writing."""
    return name if name.isprintable() else "".join(letter if letter.isprintable() else "·" for letter in name)


def shorten(name: str | None, length: int = 28) -> str:
    """A name fit to stand at an axis: on one line, without control characters, cut in the middle if it is long."""
    text = "(none)" if name is None else clean(name).strip() or "(blank)"
    if len(text) <= length:
        return text
    tail = (length - 1) // 3
    return f"{text[: length - 1 - tail]}…{text[-tail:]}"


def short_names(names: Sequence[str | None], length: int = 28) -> tuple[str, ...]:
    """Names fit to stand at an axis, still different from each other."""
    taken: dict[str, int] = {}
    out = []
    for name in names:
        text = shorten(name, length)
        taken[text] = taken.get(text, 0) + 1
        out.append(text if taken[text] == 1 else f"{shorten(text, length - 4)} ({taken[text]})")
    return tuple(out)
