"""The smallest or largest value for which a condition holds, found by halving, with noise in every answer.

A value's figure is a mean over repetitions. Each decision, whether the figure is below or above what is wanted, is made
in two stages: if the interval of the first repetitions leaves out the wanted value, it decides; if not, so many more
are run that their mean is right with the wanted confidence wherever the figure is farther from the bound than the
indifference zone (C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance",
Annals of Mathematical Statistics 16, 1945). The error that may be made is shared by all decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from walltime.analysis.noise import Interval, estimate
from walltime.analysis.statistics import student_quantile

FIRST = 5
"""Repetitions of the first stage."""
SPREAD = 5
"""Values from one end to the other that are tried first: bracket, curve, and a look whether it is monotone."""

Respond = Callable[[int, int], Sequence[float]]
"""The figures of the first so many repetitions at the value of this number."""


@dataclass(frozen=True)
class SearchGoal:
    """What is wanted of the figure: to be `below` (or not) `bound`, give or take `zone` (a fraction of the bound)."""

    bound: float
    below: bool = True
    zone: float = 0.05
    error: float = 0.01
    """The chance of a wrong answer that may be taken."""
    most: int = 200
    """Repetitions of one value that are not to be exceeded."""

    @property
    def width(self) -> float:
        """Half of the indifference zone, in the figure's unit."""
        return self.zone * abs(self.bound)


@dataclass(frozen=True)
class TriedValue:
    """One value that was tried: its number, the figure with its interval, and whether the condition holds."""

    place: int
    figure: Interval
    holds: bool
    sure: bool
    """Whether the interval, or the two stages, decided with the wanted confidence; not where `most` cut them short."""
    inside: bool
    """Whether the figure's interval is within the indifference zone: either answer is as good."""


@dataclass
class Solution:
    """What was found: the number of the value, None where the condition holds nowhere; and all that was tried."""

    place: int | None
    trials: list[TriedValue]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: int = 0


def solve(
    respond: Respond,
    count: int,
    want: SearchGoal,
    *,
    smallest: bool = True,
    check: Callable[[int], bool] = lambda place: True,
) -> Solution:
    """The smallest (or largest) of the values 0 to `count` - 1 for which the condition holds, by halving.

    `check` is a further condition on a value whose figure was found to be good. The response is taken to be monotone;
    where the trials say otherwise, the answer is the value from which on all that were tried hold, and a warning says
    so.
    """
    search = _Search(respond, count, want, smallest, check)
    for place in find_first(count):
        search.decide(place)
    while (middle := search.middle()) is not None:
        search.decide(middle)
    return search.finish()


def find_first(count: int) -> list[int]:
    """The values that are tried whatever comes out, so that they may be run together."""
    return sorted({round(step * (count - 1) / (SPREAD - 1)) for step in range(SPREAD)})


@dataclass
class _Search:
    respond: Respond
    count: int
    want: SearchGoal
    smallest: bool
    check: Callable[[int], bool]
    known: dict[int, TriedValue] = field(default_factory=dict)

    def decide(self, place: int) -> None:
        """Try a value, with more repetitions where the first do not tell."""
        want = self.want
        error = want.error / (2 * self.decisions())
        values = np.asarray(self.respond(place, FIRST), np.float64)
        first = estimate(values, 1 - 2 * error)
        sure = first.low is not None and first.high is not None and not first.low <= want.bound <= first.high
        if not sure:
            needed = self.count_needed(first.deviation or 0.0, error)
            values = np.asarray(self.respond(place, min(needed, want.most)), np.float64)
            sure = needed <= want.most
        figure = estimate(values)
        holds = (figure.mean < want.bound) == want.below and self.check(place)
        near = Interval(figure.mean - want.bound, None, *_shift(figure, want.bound), figure.count)
        self.known[place] = TriedValue(place, figure, holds, sure, near.is_within(want.width))

    def count_needed(self, deviation: float, error: float) -> int:
        """Stein's second stage: with so many repetitions the mean is within the zone of the truth."""
        if not self.want.width:
            return self.want.most + 1
        reach = student_quantile(1 - error, FIRST - 1) * deviation / self.want.width
        return max(FIRST, math.ceil(reach**2))

    def decisions(self) -> int:
        """How many decisions there can be: those at the beginning, and the halvings of what is between two of them."""
        return SPREAD + max(1, math.ceil(math.log2(max(2, self.count / (SPREAD - 1)))))

    def ordered(self) -> list[TriedValue]:
        """The trials from the side where the condition is to fail to the side where it is to hold."""
        return sorted(self.known.values(), key=lambda one: one.place if self.smallest else -one.place)

    def middle(self) -> int | None:
        """Half way between the last value that fails and those after it that all hold; None where nothing is left."""
        fails, holds = self.bracket()
        if holds is None or fails is None or abs(holds.place - fails.place) <= 1:
            return None
        return (holds.place + fails.place) // 2

    def bracket(self) -> tuple[TriedValue | None, TriedValue | None]:
        fails, holds = None, None
        for one in reversed(self.ordered()):
            if not one.holds:
                fails = one
                break
            holds = one
        return fails, holds

    def finish(self) -> Solution:
        _, holds = self.bracket()
        trials = sorted(self.known.values(), key=lambda one: one.place)
        found = Solution(None if holds is None else holds.place, trials, runs=sum(one.figure.count for one in trials))
        ordered = self.ordered()
        if holds is None and any(one.holds for one in ordered):
            found.warnings.append("it holds at some values, but not at the end where it should hold first")
        changes = sum(one.holds != other.holds for one, other in pairwise(ordered))
        if changes > 1:
            found.warnings.append("the response is not monotone: the condition holds, fails and holds again")
        elif bends := _find_bends(trials):
            found.warnings.append(f"the response is not monotone: it turns at {bends} of the tried values")
        if any(not one.sure and not one.inside for one in trials):
            found.warnings.append(f"not all decisions are sure: {self.want.most} repetitions did not suffice")
        return found


def _shift(interval: Interval, by: float) -> tuple[float | None, float | None]:
    low, high = interval.low, interval.high
    return (None if low is None else low - by), (None if high is None else high - by)


def _find_bends(trials: Sequence[TriedValue]) -> int:
    """How often the response clearly goes against its own direction: by intervals that do not overlap."""
    steps = []
    for one, other in pairwise(trials):
        first, second = one.figure, other.figure
        if None in (first.low, first.high, second.low, second.high):
            continue
        if second.low > first.high:  # type: ignore[operator]
            steps.append(1)
        elif second.high < first.low:  # type: ignore[operator]
            steps.append(-1)
    return sum(step != steps[0] for step in steps) if steps else 0
