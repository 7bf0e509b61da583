"""Why a job waited: an account that covers its whole wait, as data, as text and as a picture. Times in seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from walltime.analysis.charts.chart import Axis, Chart, Clock, Line, Panel, Points
from walltime.analysis.plots import Picture
from walltime.core.time import format_duration

SHOWN = 12
"""How many overtakers, reasons and predictions the text tells one by one."""


@dataclass(frozen=True)
class Cause:
    """Why the job did not start from `start` to `end`.

    `kind` is resources, limit, reservation, priority, depth, rhythm, policy or cluster; `text` says more; `facts` are
    the numbers in it: `needs` and `free` cores (the least; `most_free` the most), the job or limit concerned (`who`).
    """

    kind: str
    start: float
    end: float
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Overtaker:
    """A job that started while this one waited: `behind` it in the order then, or submitted `later`, or both."""

    job: str
    time: float
    cores: int
    submit: float
    estimate: float
    behind: bool
    later: bool


@dataclass(frozen=True)
class Standing:
    """The job's place at a time: so many waited before it, of so many; and what its priority was made of."""

    time: float
    ahead: int
    waiting: int
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Foreseen:
    """At `time` the start was foreseen for `start`: promised by a reservation, or planned by us."""

    time: float
    start: float
    how: str


@dataclass(frozen=True)
class Explanation:
    """The life of one job in one result. `causes` follow each other without a gap from `eligible` to its start, or to
    when it left or the simulation ended."""

    job: str
    facts: Mapping[str, Any]
    submit: float
    eligible: float | None
    start: float | None
    end: float | None
    until: float | None
    causes: tuple[Cause, ...]
    overtakers: tuple[Overtaker, ...]
    foreseen: tuple[Foreseen, ...]
    standings: tuple[Standing, ...]
    notes: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def wait(self) -> float:
        """Seconds from eligibility to the start, or to the end of the account."""
        return 0.0 if self.eligible is None or self.until is None else self.until - self.eligible

    def totals(self) -> dict[str, float]:
        """Seconds by kind of cause, the longest first; they add up to the wait."""
        sums: dict[str, float] = {}
        for cause in self.causes:
            sums[cause.kind] = sums.get(cause.kind, 0.0) + cause.duration
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def as_data(self) -> dict[str, Any]:
        """Everything, for JSON."""
        data = asdict(self)
        data["wait"], data["totals"] = self.wait, self.totals()
        return data

    def picture(self, **look: Any) -> Picture:
        """What it waited for, its place in the queue, and how its start was foreseen, over its wait."""
        return Picture(draw(self), **look)

    def __str__(self) -> str:
        return "\n".join(_tell(self))


# ------------------------------------------------------------------------------------------------------ as text


def _tell(told: Explanation) -> Iterator[str]:
    about = ", ".join(f"{name} {value}" for name, value in told.facts.items() if value is not None)
    yield f"Job {told.job}: {about}"
    yield from (f"  Note: {note}" for note in told.notes)
    yield from _tell_life(told)
    if told.causes:
        yield ""
        yield "What it waited for"
        for kind, seconds in told.totals().items():
            yield f"  {format_duration(seconds):>10}  {seconds / told.wait:>5.1%}  {kind}"
        yield ""
        yield from _listed("In order", [_tell_cause(told, cause) for cause in told.causes])
    yield from _tell_overtakers(told)
    yield from _tell_foreseen(told)
    yield from _tell_standings(told)


def _tell_life(told: Explanation) -> Iterator[str]:
    yield f"  submitted at {told.submit:,.10g} s"
    if told.eligible is None:
        yield "  it never began to wait"
        return
    if told.eligible > told.submit:
        held = format_duration(told.eligible - told.submit)
        yield f"  eligible  at {told.eligible:,.10g} s, after {held} in which it had to wait for its time or for others"
    if told.start is None:
        yield f"  never started; the account ends at {told.until:,.10g} s, after {format_duration(told.wait)}"
    else:
        yield f"  started   at {told.start:,.10g} s, after a wait of {format_duration(told.wait)}"
    if told.end is not None and told.start is not None:
        yield f"  ended     at {told.end:,.10g} s"


