"""Jobs whose nodes differ: engine and slow twin give the same schedules, which the audit finds legal.

The twin seats the nodes of all parts one by one, and moves those that are seated; the engine counts, which suffices as
a node that serves a part serves each smaller one.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from disruption_runs import differences, run_fast, run_slowly
from disruption_scenarios import draw_disrupted
from site_runs import compare_with_twin
from site_scenarios import draw_site

from walltime import api
from walltime.core.errors import UnsupportedError
from walltime.core.workload import Workload, encode_labels
from walltime.scenario import Scenario, parse


def draw_parts(seed: int, kind: str, drawn: Any = draw_site) -> tuple[dict[str, Any], Workload]:
    """A site on whose nodes some jobs ask for parts; none of its placements cares which nodes they are."""
    site, jobs = drawn(seed, kind)
    draw = random.Random(seed)
    scheduler = site["cluster"].setdefault("scheduler", {})
    if scheduler.get("place") == "contiguous":
        scheduler["place"] = draw.choice(("first-fit", "best-fit", "worst-fit", "random"))
    count = sum(group["count"] for group in site["cluster"]["nodes"])
    columns = {name: jobs.column(name).copy() for name in jobs.columns}
    for name in ("nodes", "cores_per_node"):
        columns[name] = jobs.column(name).copy()
    parts: list[str | None] = [None] * len(jobs)
    share = draw.choice((0.2, 0.5, 1.0))
    for row in range(len(jobs)):
        if draw.random() < share:
            sizes = sorted((draw.choice((1, 1, 2, 2, 3, 4)) for _ in range(draw.randint(1, 3))), reverse=True)
            counts = [draw.randint(1, max(1, count // 3)) for _ in sizes]
            memory = [""] * len(sizes)
            if kind == "vectors" and draw.random() < 0.3:
                amounts = sorted((draw.randint(0, 5) for _ in sizes), reverse=True)
                memory = [f",memory={n * amount}" for n, amount in zip(counts, amounts, strict=True)]
            words = [f"{n}x{size}{own}" for n, size, own in zip(counts, sizes, memory, strict=True)]
            draw.shuffle(words)
            parts[row] = "+".join(words)
            columns["cores"][row] = sum(n * size for n, size in zip(counts, sizes, strict=True))
            columns["nodes"][row] = sum(counts)
            columns["cores_per_node"][row] = -1
    codes, names = encode_labels(parts)
    labels = {name: jobs.label_names(name) for name in jobs.labels} | {"parts": names}
    return site, Workload(columns | {"parts": np.asarray(codes)}, labels)


def draw_scenario(seed: int, kind: str) -> Scenario:
    site, jobs = draw_parts(seed, kind)
    return parse(site | {"workload": {"table": jobs}})


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_the_engine_agrees_with_its_twin_where_nodes_differ(kind):
    compare_with_twin(draw_scenario, kind, range(30), audited=True)


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_the_same_where_nodes_fail_and_jobs_are_displaced(kind):
    for seed in range(15):
        site, jobs = draw_parts(seed, kind, draw_disrupted)
        scenario = parse(site | {"workload": {"table": jobs}})
        try:
            fast = run_fast(scenario)
        except UnsupportedError:
            continue
        wrong = differences(fast, run_slowly(scenario))
        assert not wrong, f"draw_parts({seed}, {kind!r}, draw_disrupted): {wrong[0]}"


@pytest.mark.parametrize("optimise", ["tabu", "neighbourhoods"])
def test_plans_of_such_jobs_are_improved(optimise):
    for seed in range(6):
        site, jobs = draw_parts(seed, "vectors")
        site["cluster"]["scheduler"]["backfill"] = {"name": "plan", "optimise": optimise}
        result = api.simulate(parse(site | {"workload": {"table": jobs}}))
        assert not result.audit(), seed
