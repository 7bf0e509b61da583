"""What a waiting job lacked, in words of resources.

`it needs 32 GPUs in partition gpu; 12 were free there, 20 from 14:05`
`it needs 4 GPUs on each of 8 nodes in partition gpu; 3 nodes had that, 5 from 14:05`

Worked out from the schedule: what the nodes of the job's queue have, less what was down and what other jobs held there.
What a job holds besides cores is divided evenly over its nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.intervals import find_down, find_held
from walltime.analysis.resources import CORES, NodeSubset, Use, find_parts, find_uses, name_resource
from walltime.core.tables import Record
from walltime.core.time import SECOND

NEARLY = 1e-6
"""Amounts are divided over nodes, and not always evenly."""
_Change = tuple[int, int, str, float]
"""When how much of which resource becomes free on which node."""
STEPS = 3
"""Levels that are told one after the other, each higher than those before."""


class Shortage:
    """What was free for a job over time; `row` is its row of the jobs table, `nodes` how many it asks for, alike: 0
    for one that may have its cores anywhere."""

    def __init__(self, record: Record, row: Mapping[str, Any], nodes: int = 0) -> None:
        self.record, self.queue = record, row.get("queue")
        cluster = row.get("cluster") or next(iter(record.facts.get("clusters") or {}), None)
        named = [part for part in find_parts(record, self.queue) if part.cluster == cluster] if self.queue else []
        self.own = bool(named) and named[0].nodes is not None
        self.part = named[0] if named else NodeSubset(str(cluster))
        number = record.jobs["job_id"].to_list().index(row["job_id"])
        uses = find_uses(record)
        self.needs = {name: float(use.asked[number]) for name, use in uses.items() if use.asked[number] > 0}
        self.uses = {name: uses[name] for name in self.needs}
        self._mine = (record.allocations["cluster"].cast(str) == self.part.cluster).to_numpy()
        self._share = self._find_shares()
        self._taken: dict[str, tuple[_Sums, _Sums]] = {}  # by resource: what was taken, and given back
        self.nodes = nodes if record.allocations["nodes"].null_count() < record.allocations.height else 0
        on_nodes = [name for name, use in self.uses.items() if self.nodes and self.part.cluster in use.nodes]
        self.each = {name: float(math.ceil(self.needs[name] / self.nodes)) for name in on_nodes}
        self._places: Placements | None = None

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
        return [one for index, one in enumerate(steps) if not index or one[1] != steps[index - 1][1]]

    def able(self, names: list[str], start: float, end: float) -> list[tuple[float, float]]:
        """How many nodes had what the job needs on each of these resources from `start` to `end`, step by step."""
        first, last = round(start * SECOND), round(end * SECOND)
        least = {name: self.each[name] - NEARLY for name in names}
        free, changes = self._find_free_on_nodes(names, first, last)
        lacking = sum((free[name] < least[name]).astype(np.int64) for name in names)  # of how many there is too little
        assert isinstance(lacking, np.ndarray)
        count = int(np.sum(lacking == 0))
        steps = [(start, float(count))]
        for time, together in groupby(changes, key=lambda change: change[0]):
            for _, at, name, amount in together:
                before = int(lacking[at])
                lacking[at] -= free[name][at] < least[name]
                free[name][at] += amount
                lacking[at] += free[name][at] < least[name]
                count += int(lacking[at] == 0) - int(before == 0)
            steps.append((time / SECOND, float(count)))
        return [one for k, one in enumerate(steps) if not k or one[1] != steps[k - 1][1]]

    def _find_free_on_nodes(
        self, names: list[str], first: int, last: int
    ) -> tuple[dict[str, np.ndarray], list[_Change]]:
        """What was free of these resources at first on each of the nodes that the job may use, and what changed until
        the last, in order."""
        every = np.arange(len(self.uses[CORES].nodes[self.part.cluster]))
        mine = every if self.part.nodes is None else self.part.nodes
        place = np.full(len(every), -1)
        place[mine] = np.arange(len(mine))
        free, changes = {}, []
        for name in names:
            free[name] = self.uses[name].nodes[self.part.cluster][mine].astype(float)
            begin, stop, node, amount = self._find_taken_on_nodes(self.uses[name])
            there = (place[node] >= 0) & (begin < last) & (stop > first)
            begin, stop, at, amount = begin[there], stop[there], place[node[there]], amount[there]
            np.subtract.at(free[name], at[begin <= first], amount[begin <= first])
            for chosen, times, gained in ((begin > first, begin, -amount), (stop < last, stop, amount)):
                columns = (times[chosen].tolist(), at[chosen].tolist(), gained[chosen].tolist())
                changes += [(time, where, name, more) for time, where, more in zip(*columns, strict=True)]
        return free, sorted(changes)

    def _find_taken_on_nodes(self, use: Use) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """From when to when how much of the resource was taken on which node, by all that held it or was down."""
        if self._places is None:
            self._places = Placements(self.record.allocations["nodes"], np.flatnonzero(self._mine))
        placed, held = self._places, find_held(self.record)
        of, node = placed.of, placed.node
        if use.name == CORES:
            amount = placed.cores.astype(float)
        else:
            amount = use.held[of] / np.bincount(of, minlength=len(use.held))[of]
        down = self.part.down(use, outages := find_down(self.record))
        columns = (held.start[of], held.end[of], node, amount)
        if down is None or (off := outages[self.part.cluster].nodes) is None:
            return columns
        off = off if self.part.nodes is None else off[np.isin(off, self.part.nodes)]
        more = (down.start, down.end, off, down.cores.astype(float))
        return tuple(np.concatenate(pair) for pair in zip(columns, more, strict=True))  # type: ignore[return-value]

    def tell(self, start: float, end: float, when: Callable[[float], str]) -> tuple[str, dict[str, Any]]:
        """The sentence about a span of time in which the job did not fit, and what it says for programs: by resource
        (`resources`), and of how many nodes had all of it (`nodes`) where it asks for nodes."""
        steps = {name: self.free(name, start, end) for name in self.uses}
        amounts = {name: {"needs": self.needs[name], **_span(levels)} for name, levels in steps.items()}
        facts: dict[str, Any] = {"resources": amounts}
        if self.each:
            facts["nodes"] = {"needs": self.nodes, **_span(self.able(list(self.each), start, end)), "each": self.each}
            told = self._tell_nodes(steps, start, end, when)
            if told is not None:
                return told, facts
        return self._tell_sums(steps, when), facts

    def _tell_nodes(
        self, steps: Mapping[str, list[tuple[float, float]]], start: float, end: float, when: Callable[[float], str]
    ) -> str | None:
        """The sentence by nodes; None where enough of them had what it needs, and where it needs one and no more than
        the sums have to be told."""
        alone = {name: self.able([name], start, end) for name in self.each}
        short = [name for name, levels in alone.items() if levels[0][1] < self.nodes]
        levels = self.able(short or list(self.each), start, end)
        if levels[0][1] >= self.nodes:
            return None
        if self.nodes == 1 and any(max(level for _, level in steps[name]) < self.needs[name] for name in short):
            return None
        needs = _join([_count(name, self.each[name]) for name in short or self.each])
        where = f" in partition {self.queue}" if self.own else ""
        each = "on one node" if self.nodes == 1 else f"on each of {self.nodes:,} nodes"
        later = "".join(f", {level:,.0f} from {when(time)}" for time, level in _find_rising(levels, self.nodes))
        text = f"it needs {needs} {each}{where}; {_nodes(levels[0][1])} had that{later}"
        others = [name for name in steps if name not in self.each and steps[name][0][1] < self.needs[name]]
        return ", and ".join([text, *(self._tell_sum(name, steps[name], when) for name in others)])

    def _tell_sum(
        self, name: str, levels: list[tuple[float, float]], when: Callable[[float], str], place: str = ""
    ) -> str:
        later = "".join(
            f", {_amount(name, level)} from {when(time)}" for time, level in _find_rising(levels, self.needs[name])
        )
        there = " there" if place else ""
        return f"{_count(name, self.needs[name])}{place}; {_amount(name, levels[0][1])} were free{there}{later}"

    def _tell_sums(self, steps: Mapping[str, list[tuple[float, float]]], when: Callable[[float], str]) -> str:
        """The sentence by what was free in all."""
        short = [name for name, levels in steps.items() if levels[0][1] < self.needs[name]]
        where = f" in partition {self.queue}" if self.own else ""
        if not short:
            wanted = _join([_count(name, self.needs[name]) for name in self.needs])
            free = _join([_amount(name, steps[name][0][1]) for name in self.needs])
            text = f"it needs {wanted}{where}; {free} were free{' there' if where else ''}, but not where and as it "
            return f"{text}needs them"
        told = [self._tell_sum(name, steps[name], when, where if name == short[0] else "") for name in short]
        return f"it needs {', and '.join(told)}"


def _span(levels: list[tuple[float, float]]) -> dict[str, float]:
    """The least and the most of a span of time."""
    return {"free": min(level for _, level in levels), "most_free": max(level for _, level in levels)}


def _nodes(count: float) -> str:
    return "no node" if not count else "1 node" if count == 1 else f"{count:,.0f} nodes"


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
