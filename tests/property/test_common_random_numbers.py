"""Common random numbers by construction: cells of a grid that differ in no key of the workload see, under one seed, the
same jobs, the same users' patience and the same failures of nodes, whatever the scheduler makes of them."""

from __future__ import annotations

import json

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import walltime
from walltime.core.digest import digest_workload
from walltime.experiments.definition import parse_experiment
from walltime.experiments.execution import prepare_run
from walltime.experiments.planning import ExperimentPlan

FLOW = {
    "tasks": [
        {"id": "a", "number_of_cores": 2, "runtime_sim": 60, "runtime_limit": 90},
        {"id": "b", "number_of_cores": 1, "runtime_sim": 30, "runtime_limit": 60, "deps": ["a"]},
    ]
}
WORKLOADS = [
    {"generate": {"jobs": 60, "cores": 16, "load": 0.9}},
    {
        "synthetic": {
            "jobs": 60,
            "arrivals": {"name": "exponential", "mean": 30},
            "types": {
                "one": {
                    "work": {"name": "lognormal", "mean": 300, "cv": 2},
                    "request": {"name": "uniform", "low": 1, "high": 3},
                }
            },
        }
    },
    {"generate": {"jobs": 60, "cores": 16}, "workflows": {"manifests": "flow.json", "share": 0.2, "submit": "multi"}},
]
AXES = {
    "policy": ["fcfs", "easy", "conservative", "sjf", "easy++"],
    "cluster.cores": [16, 24, 64],
    "cluster.scheduler.order": ["fcfs", "sjf"],
    "cluster.scheduler.rhythm": ["instant", "event"],
    "execution.overrun": ["kill", "extend"],
    "deadlines": ["keep", "cancel"],
    "record.series": [True, False],
    "until": ["1h", "30d"],
}
"""Keys that are no part of the workload, and values for them."""


@st.composite
def grids(draw):
    names = draw(st.lists(st.sampled_from(sorted(AXES)), min_size=1, max_size=3, unique=True))
    return {name: draw(st.lists(st.sampled_from(AXES[name]), min_size=2, unique_by=repr)) for name in names}


@settings(max_examples=25)
@given(st.integers(0, len(WORKLOADS) - 1), grids(), st.integers(0, 1000), st.booleans())
def test_the_jobs_of_a_seed_are_the_same_in_every_cell(tmp_path_factory, number, grid, seed, impatient):
    folder = tmp_path_factory.getbasetemp()
    (folder / "flow.json").write_text(json.dumps(FLOW), encoding="utf-8")
    workload = json.loads(json.dumps(WORKLOADS[number]).replace("flow.json", str(folder / "flow.json")))
    scenario = {"workload": workload, "cluster": {"cores": 16}}
    if impatient:
        scenario["cancellations"] = {"share": 0.5, "after": "10m"}
    plan = ExperimentPlan(parse_experiment({"scenario": scenario, "grid": grid, "seeds": [seed, seed + 1]}))
    seen: dict[int, set[str]] = {}
    for planned in plan.specifications():
        for own, _ in planned.runs:
            prepared = prepare_run(json.loads(planned.specification), own)
            seen.setdefault(own, set()).add(digest_workload(prepared.workload))
    assert [len(found) for found in seen.values()] == [1, 1]
    assert seen[seed] != seen[seed + 1]


@settings(max_examples=10)
@given(st.lists(st.sampled_from(AXES["policy"]), min_size=2, max_size=2, unique=True), st.integers(0, 1000))
def test_the_failures_of_a_seed_are_the_same_under_every_policy(policies, seed):
    failures = {"between": {"distribution": "exponential", "mean": "6h"}, "repair": "20m"}
    scenario = {
        "workload": {"generate": {"jobs": 80, "cores": 16, "load": 1.0}},
        "cluster": {"nodes": "4x4", "failures": [failures]},
    }
    results = [walltime.simulate(scenario, policy=policy, seed=seed) for policy in policies]
    end = min(float(result.summary["last_end"]) for result in results)
    told = [
        result.outages.filter(pl.col("end") < end).select("start", "end", "nodes").sort("start", "nodes")
        for result in results
    ]
    assert told[0].equals(told[1])
    assert told[0].height > 0
