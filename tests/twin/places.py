"""Placements in the slow twin of a site, each in a few lines.

`pick` chooses nodes for a request that has a shape, from those that suit it; `spread` nodes and cores on them for one
that has none, from the cores that each node offers. Of equal nodes the lowest number comes first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from twin.jobs import Shares
from walltime.core.random import stream

PLACES = (
    "first-fit",
    "best-fit",
    "worst-fit",
    "topology",
    "contiguous",
    "consecutive",
    "random",
    "even",
    "round-robin",
)


class Place:
    """One of the placements by name, on nodes whose switches are known."""

    def __init__(self, name: str, switches: Sequence[int], seed: int) -> None:
        self.name = name
        self.switches = switches
        self.seed = seed
        self.following = 0  # the node behind the last one that `round-robin` has chosen

    def suits(self, suitable: list[int], count: int) -> bool:
        """Whether so many nodes can be chosen; `contiguous` wants them in a row."""
        return len(suitable) >= count and (self.name != "contiguous" or find_run(suitable, count) is not None)

    def pick(self, suitable: list[int], count: int, leftover: dict[int, Any], row: int) -> list[int]:
        """So many of the suitable nodes; `leftover` says how much of each would stay free."""
        order = list(suitable)
        if self.name == "best-fit":
            order.sort(key=lambda node: leftover[node])
        elif self.name == "worst-fit":
            order.sort(key=lambda node: -leftover[node])
        elif self.name == "topology":
            order = self.by_switch(dict.fromkeys(suitable, 1), count)
        elif self.name == "random":
            order = self.shuffle(order, row)
        elif self.name == "contiguous":
            order = find_run(suitable, count) or []
        elif self.name == "consecutive":
            order = by_runs(dict.fromkeys(suitable, 1), count)
        return sorted(order[:count])

    def spread(self, offers: list[int], cores: int, row: int) -> Shares:
        """Cores on nodes, as many as wanted together."""
        order = [node for node, offer in enumerate(offers) if offer > 0]
        if self.name == "best-fit":
            return sorted(_fill_best(list(offers), cores))
        if self.name == "worst-fit":
            order.sort(key=lambda node: -offers[node])
        elif self.name == "topology":
            order = self.by_switch({node: offers[node] for node in order}, cores)
        elif self.name == "random":
            order = self.shuffle(order, row)
        elif self.name == "contiguous":
            order = _find_stretch(offers, cores) or order
        elif self.name == "consecutive":
            return sorted(_fill_runs(offers, cores))
        elif self.name == "even":
            order.sort(key=lambda node: -offers[node])
            return sorted(Counter(islice(_in_rounds(offers, order), cores)).items())
        elif self.name == "round-robin":
            order = [*order[bisect_left(order, self.following) :], *order[: bisect_left(order, self.following)]]
            chosen = list(islice(_in_rounds(offers, order), cores))
            self.following = chosen[-1] + 1
            return sorted(Counter(chosen).items())
        return sorted(fill(offers, cores, order))

    def by_switch(self, weights: dict[int, int], wanted: int) -> list[int]:
        """The switch that suffices with the least, or else those with the most first; on each by number."""
        totals: dict[int, int] = {}
        for node, weight in weights.items():
            totals[self.switches[node]] = totals.get(self.switches[node], 0) + weight
        enough = [switch for switch in totals if totals[switch] >= wanted]
        if enough:
            best = min(enough, key=lambda switch: (totals[switch], switch))
            return [node for node in sorted(weights) if self.switches[node] == best]
        return sorted(weights, key=lambda node: (-totals[self.switches[node]], self.switches[node], node))

    def shuffle(self, lot: list[int], row: int) -> list[int]:
        """A Fisher-Yates shuffle by SplitMix64 numbers that depend on the seed and the job's row alone."""
        state = int(stream(self.seed, "place").integers(0, 1 << 62)) + row * 0x632BE59BD9B4E019
        for k in range(len(lot)):
            state = (state + 0x9E3779B97F4A7C15) % (1 << 64)
            z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
            z ^= z >> 31
            other = k + (z >> 11) % (len(lot) - k)
            lot[k], lot[other] = lot[other], lot[k]
        return lot


def find_run(suitable: list[int], count: int) -> list[int] | None:
    """The first so many nodes in a row."""
    for first in suitable:
        run = list(range(first, first + count))
        if set(run) <= set(suitable):
            return run
    return None


def _find_runs(nodes: list[int]) -> list[list[int]]:
    """The nodes in groups of neighbours."""
    starts = [node for node in nodes if node - 1 not in nodes]
    return [[node for node in nodes if set(range(first, node + 1)) <= set(nodes) and node >= first] for first in starts]


def _best_run(runs: list[list[int]], weights: dict[int, int], wanted: int) -> list[int]:
    """The smallest run that suffices, else the largest; of equal ones the first."""
    size = {run[0]: sum(weights[node] for node in run) for run in runs}
    enough = [run for run in runs if size[run[0]] >= wanted]
    return min(enough, key=lambda run: size[run[0]]) if enough else max(runs, key=lambda run: size[run[0]])


def by_runs(weights: dict[int, int], wanted: int) -> list[int]:
    """Run after run, each the best for what is still wanted."""
    runs, order = _find_runs(sorted(weights)), []
    while runs and wanted > 0:
        best = _best_run(runs, weights, wanted)
        runs.remove(best)
        order += best
        wanted -= sum(weights[node] for node in best)
    return order


def _fill_runs(offers: list[int], cores: int) -> Shares:
    """Run after run; what is left goes to one node of its run where it can, the one with the least that suffices."""
    weights = {node: offer for node, offer in enumerate(offers) if offer > 0}
    chosen: Shares = []
    while cores > 0 and weights:
        best = _best_run(_find_runs(sorted(weights)), weights, cores)
        enough = [node for node in best if weights[node] >= cores]
        order = [min(enough, key=lambda node: weights[node])] if enough else best
        got = fill(offers, cores, order)
        chosen += got
        cores -= sum(share for _, share in got)
        weights = {node: weight for node, weight in weights.items() if node not in best}
    return chosen


def fill(offers: list[int], cores: int, order: list[int]) -> Shares:
    """What each node offers, one after the other, until it is enough."""
    chosen = []
    for node in order:
        if cores > 0 and offers[node] > 0:
            chosen.append((node, min(offers[node], cores)))
            cores -= chosen[-1][1]
    return chosen


def _in_rounds(offers: list[int], order: list[int]) -> Iterator[int]:
    """A core of each node in turn, as long as it offers more."""
    for number in range(max(offers)):
        yield from (node for node in order if offers[node] > number)


def _fill_best(left: list[int], cores: int) -> Shares:
    """The emptiest nodes, until the rest fits on one: then the fullest that holds it."""
    chosen = []
    while cores > 0:
        enough = [offer for offer in left if offer >= cores]
        node = left.index(min(enough)) if enough else left.index(max(left))
        chosen.append((node, min(left[node], cores)))
        cores -= chosen[-1][1]
        left[node] = 0
    return chosen


def _find_stretch(offers: list[int], cores: int) -> list[int] | None:
    """The first stretch of nodes that all offer something, and together enough."""
    for first in range(len(offers)):
        if offers[first] > 0 and (first == 0 or offers[first - 1] == 0):
            stretch = offers[first:].index(0) if 0 in offers[first:] else len(offers) - first
            if sum(offers[first : first + stretch]) >= cores:
                return list(range(first, first + stretch))
    return None
