"""`tune`: settings of several keys that make objectives small or large under constraints, and whether that holds.

What is tuned on some repetitions looks better there than it is. So the best are run on others, seeds or weeks that
the search has not seen, and judged there against the scenario as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from walltime.analysis.noise import estimate
from walltime.analysis.verdict import WEEKS, Verdict, adjust, judge
from walltime.core.errors import InputError
from walltime.experiments.answers.choices import Choice, find_present, name_setting
from walltime.experiments.answers.conditions import PRESENT, FigureCondition, Measure
from walltime.experiments.answers.losers import Nobody, judge_groups
from walltime.experiments.answers.points import Points
from walltime.experiments.answers.proposals import Proposals
from walltime.experiments.answers.sensitivity import KeyEffect, find_effects
from walltime.experiments.answers.tuned import Candidate, Tried, Tuned

BATCH = 8
MOST_CANDIDATES = 5
"""Settings of a Pareto front that are run on other repetitions."""


@dataclass(frozen=True)
class Objective:
    """A figure that is to become small (`least`) or large."""

    measure: Measure
    least: bool = True

    @classmethod
    def parse(cls, text: str, *, least: bool = True) -> Objective:
        """Of `p95_wait of queue gpu`; raises InputError."""
        return cls(Measure.parse(text), least)


@dataclass(frozen=True)
class Wish:
    """What is to be tuned: the keys, the objectives, and what must hold."""

    choices: Sequence[Choice]
    objectives: Sequence[Objective]
    conditions: Sequence[FigureCondition] = ()
    nobody: Nobody | None = None

    def __post_init__(self) -> None:
        keys = [choice.key for choice in self.choices]
        if not keys or not self.objectives:
            raise InputError("there must be a key to tune, and an objective")
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise InputError("a key is to be tuned twice", value=twice)

    @property
    def groups(self) -> list[str]:
        """The keys by which tables must be kept."""
        measures = [*(one.measure for one in self.objectives), *(one.measure for one in self.conditions)]
        found = [measure.group[0] for measure in measures if measure.group is not None]
        return [*found, *([self.nobody.key] if self.nobody else [])]


def tune(
    points: Points,
    wish: Wish,
    *,
    trials: int = 40,
    batch: int = BATCH,
    repetitions: int = 5,
    others: int = 10,
    seed: int = 0,
    losers: str = "size",
) -> Tuned:
    """The best of `trials` settings, or the front of them where there are several objectives; raises InputError.

    The search goes by the mean over `repetitions` seeds; the best are judged on `others` seeds after those. Of one
    trace the first half of the weeks is tuned on and the second is the other. `points` must keep tables by the wish's
    groups and by `losers`. Nothing depends on the number of workers; what the store has is not run again.
    """
    if min(trials, batch, repetitions, others) < 1:
        raise InputError("trials, batch, repetitions and others are at least 1", value=min(trials, batch, repetitions))
    proposals = Proposals(wish.choices, [one.least for one in wish.objectives], seed=seed, batch=batch)
    points.add(PRESENT, {}, repetitions)
    points.run()
    if points.basis == WEEKS:
        weeks = points.count(PRESENT)
        if weeks < 2:
            what = "a trace of one week has no other for the best to be judged on: give a longer one, or a model of it"
            raise InputError(what, value=f"{weeks} week{'' if weeks == 1 else 's'}")
        repetitions, others = weeks // 2, weeks - weeks // 2
    search = _Search(points, wish, repetitions)
    present = search.measure(0, PRESENT, {})
    if (drawn := find_present(wish.choices, points.data)) is not None:
        proposals.begin_with(drawn)
    while len(search.tried) < trials:
        proposals.tell(search.run_batch(proposals.ask()))
    found = _find_front([one for one in search.tried[:trials] if one.holds], wish.objectives)
    chosen = _spread(found)
    judged = _Judge(points, wish, repetitions, others, losers)
    candidates = judged.judge(chosen)
    effects = judged.find_effects(chosen[0]) if chosen else []
    counts = (repetitions, others)
    tried = search.tried[:trials]
    return Tuned(wish, tried, present, found, candidates, effects, points.basis, counts, losers, points.closed)


class _Search:
    """The trials of a search, measured over the first so many repetitions."""

    def __init__(self, points: Points, wish: Wish, count: int) -> None:
        self.points, self.wish, self.count = points, wish, count
        self.tried: list[Tried] = []

    def run_batch(self, settings: Sequence[dict[str, Any]]) -> list[tuple[list[float], list[float]]]:
        """Run a batch, and tell the objectives and excesses of each of its settings."""
        labels = [name_setting(self.wish.choices, setting) for setting in settings]
        for label, setting in zip(labels, settings, strict=True):
            self.points.add(label, setting, self.count)
        self.points.add(PRESENT, {}, self.count)
        self.points.run()
        found = []
        for label, setting in zip(labels, settings, strict=True):
            one = self.measure(len(self.tried) + 1, label, setting)
            self.tried.append(one)
            found.append(([figure.mean for figure in one.figures], list(one.excesses)))
        return found

    def measure(self, number: int, label: str, setting: dict[str, Any]) -> Tried:
        """A trial of a point that was run."""
        figures = [estimate(one.measure.values(self.points, label, count=self.count)) for one in self.wish.objectives]
        excesses = find_excesses(self.points, self.wish, label, 0, self.count)
        return Tried(number, label, setting, tuple(figures), tuple(excess for excess, _ in excesses))


class _Judge:
    """The best settings on repetitions that the search has not seen."""

    def __init__(self, points: Points, wish: Wish, first: int, count: int, losers: str) -> None:
        self.points, self.wish, self.first, self.count, self.losers = points, wish, first, count, losers

    def judge(self, chosen: Sequence[Tried]) -> list[Candidate]:
        """Each against the present setting; verdicts are corrected for their number, all together."""
        self._run([(one.label, one.setting) for one in chosen])
        compared = [self.compare(one.label, PRESENT) for one in chosen]
        corrected = iter(adjust([verdict for verdicts in compared for verdict in verdicts]))
        made = []
        for one, verdicts in zip(chosen, compared, strict=True):
            before, after = (
                (name, self.points.tables(name, self.losers, self.first, self.count)) for name in (PRESENT, one.label)
            )
            made.append(
                Candidate(
                    one,
                    tuple(next(corrected) for _ in verdicts),
                    tuple(find_excesses(self.points, self.wish, one.label, self.first, self.count)),
                    tuple(judge_groups(before, after, self.losers, basis=self.points.basis)),
                )
            )
        return made

    def find_effects(self, best: Tried) -> list[KeyEffect]:
        """What each key does around the best setting."""
        varied = [
            (choice, value, best.setting | {choice.key: value})
            for choice in self.wish.choices
            for value in choice.spread()
            if value != best.setting[choice.key]
        ]
        labels = [name_setting(self.wish.choices, setting) for _, _, setting in varied]
        self._run([(label, setting) for label, (_, _, setting) in zip(labels, varied, strict=True)])
        compared = [self.compare(label, best.label) for label in labels]
        changed = [(choice, value) for choice, value, _ in varied]
        return find_effects(changed, compared, best.setting)

    def compare(self, label: str, baseline: str) -> list[Verdict]:
        """The objectives of a point against another's, on these repetitions; not yet corrected."""
        return [
            judge(one.measure.text, self._side(label, one), self._side(baseline, one), basis=self.points.basis)
            for one in self.wish.objectives
        ]

    def _side(self, label: str, objective: Objective) -> tuple[str, list[float]]:
        return label, objective.measure.values(self.points, label, self.first, self.count)

    def _run(self, wanted: Sequence[tuple[str, dict[str, Any]]]) -> None:
        for label, setting in [(PRESENT, {}), *wanted]:
            self.points.add(label, setting, self.first + self.count)
        self.points.run()


