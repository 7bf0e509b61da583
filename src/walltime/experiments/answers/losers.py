"""Who loses by a setting: groups whose wait is longer than at present, judged together over the same seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import SENSITIVITY
from walltime.analysis.metrics import KEYS
from walltime.analysis.verdict import MORE, SEEDS, Verdict, adjust, judge
from walltime.core.errors import InputError
from walltime.core.time import format_duration
from walltime.experiments.answers.conditions import PRESENT

if TYPE_CHECKING:
    from walltime.experiments.answers.points import Points

FEW_JOBS = 10
"""A group with fewer jobs in the mean run is not judged."""
REPLAY = (
    "What a replay cannot know: users do not react in it to longer or shorter waits, and jobs that the change would "
    "draw or drive away are not in it."
)
Tables = Sequence[dict[str, dict[str, Any]]]
"""For each run, the figures of its groups by their names."""


@dataclass(frozen=True)
class Nobody:
    """A constraint: no group's figure may be more than `worse` (a fraction) above the present one.

    Groups with few jobs are not judged, nor those whose present figure is zero.
    """

    metric: str
    key: str
    worse: float

    @classmethod
    def parse(cls, text: str) -> Nobody:
        """Of `p95_wait by user 10%`; raises InputError."""
        found = re.fullmatch(r"\s*(\w+)\s+by\s+(\w+)\s+\+?(\d+(?:\.\d+)?)\s*%\s*", text)
        if found is None:
            raise InputError(
                "a constraint on groups is FIGURE by KEY PERCENT, such as `p95_wait by user 10%`", value=text
            )
        metric, key, percent = found.groups()
        if key not in KEYS:
            raise InputError("unknown key to group by", value=key, choices=KEYS)
        return cls(metric, key, float(percent) / 100)

    @property
    def text(self) -> str:
        """The constraint as a sentence."""
        return f"no {self.key}'s {self.metric} more than {100 * self.worse:g} % worse"

    def measure(self, points: Points, label: str, first: int = 0, count: int | None = None) -> tuple[float, str | None]:
        """The excess of a point against the present one, over these repetitions of both, and the group that has it."""
        sides = [points.tables(one, self.key, first, count) for one in (PRESENT, label)]
        return self.find_excess(*sides)

    def find_excess(self, before: Tables, after: Tables) -> tuple[float, str | None]:
        """By how much the worst group exceeds what it may (0 or less: it does not), and which that is."""
        worst: tuple[float, str | None] = (-self.worse, None)
        for name in find_groups(before):
            pairs = _pairs(before, after, name, self.metric)
            old, new = sum(one for one, _ in pairs), sum(other for _, other in pairs)
            if old > 0 and new / old - 1 - self.worse > worst[0]:
                worst = new / old - 1 - self.worse, name
        return worst


def find_groups(tables: Tables) -> list[str]:
    """The groups with jobs enough to be judged."""
    jobs: dict[str, int] = {}
    for table in tables:
        for name, row in table.items():
            jobs[name] = jobs.get(name, 0) + int(row["started"])
    return [name for name, count in jobs.items() if count >= FEW_JOBS * len(tables)]


def judge_groups(
    before: tuple[str, Tables],
    after: tuple[str, Tables],
    key: str,
    metric: str = "p95_wait",
    basis: str = SEEDS,
) -> list[Verdict]:
    """Each group's figure after against before, run by run, corrected for the number of groups."""
    found = []
    for name in find_groups(before[1]):
        pairs = _pairs(before[1], after[1], name, metric)
        if pairs:
            old, new = zip(*pairs, strict=True)
            found.append(judge(f"{metric} of {key} {name}", (after[0], new), (before[0], old), basis=basis))
    return adjust(found)


def tell_losers(verdicts: Sequence[Verdict], key: str) -> list[str]:
    """Sentences: who loses, and how many of how many; where weeks are too few for a verdict, who waits longer."""
    if not verdicts:
        return [f"No {key} has jobs enough to tell whether it loses."]
    sure = any(one.outcome != SENSITIVITY for one in verdicts)
    losers = [one for one in verdicts if (one.outcome == MORE if sure else one.difference.mean > 0)]
    losers.sort(key=lambda one: -one.difference.mean)
    told = [f"{len(losers):,} of {len(verdicts):,} {key}s lose."]
    if not sure:
        told = [f"{len(losers):,} of {len(verdicts):,} {key}s wait longer; too few repetitions tell no more."]
    for one in losers[:5]:
        name = one.metric.rpartition(f" of {key} ")[2]
        told.append(f"{key} {name}: {format_duration(one.before)} becomes {format_duration(one.after)}")
    return told


def _pairs(before: Tables, after: Tables, name: str, metric: str) -> list[tuple[float, float]]:
    rows = [(old.get(name), new.get(name)) for old, new in zip(before, after, strict=False)]
    values = [(old.get(metric), new.get(metric)) for old, new in rows if old is not None and new is not None]
    return [(old, new) for old, new in values if old is not None and new is not None]
