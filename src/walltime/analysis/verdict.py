"""The verdict: what a figure of one scenario says against another's, with intervals, in one object and one sentence.

The command line, the report and Python all take it from here. A verdict is over repetitions, runs under other seeds or
weeks of one trace. Shaken submissions tell how far chance in arrival times moves a figure, its noise floor, and nothing
of other weeks; fewer than ten weeks tell how sensitive it is: neither gives an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from walltime.analysis.headline import FIGURES, SAME, SENSITIVITY, Figure
from walltime.analysis.noise import (
    LEAST_BOOTSTRAP,
    MOST_BOOTSTRAP,
    Interval,
    bootstrap,
    correct,
    count_needed,
    estimate,
    estimate_ratio,
    find_detectable,
    find_probability,
)
from walltime.core.errors import InputError

SEEDS, WEEKS, SHAKEN = "seeds", "weeks", "shaken"
"""What the repetitions are: runs under other seeds, weeks of one trace, or the same jobs with shaken submissions."""
LEAST_WEEKS = 10
"""Fewer weeks give no verdict."""
SIGNIFICANT = 0.05
LESS, MORE, EQUAL, NONE = "less", "more", "equal", "no difference"
FLOOR = "noise floor"
OUTCOMES = (LESS, MORE, EQUAL, NONE, SAME, SENSITIVITY, FLOOR)
"""`less` and `more` than the baseline; `equal` within a margin; `no difference` found; `the same` in every repetition;
`sensitivity`, where there are too few repetitions for an interval; `noise floor`, for shaken submissions."""

Repetitions = Mapping[Any, Mapping[str, Any]]
"""The figures of each repetition of one scenario, by what pairs it with another's: the seed, or the week."""


@dataclass(frozen=True)
class Verdict:
    """One figure of a scenario against a baseline's.

    `before` and `after` are the means of both. `difference` is after - before in the figure's unit, `relative` the same
    as a fraction of the baseline's mean, with Fieller's interval; `bootstrap` that fraction, or where there is none the
    difference, with the bootstrap's. `probability` is that of a paired t-test and `adjusted` the same after Holm's
    correction for `comparisons`. `effect` is the mean difference in standard deviations of the differences. `floor` is
    the range over shaken submissions. `detectable` is the smallest difference, as `relative` where that is told, that
    would have been found with 80 % power, and `needed` how many repetitions would show the one that was seen (or the
    margin, where one is set).
    """

    metric: str
    subject: str
    baseline: str
    basis: str
    count: int
    before: float
    after: float
    difference: Interval
    relative: Interval | None
    outcome: str
    bootstrap: Interval | None = None
    probability: float | None = None
    adjusted: float | None = None
    comparisons: int = 1
    effect: float | None = None
    margin: float | None = None
    floor: tuple[float, float] | None = None
    detectable: float | None = None
    needed: int | None = None

    @property
    def figure(self) -> Figure:
        """How the figure is called and written, and which direction is good."""
        key, of, group = self.metric.partition(" of ")  # `p95_wait of queue gpu`
        found = next((figure for figure in FIGURES if figure.key == key), Figure(key, key, _number, 0))
        return replace(found, words=f"{found.words} of {group}") if of else found

    @property
    def is_better(self) -> bool | None:
        """Whether the baseline is beaten; None where nothing was found or neither direction is good."""
        if self.outcome not in (LESS, MORE) or not self.figure.better:
            return None
        return (self.outcome == MORE) == (self.figure.better > 0)

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        return _SENTENCES.get(self.outcome, _tell_difference)(self)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self) | {"sentence": self.sentence}


def judge(
    metric: str,
    subject: tuple[str, Sequence[float] | np.ndarray],
    baseline: tuple[str, Sequence[float] | np.ndarray],
    *,
    basis: str = SEEDS,
    margin: float | None = None,
) -> Verdict:
    """One figure of two scenarios, each with its name and its values: value i of both is of the same repetition.

    `margin` is a fraction of the baseline's mean below which a difference does not matter. Of many verdicts, `adjust`
    corrects those that belong together. Raises InputError for nothing to compare.
    """
    values, base = (np.asarray(side[1], np.float64) for side in (subject, baseline))
    if len(values) != len(base) or not len(values):
        raise InputError(f"{subject[0]} and {baseline[0]} have no repetition in common with a value of", value=metric)
    if margin is not None and not 0 < margin < 1:
        raise InputError("a margin is a percentage between 0 and 100", value=f"{100 * margin:g} %")
    changes = values - base
    means = float(base.mean()), float(values.mean())
    intervals = estimate(changes), estimate_ratio(values, base)
    found = Verdict(metric, subject[0], baseline[0], basis, len(values), *means, *intervals, SAME, margin=margin)
    if not changes.any():
        return found
    if basis == SHAKEN:
        scale = abs(found.before) or 1.0
        ends = float(changes.min()) / scale, float(changes.max()) / scale
        return _without_intervals(replace(found, outcome=FLOOR, floor=ends))
    if len(values) < (LEAST_WEEKS if basis == WEEKS else 2) or not (np.ptp(values) or np.ptp(base)):
        return _without_intervals(replace(found, outcome=SENSITIVITY, needed=LEAST_WEEKS if basis == WEEKS else None))
    return _decide(_measure(found, values, base, changes), values, base)


