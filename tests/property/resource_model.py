"""A slow and obvious model of the ledger of resources: who has what on which node, looked at second by second."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from walltime.cluster.requests import NodeRequest

HORIZON = 400
Vector = list[int]


@dataclass
class Stay:
    """What a running job has, or a waiting one keeps, on each node (licences are nodes behind the others).

    A hold that has no names keeps `count` cores, on any of `nodes`. One that was named when it was due already may
    count from a `late` moment on.
    """

    start: int
    end: int
    amounts: dict[int, Vector]
    alone: bool
    count: int = 0
    nodes: tuple[int, ...] = ()
    late: int = 0

    def meets(self, start: int, end: int, nodes: list[int]) -> bool:
        """Whether it has anything to do with these nodes in that time."""
        return self.start < end and self.end > start and not set(nodes).isdisjoint(self.nodes or self.amounts)


@dataclass
class Model:
    """The rules, one by one; nodes by number with their amounts."""

    capacity: list[Vector]
    licences: list[int]
    switches: list[int]
    place: str
    whole: bool
    now: int = 0
    running: dict[int, Stay] = field(default_factory=dict)
    holds: dict[int, Stay] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n, self.kinds = len(self.capacity), len(self.capacity[0])
        self.had = {0}  # cores, and what else a job has had so far

    # ---- what is there

    def stays(self, time: int, slot: int) -> list[Stay]:
        """Everything that counts at that time: jobs until their expected ends (now, all), holds of others."""
        return self.jobs(time) + [
            hold
            for other, hold in self.holds.items()
            if other != slot and max(hold.start, hold.late) <= time < hold.end
        ]

    def jobs(self, time: int) -> list[Stay]:
        return [stay for stay in self.running.values() if stay.end > time or time <= self.now]

    def free(self, node: int, stays: list[Stay]) -> Vector:
        if any(stay.alone and node in stay.amounts for stay in stays) and node < self.n:
            return [0] * self.kinds
        has = self.capacity[node] if node < self.n else [self.licences[node - self.n]] + [0] * (self.kinds - 1)
        return [has[r] - sum(stay.amounts.get(node, [0] * self.kinds)[r] for stay in stays) for r in range(self.kinds)]

    def offer_at(self, node: int, request: NodeRequest, stays: list[Stay]) -> int:
        if self.alone(request) and any(node in stay.amounts for stay in stays):
            return 0
        free = self.free(node, stays)
        return max(0, min(free[r] // each for r, each in enumerate(request.each) if each > 0))

    def alone(self, request: NodeRequest) -> bool:
        return request.exclusive or self.whole

    def offers(self, nodes: list[int], request: NodeRequest, start: int, length: int, slot: int) -> dict[int, int]:
        """How often each node has room for the request's `each`, at every second."""
        moments = [self.stays(time, slot) for time in range(start, start + max(length, 1))]
        return {node: min(self.offer_at(node, request, stays) for stays in moments) for node in nodes}

    def cores_beside(self, node: int, start: int, length: int, slot: int) -> int:
        moments = [self.stays(time, slot) for time in range(start, start + max(length, 1))]
        return max(0, min(self.free(node, stays)[0] for stays in moments))

    # ---- the questions

    def licensed(self, request: NodeRequest, start: int, length: int, slot: int) -> bool:
        for time in range(start, start + max(length, 1)):
            stays = self.stays(time, slot)
            for k, amount in enumerate(request.licences):
                if amount and amount > self.free(self.n + k, stays)[0]:
                    return False
        return True

    def served(self, nodes: list[int], request: NodeRequest, start: int, length: int, slot: int, cores: int) -> bool:
        """Whether nodes and licences are there beside the named holds, and numbers of cores beside the others.

        Holds whose number does not tell enough get names for this question.
        """
        end = start + max(length, 1)
        if not (
            self.by_number(nodes, request, start, end, slot, cores)
            and self.by_name(nodes, request, start, length, slot)
        ):
            return False
        unclear = self.unclear(nodes, request, start, end, slot)
        if not unclear:
            return True
        other = copy(self)
        other.holds = dict(self.holds)
        other.name(unclear, slot)
        return other.served(nodes, request, start, length, slot, cores)

    # ---- holds without names

    def any_cores(self, nodes: list[int], request: NodeRequest) -> bool:
        """Whether any cores of its nodes serve the request; or any nodes, where they are given as a whole and alike."""
        if any(request.each[1:]):
            return False
        if self.whole:
            sizes = {self.capacity[node][0] for node in nodes}
            return len(sizes) <= 1 and self.place != "contiguous"
        return request.nodes == 0 and not request.exclusive

    def placed(self, nodes: list[int], request: NodeRequest, start: int, end: int, slot: int) -> bool:
        """Whether it matters which nodes the request gets: by itself, or as a named hold begins while it lasts."""
        if not self.any_cores(nodes, request):
            return True
        return any(
            not hold.count and start < hold.start < end and hold.meets(start, end, nodes)
            for other, hold in self.holds.items()
            if other != slot
        )

    def counted(self, nodes: list[int], start: int, end: int, slot: int) -> dict[int, Stay]:
        """The holds of others without names that meet these nodes in that time."""
        return {
            other: hold
            for other, hold in self.holds.items()
            if other != slot and hold.count and hold.meets(start, end, nodes)
        }

    def unclear(self, nodes: list[int], request: NodeRequest, start: int, end: int, slot: int) -> list[int]:
        """Those of which a number of cores does not tell whether the request leaves them enough."""
        placed = self.placed(nodes, request, start, end, slot)
        sizes = {self.capacity[node][0] for node in nodes}
        in_part = request.nodes == 0 and any(request.each[1:])  # then it takes more nodes the less they have
        unequal = self.alone(request) and (len(sizes) > 1 or in_part)
        return [
            other
            for other, hold in self.counted(nodes, start, end, slot).items()
            if unequal or set(hold.nodes) != set(nodes) or (placed and hold.start < start)
        ]

    def by_number(self, nodes: list[int], request: NodeRequest, start: int, end: int, slot: int, cores: int) -> bool:
        """Whether so many cores are left at the start, and where a hold without names begins."""
        unclear = self.unclear(nodes, request, start, end, slot)
        return all(
            self.number(nodes, max(start, hold.start), slot) >= cores
            for other, hold in self.counted(nodes, start, end, slot).items()
            if other not in unclear
        )

    def number(self, nodes: list[int], time: int, slot: int) -> int:
        """Cores of the nodes that are left at that time beside everything."""
        stays = self.stays(time, slot)
        kept = sum(
            hold.count
            for other, hold in self.holds.items()
            if other != slot and hold.start <= time < hold.end and set(hold.nodes) == set(nodes)
        )
        return sum(max(0, self.free(node, stays)[0]) for node in nodes) - kept

    def name(self, unclear: list[int], slot: int) -> None:
        """Give these holds names, and those in which one of them begins, in the order of their starts; they leave the
        job that asks what it keeps itself. One that is due and finds too little keeps what there is after now."""
        found = list(unclear)
        for other in found:
            hold = self.holds[other]
            found += [
                more
                for more, outer in self.holds.items()
                if more not in found
                and more != slot
                and outer.count
                and outer.start < hold.start < outer.end
                and outer.meets(outer.start, outer.end, list(hold.nodes))
            ]
        for other in sorted(found, key=lambda other: (self.holds[other].start, list(self.holds).index(other))):
            hold = self.holds[other]
            rest = [0] * (self.kinds - 1)
            request = NodeRequest(hold.count, 0, (1, *rest))
            offers = self.offers(sorted(hold.nodes), request, hold.start, hold.end - hold.start, other)
            shares, late = fill(sorted(offers), offers, hold.count), 0
            if sum(shares.values()) < hold.count and hold.start <= self.now < hold.end - 1:
                late = self.now + 1
                offers = self.offers(sorted(hold.nodes), request, late, hold.end - late, other)
                shares = fill(sorted(offers), offers, hold.count)
            amounts = hold.amounts | {node: [cores, *rest] for node, cores in shares.items()}
            self.holds[other] = Stay(hold.start, hold.end, amounts, False, late=late)

    # ---- the questions, answered

    def by_name(self, nodes: list[int], request: NodeRequest, start: int, length: int, slot: int) -> bool:
        if not self.licensed(request, start, length, slot):
            return False
        offers = self.offers(nodes, request, start, length, slot)
        if request.nodes == 0:
            return sum(offers.values()) >= request.cores
        if self.place == "contiguous":
            return first_run(offers, request.nodes) is not None
        return sum(offer > 0 for offer in offers.values()) >= request.nodes

    def fits(self, nodes: list[int], request: NodeRequest, length: int, slot: int) -> bool:
        return self.served(nodes, request, self.now, length, slot, self.whole_cores(nodes, request, request.cores))

    def whole_cores(self, nodes: list[int], request: NodeRequest, cores: int) -> int:
        """What the request takes where all nodes are alike: whole nodes, where it has them for itself."""
        if not self.alone(request):
            return cores
        size = max((self.capacity[node][0] for node in nodes), default=1)
        return (request.nodes or -(-request.cores // size)) * size

    def earliest(self, nodes: list[int], request: NodeRequest, length: int, slot: int, after: int) -> int | None:
        times = range(after, after + HORIZON)
        cores = self.whole_cores(nodes, request, request.nodes * request.each[0] or request.cores)
        return next((time for time in times if self.served(nodes, request, time, length, slot, cores)), None)

    def first_room(self, node: int, request: NodeRequest) -> int:
        """The first time at which the node has room by its running jobs alone."""
        time = self.now
        while True:
            if self.offer_at(node, request, self.jobs(time)) > 0:
                return time
            time += 1

    # ---- what happens

    def share(self, request: NodeRequest, node: int, cores: int) -> Vector:
        """What is taken or kept on a node."""
        times = 1 if request.nodes else cores
        first = self.capacity[node][0] if self.alone(request) else cores
        return [first] + [times * amount for amount in request.each[1:]]

    def stay(self, request: NodeRequest, start: int, end: int, shares: dict[int, int]) -> Stay:
        amounts = {node: self.share(request, node, cores) for node, cores in shares.items()}
        for k, amount in enumerate(request.licences):
            if amount:
                amounts[self.n + k] = [amount] + [0] * (self.kinds - 1)
        return Stay(start, end, amounts, self.alone(request))

    def take(self, nodes: list[int], request: NodeRequest, length: int, slot: int) -> dict[int, int]:
        """Start the job; its cores by node."""
        self.make_clear(nodes, request, self.now, self.now + max(length, 1), slot)
        self.holds.pop(slot, None)
        self.had |= {r for r, each in enumerate(request.each) if each > 0}
        offers = self.offers(nodes, request, self.now, length, slot)
        if request.nodes == 0:
            shares = SPREADS[self.place](self, offers, request.cores)
        else:
            room = {i: self.cores_beside(i, self.now, length, slot) if offers[i] else 0 for i in nodes}
            chosen = sorted(self.pick(offers, room, request))
            shares = {
                node: request.cores // request.nodes + (k < request.cores % request.nodes)
                for k, node in enumerate(chosen)
            }
        self.running[slot] = self.stay(request, self.now, self.now + length, shares)
        if self.alone(request):
            return {node: self.capacity[node][0] for node in shares}
        return shares

    def make_clear(self, nodes: list[int], request: NodeRequest, start: int, end: int, slot: int) -> None:
        """Give names to all holds of which the number does not tell enough."""
        while unclear := self.unclear(nodes, request, start, end, slot):
            self.name(unclear, slot)

    def pick(self, offers: dict[int, int], room: dict[int, int], request: NodeRequest) -> list[int]:
        able = [node for node, offer in offers.items() if offer > 0]
        if self.place == "contiguous":
            first = first_run(offers, request.nodes)
            assert first is not None
            return list(range(first, first + request.nodes))
        if self.place == "topology":
            return by_switch(self.switches, dict.fromkeys(able, 1), request.nodes)[: request.nodes]
        if self.place == "first-fit":
            return sorted(able)[: request.nodes]
        sign = 1 if self.place == "best-fit" else -1
        if self.kinds == 1:
            return sorted(able, key=lambda node: (sign * room[node], node))[: request.nodes]
        return sorted(able, key=lambda node: (sign * self.leftover(node, room, request), node))[: request.nodes]

    def leftover(self, node: int, room: dict[int, int], request: NodeRequest) -> float:
        """By the cores that the job may have, and by what is free now of the rest."""
        free = self.free(node, list(self.running.values()))
        free[0] = room[node]
        total = 0.0
        for r in range(self.kinds):
            most = max(amounts[r] for amounts in self.capacity)
            if most > 0 and r in self.had:
                total += float(free[r] - request.each[r]) / float(most)
        return total

    def hold(self, nodes: list[int], request: NodeRequest, length: int, slot: int, start: int) -> dict[int, Vector]:
        """Reserve from `start`; the amounts that are kept by node."""
        end = start + max(length, 1)
        self.make_clear(nodes, request, start, end, slot)
        self.holds.pop(slot, None)
        if not self.placed(nodes, request, start, end, slot):
            licences = self.stay(request, start, end, {}).amounts
            count = self.whole_cores(nodes, request, request.cores)
            self.holds[slot] = Stay(start, end, licences, False, count, tuple(nodes))
            return licences
        offers = self.offers(nodes, request, start, length, slot)
        shares: dict[int, int] = {}
        if request.nodes == 0:
            left = request.cores
            for node in sorted(nodes):
                if offers[node] and left:
                    shares[node] = min(left, offers[node])
                    left -= shares[node]
        elif self.place == "contiguous":
            first = first_run(offers, request.nodes)
            shares = {} if first is None else dict.fromkeys(range(first, first + request.nodes), request.each[0])
        else:
            able = [node for node in nodes if offers[node] > 0]
            chosen = sorted(able, key=lambda node: (-self.first_room(node, request), node))[: request.nodes]
            shares = dict.fromkeys(chosen, request.each[0])
        self.holds[slot] = self.stay(request, start, start + max(length, 1), shares)
        return self.holds[slot].amounts


def first_run(offers: dict[int, int], length: int) -> int | None:
    """Where the first run of consecutive nodes that all serve begins."""
    for first in offers:
        if all(offers.get(node, 0) > 0 for node in range(first, first + length)):
            return first
    return None


def by_switch(switches: list[int], worth: dict[int, int], want: int) -> list[int]:
    """Nodes in the order of the placement topology, of which each is worth so much."""
    has: dict[int, int] = {}
    for node, value in worth.items():
        has[switches[node]] = has.get(switches[node], 0) + value
    whole = [switch for switch in sorted(has) if has[switch] >= want]
    order = sorted(has, key=lambda switch: (-has[switch], switch))
    if whole:
        order = [min(whole, key=lambda switch: (has[switch], switch))]
    return [node for switch in order for node in sorted(worth) if switches[node] == switch]


def fill(order: list[int], offers: dict[int, int], cores: int) -> dict[int, int]:
    """Take what is offered, node by node."""
    shares = {}
    for node in order:
        if cores and offers[node]:
            shares[node] = min(cores, offers[node])
            cores -= shares[node]
    return shares


def spread_best(model: Model, offers: dict[int, int], cores: int) -> dict[int, int]:
    """The emptiest nodes until the rest fits on one, which is the fullest that can hold it."""
    shares, left = {}, {node: offer for node, offer in offers.items() if offer}
    while cores:
        enough = [node for node in left if left[node] >= cores]
        if enough:
            node = min(enough, key=lambda node: (left[node], node))
        else:
            node = min(left, key=lambda node: (-left[node], node))
        shares[node] = min(cores, left.pop(node))
        cores -= shares[node]
    return shares


def spread_contiguous(model: Model, offers: dict[int, int], cores: int) -> dict[int, int]:
    """The first stretch of nodes with something to offer that holds everything; else by number."""
    for first in range(model.n):
        total, node = 0, first
        while node < model.n and offers.get(node, 0) and (first == 0 or not offers.get(first - 1, 0)):
            total += offers[node]
            node += 1
        if total >= cores:
            return fill(list(range(first, node)), offers, cores)
    return fill(sorted(offers), offers, cores)


SPREADS: dict[str, Callable[[Model, Any, int], dict[int, int]]] = {
    "first-fit": lambda model, offers, cores: fill(sorted(offers), offers, cores),
    "best-fit": spread_best,
    "worst-fit": lambda model, offers, cores: fill(sorted(offers, key=lambda i: (-offers[i], i)), offers, cores),
    "topology": lambda model, offers, cores: fill(
        by_switch(model.switches, {i: offer for i, offer in offers.items() if offer}, cores), offers, cores
    ),
    "contiguous": spread_contiguous,
}