def find_excesses(points: Points, wish: Wish, label: str, first: int, count: int) -> list[tuple[float, str]]:
    """By how much a point exceeds each constraint over these repetitions (0 or less: it holds), with its words."""
    found = [(one.find_excess(points, label, first, count), one.text) for one in wish.conditions]
    if wish.nobody is not None:
        excess, name = wish.nobody.measure(points, label, first, count)
        found.append((excess, f"{wish.nobody.text}" + (f" ({wish.nobody.key} {name})" if excess > 0 else "")))
    return found


def _find_front(tried: Sequence[Tried], objectives: Sequence[Objective]) -> list[Tried]:
    """The settings that no other is as good as in every objective and better in one; each once, by the first of them.

    With one objective that is the best.
    """
    signs = [1.0 if one.least else -1.0 for one in objectives]
    known = {one.label: one for one in reversed(tried)}
    values = {
        label: tuple(sign * figure.mean for sign, figure in zip(signs, one.figures, strict=True))
        for label, one in known.items()
    }

    def is_beaten(own: tuple[float, ...]) -> bool:
        others = (other for other in values.values() if other != own)
        return any(all(a <= b for a, b in zip(other, own, strict=True)) for other in others)

    front = sorted((label for label, own in values.items() if not is_beaten(own)), key=lambda label: values[label])
    alike: dict[tuple[float, ...], Tried] = {}
    for label in front:
        first = alike.get(values[label])
        if first is None or known[label].number < first.number:
            alike[values[label]] = known[label]
    return list(alike.values())


def _spread(front: Sequence[Tried]) -> list[Tried]:
    """At most so many of the front as are judged: from one end to the other."""
    if len(front) <= MOST_CANDIDATES:
        return list(front)
    return [front[round(index * (len(front) - 1) / (MOST_CANDIDATES - 1))] for index in range(MOST_CANDIDATES)]
