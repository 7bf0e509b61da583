"""One plan over several clusters, on sites of all kinds: legal schedules, plans that keep nothing twice at any change,
and the same plan for the same seed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mixtures import PLANNERS, draw_mixture
from test_plans import least_free
from test_plans_on_nodes import taken_twice

import walltime
from walltime import api
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import NEVER
from walltime.core.workload import Workload
from walltime.kernel.jobs import State
from walltime.kernel.source import Observer
from walltime.pipeline import prepare
from walltime.policy.optimise import Operator
from walltime.scenario import parse

OPTIMISERS = ("tabu", "annealing", "random-search", "gap-search")
OPERATORS = ("cluster", "gap", "swap", "sequence", "user", "earliest")
TOGETHER = 9
"""Sites in one test."""
LEGAL = 9
"""Drawn sites that are looked at after every change; some of those that are drawn are refused."""


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
    """After every instant no cluster of cores, and no resource of any node, has more planned and running than it has,
    from the instant on that the last job should have ended by now."""

    def __init__(self) -> None:
        self.looks = 0

    def settled(self, engine: Any) -> None:
        for cluster in engine.clusters:
            jobs, ledger = engine.jobs, cluster.ledger
            mine = np.flatnonzero((jobs.cluster[: jobs.size] == cluster.index) & (jobs.seq[: jobs.size] >= 0))
            waiting = [s for s in mine.tolist() if jobs.state[s] == State.WAITING and jobs.promise[s] >= engine.now]
            self.looks += len(waiting)
            plan = Planned(engine.now, ledger, jobs, waiting)
            held = [(engine.now, int(jobs.expected_end[s]), int(jobs.cores[s])) for s in mine if jobs.holding[s]]
            held += [(start, end, int(jobs.cores[s])) for s, start, end in plan.spans()]
            assert most_at_once(held) <= ledger.size
            if hasattr(ledger, "lines"):
                assert not list(taken_twice(plan))


class Planned:
    """The promises of a cluster as a draft of them has them."""

    def __init__(self, now: int, ledger: Any, jobs: Any, waiting: list[int]) -> None:
        self.now, self.ledger, self.jobs, self.size, self.waiting = now, ledger, jobs, len(waiting), waiting

    def slots(self) -> list[int]:
        return self.waiting

    def kept_for(self, job: int) -> Any:
        return self.ledger.kept_for(self.waiting[job])

    def starts(self) -> Any:
        return np.array([int(self.jobs.promise[slot]) for slot in self.waiting], np.int64)

    def spans(self) -> list[tuple[int, int, int]]:
        starts = self.starts().tolist()
        return [(s, a, a + max(int(self.jobs.estimate[s]), 1)) for s, a in zip(self.waiting, starts, strict=True)]


class Everywhere(Operator):
    """Moves a job to a gap, of another cluster if it may, and looks at every cluster's draft before and after."""

    looks = moves = 0

    def apply(self, draft: Any, random: Any, job: int) -> None:
        free = [min(0, least_free(part)) for part in draft.parts if not hasattr(part, "ledger")]
        others, before = draft.other_options(job), draft.start_of(job)
        draft.take_out(job)
        if others and random.below(2):
            draft.move_to(job, random.below(others))
            Everywhere.moves += 1
            before = draft.earliest(job)
        start = draft.earliest(job, draft.now + random.below(1 + draft.end_of_plan() - draft.now))
        if min(start, before) == NEVER:
            return draft.undo()
        draft.put(job, before if start == NEVER else start)
        Everywhere.looks += 1
        assert all(not list(taken_twice(part)) for part in draft.parts if hasattr(part, "ledger"))
        cores = [part for part in draft.parts if not hasattr(part, "ledger")]
        assert all(least_free(part) >= least for part, least in zip(cores, free, strict=True))


def draw_ruled(seed: int, folder: Path) -> dict[str, Any] | None:
    """Several clusters with all rules of a site, under one plan."""
    scenario = draw_mixture(seed, folder)
    if "clusters" not in scenario:
        return None
    for cluster in scenario["clusters"]:
        cluster["scheduler"] = {**cluster["scheduler"], "backfill": "plan"}
        if cluster["scheduler"].get("rhythm") in PLANNERS:
            del cluster["scheduler"]["rhythm"]
    operators = {Everywhere: 3, "cluster": 1, "swap": 1, "sequence": 1, "user": 1}
    optimise = {
        "name": OPTIMISERS[seed % 4],
        "rounds": 12,
        "every": 7,
        "on": ["arrivals", "ends"],
        "operators": operators,
    }
    scenario["broker"]["optimise"] = optimise | {"reach": None, "most": None}
    return scenario


