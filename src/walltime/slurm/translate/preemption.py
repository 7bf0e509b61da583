"""Which jobs may preempt which: a scenario's preemption in the words of slurm.conf and of qualities of service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.scenario import Cluster, Part

QUEUE, QOS = "queue", "qos"
TYPES = {QUEUE: "preempt/partition_prio", QOS: "preempt/qos"}
REQUEUE = "requeue"
MODES = {REQUEUE: "REQUEUE", "kill": "CANCEL", "suspend": "SUSPEND,GANG"}
YOUNGEST = "preempt_youngest_first"
_KEY = "cluster.scheduler.preempt"


def find_problems(cluster: Cluster, told: bool = False) -> Iterator[tuple[str, str]]:
    """What of the preemption a controller cannot honour, by key; `told`: settings say which job goes first there."""
    part = cluster.scheduler.preempt
    if part is None:
        return
    given = part.parameters
    if part.name not in TYPES:
        yield _KEY, f"{part.name}: only {' and '.join(TYPES)}"
        return
    mode = given.get("mode", REQUEUE)
    if mode not in MODES:
        yield f"{_KEY}.mode", f"{mode}: only {', '.join(MODES)}"
    if mode == "suspend" and part.name == QOS:
        yield f"{_KEY}.mode", "suspend: jobs of one queue would take turns, not wait"
    if mode == "suspend" and _grace(part):
        yield f"{_KEY}.grace", "a job that is suspended is so at once"
    if _grace(part) % 1:
        yield f"{_KEY}.grace", "the controller counts whole seconds"
    if part.name == QOS and cluster.scheduler.backfill.name == "none":
        yield _KEY, "qos without backfilling: an urgent job waits behind those before it"
    if requeues(cluster) and cluster.interrupted == "fail" and cluster.failures:
        yield "cluster.interrupted", "fail, but preempted jobs wait again: the controller has one word for both"
    yield from _in_ranks(cluster, part)
    if not told:
        yield from _in_victims(cluster, part)


def requeues(cluster: Cluster) -> bool:
    """Whether preempted jobs wait again, which the controller lets none do that may not be put back."""
    part = cluster.scheduler.preempt
    return part is not None and part.parameters.get("mode", REQUEUE) == REQUEUE


def _grace(part: Part) -> float:
    given = part.parameters.get("grace", 0)
    return 0.0 if given in (0, "0", "0s") else seconds(parse_duration(given))


def _ranks(part: Part) -> Mapping[str, int]:
    given: Mapping[str, int] = part.parameters.get("ranks") or {}
    return given


def _in_ranks(cluster: Cluster, part: Part) -> Iterator[tuple[str, str]]:
    """A partition's tier says both which jobs are first and which they preempt."""
    if part.name != QUEUE:
        return
    ranks = _ranks(part)
    pairs = sorted((queue.priority, ranks.get(name, queue.priority)) for name, queue in cluster.queues.items())
    for (low, first), (high, second) in pairwise(pairs):
        if (low == high) != (first == second) or first > second:
            yield f"{_KEY}.ranks", "in another order than the queues' priorities: the controller has one for both"
            return


def _in_victims(cluster: Cluster, part: Part) -> Iterator[tuple[str, str]]:
    victims = part.parameters.get("victims", "youngest")
    if victims == "lowest":
        yield f"{_KEY}.victims", "lowest: only youngest and smallest"
    elif victims == "smallest" and cluster.sharing != "whole" and cluster.nodes is not None:
        yield f"{_KEY}.victims", "smallest: the controller goes by nodes, not by cores"
    elif victims == "youngest" and _count_ranks(cluster, part) > 2:
        yield f"{_KEY}.victims", "youngest, of more than two ranks: the controller would not ask for the rank"


def _count_ranks(cluster: Cluster, part: Part) -> int:
    if part.name == QUEUE:
        return len({_ranks(part).get(name, queue.priority) for name, queue in cluster.queues.items()})
    return len({0, *_ranks(part).values()})


def write_preemption(cluster: Cluster) -> list[str]:
    """The settings; SchedulerParameters are `parameters`, and the grace stands with partitions and qualities."""
    part = cluster.scheduler.preempt
    if part is None:
        return []
    return [f"PreemptType={TYPES[part.name]}", f"PreemptMode={MODES[part.parameters.get('mode', REQUEUE)]}"]


def parameters(cluster: Cluster) -> list[str]:
    """What SchedulerParameters say of the job that has to go first; by default it is the smallest."""
    part = cluster.scheduler.preempt
    return [YOUNGEST] if part is not None and part.parameters.get("victims", "youngest") == "youngest" else []


def write_partition(cluster: Cluster) -> list[str]:
    """What every partition says of it."""
    part = cluster.scheduler.preempt
    if part is None:
        return []
    words = ["OverSubscribe=FORCE:1"] if part.parameters.get("mode") == "suspend" else []
    return [*words, *([f"GraceTime={_grace(part):.0f}"] if part.name == QUEUE and _grace(part) else [])]


def by_quality(cluster: Cluster) -> bool:
    """Whether qualities of service say which jobs preempt which, so that there have to be some."""
    part = cluster.scheduler.preempt
    return part is not None and part.name == QOS


def write_quality(cluster: Cluster, name: str | None, qualities: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Of the quality that jobs call `name` (None: of those that call none): which ones it preempts, and their grace.

    `qualities` are all of them: what Slurm calls each, and what the jobs do.
    """
    part = cluster.scheduler.preempt
    if part is None or part.name != QOS:
        return {}
    ranks: Mapping[Any, int] = _ranks(part)
    if not ranks:
        raise InputError("preempt by qos needs ranks, such as {urgent: 1, scavenger: -1}")
    below = [spelled for spelled, own in qualities if ranks.get(own, 0) < ranks.get(name, 0)]
    words = {"Preempt": ",".join(below)} if below else {}
    return words | ({"GraceTime": f"{_grace(part):.0f}"} if _grace(part) else {})
