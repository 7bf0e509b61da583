"""One plan over several clusters, on sites of all kinds: legal schedules, plans that keep nothing twice, and the same
plan for the same seed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import walltime
from walltime import api
from walltime.core.random import stream
from walltime.kernel.jobs import State
from walltime.kernel.source import Observer
from walltime.pipeline import prepare
from walltime.scenario import parse

OPTIMISERS = ("tabu", "annealing", "random-search", "gap-search")
OPERATORS = ("cluster", "gap", "swap", "sequence", "user", "earliest")
TOGETHER = 9
"""Sites in one test."""


def draw(seed: int) -> dict[str, Any]:
    """Two or three clusters, of cores or of nodes with memory, some with limits, failures or a plan's own optimiser."""
    random = stream(seed, "joint plans")
    optimise = {"name": str(random.choice(OPTIMISERS)), "rounds": 40, "every": int(random.integers(10, 200))}
    optimise["on"] = ["arrivals", "ends"] if random.random() < 0.5 else ["ends"]
    optimise["operators"] = {name: 1 for name in OPERATORS if name == "cluster" or random.random() < 0.6}
    broker = {"name": str(random.choice(["least-loaded", "random", "earliest-start"])), "optimise": optimise}
    if random.random() < 0.2:
        broker |= {"migrate": {"every": 50, "gain": 5}}
    clusters = [draw_cluster(random, f"c{number}") for number in range(int(random.integers(2, 4)))]
    return {"workload": {"table": draw_jobs(random)}, "clusters": clusters, "broker": broker, "seed": seed}


def draw_cluster(random: Any, name: str) -> dict[str, Any]:
    kinds = [
        {"cores": int(random.integers(8, 20))},
        {"nodes": {"count": int(random.integers(2, 5)), "cores": 4, "memory": "8G"}},
        {"nodes": [{"count": 2, "cores": 4, "memory": "4G"}, {"count": 2, "cores": 6, "memory": "16G"}]},
        {"nodes": {"count": int(random.integers(3, 6)), "cores": 4, "memory": "8G"}, "sharing": "whole"},
    ]
    cluster: dict[str, Any] = {"name": name} | kinds[int(random.integers(0, 4))]
    backfill: dict[str, Any] = {"name": "plan", "build": str(random.choice(["earliest", "best-gap"]))}
    if random.random() < 0.3:
        backfill["optimise"] = {"name": "tabu", "rounds": 20}
    cluster["scheduler"] = {"backfill": backfill, "order": str(random.choice(["fcfs", "sjf", "wfp3"]))}
    if random.random() < 0.3:
        cluster["limits"] = [{"per": "user", "running_cores": int(random.integers(4, 12))}]
    if random.random() < 0.3:
        cluster["reservations"] = [{"name": "m", "start": int(random.integers(100, 900)), "length": 200}]
    if random.random() < 0.3:
        more = {"cores": 2} if "cores" in cluster else {}
        cluster["failures"] = [{"between": {"mean": 2000.0}, "repair": {"mean": 100.0}} | more]
    return cluster


def draw_jobs(random: Any, count: int = 50) -> walltime.Workload:
    asked, cores = random.integers(5, 400, count), random.integers(1, 9, count)
    columns: dict[str, Any] = {
        "submit": np.sort(random.integers(0, 600, count)),
        "requested_time": asked,
        "run_time": np.maximum((asked * random.choice([0.1, 0.3, 0.6, 1.0], count)).astype(int), 1),
        "cores": cores,
        "user": [f"u{user}" for user in random.integers(0, 5, count)],
    }
    if random.random() < 0.5:
        columns["memory"] = [int(size) << 28 for size in random.integers(0, 10, count)]
    if random.random() < 0.4:
        columns["nodes"] = np.minimum(random.integers(1, 3, count), cores)
    return walltime.Workload.from_columns(**columns)


class Watch(Observer):
    """After every instant no cluster of cores, and no node, has more planned and running than it has cores."""

    def __init__(self, scenario: Any) -> None:
        self.looks = 0
        layouts = [cluster.layout() for cluster in scenario.clusters]
        self.nodes = [None if layout is None else layout.amounts("cores") for layout in layouts]

    def settled(self, engine: Any) -> None:
        for cluster in engine.clusters:
            jobs = engine.jobs
            mine = np.flatnonzero((jobs.cluster[: jobs.size] == cluster.index) & (jobs.seq[: jobs.size] >= 0))
            waiting = [s for s in mine.tolist() if jobs.state[s] == State.WAITING and jobs.promise[s] >= engine.now]
            running = [s for s in mine.tolist() if jobs.state[s] == State.RUNNING]
            self.looks += len(waiting)
            if self.nodes[cluster.index] is not None:
                self.look_at_nodes(engine, cluster, waiting)
            else:
                spans = [(engine.now, int(jobs.expected_end[s]), int(jobs.cores[s])) for s in running]
                spans += [(int(jobs.promise[s]), int(jobs.estimate[s]), int(jobs.cores[s])) for s in waiting]
                held = spans[: len(running)] + [(a, a + max(b, 1), c) for a, b, c in spans[len(running) :]]
                assert most_at_once(held) <= cluster.ledger.size

    def look_at_nodes(self, engine: Any, cluster: Any, waiting: list[int]) -> None:
        """By name, where the plan names them."""
        kept: dict[int, list[tuple[int, int, int]]] = {}
        for slot in waiting:
            start = int(engine.jobs.promise[slot])
            span = start, start + max(int(engine.jobs.estimate[slot]), 1)
            for node, amounts in cluster.ledger.kept_for(slot):
                if node < cluster.ledger.n:
                    kept.setdefault(node, []).append((*span, int(amounts[0])))
        for node, spans in kept.items():
            assert most_at_once(spans) <= int(self.nodes[cluster.index][node])


def most_at_once(spans: list[tuple[int, int, int]]) -> int:
    """The largest sum of overlapping spans (start, end, cores)."""
    times = sorted({time for start, end, _ in spans for time in (start, end)})
    sums = [sum(c for start, end, c in spans if start <= a and b <= end) for a, b in pairwise(times)]
    return max(sums, default=0)


@pytest.mark.parametrize("first", range(0, 2 * TOGETHER, TOGETHER))
def test_joint_plans_are_legal_and_repeat(first: int) -> None:
    moves = looks = 0
    for seed in range(first, first + TOGETHER):
        if seed % 3 == 0:
            prepared = prepare(parse(draw(seed), []))
            watch = Watch(prepared.scenario)
            prepared.run(observers=[watch])
            looks += watch.looks
        result = api.simulate(draw(seed))
        assert walltime.audit(result) == [], f"site {seed}"
        assert result.digest == api.simulate(draw(seed)).digest, f"site {seed}"
        moves += result.record.facts["planned_moves"]
    assert moves > 5 * TOGETHER
    assert looks > 50 * TOGETHER
