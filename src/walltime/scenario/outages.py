"""Reservations and failures of one cluster, looked at together: which nodes they mean, and what cannot be meant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, count, islice
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import microseconds
from walltime.scenario.cluster import Cluster
from walltime.scenario.disruptions import Failures, Reservation
from walltime.workload.formats.alea_files import read_failures

AHEAD = 100
"""So many occurrences of a reservation are known of at most."""
_MANY = 10_000
"""So many occurrences of reservations that end some day are compared one by one."""


def reserved_nodes(reservation: Reservation, cluster: Cluster) -> np.ndarray[Any, Any] | None:
    """The numbers of a reservation's nodes; None in a plain number of cores. Raises InputError."""
    layout = cluster.layout()
    if layout is None:
        return None
    if reservation.nodes is not None:
        return np.flatnonzero(layout.select(reservation.nodes))
    if reservation.count is not None:
        return np.arange(layout.count - reservation.count, layout.count)
    return np.arange(layout.count)


def reserved_cores(reservation: Reservation, cluster: Cluster) -> int:
    """How many cores it keeps."""
    nodes, layout = reserved_nodes(reservation, cluster), cluster.layout()
    if nodes is None or layout is None:
        return reservation.cores or cluster.total_cores or 0
    return int(layout.cores()[nodes].sum())


def usable_reservations(cluster: Cluster) -> list[tuple[int, Reservation]]:
    """The reservations that jobs may be bound to, with their numbers."""
    return [(number, one) for number, one in enumerate(cluster.reservations) if not one.maintenance]


def occurrences(reservation: Reservation) -> Iterator[tuple[int, int]]:
    """Its times as (start, end) in microseconds, one after the other; for ever, where it recurs for ever."""
    start, length = microseconds(reservation.start), microseconds(reservation.length)
    step = 0 if reservation.every is None else microseconds(reservation.every)
    often = 1 if reservation.every is None else reservation.times
    for number in count() if often is None else range(often):
        yield start + number * step, start + number * step + length


def known_ahead(reservation: Reservation, horizon: int) -> int:
    """How long before its start an occurrence is known, in microseconds, once the first is: as far as the horizon or
    `AHEAD` of them reach. A job that would reach into a later one would reach into the first already."""
    return horizon if reservation.every is None else min(horizon, AHEAD * microseconds(reservation.every))


