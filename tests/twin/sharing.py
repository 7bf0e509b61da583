"""Max-min fair shares, stated a second time: all flows rise together, all of them at every change."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Flow:
    """Takes its rate times a coefficient of each resource."""

    uses: dict[int, float]
    weight: float = 1.0
    bound: float = math.inf


def share(capacities: list[float], flows: list[Flow]) -> list[float]:
    """The rates of the flows: raise all that can rise to the next level at which one of them cannot."""
    rates: list[float | None] = [None] * len(flows)
    while any(rate is None for rate in rates):
        rising = [i for i, rate in enumerate(rates) if rate is None]
        levels = {}
        for r, capacity in enumerate(capacities):
            weight = math.fsum(flows[i].uses.get(r, 0) * flows[i].weight for i in rising)
            if weight > 0:
                fixed = (flows[i].uses.get(r, 0) * rate for i, rate in enumerate(rates) if rate is not None)
                levels[r] = max(0.0, capacity - math.fsum(fixed)) / weight
        bounds = [flows[i].bound / flows[i].weight for i in rising]
        level = min([*levels.values(), *bounds])
        for i in rising:
            if flows[i].bound / flows[i].weight == level:
                rates[i] = flows[i].bound
            elif any(flows[i].uses.get(r, 0) and levels[r] == level for r in levels):
                rates[i] = level * flows[i].weight
    return [rate for rate in rates if rate is not None]


@dataclass
class Activity:
    """Waits for `delay` seconds from `begin` on, then does `amount` at its share."""

    begin: float
    amount: float
    flow: Flow
    delay: float = 0.0
    end: float = field(default=-1.0)


def play(capacities: list[float], activities: list[Activity]) -> list[float]:
    """When each activity ends, in seconds."""
    left = [activity.amount for activity in activities]
    now = 0.0
    ends = [math.inf] * len(activities)
    while math.inf in ends:
        entry = [activity.begin + activity.delay for activity in activities]
        flowing = [i for i in range(len(activities)) if ends[i] == math.inf and entry[i] <= now]
        rates = share(capacities, [activities[i].flow for i in flowing])
        coming = [entry[i] for i in range(len(activities)) if entry[i] > now]
        finish = [now + left[i] / rate for i, rate in zip(flowing, rates, strict=True)]
        then = min([*coming, *finish])
        for i, rate, end in zip(flowing, rates, finish, strict=True):
            left[i] -= rate * (then - now)
            if end == then:
                ends[i] = then
        now = then
    return ends
