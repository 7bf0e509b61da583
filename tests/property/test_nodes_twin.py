"""On clusters of nodes the compiled engine and its slow twin give the same starts on the same nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload
from walltime.scenario import Scenario, parse

PLACES = ("first-fit", "best-fit", "worst-fit", "contiguous", "random")
POLICIES = (
    *(("fcfs", 1), ("aggressive", 1), ("conservative", 1)),
    *(("easy", 1), ("easy", 2), ("easy", 4)),
    *(("lookahead", 1), ("lookahead", 3), ("lookahead", 50)),
)


@dataclass(frozen=True)
class Case:
    """One simulation: everything that both engines are told."""

    workload: Workload
    groups: tuple[tuple[int, int, Fraction], ...]
    whole: bool
    place: str
    policy: str
    depth: int

    def __repr__(self) -> str:
        columns = {name: values.tolist() for name, values in self.workload.columns.items()}
        return f"{self.groups}, whole={self.whole}, {self.place}, {self.policy} {self.depth}, {columns}"


def draw_case(seed: int, policy: str, depth: int) -> Case:
    """A few jobs on a few nodes, all times small multiples of a second: ties everywhere."""
    random = stream(seed, f"nodes.{policy}.{depth}")
    even = random.random() < 0.8
    groups = tuple(
        (
            int(random.integers(1, 5)),
            int(random.integers(1, 6)),
            Fraction(1) if even else Fraction(int(random.choice([333_333, 500_000, 1_000_000, 1_500_000])), 10**6),
        )
        for _ in range(int(random.choice([1, 1, 2, 3])))
    )
    count, total = sum(group[0] for group in groups), sum(group[0] * group[1] for group in groups)
    size = int(random.integers(5, 30))
    shaped = float(random.choice([0.0, 0.5, 0.5, 1.0]))
    cores = random.integers(1, max(2, int(total * random.choice([0.5, 1.0, 1.2]))) + 1, size)
    cores = np.where(random.random(size) < 0.5, np.minimum(cores, random.integers(1, 4, size)), cores)
    nodes, each = np.full(size, MISSING), np.full(size, MISSING)
    for row in np.flatnonzero(random.random(size) < shaped):
        kind = random.integers(0, 3)
        if kind == 0:
            nodes[row] = random.integers(1, count + 1)
            cores[row] = max(cores[row], nodes[row])
        elif kind == 1:
            each[row] = random.integers(1, 5)
        else:
            nodes[row], each[row] = random.integers(1, count + 1), random.integers(1, 5)
            cores[row] = nodes[row] * each[row]
    run = random.integers(0, 9, size)
    requested = np.where(random.random(size) < 0.7, run + random.integers(0, 9, size), random.integers(0, 9, size))
    submit = np.sort(random.integers(0, int(random.choice([1, 5, 30, 80])), size))
    columns = {
        "submit": submit * SECOND,
        "run_time": run * SECOND,
        "requested_time": requested * SECOND,
        "cores": cores,
        "nodes": nodes,
        "cores_per_node": each,
    }
    if random.random() < 0.3:
        cancel = np.where(random.random(size) < 0.2, submit + random.integers(0, 40, size), MISSING)
        columns["cancel"] = np.where(cancel == MISSING, MISSING, cancel * SECOND)
    columns = {name: np.asarray(values, np.int64) for name, values in columns.items()}
    return Case(Workload(columns), groups, bool(random.random() < 0.35), str(random.choice(PLACES)), policy, depth)


def make_scenario(case: Case) -> Scenario:
    backfill: Any = "none" if case.policy == "fcfs" else case.policy
    if case.policy == "lookahead":
        backfill = {"name": "lookahead", "depth": case.depth}
    elif case.depth > 1:
        backfill = {"name": "depth", "depth": case.depth}
    groups = [{"count": count, "cores": cores, "speed": float(speed)} for count, cores, speed in case.groups]
    cluster = {
        "nodes": groups,
        "sharing": "whole" if case.whole else "shared",
        "scheduler": {"place": case.place, "backfill": backfill},
    }
    return parse({"workload": {"table": case.workload}, "cluster": cluster})


def fast_rows(result: api.Result) -> list[tuple[Any, ...]]:
    where = dict(result.allocations.select("job_id", "nodes").rows())
    rows = result.jobs.select("job_id", "start", "end", "state", "backfilled").rows()
    return [(*row, where.get(row[0])) for row in rows]


def slow_rows(scenario: Scenario) -> list[tuple[Any, ...]]:
    rows = []
    for job in reference.simulate(scenario):
        start, end = (None if time is None else time / SECOND for time in (job.start, job.end))
        rows.append((job.job_id, start, end, job.state, job.backfilled, job.nodes))
    return rows


def check(case: Case) -> None:
    scenario = make_scenario(case)
    result = api.simulate(scenario)
    fast, slow = fast_rows(result), slow_rows(scenario)
    if fast != slow:
        first = next(pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1])
        pytest.fail(f"engine {first[0]}, twin {first[1]}; {case!r}", pytrace=False)
    assert audit(result, workload=case.workload) == [], repr(case)


@pytest.mark.parametrize(("policy", "depth"), POLICIES)
def test_random_placement_draws_what_its_twin_draws(policy, depth):
    for seed in range(1000, 1030):
        check(replace(draw_case(seed, policy, depth), place="random"))


@pytest.mark.parametrize(("policy", "depth"), POLICIES)
def test_the_engine_agrees_with_its_twin(policy, depth):
    """Others each day: soak_twins.py."""
    for seed in range(75):
        check(draw_case(seed, policy, depth))


@pytest.mark.parametrize("backfill", ["none", "easy", "aggressive", {"name": "depth", "depth": 3}])
def test_spreading_requests_start_as_on_a_plain_pool_of_cores(backfill):
    """Whatever the placement: cores are cores, while nobody asks for nodes and nodes are shared."""
    for seed in range(60):
        drawn = draw_case(seed, "easy", 2).workload.columns
        columns = {name: values for name, values in drawn.items() if name not in ("nodes", "cores_per_node")}
        starts = set()
        for size in ({"cores": 12}, {"nodes": "12x1"}, {"nodes": "3x4"}, {"nodes": [{"count": 2, "cores": 5}, "1x2"]}):
            cluster = size | {"scheduler": {"backfill": backfill}}
            result = api.simulate({"workload": {"table": Workload(columns)}, "cluster": cluster})
            starts.add(tuple(result.jobs["start"].to_list()))
        assert len(starts) == 1
