"""Nodes with several resources in the slow twin of a site: room, placement and reservations, node by node.

Where the guide leaves it open: what is free on a node for a job is, of each resource, the least that is left from
its start to its end beside all running jobs and all reservations of others. On a reservation `contiguous` keeps the
first row of nodes that serves. On nodes given as a whole, to all jobs or to this one, each must have at least the
job's `cores_per_node`, as on plain nodes. A node without its own amount of memory leaves memory out of everybody's
leftover: then its largest amount is not known. What is left over is counted from what is free now, whatever is kept for
others later; of cores, from what the job may have; of the rest, where a job on these nodes, inside the same reservation
or in none, has asked for it and been started.

A reservation of a job that any cores of its nodes serve, or any of the nodes where all are given as a whole and are
alike, is a number of cores, as long as numbers tell enough: they do not where it matters which nodes a job gets and the
reservation has begun by then, where a job is for another set of nodes, and for whole nodes of different sizes. Then the
reservations that it meets get names: those of them that begin first choose first, and so does each inside which one of
them begins. Other reservations keep, of the nodes that serve the job throughout, those that have room for it last.

A job whose nodes differ is placed part by part, the largest first, on nodes that the parts before it left; so is its
reservation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from twin.jobs import Job, Shares
from twin.outages import Block
from twin.places import Place, fill, find_run
from twin.pool import Hold
from twin.requests import Request, Rooms, as_asked_in, make_request, said
from walltime.cluster.nodes import FULL_SPEED, UNCOUNTED, Layout
from walltime.core.errors import EngineError

if TYPE_CHECKING:
    from twin.site import Site

Taken = dict[int, dict[str, int]]
FOR_EVER = 1 << 61


@dataclass(eq=False)
class Elsewhere:
    """A job of another reservation, or of none, running or with a hold: they never meet on a node, as the nodes are
    cleared when a reservation begins and when it ends. Its licences count."""

    job: Job


Occupant = Job | Hold | Elsewhere | Block
"""What may keep a job from a node."""


class Vectors:
    """The nodes; `site` has the clock, the running jobs and the queues' node sets."""

    def __init__(self, site: Site, layout: Layout, place: Place, own: dict[str, Place], named: bool) -> None:
        self.site = site
        self.named = named  # whether every reservation has names
        self.layout = layout
        self.place = place
        self.own = own  # by queue, where it is not that one
        self.names = layout.resources()
        amounts = {name: layout.amounts(name).tolist() for name in self.names}
        self.capacity = [{name: amounts[name][node] for name in self.names} for node in range(layout.count)]
        self.speeds = [Fraction(pace, FULL_SPEED) for pace in layout.pace().tolist()]
        self.holds: list[Hold] = []
        self.requests: dict[tuple[int, str | None], Request] = {}
        self.had: dict[Any, set[str]] = {}  # by reservation: what a job has had so far, beside cores
        self.usable: set[int] | None = None  # the nodes that a pass has left open; None: all

    def request(self, job: Job, queue: str | None) -> Request:
        key = job.row, queue
        if key not in self.requests:
            asked = as_asked_in(job, None if queue is None else self.site.cluster.queues[queue])
            self.requests[key] = make_request(asked, self.layout, self.capacity, self.site.node_set(job, queue))
        return self.requests[key]

    @property
    def cores(self) -> int:
        return int(sum(node["cores"] for node in self.capacity))

    def speed(self) -> Fraction:
        """The mean over the cores."""
        paces = zip(self.capacity, self.speeds, strict=True)
        return sum((node["cores"] * speed for node, speed in paces), Fraction()) / self.cores

    def nodes(self, job: Job, queue: str | None) -> int:
        return self.request(job, queue).count or 1

    # ---- what is left

    def others(self, job: Job, start: int, running: list[Job]) -> list[list[Occupant]]:
        """Who is there beside the job, at its start and at each later moment at which a hold or a block begins."""
        holds = [hold for hold in self.holds if hold.job is not job]
        blocks = self.site.outages.blocks(job)
        moments = {start: running}
        begins: list[Hold | Block] = [*holds, *blocks]
        for later in begins:
            if start < later.start < start + job.length:
                moments[later.start] = self.running_at(later.start)
        return [
            [*self.seen_by(job, [*then, *(hold for hold in holds if hold.covers(moment))]), *self.away(blocks, moment)]
            for moment, then in moments.items()
        ]

    def seen_by(self, job: Job, others: Sequence[Job | Hold]) -> list[Occupant]:
        """Running jobs and holds, as far as they concern the job."""
        jobs = [other.job if isinstance(other, Hold) else other for other in others]
        return [
            other if one.reservation == job.reservation else Elsewhere(one)
            for other, one in zip(others, jobs, strict=True)
        ]

    def away(self, blocks: list[Block], time: int) -> list[Block]:
        return [block for block in blocks if block.covers(time)]

    def left(self, node: int, others: Sequence[Occupant]) -> dict[str, int]:
        """What they leave on the node; memory that is not told never runs out."""
        return {
            name: most if most == UNCOUNTED else most - sum(taken_by(other, node).get(name, 0) for other in others)
            for name, most in self.capacity[node].items()
        }

    def room(self, node: int, request: Request, moments: list[list[Occupant]]) -> dict[str, int] | None:
        """What the job may have on the node for all of its time; None where it may have nothing."""
        if node not in request.node_set or (self.usable is not None and node not in self.usable):
            return None
        everybody = [other for others in moments for other in others]
        if any(isinstance(other, Block) and node in other.nodes for other in everybody):
            return None
        if request.whole and any(taken_by(other, node) for other in everybody):
            return None
        lefts = [self.left(node, others) for others in moments]
        return {name: min(left[name] for left in lefts) for name in self.names}

    def rooms(self, request: Request, moments: list[list[Occupant]]) -> list[dict[str, int] | None]:
        return [self.room(node, request, moments) for node in range(len(self.capacity))]

    def suits(self, request: Request, moments: list[list[Occupant]]) -> bool:
        for name, wanted in request.licences.items():
            for others in moments:
                in_use = sum(self.licences_of(other).get(name, 0) for other in others)
                if in_use + wanted > self.layout.licences.get(name, 0):
                    return False
        rooms = self.rooms(request, moments)
        if request.count is None:
            return sum(request.offers(rooms)) >= request.cores
        if request.parts:
            return request.finds(rooms)
        return self.place.suits(request.suitable(rooms), request.count)

    def licences_of(self, other: Occupant) -> dict[str, int]:
        if isinstance(other, Block):
            return {}
        job: Job = other.job if isinstance(other, Hold | Elsewhere) else other
        return job.wanted_licences()

    # ---- now

    def refuse(self, job: Job, queue: str | None) -> str | None:
        """Why the job could not run on the empty machine, or None."""
        request = self.request(job, queue)
        where = "the cluster" if queue is None else f"queue {queue}"
        for name, wanted in request.licences.items():
            if wanted > self.layout.licences.get(name, 0):
                return f"more licences of {name} than there are"
        for name in request.share:
            if name not in self.names and name != "memory" and request.share[name] > 0:
                return f"no node has {'GPUs' if name == 'gpus' else name}"
        if not request.node_set:
            return f"no node has the property {job.constraint}" if job.constraint else f"{where} has no node"
        if self.suits(request, [[]]):
            most = said(self.site.cluster, queue, "max_memory")
            largest = (request.parts or (request,))[0]
            wanted = request.memory_per_core if request.count is None else largest.share.get("memory", 0)
            beyond = most is not None and most.per == "node" and "memory" in self.names and wanted > most.size
            return f"more memory on a node than {where} gives" if beyond else None
        if request.count is None:
            return f"more cores than {where} has"
        for name in self.names:
            share = request.parts[0].share if request.parts else request.share
            if all(self.capacity[node][name] < share.get(name, 0) for node in request.node_set):
                return f"more {name} on a node than any node has"
        return f"more nodes than {where} has"

    def fits(self, job: Job, queue: str | None) -> bool:
        if not self.site.outages.inside(job, self.site.now):
            return False
        return self.serves(job, queue, self.site.now, self.request(job, queue).cores)

    def fits_again(self, job: Job) -> bool:
        """Whether a suspended job can go on where it was."""
        before = self.holds
        self.make_clear(job, job.runs_in, self.site.now)
        again = self.leaves_numbers(job, job.runs_in, self.site.now, job.cores) and self.fits_there(job)
        self.holds = before
        return again

    def fits_there(self, job: Job) -> bool:
        moments = self.others(job, self.site.now, self.site.running)
        request = self.request(job, job.runs_in)
        for name, wanted in request.licences.items():
            for others in moments:
                in_use = sum(self.licences_of(other).get(name, 0) for other in others)
                if in_use + wanted > self.layout.licences.get(name, 0):
                    return False
        for node, amounts in job.taken.items():
            room = self.room(node, request, moments)
            if room is None or any(room[name] < amount for name, amount in amounts.items() if name in room):
                return False
        return self.site.outages.inside(job, self.site.now)

    def take(self, job: Job, queue: str | None) -> Fraction:
        """The job starts on the nodes that the placement chooses; returns how fast they are."""
        self.make_clear(job, queue, self.site.now)
        self.drop(job)
        request = self.request(job, queue)
        rooms = self.rooms(request, self.others(job, self.site.now, self.site.running))
        had = self.had.setdefault(job.reservation, {"cores"})
        for one in request.parts or (request,):
            had |= {name for name, amount in one.share.items() if amount > 0}
        had |= {"memory"} if request.memory_per_core else set()
        if request.count is None:
            job.shares = self.place_of(queue).spread(request.offers(rooms), request.cores, job.row)
            job.taken = self.taken(request, job.shares)
        else:
            job.shares, job.taken = [], {}
            for part in request.parts or (request,):
                shares = self.pick(part, job, rooms, had, self.place_of(queue))
                job.shares = sorted(job.shares + shares)
                job.taken |= self.taken(part, shares)
                rooms = [None if node in job.taken else room for node, room in enumerate(rooms)]
        if request.whole:
            job.shares = [(node, self.capacity[node]["cores"]) for node, _ in job.shares]
        return min(self.speeds[node] for node, _ in job.shares)

    def place_of(self, queue: str | None) -> Place:
        """The placement of jobs of the queue."""
        return self.place if queue is None else self.own.get(queue, self.place)

    def pick(self, request: Request, job: Job, rooms: Rooms, had: set[str], place: Place) -> Shares:
        """So many nodes that serve the request, as the placement chooses, and the cores divided over them."""
        assert request.count is not None
        leftover = {
            node: self.leftover(request, had, self.left(node, self.site.running), rooms[node])
            for node in request.suitable(rooms)
        }
        numbers = place.pick(list(leftover), request.count, leftover, job.row)
        each, odd = divmod(request.cores, request.count)
        return [(node, each + (number < odd)) for number, node in enumerate(numbers)]

    def leftover(self, request: Request, had: set[str], left: dict[str, int], room: dict[str, int] | None) -> float:
        """How much of a node would stay free, in parts of the largest node, added up over the resources that a job has
        had so far."""
        assert room is not None
        total = 0.0
        left = left | {"cores": room["cores"]}
        for name in self.names:
            largest = max(capacity[name] for capacity in self.capacity)
            if name in had and 0 < largest < UNCOUNTED:
                total += float(left[name] - request.share.get(name, 0)) / float(largest)
        return total

    def taken(self, request: Request, shares: Shares) -> Taken:
        """What the job uses on each of its nodes."""
        if request.whole:
            return {node: dict(self.capacity[node]) for node, _ in shares}
        if request.count is None:
            return {node: {"cores": cores, "memory": cores * request.memory_per_core} for node, cores in shares}
        return {node: request.share | {"cores": cores} for node, cores in shares}

    # ---- numbers of cores

    def serves(self, job: Job, queue: str | None, start: int, cores: int) -> bool:
        """Whether the job has its nodes from `start` on beside the named holds, and leaves the others their number.

        Holds whose number does not tell enough get names for this question, and leave the job what it keeps itself.
        """
        before = self.holds
        try:
            while True:
                if not self.leaves_numbers(job, queue, start, cores):
                    return False
                if not self.suits(self.request(job, queue), self.others_later(job, start)):
                    return False
                unclear = self.unclear(job, queue, start)
                if not unclear:
                    return True
                self.name(unclear, job)
        finally:
            self.holds = before

    def make_clear(self, job: Job, queue: str | None, start: int) -> None:
        """Give names, for good, to the holds whose number does not tell enough."""
        while unclear := self.unclear(job, queue, start):
            self.name(unclear, job)

    def is_placed(self, job: Job, queue: str | None, start: int) -> bool:
        """Whether it matters which nodes the job gets: by itself, or as something with names begins while it lasts."""
        request = self.request(job, queue)
        if not self.any_serve(request):
            return True
        end = start + job.length
        named = [hold for hold in self.holds if not hold.cores and self.beside(hold.job, job)]
        if any(start < hold.start < end and hold.meets(start, end, request.node_set) for hold in named):
            return True
        return any(
            start < block.start < end and not block.nodes.isdisjoint(request.node_set)
            for block in self.site.outages.blocks(job)
        )

    def any_serve(self, request: Request) -> bool:
        """Whether any cores of its nodes serve it, or any of the nodes where all are given as a whole and are alike."""
        if self.named or (request.memory_per_core > 0 and "memory" in self.names):
            return False
        if self.layout.whole:
            most = (request.parts or (request,))[0].share
            wants = any(amount for name, amount in most.items() if name != "cores" and name in self.names)
            return not wants and self.place.name != "contiguous" and len(self.sizes(request)) == 1
        return request.count is None and not request.whole

    def sizes(self, request: Request) -> set[int]:
        return {self.capacity[node]["cores"] for node in request.node_set}

    def takes(self, request: Request) -> int:
        """Cores that it takes up: of nodes that it has for itself, all."""
        if not request.whole:
            return request.cores
        size = max(self.sizes(request), default=1)
        return size * (request.count or -(-request.cores // size))

    def beside(self, other: Job, job: Job) -> bool:
        """Whether the two are of the same reservation: others never meet on a node."""
        return other is not job and other.reservation == job.reservation

    def met(self, job: Job, queue: str | None, start: int) -> list[Hold]:
        """The holds without names that bear on the job."""
        nodes = self.request(job, queue).node_set
        return [
            hold
            for hold in self.holds
            if hold.cores and self.beside(hold.job, job) and hold.meets(start, start + job.length, nodes)
        ]

    def unclear(self, job: Job, queue: str | None, start: int) -> list[Hold]:
        """Those of them whose number does not tell whether the job leaves them enough."""
        request = self.request(job, queue)
        placed = self.is_placed(job, queue, start)
        uncertain = request.whole and (len(self.sizes(request)) > 1 or self.fills_in_part(request))
        return [
            hold
            for hold in self.met(job, queue, start)
            if hold.nodes != request.node_set or (placed and hold.start < start) or uncertain
        ]

    def fills_in_part(self, request: Request) -> bool:
        """Whether memory may leave it a part of a node's cores, so that it takes more nodes the less they have."""
        return request.count is None and request.memory_per_core > 0 and "memory" in self.names

    def leaves_numbers(self, job: Job, queue: str | None, start: int, cores: int) -> bool:
        """Whether so many cores are left at the start, and where a hold without names begins."""
        request = self.request(job, queue)
        if request.whole:
            cores = self.takes(request)
        unclear = self.unclear(job, queue, start)
        return all(
            self.number(job, request.node_set, max(start, hold.start)) >= cores
            for hold in self.met(job, queue, start)
            if hold not in unclear
        )

    def number(self, job: Job, nodes: frozenset[int], time: int) -> int:
        """Cores of the nodes that are left at that time beside everything."""
        away = {node for block in self.site.outages.blocks(job) if block.covers(time) for node in block.nodes}
        holds = [hold for hold in self.holds if hold.covers(time) and hold.job is not job]
        others = self.seen_by(job, [*self.running_at(time), *holds])
        left = sum(max(0, self.left(node, others)["cores"]) for node in nodes - away)
        same = [hold for hold in self.holds if hold.cores and hold.nodes == nodes and self.beside(hold.job, job)]
        return left - sum(hold.cores for hold in same if hold.covers(time))

    def name(self, unclear: list[Hold], job: Job) -> None:
        """Let these holds name their nodes, and those inside which one of them begins, in the order of their starts."""
        found = list(unclear)
        for hold in found:
            found += [
                outer
                for outer in self.holds
                if outer.cores
                and outer not in found
                and outer.job is not job
                and self.beside(outer.job, hold.job)
                and outer.start < hold.start < outer.end
                and not outer.nodes.isdisjoint(hold.nodes)
            ]
        for hold in sorted(found, key=lambda hold: (hold.start, self.holds.index(hold))):
            request = Request(hold.nodes, hold.cores, None, {}, 0, False, {})
            moments = self.others_while(hold)
            shares = fill(request.offers(self.rooms(request, moments)), hold.cores, sorted(range(len(self.capacity))))
            named = Hold(hold.job, hold.queue, hold.start, hold.end, self.taken(request, shares))
            self.holds = [named if other is hold else other for other in self.holds]

    def others_while(self, hold: Hold) -> list[list[Occupant]]:
        """As `others`, for as long as the hold lasts."""
        blocks = self.site.outages.blocks(hold.job)
        kept = [other for other in self.holds if other is not hold]
        begins = [*(other.start for other in kept), *(block.start for block in blocks)]
        moments = [hold.start, *(begin for begin in begins if hold.start < begin < hold.end)]
        found = []
        for moment in sorted(moments):
            there: list[Job | Hold] = [*self.running_at(moment), *(other for other in kept if other.covers(moment))]
            found.append([*self.seen_by(hold.job, there), *self.away(blocks, moment)])
        return found

    # ---- later

    def earliest(self, job: Job, queue: str | None, after: int | None = None) -> int | None:
        """The first time from which the same nodes serve the job for its request, as far as is known; None for never.

        Only what ends makes room; `after` asks for a time not before that.
        """
        now = self.site.now
        first = now if after is None else max(now, after)
        request = self.request(job, queue)
        times = {other.expected_end for other in self.site.running}
        times |= {hold.end for hold in self.holds if hold.job is not job}
        times |= {block.end for block in self.site.outages.blocks(job) if block.end is not None}
        times |= {hold.start for hold in self.holds} | {block.start for block in self.site.outages.blocks(job)}
        times |= {*self.site.outages.openings(job)}
        cores = request.cores
        if request.count is not None and not request.parts:
            cores = request.count * request.share["cores"]
        for time in sorted({first, first + 1} | {time for time in times if time > first}):
            if self.site.outages.inside(job, time) and self.serves(job, queue, time, cores):
                return time
        return None

    def best_gap(self, job: Job, queue: str | None) -> int:
        """The start of the gap of which the job leaves the least time, the earliest of equal ones: a gap is as long as
        the job could stay there, and the last one has no end."""
        gaps: list[tuple[float, int]] = []
        time = self.earliest(job, queue)
        while time is not None:
            end = self.stays_until(job, queue, time)
            gaps.append((end - time - job.length, time))
            time = None if end == math.inf else self.earliest(job, queue, int(end))
        return min(gaps)[1]

    def stays_until(self, job: Job, queue: str | None, time: int) -> float:
        """Until when the job could stay if it were longer: only something that begins can be in its way."""
        begins = {hold.start for hold in self.holds} | {block.start for block in self.site.outages.blocks(job)}
        edges: list[float] = [*sorted(begin for begin in begins if begin >= time + job.length), math.inf]
        for edge, beyond in pairwise(edges):
            longer = replace(job, estimate=FOR_EVER if beyond == math.inf else int(beyond) - time, rest=None)
            if self.earliest(longer, queue, time) != time:
                return edge
        return math.inf

    def others_later(self, job: Job, time: int) -> list[list[Occupant]]:
        return self.others(job, time, self.running_at(time))

    def running_at(self, time: int) -> list[Job]:
        """Who is still there then by the expected ends; now, everybody, if only for this instant."""
        return [job for job in self.site.running if time <= self.site.now or job.expected_end > time]

    def hold(self, job: Job, queue: str | None, start: int) -> None:
        """Keep nodes for the job: those that have room for it last by the running jobs alone; ties by number. Or a
        number of cores, where it does not matter which."""
        request = self.request(job, queue)
        self.make_clear(job, queue, start)
        self.drop(job)
        if not self.is_placed(job, queue, start):
            self.holds.append(Hold(job, queue, start, start + job.length, {}, self.takes(request), request.node_set))
            return
        rooms = self.rooms(request, self.others_later(job, start))
        if request.count is None:
            shares = fill(request.offers(rooms), request.cores, list(range(len(rooms))))
            taken = self.taken(request, shares)
        else:
            taken = {}
            for part in request.parts or (request,):
                taken |= self.last(part, job, [None if node in taken else room for node, room in enumerate(rooms)])
        self.holds.append(Hold(job, queue, start, start + job.length, taken))

    def last(self, request: Request, job: Job, rooms: Rooms) -> Taken:
        """What it keeps on the nodes with room that have it last; or on the first row of them."""
        assert request.count is not None
        nodes = sorted(request.suitable(rooms), key=lambda node: (-self.first_room(job, request, node), node))
        if self.place.name == "contiguous":
            nodes = find_run(sorted(nodes), request.count) or []
        return self.taken(request, [(node, request.share["cores"]) for node in nodes[: request.count]])

    def first_room(self, job: Job, request: Request, node: int) -> int:
        """When the node, by what is on it now alone, has room for the job's part: running jobs, and what is shut."""
        now = self.site.now
        down = self.site.outages.present_blocks(job)
        ends = {other.expected_end for other in self.site.running} | {block.end for block in down}
        for time in sorted({now, now + 1} | {end for end in ends if end is not None and end > now}):
            away = self.away(down, time)
            if self.has_room(request, node, [*self.seen_by(job, self.running_at(time)), *away]):
                return int(time)
        raise EngineError(f"node {node} does not serve the request when it is empty")

    def has_room(self, request: Request, node: int, running: list[Occupant]) -> bool:
        room = self.room(node, request, [running])
        return room is not None and request.serves(room)

    # ---- for lookahead

    def free(self) -> int:
        """Free cores of all nodes, there or not."""
        return sum(max(0, self.left(node, self.site.running)["cores"]) for node in range(len(self.capacity)))

    def free_for(self, job: Job, nodes: set[int]) -> int:
        """Cores of these nodes that are free now, where they are there for the job."""
        return sum(max(0, self.left(node, self.site.running)["cores"]) for node in self.open_to(job, nodes))

    def open_to(self, job: Job, nodes: set[int], time: int | None = None) -> set[int]:
        """Those of the nodes that are there for the job, now or at that time."""
        blocks = self.away(self.site.outages.blocks(job), self.site.now if time is None else time)
        return nodes - {node for block in blocks for node in block.nodes}

    def beside_hold(self, hold: Hold, nodes: set[int]) -> int:
        """Cores of these nodes that are free now and, beside the hold and others of that time, when it begins."""
        kept = [other for other in self.holds if other.covers(hold.start)]
        then: list[Job | Hold] = [*self.running_at(hold.start), *kept]
        later = self.open_to(hold.job, nodes, hold.start)
        if hold.cores:
            numbers = sum(other.cores for other in kept if other.job.domain == hold.job.domain)
            left = sum(max(0, self.left(node, then)["cores"]) for node in later) - numbers
            return max(0, min(self.free_for(hold.job, nodes), left))
        return sum(
            max(0, min(self.left(node, self.site.running)["cores"], self.left(node, then)["cores"]))
            for node in self.open_to(hold.job, nodes) & later
        )

    def loosen(self, job: Job) -> None:
        """The job is planned again: until its hold is replaced, others are named around it."""

    def drop(self, job: Job) -> None:
        self.holds = [hold for hold in self.holds if hold.job is not job]


def taken_by(other: Occupant, node: int) -> dict[str, int]:
    """What a running job or a hold has on the node."""
    taken: Taken = getattr(other, "taken", {})
    return taken.get(node, {})
