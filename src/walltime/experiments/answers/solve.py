"""`solve`: the smallest or largest value of a scenario's key for which a condition on a figure holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from walltime.analysis.solving import FIRST, SearchGoal, Solution, find_first
from walltime.analysis.solving import solve as search
from walltime.analysis.verdict import LEAST_WEEKS, SEEDS, WEEKS, Verdict
from walltime.core.errors import InputError
from walltime.core.time import SECOND, parse_duration
from walltime.experiments.answers.conditions import PRESENT, FigureCondition
from walltime.experiments.answers.losers import REPLAY, Nobody, judge_groups, tell_losers
from walltime.experiments.answers.points import Points
from walltime.experiments.grid import Range, write_label

if TYPE_CHECKING:
    from walltime.analysis.charts.chart import Chart


@dataclass(frozen=True)
class Answer:
    """What was found: the value (None where the condition holds nowhere), the trials, and who loses by it."""

    key: str
    value: Any
    values: Sequence[Any]
    condition: FigureCondition
    solution: Solution
    smallest: bool
    bound: float
    group: str
    losers: Sequence[Verdict] = ()
    nobody: Nobody | None = None
    basis: str = SEEDS
    closed: bool = False
    """Whether users react in it."""

    @property
    def sentences(self) -> list[str]:
        """The answer, warnings, who loses, and what a replay cannot know."""
        side = "smallest" if self.smallest else "largest"
        wanted = self.condition.text + (f" and {self.nobody.text}" if self.nobody else "")
        first = (
            f"{wanted} holds for none of {write_label(self.values[0])} to {write_label(self.values[-1])}"
            if self.value is None
            else f"the {side} {self.key} with {wanted} is {write_label(self.value)}{self._figure()}"
        )
        warnings = [f"Careful: {text}." for text in self.solution.warnings]
        losers = [] if self.value is None else tell_losers(self.losers, self.group)
        replay = [] if self.closed else [REPLAY]
        return [f"{first}.", *warnings, *self.solution.notes, *losers, *replay]

    def _figure(self) -> str:
        trial = next(one for one in self.solution.trials if self.values[one.place] == self.value)
        found, write = trial.figure, self.write
        if found.low is None or found.high is None:
            return f": {write(found.mean)}"
        return f": {write(found.mean)} ({write(found.low)} to {write(found.high)}; {found.count} {self.basis})"

    def write(self, value: float) -> str:
        """A value of the condition's figure, for a person."""
        return self.condition.measure.write(value)

    def draw(self) -> Chart:
        """The curve with its interval."""
        from walltime.analysis.charts.response import draw_response

        tried = [(float(self.values[one.place]), one.figure) for one in self.solution.trials]
        found = None if self.value is None else float(self.value)
        return draw_response(self.key, self.condition.measure.text, tried, self.bound, found)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        trials = [asdict(one) | {"value": self.values[one.place]} for one in self.solution.trials]
        return {
            **{"key": self.key, "value": self.value, "condition": self.condition.text, "bound": self.bound},
            **{"nobody": self.nobody and self.nobody.text, "basis": self.basis},
            **{"smallest": self.smallest, "runs": self.solution.runs, "trials": trials},
            **{"warnings": self.solution.warnings, "losers": [one.as_dict() for one in self.losers]},
            "sentences": self.sentences,
        }


