"""Why a job waited: an account that covers its whole life, as data, as text and as a picture. Times in seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from walltime.analysis.plots import Picture
from walltime.core.dates import show_date
from walltime.core.time import format_duration

ORDER = (
    "resources",
    "limit",
    "reservation",
    "priority",
    "depth",
    "rhythm",
    "policy",
    "cluster",
    "dependency",
    "begin",
    "array",
    "held",
    "outage",
    "reserved",
    "suspended",
    "paused",
)
"""The kinds of causes."""

SHOWN = 12
"""How many overtakers, reasons and predictions the text tells one by one."""


def tell_moment(seconds: float, origin: Mapping[str, Any]) -> str:
    """A moment for a person: a date, where the log tells when its time zero was."""
    if origin.get("epoch") is None:
        return f"{seconds:,.10g} s"
    return show_date(float(origin["epoch"]) + seconds, origin.get("timezone"))


@dataclass(frozen=True)
class WaitCause:
    """Why the job did not run from `start` to `end`.

    `kind` is one of ORDER; `text` says more; `facts` are what it tells: `needs` and `free` cores (the least;
    `most_free` the most), the job, limit or reservation concerned (`who`), the `jobs` that it waited for and the
    `conditions`.
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
class RunInterval:
    """The job had its resources from `start` to `end` (None: it still had them) and became `state` then; `text` says
    what ended it, where it was not the job itself, and `facts` the same."""

    start: float
    end: float | None
    state: str
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


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
class QueuePosition:
    """The job's place at a time: so many waited before it, of so many; and what its priority was made of."""

    time: float
    ahead: int
    waiting: int
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Foreseen:
    """At `time` the start was foreseen for `start`: promised by a reservation, by the plan of a
    backfill cycle, which the next one may change, or planned by us."""

    time: float
    start: float
    how: str


@dataclass(frozen=True)
class Explanation:
    """The life of one job in one result.

    `causes` and `runs` together follow each other without a gap from `submit` to its end, or to where the simulation
    ended; `eligible` is when it first began to wait for the scheduler, `start` its first start. `asked` are the
    standings at the moments that were asked for.
    """

    job: str
    facts: Mapping[str, Any]
    submit: float
    eligible: float | None
    start: float | None
    end: float | None
    until: float | None
    causes: tuple[WaitCause, ...]
    runs: tuple[RunInterval, ...]
    overtakers: tuple[Overtaker, ...]
    foreseen: tuple[Foreseen, ...]
    standings: tuple[QueuePosition, ...]
    asked: tuple[QueuePosition, ...] = ()
    notes: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def wait(self) -> float:
        """Seconds in which it did not run, from its submission on."""
        return sum(cause.duration for cause in self.causes)

    def when(self, seconds: float) -> str:
        """A moment for a person: a date, where the log tells when its time zero was."""
        return tell_moment(seconds, self.origin)

    def totals(self) -> dict[str, float]:
        """Seconds by kind of cause, the longest first; they add up to the wait."""
        sums: dict[str, float] = {}
        for cause in self.causes:
            sums[cause.kind] = sums.get(cause.kind, 0.0) + cause.duration
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def next_start(self, time: float) -> float | None:
        """When it first started at that time or later."""
        return next((run.start for run in self.runs if run.start >= time), None)

    def as_data(self) -> dict[str, Any]:
        """Everything, for JSON."""
        data = asdict(self)
        data["wait"], data["totals"] = self.wait, self.totals()
        return data

    def picture(self, **look: Any) -> Picture:
        """What it waited for, its place in the queue, and how its start was foreseen, over its wait."""
        from walltime.analysis.explain.chart import draw

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
        yield from _listed("In order", _tell_order(told))
    yield from _tell_overtakers(told)
    yield from _tell_foreseen(told)
    yield from _tell_standings(told)
    for one in told.asked:
        yield ""
        yield from _tell_parts(told, one)


