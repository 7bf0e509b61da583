"""A measured figure beside its target, as a line of a table and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.measuring import Timing

WIDTH = 128
_HEADINGS = ("", "median", "best", "target", "", "twin", "release")


@dataclass(frozen=True)
class Target:
    """A bound that the median should keep."""

    bound: float
    at_least: bool

    def met_by(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


def at_least(bound: float) -> Target:
    return Target(bound, at_least=True)


def at_most(bound: float) -> Target:
    return Target(bound, at_least=False)


@dataclass(frozen=True)
class Figure:
    """One measurement: the median of its repetitions, and the best of them.

    `twin` is how many times faster the engine is than its reference twin on the same jobs, in the same process.
    """

    case: str
    what: str
    median: float
    best: float
    unit: str
    target: Target | None = None
    twin: float | None = None
    repeats: int = 1

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        return None if self.target is None else self.target.met_by(self.median)

    def line(self, ratio: float | None = None) -> str:
        """The figure as a line of the table; `ratio` is its cost over that of the last release."""
        target = "" if self.target is None else f"{'>=' if self.target.at_least else '<='} {self.target.bound:g}"
        verdict = {None: "", True: "ok", False: "MISSED"}[self.met]
        twin = "" if self.twin is None else f"{self.twin:,.0f} x"
        median, best = f"{_number(self.median)} {self.unit}", _number(self.best)
        return _line(self.what, median, best, target, verdict, twin, "" if ratio is None else f"{ratio:.2f}")

    def as_data(self) -> dict[str, Any]:
        """The same for a program."""
        return asdict(self) | {"met": self.met}


def speed(
    case: str, what: str, jobs: int, timing: Timing, target: Target | None = None, twin: float | None = None
) -> Figure:
    """Jobs per CPU second, in millions."""
    median, best = (jobs / seconds / 1e6 for seconds in (timing.median, timing.best))
    return Figure(case, what, median, best, "M jobs/s", target, twin, len(timing.runs))


def seconds(case: str, what: str, timing: Timing, target: Target | None = None) -> Figure:
    """CPU seconds."""
    return Figure(case, what, timing.median, timing.best, "s", target, None, len(timing.runs))


def per_item(case: str, what: str, count: int, timing: Timing, target: Target | None = None) -> Figure:
    """Microseconds for one of so many."""
    median, best = (1e6 * seconds / count for seconds in (timing.median, timing.best))
    return Figure(case, what, median, best, "us", target, None, len(timing.runs))


def headings() -> str:
    """The line above a table."""
    return _line(*_HEADINGS)


def _line(what: str, median: str, best: str, target: str, verdict: str, twin: str, ratio: str) -> str:
    return f"{what:<62}{median:>18}{best:>10}{target:>10} {verdict:<7}{twin:>9}{ratio:>9}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