def _measure(found: Verdict, values: np.ndarray, base: np.ndarray, changes: np.ndarray) -> Verdict:
    """The verdict with all that does not depend on other comparisons."""
    deviation, mean = found.difference.deviation or 0.0, found.difference.mean
    scale = abs(found.before) if found.relative is not None else 1.0
    wanted = mean if found.margin is None else found.margin * scale
    drawn: Interval | None = None
    if LEAST_BOOTSTRAP <= found.count <= MOST_BOOTSTRAP:
        absolute, relative = bootstrap(values, base)
        drawn = relative if found.relative is not None and relative is not None else absolute
    return replace(
        found,
        bootstrap=drawn,
        probability=find_probability(changes),
        adjusted=find_probability(changes),
        effect=mean / deviation if deviation else None,
        detectable=find_detectable(deviation, found.count) / scale,
        needed=count_needed(deviation, wanted),
    )


def _decide(found: Verdict, values: np.ndarray, base: np.ndarray) -> Verdict:
    """The outcome: equal, where the 90 % interval is inside the margin (two one-sided tests); else by the t-test."""
    if found.margin is not None:
        narrow = estimate_ratio(values, base, 1 - 2 * SIGNIFICANT)
        if narrow is not None and narrow.is_within(found.margin):
            return replace(found, outcome=EQUAL)
    return replace(found, outcome=_side(found))


def _side(found: Verdict) -> str:
    if found.adjusted is None or found.adjusted >= SIGNIFICANT:
        return NONE
    return LESS if found.difference.mean < 0 else MORE


def _without_intervals(found: Verdict) -> Verdict:
    """The verdict without what it must not claim."""
    bare = replace(found.difference, low=None, high=None)
    relative = None if found.relative is None else replace(found.relative, low=None, high=None)
    if relative is None and found.before:
        change = found.difference.mean / abs(found.before)
        relative = Interval(change, None, None, None, found.count)
    return replace(found, difference=bare, relative=relative)


