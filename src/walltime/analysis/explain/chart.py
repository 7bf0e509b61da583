"""The picture of an explanation: what a job waited for, its place, how its start was foreseen, over the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from walltime.analysis.charts.chart import Axis, Chart, Clock, Line, Panel, Points
from walltime.analysis.explain.explanation import ORDER, Explanation, RunInterval, WaitCause, counts
from walltime.core.time import format_duration

COLOURS = {
    "resources": 0,
    "limit": 2,
    **dict.fromkeys(("reservation", "priority", "depth", "rhythm", "policy", "cluster"), 3),
    **dict.fromkeys(("dependency", "begin", "array", "held", "paused"), 4),
    **dict.fromkeys(("outage", "reserved"), 5),
    "suspended": 6,
}
"""Of the causes, the same in every picture: the machine is full, a limit, the scheduler, it may not run yet, part of
the machine is away, it was suspended. No other panel has these colours; 1 is that of waiting jobs."""
FORESEEN = {"promised": 7, "backfill": 7, "planned": 15}
PARTS = (8, 10, 11, 12, 13, 14)
"""What a priority is made of."""
NAMED = 3
"""Jobs, limits or reservations that the legend names of each kind."""


def draw(told: Explanation) -> Chart:
    """The chart of an explanation: panels over the same time."""
    first, last = told.submit, told.causes[-1].end if told.causes else told.until
    clock = Clock.of(dict(told.origin), first, last)
    time = Axis(clock.describe(first, first if last is None else last), "time", low=first, high=last)
    panels = [_draw_causes(told, time), _draw_standing(told, time)]
    if told.foreseen:
        panels.append(_draw_foreseen(told, time))
    if any(one.parts for one in told.standings):
        panels.append(_draw_parts(told, time))
    return Chart("explain", f"Job {told.job}: why it waited {format_duration(told.wait)}", tuple(panels), clock)


def _draw_causes(told: Explanation, time: Axis) -> Panel:
    """For each kind of cause a row, drawn where it held; a mark for each job that went before."""
    kinds = [kind for kind in ORDER if any(cause.kind == kind for cause in told.causes)]
    marks: list[Any] = []
    for row, kind in enumerate(kinds):
        held = [cause for cause in told.causes if cause.kind == kind]
        x = np.array([value for cause in held for value in (cause.start, cause.end, cause.end)])
        y = np.array([value for _ in held for value in (row + 0.35, row + 0.35, np.nan)])
        base = np.where(np.isnan(y), np.nan, row - 0.35)
        marks.append(Line(_name(kind, held), x, y, COLOURS[kind], step=False, fill=True, base=base))
    last = told.causes[-1].end if told.causes else told.submit
    between = [run for run in told.runs if run.start < last]
    if between:
        x = np.array([value for run in between for value in (run.start, run.end or last, run.end or last)])
        y = np.array([value for _ in between for value in (len(kinds) + 0.35, len(kinds) + 0.35, np.nan)])
        base = np.where(np.isnan(y), np.nan, len(kinds) - 0.35)
        marks.append(Line(_name("it ran", between), x, y, "muted", step=False, fill=True, base=base))
        kinds.append("it ran")
    if told.overtakers:
        at = np.array([one.time for one in told.overtakers])
        marks.append(Points("a job overtook it", at, np.full(len(at), float(len(kinds))), "ink"))
        kinds.append("overtaken")
    return Panel(time, Axis("", "category", categories=tuple(kinds)), tuple(marks), "What it waited for")


def _name(kind: str, spans: Sequence[WaitCause | RunInterval]) -> str:
    """The kind, and what it was: the jobs that were waited for, or that displaced it, limits, reservations."""
    found: list[str] = []
    for span in spans:
        what = span.facts.get("jobs") or [span.facts.get("who")]
        left = "until " if isinstance(span, RunInterval) else ""
        found += [f"{left}job {one}" if isinstance(one, int) else f"{left}{one}" for one in what if one is not None]
    names = list(dict.fromkeys(found))
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{kind} ({', '.join(names[:NAMED])}{more})" if names else kind


def _draw_standing(told: Explanation, time: Axis) -> Panel:
    last = max([cause.end for cause in told.causes] + [told.submit])
    x = np.array([one.time for one in told.standings] + [last])
    ahead = [one.ahead for one in told.standings]
    waiting = [one.waiting for one in told.standings]
    marks = (
        Line("waiting in all", x, np.array(waiting + waiting[-1:], float), 9, step=True),
        Line("before it", x, np.array(ahead + ahead[-1:], float), "waiting", step=True, fill=True),
    )
    return Panel(time, Axis("jobs", "count", low=0), marks if told.standings else (), "Its place in the order")


def _draw_foreseen(told: Explanation, time: Axis) -> Panel:
    marks = []
    for how in dict.fromkeys(one.how for one in told.foreseen):
        seen = [one for one in told.foreseen if one.how == how]
        later = [one.time for one in told.foreseen if one.time > seen[-1].time]
        last = max([cause.end for cause in told.causes] + [seen[-1].time])
        x = np.array([one.time for one in seen] + [later[0] if later else last])
        y = np.array([one.start - one.time for one in seen] + [max(seen[-1].start - x[-1], 0.0)])
        marks.append(Line(f"foreseen ({how})", x, y, FORESEEN[how]))
    if told.start is not None and told.eligible is not None:
        waits = [(run.start, _began(told, number)) for number, run in enumerate(told.runs)]
        x = np.array([value for start, began in waits for value in (began, start, start)])
        y = np.array([value for start, began in waits for value in (start - began, 0.0, np.nan)])
        marks.append(Line("in truth", x, y, "ink", dashed=True))
    return Panel(time, Axis("until its start", "duration", low=0), tuple(marks), "How its start was foreseen")


def _began(told: Explanation, number: int) -> float:
    """When the wait before this run began."""
    before = told.runs[number - 1].end if number else told.eligible
    return told.submit if before is None else before


def _draw_parts(told: Explanation, time: Axis) -> Panel:
    names = list(dict.fromkeys(name for one in told.standings for name in one.parts if counts(one, name)))
    x = np.array([one.time for one in told.standings])
    marks = tuple(
        Line(
            name,
            x,
            np.array([one.parts.get(name, np.nan) for one in told.standings]),
            PARTS[number % len(PARTS)],
            step=True,
        )
        for number, name in enumerate(names)
    )
    return Panel(time, Axis("priority"), marks, "What its priority was made of")
