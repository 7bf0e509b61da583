"""Conditions on a figure, as people write them: `p95_wait of queue gpu < 4h`, `core_seconds > 99% of present`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from walltime.analysis.headline import FIGURES
from walltime.analysis.metrics import KEYS
from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds

if TYPE_CHECKING:
    from walltime.experiments.answers.points import Points

PRESENT = "present"
"""The point that changes nothing: the scenario as it is."""
_FIGURE = r"\s*(?P<figure>[\w.]+)(?:\s+of\s+(?P<key>\w+)\s+(?P<name>\S+))?\s*"
_CONDITION = re.compile(_FIGURE + r"(?P<sign><=|>=|<|>)\s*(?P<bound>.+?)\s*")


@dataclass(frozen=True)
class Measure:
    """A figure of all jobs, or of those of one group: (key, name)."""

    figure: str
    group: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Of `mean_wait` or `p95_wait of queue gpu`; raises InputError."""
        found = re.fullmatch(_FIGURE, text)
        if found is None:
            raise InputError("a figure is FIGURE [of KEY NAME], such as `p95_wait of queue gpu`", value=text)
        return cls(found["figure"], _group(found))

    @property
    def text(self) -> str:
        """As people write it."""
        return f"{self.figure} of {' '.join(self.group)}" if self.group else self.figure

    def write(self, value: float) -> str:
        """A value, for a person."""
        known = {one.key: one.text for one in FIGURES}
        return known[self.figure](value) if self.figure in known else f"{value:,.4g}"

    def values(self, points: Points, label: str, first: int = 0, count: int | None = None) -> list[float]:
        """The value of each repetition of a point; raises InputError where one has none."""
        found = points.values(label, self.figure, self.group, first, count)
        known = [value for value in found if value is not None]
        if not known or len(known) < len(found):
            what = f"{self.group[0]} {self.group[1]}" if self.group else "the workload"
            raise InputError(f"not every run has a value of {self.figure}: {what} has no jobs in it", value=self.text)
        return known


@dataclass(frozen=True)
class FigureCondition:
    """A figure, of all jobs or of one group, that is to be below or above a bound.

    A bound that is `relative` is a share of the figure of the scenario as it is.
    """

    figure: str
    below: bool
    bound: float
    group: tuple[str, str] | None = None
    relative: bool = False
    text: str = ""

    @classmethod
    def parse(cls, text: str) -> FigureCondition:
        """Of `p95_wait of queue gpu < 4h` or `core_seconds > 99% of present`; raises InputError."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            what = "a condition is FIGURE [of KEY NAME] < VALUE, such as `p95_wait of queue gpu < 4h`"
            raise InputError(what, value=text)
        words, of, base = found["bound"].partition(" of ")
        if of and base.strip() != PRESENT:
            raise InputError("a bound is a value, or a percentage `of present`", value=found["bound"])
        return cls(found["figure"], found["sign"][0] == "<", _parse_bound(words), _group(found), bool(of), text.strip())

    @property
    def measure(self) -> Measure:
        """What it is about."""
        return Measure(self.figure, self.group)

    def find_bound(self, points: Points, first: int = 0, count: int | None = None) -> float:
        """The bound in the figure's unit; the present point must have been run where it is relative."""
        if not self.relative:
            return self.bound
        return self.bound * _mean(self.measure.values(points, PRESENT, first, count))

    def find_excess(self, points: Points, label: str, first: int = 0, count: int | None = None) -> float:
        """By how much of the bound the mean of a point is on its wrong side; 0 or less where it holds."""
        bound = self.find_bound(points, first, count)
        over = _mean(self.measure.values(points, label, first, count)) - bound
        return (over if self.below else -over) / (abs(bound) or 1.0)


def _group(found: re.Match[str]) -> tuple[str, str] | None:
    if not found["key"]:
        return None
    if found["key"] not in KEYS:
        raise InputError("unknown key to group by", value=found["key"], choices=KEYS)
    return found["key"], found["name"]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _parse_bound(text: str) -> float:
    """Seconds of `4h`, a share of `1%`, or a number."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return seconds(parse_duration(text))
