"""How many waiting jobs grow older: the engine, by queues of those that do not, agrees with its twin, which counts."""

from __future__ import annotations

from typing import Any

import pytest
from disruption_runs import differences, run_fast, run_slowly
from disruption_scenarios import draw_disrupted
from site_runs import fast_rows, rows_of, simulate, slow_rows
from site_scenarios import KINDS, draw_site

from walltime.core.errors import InputError, UnsupportedError
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

WHOSE: list[dict[str, Any]] = [
    {"per": "user"}, {"user": ["ann"]}, {"qos": ["high"]}, {"qos": ["low"], "per": "user"}, {"group": ["atlas"]},
    {"account": ["physics"]}, {"account": ["bio"], "per": "user"}, {"per": "account"}, {"per": "qos"}, {},
]  # fmt: skip


def limit_ages(seed: int, cluster: dict[str, Any]) -> None:
    """Have the age of jobs decide, and limits on how many of them grow older: of all, of some, of each."""
    random = stream(seed, "accrual.twin")
    weights = {"age": 1000, "job_size": int(random.integers(0, 2)) * 200}
    order = {"name": "multifactor", "weights": weights, "max_age": 60, "interval": int(random.integers(0, 4))}
    cluster["scheduler"] = {**cluster["scheduler"], "order": order}
    for queue in cluster.get("queues", {}).values():
        queue.pop("order", None)
    chosen = sorted(random.permutation(len(WHOSE))[: int(random.integers(1, 4))].tolist())
    limits = [WHOSE[one] | {"accruing_jobs": int(random.integers(0, 4)), "optional": True} for one in chosen]
    cluster["limits"] = [*cluster.get("limits", []), *limits]


def without(site: dict[str, Any], workload: Workload) -> Scenario:
    """The same where every job grows older."""
    limits = [limit for limit in site["cluster"]["limits"] if "accruing_jobs" not in limit]
    return parse(site | {"cluster": site["cluster"] | {"limits": limits}, "workload": {"table": workload}})


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    decided = 0
    for seed in range(60):
        site, workload = draw_site(seed, kind)
        limit_ages(seed, site["cluster"])
        scenario = parse(site | {"workload": {"table": workload}})
        result = simulate(scenario)
        if result is None:
            continue
        fast = rows_of(result)
        assert fast == slow_rows(scenario), f"seed {seed}, {kind!r}: {site}"
        decided += fast != fast_rows(without(site, workload))
    assert decided > 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_that_was_put_back_begins_anew(kind):
    """Where jobs are interrupted and displaced, too; the twin forgets an age when a job waits again."""
    for seed in range(40):
        site, workload = draw_disrupted(seed, kind)
        limit_ages(seed, site["cluster"])
        scenario = parse(site | {"workload": {"table": workload}})
        try:
            fast = run_fast(scenario)
        except InputError as error:
            if not isinstance(error, UnsupportedError) and error.value != "topology":
                raise
            continue
        assert not (found := differences(fast, run_slowly(scenario))), f"seed {seed}, {kind!r}: {found}; {site}"