def adjust(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of one question, corrected for their number by Holm's method."""
    tested = [one.probability for one in verdicts if one.probability is not None]
    corrected = iter(correct(tested))
    made = []
    for one in verdicts:
        if one.probability is not None:
            one = replace(one, adjusted=next(corrected), comparisons=len(tested))
            one = one if one.outcome == EQUAL else replace(one, outcome=_side(one))
        made.append(one)
    return made


def judge_all(
    sides: Mapping[str, Repetitions],
    metrics: Sequence[str],
    *,
    baseline: str | None = None,
    basis: str = SEEDS,
    margins: Mapping[str, float] | None = None,
) -> list[Verdict]:
    """Every other side against the baseline (by default the first) in each metric, corrected for their number.

    Sides are paired by the keys of their repetitions; those without a value in either are left out, and so are metrics
    that two sides have in no repetition together. Raises InputError where two sides have no repetition in common.
    """
    names = list(sides)
    base = names[0] if baseline is None else baseline
    if base not in sides:
        raise InputError("unknown baseline", value=base, choices=names)
    found = []
    for name in names:
        common = [key for key in sides[base] if key in sides[name]]
        if not common:
            raise InputError(f"{name} and {base} have no {basis.removesuffix('s')} in common")
        for metric in metrics if name != base else ():
            pairs = [(sides[name][key].get(metric), sides[base][key].get(metric)) for key in common]
            known = [(one, other) for one, other in pairs if one is not None and other is not None]
            if known:
                after, before = zip(*known, strict=True)
                margin = (margins or {}).get(metric)
                found.append(judge(metric, (name, after), (base, before), basis=basis, margin=margin))
    return adjust(found)


# Sentences


def _tell_difference(one: Verdict) -> str:
    figure, (size, ends) = one.figure, _tell_size(one)
    over = f"({ends}{_count(one)}){_doubt(one)}"
    if not figure.better:
        return f"{one.subject} has {size} {one.outcome} {figure.words} than {one.baseline} {over}"
    verb = "beats" if one.is_better else "loses to"
    return f"{one.subject} {verb} {one.baseline} in {figure.words} by {size} {over}"


def _doubt(one: Verdict) -> str:
    if one.bootstrap is None or one.bootstrap.excludes_zero:
        return ""
    return "; the bootstrap's interval holds zero, so more repetitions are wanted"


def _tell_equal(one: Verdict) -> str:
    return f"{one.figure.words} equal within {_percent(one.margin or 0.0)}: {_sides(one)} ({_count(one)})"


def _tell_none(one: Verdict) -> str:
    text = f"no difference found in {one.figure.words}: {_sides(one)}"
    if one.probability is not None and one.probability < SIGNIFICANT:
        text += f"; {_tell_change(one)} {_direction(one)} may be chance among {one.comparisons} comparisons"
    if one.detectable is None:
        return f"{text} ({_count(one)})"
    seen = _percent(one.detectable) if one.relative is not None else one.figure.text(one.detectable)
    text += f"; {_count(one)} would have shown one of {seen} with 80 % power"
    if one.needed is None or one.needed <= one.count:
        return text
    wanted = "the margin" if one.margin is not None else f"the {_tell_change(one)} seen"
    return f"{text}, {wanted} needs about {one.needed:,}"


def _tell_same(one: Verdict) -> str:
    return f"{one.figure.words} is the same: {_sides(one)} ({_count(one)})"


def _tell_sensitivity(one: Verdict) -> str:
    text = f"sensitivity only: {_tell_change(one)} {_direction(one)} {one.figure.words}, {_sides(one)} ({_count(one)})"
    if one.basis == WEEKS:
        return f"{text}; a verdict needs at least {LEAST_WEEKS} weeks, or repetitions with other seeds"
    if one.count > 1:
        return f"{text}; the seed changes nothing, so these are one repetition"
    return f"{text}; one repetition cannot tell a difference from chance: try 5 or more"


def _tell_floor(one: Verdict) -> str:
    assert one.floor is not None
    low, high = sorted(one.floor)
    apart = low > 0 or high < 0
    scaled = bool(one.before)
    ends = [_percent(end, "+") if scaled else _signed(one.figure, end) for end in (low, high)]
    place = "above the noise floor" if apart else "within the noise floor"
    return (
        f"{one.subject} has {_tell_change(one)} {_direction(one)} {one.figure.words} than {one.baseline}; shaken "
        f"submissions move that between {ends[0]} and {ends[1]} ({one.count} times): {place}"
    )


_SENTENCES: dict[str, Callable[[Verdict], str]] = {
    **{EQUAL: _tell_equal, NONE: _tell_none, SAME: _tell_same},
    **{SENSITIVITY: _tell_sensitivity, FLOOR: _tell_floor},
}


def _sides(one: Verdict) -> str:
    return f"{one.subject} against {one.baseline}"


def _direction(one: Verdict) -> str:
    return "less" if one.difference.mean < 0 else "more"


def _count(one: Verdict) -> str:
    word = {SEEDS: "seed", WEEKS: "week", SHAKEN: "repetition"}.get(one.basis, one.basis)
    return f"{one.count:,} {word}{'' if one.count == 1 else 's'}"


def _tell_change(one: Verdict) -> str:
    """The size of the change, without its interval."""
    if one.relative is not None:
        return _percent(abs(one.relative.mean))
    return one.figure.text(abs(one.difference.mean))


def _tell_size(one: Verdict) -> tuple[str, str]:
    """`62 % ± 4 %`; or the mean alone and, for brackets, both ends, where they are not equally far away."""
    interval = one.relative if one.relative is not None else one.difference
    write = _percent if one.relative is not None else one.figure.text
    mean, low, high = (abs(end) for end in (interval.mean, interval.low or 0.0, interval.high or 0.0))
    low, high = sorted((low, high))
    below, above = write(mean - low), write(high - mean)
    if below == above:
        return f"{write(mean)} ± {above}", ""
    return write(mean), f"{write(low)} to {write(high)}; "


def _percent(share: float, sign: str = "") -> str:
    """Two significant digits below 10 %, whole ones above."""
    value = 100 * share
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.995 else 2
    text = f"{value:{sign},.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def _signed(figure: Figure, value: float) -> str:
    return f"{'-' if value < 0 else '+'}{figure.text(abs(value))}"


def _number(value: float) -> str:
    return f"{value:,.4g}"
