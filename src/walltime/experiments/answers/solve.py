"""`solve`: the smallest or largest value of a scenario's key for which a condition on a figure holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import FIGURES
from walltime.analysis.metrics import KEYS
from walltime.analysis.solving import Solution, Want
from walltime.analysis.solving import solve as search
from walltime.analysis.verdict import Verdict
from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.experiments.answers.losers import REPLAY, judge_groups, tell_losers
from walltime.experiments.answers.points import PRESENT, Points
from walltime.experiments.grid import Range, write_label
from walltime.scenario import load

if TYPE_CHECKING:
    from walltime.analysis.charts.chart import Chart

_CONDITION = re.compile(
    r"\s*(?P<figure>[\w.]+)(?:\s+of\s+(?P<key>\w+)\s+(?P<name>\S+))?\s*(?P<sign><=|>=|<|>)\s*(?P<bound>.+?)\s*"
)


@dataclass(frozen=True)
class Condition:
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
    def parse(cls, text: str) -> Condition:
        """Of `p95_wait of queue gpu < 4h` or `core_seconds > 99% of present`; raises InputError."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            what = "a condition is FIGURE [of KEY NAME] < VALUE, such as `p95_wait of queue gpu < 4h`"
            raise InputError(what, value=text)
        group = (found["key"], found["name"]) if found["key"] else None
        if group is not None and group[0] not in KEYS:
            raise InputError("unknown key to group by", value=group[0], choices=KEYS)
        words, of, base = found["bound"].partition(" of ")
        if of and base.strip() != PRESENT:
            raise InputError("a bound is a value, or a percentage `of present`", value=found["bound"])
        return cls(found["figure"], found["sign"][0] == "<", _parse_bound(words), group, bool(of), text.strip())


@dataclass(frozen=True)
class Answer:
    """What was found: the value (None where the condition holds nowhere), the trials, and who loses by it."""

    key: str
    value: Any
    values: Sequence[Any]
    condition: Condition
    solution: Solution
    smallest: bool
    bound: float
    group: str
    losers: Sequence[Verdict] = ()
    closed: bool = False
    """Whether users react in it."""

    @property
    def sentences(self) -> list[str]:
        """The answer, warnings, who loses, and what a replay cannot know."""
        side = "smallest" if self.smallest else "largest"
        first = (
            f"{self.condition.text} holds for none of {write_label(self.values[0])} to {write_label(self.values[-1])}"
            if self.value is None
            else f"the {side} {self.key} with {self.condition.text} is {write_label(self.value)}{self._figure()}"
        )
        warnings = [f"Careful: {text}." for text in self.solution.warnings]
        told = tell_losers(self.losers, self.group) if self.losers else []
        return [f"{first}.", *warnings, *told, *([] if self.closed else [REPLAY])]

    def _figure(self) -> str:
        trial = next(one for one in self.solution.trials if self.values[one.place] == self.value)
        found, write = trial.figure, self.write
        if found.low is None or found.high is None:
            return f": {write(found.mean)}"
        return f": {write(found.mean)} ({write(found.low)} to {write(found.high)}; {found.count} seeds)"

    def write(self, value: float) -> str:
        """A value of the condition's figure, for a person."""
        known = {one.key: one.text for one in FIGURES}
        return known[self.condition.figure](value) if self.condition.figure in known else f"{value:,.4g}"

    def draw(self) -> Chart:
        """The curve with its interval."""
        from walltime.analysis.charts.response import draw_response

        group = f" of {' '.join(self.condition.group)}" if self.condition.group else ""
        tried = [(float(self.values[one.place]), one.figure) for one in self.solution.trials]
        found = None if self.value is None else float(self.value)
        return draw_response(self.key, f"{self.condition.figure}{group}", tried, self.bound, found)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        trials = [asdict(one) | {"value": self.values[one.place]} for one in self.solution.trials]
        return {
            **{"key": self.key, "value": self.value, "condition": self.condition.text, "bound": self.bound},
            **{"smallest": self.smallest, "runs": self.solution.runs, "trials": trials},
            **{"warnings": self.solution.warnings, "losers": [one.as_dict() for one in self.losers]},
            "sentences": self.sentences,
        }


def solve(
    points: Points,
    key: str,
    values: Range | Sequence[Any],
    condition: Condition | str,
    *,
    smallest: bool = True,
    zone: float = 0.05,
    error: float = 0.01,
    most: int = 100,
    losers: str = "size",
) -> Answer:
    """The smallest (or largest) of the values, in their order, for which the condition holds; raises InputError.

    `zone` is how near to the bound either answer will do, as a fraction of it; `error` the chance of a wrong answer;
    `most` the repetitions of one value. `losers` is the key by which the groups are judged that lose by the answer
    against the scenario as it is. `points` must keep tables by it, and by the condition's key.
    """
    wanted = Condition.parse(condition) if isinstance(condition, str) else condition
    given = values.numbers() if isinstance(values, Range) else list(values)
    if len(given) < 2:
        raise InputError("there must be at least two values to choose from", value=len(given))
    bound = wanted.bound
    if wanted.relative:
        points.add(PRESENT, {}, most if most < 10 else 10)
        points.run()
        bound *= _mean(points.values(PRESENT, wanted.figure, wanted.group), wanted)

    def respond(place: int, count: int) -> list[float]:
        points.add(write_label(given[place]), {key: given[place]}, count)
        points.run()
        found = points.values(write_label(given[place]), wanted.figure, wanted.group)[:count]
        _mean(found, wanted)
        return [value for value in found if value is not None]

    want = Want(bound, wanted.below, zone, error, most)
    solution = search(respond, len(given), want, smallest=smallest)
    value = None if solution.place is None else given[solution.place]
    judged = [] if value is None else _judge_losers(points, write_label(value), losers)
    users = load(points.base).users
    closed = users is not None and users.reacts
    return Answer(key, value, given, wanted, solution, smallest, bound, losers, judged, closed)


def _judge_losers(points: Points, label: str, key: str) -> list[Verdict]:
    """The groups of the answer against the scenario as it is, over as many seeds as the answer has."""
    points.add(PRESENT, {}, max(10, points.counts[label]))
    points.add(label, points.settings[label], 10)
    points.run()
    return judge_groups((PRESENT, points.tables(PRESENT, key)), (label, points.tables(label, key)), key)


def _mean(values: Sequence[float | None], wanted: Condition) -> float:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        who = f"{wanted.group[0]} {wanted.group[1]}" if wanted.group else "the workload"
        raise InputError(f"not every run has a value of {wanted.figure}: {who} has no jobs in it", value=wanted.text)
    return sum(known) / len(known)


def _parse_bound(text: str) -> float:
    """Seconds of `4h`, a share of `1%`, or a number."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return seconds(parse_duration(text))


def make_values(first: str, last: str, step: str | None) -> list[int | float]:
    """The values from `first` to `last`; whole numbers where both are, unless a step is given."""
    try:
        ends = [Fraction(text) for text in (first, last)]
        width = Fraction(step) if step is not None else Fraction(1)
    except (ValueError, ZeroDivisionError):
        raise InputError("the values go from a number to a number", value=f"{first} to {last}") from None
    if step is None and any(end.denominator != 1 for end in ends):
        raise InputError("values that are not whole numbers need a --step", value=f"{first} to {last}")
    if ends[1] <= ends[0] or width <= 0:
        raise InputError("the values go upwards, by a step above 0", value=f"{first} to {last}")
    return Range(start=float(ends[0]), stop=float(ends[1]), step=float(width)).numbers()