def test_every_joint_plan_is_legal_at_every_change(tmp_path: Path) -> None:
    """With queues, limits, dependencies, reservations, maintenance, failures and preemption in each cluster."""
    Everywhere.looks = Everywhere.moves = ran = looks = 0
    for seed in range(200):
        if ran == LEGAL:
            break
        scenario = draw_ruled(seed, tmp_path)
        if scenario is None:
            continue
        watch = Watch()
        try:
            prepared = prepare(parse(scenario, []))
            record = prepared.run(observers=[watch])
        except InputError:
            continue
        ran += 1
        looks += watch.looks
        violations = api.Result(prepared.scenario, record, "joint").audit()
        assert not violations, f"scenario {seed}: {violations[:3]}"
    assert ran == LEGAL
    assert looks > 100
    assert Everywhere.looks > 100
    assert Everywhere.moves > 20


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
            watch = Watch()
            prepared.run(observers=[watch])
            looks += watch.looks
        result = api.simulate(draw(seed))
        assert result.audit() == [], f"site {seed}"
        assert result.digest == api.simulate(draw(seed)).digest, f"site {seed}"
        moves += result.record.facts["planned_moves"]
    assert moves > 5 * TOGETHER
    assert looks > 50 * TOGETHER


class ThereAndBack(Operator):
    """Moves the job of three nodes to the other cluster, asks where another one fits here, and moves it back."""

    found: list[Any] = []  # noqa: RUF012

    def apply(self, draft: Any, random: Any, job: int) -> None:
        wide = max(range(draft.size), key=lambda i: int(draft.jobs.cores[draft.slots()[i]]))
        first = draft.parts[0]
        before = [len(first.kept_for(i)) for i in range(draft.size)]
        draft.take_out(wide)
        draft.move_to(wide, 0)
        draft.put(wide, draft.earliest(wide))
        other = (wide + 1) % draft.size
        draft.take_out(other)
        draft.put(other, draft.earliest(other))
        draft.take_out(wide)
        draft.move_to(wide, 0)
        draft.put(wide, draft.earliest(wide))
        ThereAndBack.found.append((before, [len(first.kept_for(i)) for i in range(draft.size)]))
        draft.undo()


def test_a_job_that_was_away_wants_what_it_wanted() -> None:
    """In the second cluster there are two sets of nodes, so that what jobs want has other numbers there. The draft of
    the first one is laid on a table while the job is away."""
    size = 5
    jobs = Workload.from_columns(
        submit=[0] * size,
        run_time=[100] * size,
        requested_time=[100] * size,
        cores=[8, 1, 2, 6, 1],
        nodes=[4, 1, 1, 3, 1],
        queue=["x", "y", "y", "x", "x"],
    )
    clusters = [
        {"name": "a", "nodes": "4x2", "scheduler": {"backfill": "plan"}},
        {
            "name": "b",
            "nodes": "4x2",
            "queues": {"x": {"nodes": "n[0-3]", "default": True}, "y": {"nodes": "n[0-1]"}},
            "scheduler": {"backfill": "plan"},
        },
    ]
    optimise = {
        "name": "gap-search",
        "rounds": 1,
        "every": 1,
        "on": ["arrivals"],
        "operators": {ThereAndBack: 1},
        "reach": None,
        "most": None,
    }
    ThereAndBack.found = []
    result = api.simulate(
        {"workload": {"table": jobs}, "clusters": clusters, "broker": {"name": "first", "optimise": optimise}}
    )
    assert ThereAndBack.found
    assert all(before == after for before, after in ThereAndBack.found)
    assert result.audit() == []


def test_a_reservation_that_no_job_is_bound_to_changes_no_joint_plan() -> None:
    """Its jobs would be planned apart; the others change cluster as without it. Of a plain number of cores those that
    are kept for jobs do not fail: there none are kept."""
    moves = 0
    for seed in range(2 * TOGETHER):
        scenario = draw(seed)
        without = api.simulate(scenario)
        moves += without.record.facts["planned_moves"]
        for cluster in scenario["clusters"]:
            odd = {"name": "odd", "start": 50_000_000, "length": 1, "users": ["nobody"]}
            if "nodes" in cluster or "failures" not in cluster:
                cluster["reservations"] = [*cluster.get("reservations", ()), odd]
        assert api.simulate(scenario).digest == without.digest, f"site {seed}"
    assert moves > 5 * TOGETHER
