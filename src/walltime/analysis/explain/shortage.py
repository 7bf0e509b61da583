"""What a waiting job lacked, in words of resources.

`it needs 32 GPUs in partition gpu; 12 were free there, 20 from 14:05`

Worked out from the schedule: what the nodes of the job's queue have, less what was down and what other jobs held there.
What a job holds besides cores is divided evenly over its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.intervals import find_down, find_held
from walltime.analysis.resources import CORES, Part, Use, find_parts, find_uses, name_resource
from walltime.core.tables import Record
from walltime.core.time import SECOND

STEPS = 3
"""Levels that are told one after the other, each higher than those before."""


class Shortage:
    """What was free for a job over time; `row` is its row of the jobs table."""

    def __init__(self, record: Record, row: Mapping[str, Any]) -> None:
        self.record, self.queue = record, row.get("queue")
        cluster = row.get("cluster") or next(iter(record.facts.get("clusters") or {}), None)
        named = [part for part in find_parts(record, self.queue) if part.cluster == cluster] if self.queue else []
        self.own = bool(named) and named[0].nodes is not None
        self.part = named[0] if named else Part(str(cluster))
        number = record.jobs["job_id"].to_list().index(row["job_id"])
        uses = find_uses(record)
        self.needs = {name: float(use.asked[number]) for name, use in uses.items() if use.asked[number] > 0}
        self.uses = {name: uses[name] for name in self.needs}
        self._mine = (record.allocations["cluster"].cast(str) == self.part.cluster).to_numpy()
        self._share = self._find_shares()
        self._taken: dict[str, tuple[_Sums, _Sums]] = {}  # by resource: what was taken, and given back

    def _find_shares(self) -> np.ndarray:
        """The part of each allocation's nodes that are the queue's."""
        table = self.record.allocations
        if self.part.nodes is None or table["nodes"].null_count() == table.height:
            return self._mine.astype(float)
        placed = Placements(table["nodes"], np.flatnonzero(self._mine))
        inside = np.isin(placed.node, self.part.nodes)
        count, total = (np.bincount(placed.of[chosen], minlength=table.height) for chosen in (inside, inside | True))
        return np.divide(count, total, out=np.zeros(table.height), where=total > 0)

    def _find_taken(self, use: Use) -> tuple[_Sums, _Sums]:
        """What was taken of the resource and given back, by all that held it or was down."""
        held, down = find_held(self.record), self.part.down(use, find_down(self.record))
        begin, stop = [held.start], [held.end]
        amounts = [
            use.held * (self._share if self.part.cluster in use.nodes else self._mine)
        ]  # licences are on no node
        if down is not None:
            begin, stop, amounts = [*begin, down.start], [*stop, down.end], [*amounts, down.cores]
        taken = np.concatenate(amounts)
        return _Sums(np.concatenate(begin), taken), _Sums(np.concatenate(stop), taken)

    def free(self, name: str, start: float, end: float) -> list[tuple[float, float]]:
        """How much was free from `start` to `end` (seconds): (from when on, how much), step by step."""
        use = self.uses[name]
        if name not in self._taken:
            self._taken[name] = self._find_taken(use)
        taken, given = self._taken[name]
        first, last = round(start * SECOND), round(end * SECOND)
        moments = np.unique(np.concatenate([[first], taken.between(first, last), given.between(first, last)]))
        levels = np.round(self.part.total(use) - (taken.until(moments) - given.until(moments)), 6)
        steps = [(moment / SECOND, level) for moment, level in zip(moments.tolist(), levels.tolist(), strict=True)]
        return [one for place, one in enumerate(steps) if not place or one[1] != steps[place - 1][1]]

    def tell(self, start: float, end: float, when: Callable[[float], str]) -> tuple[str, dict[str, Any]]:
        """The sentence about a span of time in which the job did not fit, and what it says for programs."""
        steps = {name: self.free(name, start, end) for name in self.uses}
        short = [name for name, levels in steps.items() if levels[0][1] < self.needs[name]]
        facts = {
            name: {
                "needs": self.needs[name],
                "free": min(level for _, level in levels),
                "most_free": max(level for _, level in levels),
            }
            for name, levels in steps.items()
        }
        where = f" in partition {self.queue}" if self.own else ""
        if not short:
            wanted = _join([_count(name, self.needs[name]) for name in self.needs])
            free = _join([_amount(name, steps[name][0][1]) for name in self.needs])
            text = f"it needs {wanted}{where}; {free} were free{' there' if where else ''}, but not where and as it "
            return f"{text}needs them", facts
        told = []
        for name in short:
            rising = _find_rising(steps[name], self.needs[name])
            later = "".join(f", {_amount(name, level)} from {when(time)}" for time, level in rising)
            there = " there" if where and name == short[0] else ""
            needs = f"{'it needs ' if name == short[0] else ''}{_count(name, self.needs[name])}"
            place = where if name == short[0] else ""
            told.append(f"{needs}{place}; {_amount(name, steps[name][0][1])} were free{there}{later}")
        return ", and ".join(told), facts


def _find_rising(steps: list[tuple[float, float]], needs: float) -> list[tuple[float, float]]:
    """When more was free than ever before in the span; the last levels below what is needed, and the first above."""
    best, rising = steps[0][1], []
    for time, level in steps[1:]:
        if level > best:
            best = level
            rising.append((time, level))
            if level >= needs:
                break
    return rising if len(rising) <= STEPS else [rising[0], *rising[-(STEPS - 1) :]]


class _Sums:
    """Amounts at times: the sum of all up to a moment."""

    def __init__(self, times: np.ndarray, amounts: np.ndarray) -> None:
        order = np.argsort(times, kind="stable")
        self.times = times[order]
        self.sums = np.concatenate([[0.0], np.cumsum(amounts[order])])

    def between(self, first: int, last: int) -> np.ndarray:
        """The times behind the first and before the last."""
        low, high = self.times.searchsorted(first, side="right"), self.times.searchsorted(last, side="left")
        return self.times[low:high]

    def until(self, moments: np.ndarray) -> np.ndarray:
        """The sum of the amounts whose time is at most each moment."""
        return np.asarray(self.sums[self.times.searchsorted(moments, side="right")])


def _count(name: str, amount: float) -> str:
    """`32 GPUs`, `1 core`, `64 GiB of memory`, `2 licences of matlab`."""
    if name == "memory":
        return f"{_amount(name, amount)} of memory"
    word = name_resource(name)
    if name in (CORES, "gpus"):
        return f"{_amount(name, amount)} {word[:-1] if amount == 1 else word}"
    return f"{_amount(name, amount)} of {word}"


def _amount(name: str, amount: float) -> str:
    return f"{amount / (1 << 30):,.4g} GiB" if name == "memory" else f"{amount:,.10g}"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
