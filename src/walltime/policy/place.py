"""The `place` part of a scheduler: on which nodes a job runs.

A built-in placement is compiled and extends `Place`. Yours is any class with one method:

    class Spread:
        def choose(self, free, cores, job):
            return np.argsort(-free, kind="stable")

`free` are the cores that the job may take on each node (what is reserved there for others is taken off already),
`cores` the nodes' sizes, `job` a view of the job by names. The answer is an order of nodes, best first, from which the
job takes what it needs; or a list of (node, cores) that says everything. Of nodes that are given as a whole a job takes
no more than it needs, for promises count on that. It is asked when the job starts, and when nodes are reserved for it
(then `free` is what will be free). Ask for no random numbers but your own.

One that looks at more than cores has a method `pack` instead:

    class Balanced:
        def pack(self, free, nodes, request, job):
            return np.argsort((free / nodes).std(axis=1), kind="stable")

`free` has a row for each node and a column for each resource, cores first: the cores that the job may take there, none
where it may not run, and what is free of the rest; `nodes` what they have. Amounts that are not counted are infinite.
`request` is a `walltime.policy.views.Request`: what the job wants `each` of its nodes to have. The answer is the same.
A job whose nodes differ is asked about part by part, the largest first; nodes that it has by then have nothing free.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from walltime.core.errors import InputError, PolicyError
from walltime.core.time import SECOND
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place
from walltime.policy.api import Job
from walltime.policy.views import make_request, vectors

__all__ = ["OwnPlace", "Place", "as_place"]


_HOOKS = ("prepare", "connect", "survey", "suits", "pick", "spread")
"""What compiled placements override; it works on arrays that are not checked, and is not for Python."""


def as_place(part: Any) -> Place:
    """The part itself where it is compiled, else a wrapper around its `choose`; raises InputError without one."""
    if isinstance(part, Place) and not any(inspect.isfunction(getattr(type(part), hook)) for hook in _HOOKS):
        return part
    if not callable(getattr(part, "choose", None)) and not callable(getattr(part, "pack", None)):
        methods = "choose(free, cores, job) or pack(free, nodes, request, job)"
        raise InputError(f"the place part {type(part).__qualname__} has no method {methods}")
    return OwnPlace(part)


class OwnPlace(Place):
    """A placement written in Python: its answer is checked, node by node, before the ledger believes it."""

    def __init__(self, part: Any) -> None:
        super().__init__()
        self.part = part
        self.jobs: JobTable
        self.sizes: np.ndarray[Any, Any]
        self.whole = False
        self.ledger: Any = None

    def survey(self, ledger: Any) -> None:
        self.ledger = ledger

    def prepare(self, jobs: JobTable, sizes: np.ndarray[Any, Any], whole: bool, seed: int) -> int:
        self.jobs, self.sizes, self.whole = jobs, sizes, whole
        return 0

    def pick(self, pool: NodePool, nodes: int, least: int, slot: int) -> int:
        free, answer = self._ask(pool, slot)
        if _is_pairs(answer):
            pairs = self._check_pairs(answer, free, slot, min(int(self.jobs.cores[slot]), nodes * least))
            if len(pairs) != nodes:
                raise self._error(slot, f"chose {len(pairs)} nodes where the job wants {nodes}")
            for node, cores in pairs:
                if free[node] < least and self.whole:
                    raise self._error(slot, f"chose node {node}, which has fewer than {least} cores")
                if cores > least and not self.whole:
                    raise self._error(slot, f"takes {cores} cores on node {node}, where the job wants at most {least}")
                pool.put(node, cores)
            pool.fix()
            return 0
        for node in self._check_order(answer, slot):
            if free[node] >= least and pool.chosen < nodes:
                pool.put(node, 0)
        if pool.chosen < nodes:
            raise self._error(slot, f"chose {pool.chosen} nodes with {least} free cores where the job wants {nodes}")
        return 0

    def spread(self, pool: NodePool, cores: int, slot: int) -> int:
        free, answer = self._ask(pool, slot)
        if _is_pairs(answer):
            pairs = self._check_pairs(answer, free, slot, cores)
            self._check_need(pairs, free, slot, cores)
            for node, some in pairs:
                pool.put(node, some)
            return 0
        for node in self._check_order(answer, slot):
            some = min(int(free[node]), cores)
            if some > 0:
                pool.put(node, some)
                cores -= some
        if cores > 0:
            raise self._error(slot, f"chose too few nodes: {cores} cores are missing")
        return 0

    def _ask(self, pool: NodePool, slot: int) -> tuple[np.ndarray[Any, Any], list[Any]]:
        free = pool.free_cores()
        job = Job(self.jobs, slot, int(self.jobs.eligible[slot]))
        if not callable(getattr(self.part, "pack", None)):
            return free, list(self.part.choose(free.copy(), self.sizes.copy(), job))
        shown = vectors(self.ledger.timelines.left_now())
        shown[:, 0] = free
        request = make_request(self.ledger, slot)
        return free, list(self.part.pack(shown, vectors(self.ledger.timelines.amounts()), request, job))

    def _check_order(self, answer: list[Any], slot: int) -> list[int]:
        met: set[int] = set()
        for node in answer:
            self._check_node(node, slot, met)
        return [int(node) for node in answer]

    def _check_pairs(
        self, answer: list[Any], free: np.ndarray[Any, Any], slot: int, wanted: int
    ) -> list[tuple[int, int]]:
        met: set[int] = set()
        for node, cores in answer:
            self._check_node(node, slot, met)
            if not 1 <= cores <= free[node]:
                raise self._error(slot, f"takes {cores} cores on node {node}, where {free[node]} are free")
        pairs = [(int(node), int(cores)) for node, cores in answer]
        given = sum(cores for _, cores in pairs)
        if given < wanted if self.whole else given != wanted:
            raise self._error(slot, f"gives {given} cores where the job wants {wanted}")
        return pairs

    def _check_need(self, pairs: list[tuple[int, int]], free: np.ndarray[Any, Any], slot: int, cores: int) -> None:
        """Raise where it takes more whole nodes than hold the cores: promises count on no more than these."""
        sizes = [int(free[node]) for node, _ in pairs]
        if self.whole and sum(sizes) - min(sizes) >= cores:
            raise self._error(slot, f"takes {len(sizes)} whole nodes, of which fewer hold its {cores} cores")

    def _check_node(self, node: Any, slot: int, met: set[int]) -> None:
        if not isinstance(node, int | np.integer) or not 0 <= node < len(self.sizes):
            raise self._error(slot, f"chose node {node!r}, which does not exist (0 to {len(self.sizes) - 1})")
        if int(node) in met:
            raise self._error(slot, f"chose node {node} twice")
        met.add(int(node))

    def _error(self, slot: int, what: str) -> PolicyError:
        job = f"job {int(self.jobs.job_id[slot])} ({int(self.jobs.cores[slot])} cores)"
        since = int(self.jobs.eligible[slot]) / SECOND
        return PolicyError(f"place part {type(self.part).__qualname__}: {job}, eligible at {since:g} s: {what}")


def _is_pairs(answer: list[Any]) -> bool:
    return bool(answer) and isinstance(answer[0], tuple | list)