def solve(
    points: Points,
    key: str,
    values: Range | Sequence[Any],
    condition: FigureCondition | str,
    *,
    smallest: bool = True,
    zone: float = 0.05,
    error: float = 0.01,
    most: int = 100,
    losers: str = "size",
    nobody: Nobody | None = None,
) -> Answer:
    """The smallest (or largest) of the values, in their order, for which the condition holds; raises InputError.

    `zone` is how near to the bound either answer will do, as a fraction of it; `error` the chance of a wrong answer;
    `most` the repetitions of one value. `losers` is the key by which the groups are judged that lose by the answer
    against the scenario as it is; by `nobody`'s constraint no group may lose too much. `points` must keep tables by its
    key, by `losers`, and by the condition's.
    """
    wanted = FigureCondition.parse(condition) if isinstance(condition, str) else condition
    given = values.numbers() if isinstance(values, Range) else list(values)
    if len(given) < 2:
        raise InputError("there must be at least two values to choose from", value=len(given))
    if wanted.relative or nobody is not None or points.basis == WEEKS:
        points.add(PRESENT, {}, min(most, 10))
        points.run()
    most = points.count(PRESENT) if points.basis == WEEKS else most
    want = SearchGoal(wanted.find_bound(points), wanted.below, zone, error, most)
    for place in find_first(len(given)):  # on all workers at once
        points.add(write_label(given[place]), {key: given[place]}, FIRST)
    trials = _Trials(points, key, given, wanted, want.bound, nobody)
    solution = search(trials.respond, len(given), want, smallest=smallest, check=trials.check)
    solution.notes += trials.notes
    if points.basis == WEEKS and most < LEAST_WEEKS:
        weeks = f"{most} weeks are" if most > 1 else "one week is"
        solution.warnings.append(f"{weeks} sensitivity only; a verdict needs at least {LEAST_WEEKS}")
    value = None if solution.place is None else given[solution.place]
    judged = [] if value is None else _judge_losers(points, write_label(value), losers)
    return Answer(
        key, value, given, wanted, solution, smallest, want.bound, losers, judged, nobody, points.basis, points.closed
    )


@dataclass
class _Trials:
    """The values of a key as points of the search."""

    points: Points
    key: str
    values: Sequence[Any]
    wanted: FigureCondition
    bound: float
    nobody: Nobody | None
    notes: list[str] = field(default_factory=list)

    def respond(self, place: int, count: int) -> list[float]:
        """The figure of the first so many seeds, or of every week."""
        label = write_label(self.values[place])
        self.points.add(label, {self.key: self.values[place]}, count)
        if self.wanted.relative:
            self.points.add(PRESENT, {}, count)
        self.points.run()
        least = None if self.points.basis == WEEKS else count
        found = self.wanted.measure.values(self.points, label, count=least)
        return self._pair(found, least) if self.wanted.relative else found

    def _pair(self, found: list[float], count: int | None) -> list[float]:
        """Less what chance gave to the present too: against the bound each is as its repetition of the present is."""
        present = self.wanted.measure.values(self.points, PRESENT, count=count)
        usual = self.bound / self.wanted.bound
        return [value - self.wanted.bound * (base - usual) for value, base in zip(found, present, strict=True)]

    def check(self, place: int) -> bool:
        """Whether no group loses too much, over as many repetitions as the value has."""
        if self.nobody is None:
            return True
        label = write_label(self.values[place])
        self.points.add(PRESENT, {}, self.points.counts[label])
        self.points.run()
        excess, name = self.nobody.measure(self.points, label, count=self.points.count(label))
        if excess > 0:
            change = 100 * (excess + self.nobody.worse)
            self.notes.append(f"At {label}, {self.nobody.key} {name} has {change:+.0f} % {self.nobody.metric}.")
        return excess <= 0


def _judge_losers(points: Points, label: str, key: str) -> list[Verdict]:
    """The groups of the answer against the scenario as it is, over as many repetitions as the answer has."""
    points.add(PRESENT, {}, max(10, points.counts[label]))
    points.add(label, points.settings[label], 10)
    points.run()
    sides = [(one, points.tables(one, key)) for one in (PRESENT, label)]
    return judge_groups(sides[0], sides[1], key, basis=points.basis)


def make_values(first: str, last: str, step: str | None) -> list[int | float]:
    """The values from `first` to `last`, durations in seconds; whole numbers where both are, unless a step is given."""
    try:
        ends = [_read(text) for text in (first, last)]
        width = _read(step) if step is not None else Fraction(1)
    except (InputError, ZeroDivisionError):
        what = "the values go from a number or duration to another"
        raise InputError(what, value=f"{first} to {last}") from None
    if step is None and any(end.denominator != 1 for end in ends):
        raise InputError("values that are not whole numbers need a --step", value=f"{first} to {last}")
    if ends[1] <= ends[0] or width <= 0:
        raise InputError("the values go upwards, by a step above 0", value=f"{first} to {last}")
    return Range(start=float(ends[0]), stop=float(ends[1]), step=float(width)).numbers()


def _read(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ValueError:
        return Fraction(parse_duration(text), SECOND)