def _tell_life(told: Explanation) -> Iterator[str]:
    yield f"  submitted at {told.when(told.submit)}"
    if told.eligible is None:
        yield "  it never began to wait"
        return
    if told.eligible > told.submit:
        held = f"{format_duration(told.eligible - told.submit)} in which it had to wait for its time or for others"
        yield f"  eligible  at {told.when(told.eligible)}, after {held}"
    if told.start is None:
        wait = format_duration((told.until or told.eligible) - told.eligible)
        yield f"  never started; the account ends at {told.when(told.until or told.eligible)}, after {wait}"
    else:
        yield f"  started   at {told.when(told.start)}, after a wait of {format_duration(told.start - told.eligible)}"
    if len(told.runs) > 1:
        yield f"  ran {len(told.runs)} times, and did not for {format_duration(told.wait)} in all"
    if told.end is not None and told.start is not None:
        yield f"  ended     at {told.when(told.end)}"


def _tell_order(told: Explanation) -> list[str]:
    """Causes, and between them the runs of a job that did not run once, to its own end."""
    lines: list[tuple[float, float | None, str]] = [
        (one.start, one.end, f"{one.kind}: {one.text}") for one in told.causes
    ]
    if len(told.runs) > 1 or any(run.text for run in told.runs):
        lines += [(run.start, run.end, _tell_run(run)) for run in told.runs]
    return [
        f"after {format_duration(start - told.submit):>9}, "
        f"{'to the last' if end is None else f'for {format_duration(end - start):>9}'}: {text}"
        for start, end, text in sorted(lines, key=lambda line: (line[0], line[1] is None))
    ]


def _tell_run(run: RunInterval) -> str:
    if run.text:
        return f"it ran; {run.text}"
    return "it ran" if run.state == "running" else f"it ran; {run.state}"


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
        yield "No job overtook it"
        return
    behind = sum(one.behind for one in told.overtakers)
    work = sum(one.cores * one.estimate for one in told.overtakers) / 3600
    amount = f"{work:,.0f}" if work >= 100 else f"{work:.3g}"
    title = (
        f"{_count(len(told.overtakers), 'job')} started meanwhile that stood behind it ({behind:,}) or came later "
        f"({sum(one.later for one in told.overtakers):,}), with {amount} core-hours by their estimates"
    )
    lines = [
        f"job {one.job}: {_count(one.cores, 'core')} for {format_duration(one.estimate)}, "
        f"after {format_duration(one.time - told.submit)}"
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
        start = told.next_start(one.time)
        error = "" if start is None else f"; it was {_signed(start - one.start)}"
        lines.append(f"after {format_duration(one.time - told.submit):>9}: in {ahead} ({one.how}){error}")
    first = told.foreseen[0]
    yield from _listed(f"Its start was first foreseen at {told.when(first.time)}, and so", _thinned(lines))


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
        parts = ", ".join(f"{name} {value:.6g}" for name, value in one.parts.items() if counts(one, name))
        line = f"{one.ahead:,} before it, of {one.waiting:,} waiting{'; ' + parts if parts else ''}"
        if not lines or lines[-1][1] != line:
            lines.append((format_duration(one.time - told.submit), line))
    yield ""
    yield from _listed("Its place in the order", _thinned([f"after {when:>9}: {line}" for when, line in lines]))


def counts(one: QueuePosition, name: str) -> bool:
    """Whether a part is worth a word in a line: not the factors and weights, and not what adds nothing."""
    return not name.endswith((".factor", ".weight")) and (f"{name}.factor" not in one.parts or one.parts[name] != 0)


def _tell_parts(told: Explanation, one: QueuePosition) -> Iterator[str]:
    """All that a priority is made of: what each factor adds, and its weight and value where it has them."""
    yield f"At {told.when(one.time)}: {one.ahead:,} before it, of {one.waiting:,} waiting"
    parts = one.parts
    if not parts:
        yield "  the order has no parts to tell"
    for name, value in parts.items():
        if name.endswith((".factor", ".weight")):
            continue
        line = f"  {name:<20}{value:>16,.6g}"
        if f"{name}.factor" in parts:
            line += f"  = {parts[f'{name}.weight']:,.6g} x {parts[f'{name}.factor']:.6g}"
        yield line
