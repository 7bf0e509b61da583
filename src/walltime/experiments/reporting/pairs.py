"""Any two cells of an experiment against each other: verdicts in words, and the groups that gain or lose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from walltime.analysis.charts.chart import clean
from walltime.analysis.headline import BRIEF
from walltime.analysis.verdict import LESS, MORE, Verdict, judge_all
from walltime.core.errors import InputError
from walltime.core.time import format_duration
from walltime.experiments.answers.losers import judge_groups

if TYPE_CHECKING:
    from walltime.experiments.answers.losers import Tables
    from walltime.experiments.reporting.contents import CellRuns, ReportContents

MOST_PAIRS = 300
"""Pairs of cells that a report has; of more, those that differ in one axis come first."""
MOST_GROUPS = 40
"""Groups of a pair that are listed; of more, those that change most."""
LONGEST = 200


def find_pairs(contents: ReportContents) -> tuple[list[dict[str, Any]], int]:
    """The pairs for the page, `first` and `second` cell by their place; and how many there are in all."""
    cells = contents.cells
    every = list(combinations(range(len(cells)), 2))
    every.sort(key=lambda pair: _distance(cells[pair[0]], cells[pair[1]]))
    groups = {key: contents.groups(key) for key in contents.keys}
    made = [_compare(cells, first, second, groups) for first, second in every[:MOST_PAIRS]]
    return [one for one in made if one is not None], len(every)


def _distance(one: CellRuns, other: CellRuns) -> int:
    return sum(label != other.labels[axis] for axis, label in one.labels.items())


def _compare(
    cells: Sequence[CellRuns], first: int, second: int, groups: dict[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """One pair; None where the two have no seed in common."""
    before, after = cells[first], cells[second]
    sides = {before.name: before.runs, after.name: after.runs}
    if len(sides) < 2 or not set(before.runs) & set(after.runs):
        return None
    try:
        verdicts = judge_all(sides, BRIEF)
    except InputError:
        return None
    seeds = [seed for seed in sorted(before.runs) if seed in after.runs]
    tables = {
        key: ([known[before.runs[seed]["run"]] for seed in seeds], [known[after.runs[seed]["run"]] for seed in seeds])
        for key, known in groups.items()
    }
    return {
        **{"first": first, "second": second},
        "verdicts": [{"text": clean(one.sentence), "better": one.is_better} for one in verdicts],
        "groups": [_judge(key, (before.name, old), (after.name, new)) for key, (old, new) in tables.items()],
    }


def _judge(key: str, before: tuple[str, Tables], after: tuple[str, Tables]) -> dict[str, Any]:
    """The groups by one key: those that lose most first."""
    verdicts = sorted(judge_groups(before, after, key), key=lambda one: -one.difference.mean)
    listed = verdicts
    if len(verdicts) > MOST_GROUPS:
        listed = verdicts[: MOST_GROUPS // 2] + verdicts[-MOST_GROUPS // 2 :]
    return {
        **{"key": key, "total": len(verdicts)},
        **{"lose": sum(one.outcome == MORE for one in verdicts), "gain": sum(one.outcome == LESS for one in verdicts)},
        "rows": [_row(one, key) for one in listed],
    }


def _row(one: Verdict, key: str) -> list[Any]:
    """Name, before, after, the change with its interval, and what it comes to: loses, gains, or neither."""
    name = clean(one.metric.rpartition(f" of {key} ")[2])[:LONGEST]
    sides = [format_duration(one.before), format_duration(one.after)]
    ends = one.difference.low, one.difference.high
    change = _signed(one.difference.mean)
    span = "" if None in ends else f"{_signed(ends[0])} to {_signed(ends[1])}"  # type: ignore[arg-type]
    return [name, *sides, change, span, {MORE: "loses", LESS: "gains"}.get(one.outcome, one.outcome)]


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{format_duration(abs(seconds))}"