def _tell_cause(told: Explanation, cause: Cause) -> str:
    begin = format_duration(cause.start - (told.eligible or 0.0))
    return f"after {begin:>9}, for {format_duration(cause.duration):>9}: {cause.kind}: {cause.text}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    yield title
    yield from (f"  {line}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"  ... and {len(lines) - SHOWN:,} more (--json has all)"


def _tell_overtakers(told: Explanation) -> Iterator[str]:
    if told.eligible is None:
        return
    yield ""
    if not told.overtakers:
        yield "Nobody overtook it"
        return
    behind = sum(one.behind for one in told.overtakers)
    work = sum(one.cores * one.estimate for one in told.overtakers) / 3600
    title = (
        f"{_count(len(told.overtakers), 'job')} started meanwhile that stood behind it ({behind:,}) or came later "
        f"({sum(one.later for one in told.overtakers):,}), with {work:,.3g} core-hours by their estimates"
    )
    lines = [
        f"job {one.job}: {_count(one.cores, 'core')} for {format_duration(one.estimate)}, "
        f"after {format_duration(one.time - told.eligible)}"
        f"{'' if one.behind else ' (submitted later, but before it in the order)'}"
        for one in sorted(told.overtakers, key=lambda one: -one.cores * one.estimate)
    ]
    yield from _listed(f"{title}; the largest", lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _tell_foreseen(told: Explanation) -> Iterator[str]:
    if not told.foreseen or told.eligible is None:
        return
    yield ""
    lines = []
    for one in told.foreseen:
        ahead = format_duration(one.start - one.time)
        error = "" if told.start is None else f"; it was {_signed(told.start - one.start)}"
        lines.append(f"after {format_duration(one.time - told.eligible):>9}: in {ahead} ({one.how}){error}")
    first = told.foreseen[0]
    yield from _listed(f"Its start was first foreseen at {first.time:,.10g} s, and so", _thinned(lines))


def _thinned(lines: list[str]) -> list[str]:
    """The first, the last, and some in between."""
    if len(lines) <= SHOWN:
        return lines
    return [lines[round(i * (len(lines) - 1) / (SHOWN - 1))] for i in range(SHOWN)]


def _signed(seconds: float) -> str:
    if seconds == 0:
        return "on time"
    return f"{format_duration(abs(seconds))} {'later' if seconds > 0 else 'earlier'}"


def _tell_standings(told: Explanation) -> Iterator[str]:
    if not told.standings or told.eligible is None:
        return
    lines: list[tuple[str, str]] = []
    for one in told.standings:
        parts = ", ".join(f"{name} {value:.6g}" for name, value in one.parts.items())
        line = f"{one.ahead:,} before it, of {one.waiting:,} waiting{'; ' + parts if parts else ''}"
        if not lines or lines[-1][1] != line:
            lines.append((format_duration(one.time - told.eligible), line))
    yield ""
    yield from _listed("Its place in the order", _thinned([f"after {when:>9}: {line}" for when, line in lines]))


# --------------------------------------------------------------------------------------------------- as a picture

ORDER = ("resources", "limit", "reservation", "priority", "depth", "rhythm", "policy", "cluster")


def draw(told: Explanation) -> Chart:
    """The chart of an explanation: panels over the same time."""
    first = told.eligible if told.eligible is not None else told.submit
    clock = Clock.of(dict(told.origin), first)
    time = Axis(clock.describe(first, first if told.until is None else told.until), "time", low=first, high=told.until)
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
        marks.append(Line(kind, x, y, ORDER.index(kind), step=False, fill=True, base=base))
    if told.overtakers:
        at = np.array([one.time for one in told.overtakers])
        marks.append(Points("somebody overtook", at, np.full(len(at), float(len(kinds))), "ink"))
        kinds.append("overtaken")
    return Panel(time, Axis("", "category", categories=tuple(kinds)), tuple(marks), "What it waited for")


def _draw_standing(told: Explanation, time: Axis) -> Panel:
    x = np.array([one.time for one in told.standings] + [told.until or told.submit])
    ahead = [one.ahead for one in told.standings]
    waiting = [one.waiting for one in told.standings]
    marks = (
        Line("waiting in all", x, np.array(waiting + waiting[-1:], float), "muted", step=True),
        Line("before it", x, np.array(ahead + ahead[-1:], float), "waiting", step=True, fill=True),
    )
    return Panel(time, Axis("jobs", "count", low=0), marks if told.standings else (), "Its place in the order")


def _draw_foreseen(told: Explanation, time: Axis) -> Panel:
    marks = []
    for number, how in enumerate(dict.fromkeys(one.how for one in told.foreseen)):
        seen = [one for one in told.foreseen if one.how == how]
        later = [one.time for one in told.foreseen if one.time > seen[-1].time]
        x = np.array([one.time for one in seen] + [later[0] if later else told.until or seen[-1].time])
        y = np.array([one.start - one.time for one in seen] + [max(seen[-1].start - x[-1], 0.0)])
        marks.append(Line(f"foreseen ({how})", x, y, number))
    if told.start is not None and told.eligible is not None:
        ends = np.array([told.eligible, told.start])
        marks.append(Line("in truth", ends, told.start - ends, "ink", dashed=True))
    return Panel(time, Axis("until its start", "duration", low=0), tuple(marks), "How its start was foreseen")


def _draw_parts(told: Explanation, time: Axis) -> Panel:
    names = list(dict.fromkeys(name for one in told.standings for name in one.parts))
    x = np.array([one.time for one in told.standings])
    marks = tuple(
        Line(name, x, np.array([one.parts.get(name, np.nan) for one in told.standings]), number, step=True)
        for number, name in enumerate(names)
    )
    return Panel(time, Axis("priority"), marks, "What its priority was made of")