def failing_groups(source: Failures, cluster: Cluster) -> list[np.ndarray[Any, Any]]:
    """The nodes that fail together, for each group of a source; in a plain number of cores, units that fail as one."""
    layout = cluster.layout()
    if layout is None:
        return [np.array([number]) for number in range(exposed_cores(cluster) // failing_cores(source, cluster))]
    nodes = np.arange(layout.count) if source.nodes is None else np.flatnonzero(layout.select(source.nodes))
    if source.at is not None:
        return [nodes]
    return [nodes[first : first + source.together] for first in range(0, len(nodes), source.together)]


def failing_cores(source: Failures, cluster: Cluster) -> int:
    """Of a plain number of cores: how many fail together."""
    return source.cores or max(1, (cluster.total_cores or 0) // 16)


def exposed_cores(cluster: Cluster) -> int:
    """Of a plain number of cores: those that may fail, which are all but what reservations keep for jobs at a time."""
    usable = [one for _, one in usable_reservations(cluster)]
    kept = [
        sum(reserved_cores(other, cluster) for other in usable if other is one or _meet(one, other)) for one in usable
    ]
    return (cluster.total_cores or 0) - max(kept, default=0)


def told_failures(source: Failures, cluster: Cluster) -> list[tuple[int, int, np.ndarray[Any, Any]]]:
    """The failures of a file as (start, end, nodes), in order of time; raises InputError with its line."""
    layout = cluster.layout()
    if source.file is None or layout is None:
        return []
    sizes: dict[str, int] = {}
    for group in layout.groups:
        sizes[group.name] = sizes.get(group.name, 0) + group.count
    place = {name: number for number, name in enumerate(layout.names())}
    found = []
    for failure in read_failures(source.file, sizes):
        numbers = failure.nodes or range(sizes[failure.cluster])
        nodes = np.array([place[f"{failure.cluster}{number}"] for number in numbers])
        start = microseconds(failure.time)
        found.append((start, start + max(1, microseconds(failure.duration)), nodes))
    return sorted(found, key=lambda one: one[:2])


# ---- mistakes


def in_disruptions(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    """The mistakes in a cluster's reservations and failures, each with its key."""
    yield from _in_reservations(cluster)
    yield from _in_preempt(cluster)
    for number, source in enumerate(cluster.failures):
        yield from _in_failures(f"failures.{number}", source, cluster)


def _in_reservations(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    layout = cluster.layout()
    names = [reservation.name for reservation in cluster.reservations]
    for number, reservation in enumerate(cluster.reservations):
        key = f"reservations.{number}"
        if reservation.name in names[:number]:
            yield f"{key}.name", InputError("two reservations have the same name", value=reservation.name)
        if layout is None and (reservation.nodes or reservation.count):
            yield key, InputError("it is for nodes, but the cluster is a plain number of cores", value=reservation.name)
            return
        if layout is not None and reservation.cores is not None:
            yield f"{key}.cores", InputError("the cluster has nodes; give nodes or count", value=reservation.cores)
            return
        if reservation.cores is not None and reservation.cores > (cluster.total_cores or reservation.cores):
            yield f"{key}.cores", InputError(f"the cluster has only {cluster.total_cores}", value=reservation.cores)
        if layout is not None and (reservation.count or 0) > layout.count:
            yield f"{key}.count", InputError(f"the cluster has only {layout.count} nodes", value=reservation.count)
            return
        try:
            reserved_nodes(reservation, cluster)
        except InputError as error:
            yield f"{key}.nodes", error
            return
        for name in reservation.accounts or ():
            if cluster.accounts and name not in cluster.accounts:
                yield f"{key}.accounts", InputError("no such account", value=name, choices=list(cluster.accounts))
    yield from _overlaps(cluster)


def _in_preempt(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    part = cluster.scheduler.preempt
    if part is None or part.name != "queue":
        return
    if not cluster.queues:
        yield "scheduler.preempt", InputError("jobs of queues displace others, but the cluster has no queues")
    ranks = part.parameters.get("ranks")
    for name in ranks if isinstance(ranks, dict) else ():
        if name not in cluster.queues:
            what = "a rank for a queue that is not there"
            yield "scheduler.preempt.ranks", InputError(what, value=name, choices=list(cluster.queues))


def _overlaps(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    """Reservations that want the same thing at the same time."""
    if cluster.total_cores is None:
        return
    for (_, first), (b, second) in combinations(enumerate(cluster.reservations), 2):
        mine, other = reserved_nodes(first, cluster), reserved_nodes(second, cluster)
        if mine is None or other is None:
            together = reserved_cores(first, cluster) + reserved_cores(second, cluster)
            shared = together > cluster.total_cores
        else:
            shared = bool(np.intersect1d(mine, other).size)
        if shared and _meet(first, second):
            yield (
                f"reservations.{b}",
                InputError(f"overlaps with reservation {first.name}, which has the same", value=second.name),
            )


def _meet(first: Reservation, second: Reservation) -> bool:
    """Whether an occurrence of one overlaps with one of the other."""
    a, b = microseconds(first.start), microseconds(second.start)
    long_a, long_b = microseconds(first.length), microseconds(second.length)
    if first.every is not None and second.every is not None and first.times is None and second.times is None:
        step = math.gcd(microseconds(first.every), microseconds(second.every))
        apart = (b - a) % step
        return apart < long_a or step - apart < long_b
    ones, others = list(islice(occurrences(first), _MANY)), list(islice(occurrences(second), _MANY))
    i = j = 0
    while i < len(ones) and j < len(others):
        if ones[i][0] < others[j][1] and others[j][0] < ones[i][1]:
            return True
        if ones[i][1] <= others[j][1]:
            i += 1
        else:
            j += 1
    return False


def _in_failures(key: str, source: Failures, cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    layout = cluster.layout()
    if layout is None and (source.nodes is not None or source.file is not None or source.together > 1):
        yield key, InputError("nodes fail, but the cluster is a plain number of cores; give cores")
        return
    if layout is None and source.notice > 0:
        yield f"{key}.notice", InputError("only nodes can be drained; the cluster is a plain number of cores")
    if layout is not None and source.cores is not None:
        yield f"{key}.cores", InputError("the cluster has nodes, which fail as a whole", value=source.cores)
    if cluster.total_cores is not None and (source.cores or 0) > cluster.total_cores:
        yield f"{key}.cores", InputError(f"the cluster has only {cluster.total_cores}", value=source.cores)
    if layout is None and cluster.total_cores and failing_cores(source, cluster) > exposed_cores(cluster):
        what = f"only {exposed_cores(cluster)} cores are not kept for jobs by reservations, and these do not fail"
        yield key, InputError(what, value=failing_cores(source, cluster))
    try:
        if source.nodes is not None and layout is not None:
            layout.select(source.nodes)
        if source.file is not None and not Path(source.file).exists():
            raise InputError("no such file", value=source.file)
        told_failures(source, cluster)
    except InputError as error:
        yield f"{key}.{'file' if source.file else 'nodes'}", error
