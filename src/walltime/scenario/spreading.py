"""Cores of running jobs on each of their nodes, where only the nodes and the sums are told."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence


def spread(sums: Sequence[int], nodes: Sequence[Sequence[int]], room: Mapping[int, int]) -> list[dict[int, int]] | None:
    """Of each job its cores by node, at least one on each of its nodes, no node with more than its room.

    It begins with as many on each node. Where a node is overfull, cores move from one node of a job to another, as few
    as have to. None where none have to, or where no division has room.
    """
    shares = [_divide(total, mine) for total, mine in zip(sums, nodes, strict=True)]
    left = dict(room)
    on: dict[int, list[int]] = {node: [] for node in room}
    for job, share in enumerate(shares):
        for node, cores in share.items():
            left[node] -= cores
            on[node].append(job)
    if min(left.values(), default=0) >= 0:
        return None
    for node in sorted(left):
        while left[node] < 0:
            path = _find_path(node, left, shares, on)
            if path is None:
                return None
            least = min(shares[job][source] - 1 for source, job, _ in path)
            moved = min(-left[node], left[path[-1][2]], least)
            for source, job, target in path:
                shares[job][source] -= moved
                shares[job][target] += moved
            left[node] += moved
            left[path[-1][2]] -= moved
    return shares


def _divide(total: int, nodes: Sequence[int]) -> dict[int, int]:
    """As even as can be, the first nodes with one more."""
    each, more = divmod(total, len(nodes))
    return {node: each + (place < more) for place, node in enumerate(nodes)}


def _find_path(
    first: int, left: Mapping[int, int], shares: Sequence[Mapping[int, int]], on: Mapping[int, Sequence[int]]
) -> list[tuple[int, int, int]] | None:
    """The shortest way from a node to one with room, as (node, job that leaves it, node that it goes to)."""
    came: dict[int, tuple[int, int, int]] = {}
    ahead = deque([first])
    while ahead:
        node = ahead.popleft()
        for job in on[node]:
            for target in shares[job] if shares[job][node] > 1 else ():
                if target == first or target in came:
                    continue
                came[target] = (node, job, target)
                if left[target] > 0:
                    path = [came[target]]
                    while path[0][0] != first:
                        path.insert(0, came[path[0][0]])
                    return path
                ahead.append(target)
    return None
