"""A plan is conservative backfilling where nothing else is wanted, and agrees with its twin where gaps are chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from disruption_scenarios import draw_disrupted
from mixtures import draw_mixture
from moves import ORDERS, draw_tight, index_from
from site_scenarios import KINDS, draw_site
from test_engine_twin import Case, check_agreement, draw_case

from walltime import api
from walltime.core.errors import InputError, WalltimeError
from walltime.core.random import stream
from walltime.core.time import NEVER
from walltime.policy.optimise import Operator

TOGETHER = 24
"""Cases in one test."""
PARTS = {"order": "fcfs", "backfill": {"name": "plan", "build": "best-gap"}}


def draw(seed: int, folder: Path, backfill: Any) -> dict[str, Any]:
    """A random scenario of any kind under this backfilling: sites, disruptions, several clusters, all at once."""
    random = stream(seed, "plans")
    kind = KINDS[seed // 4 % 3]
    if seed % 4 < 2:
        scenario = draw_mixture(seed, folder)
    else:
        scenario, workload = draw_site(seed, kind) if seed % 4 == 2 else draw_disrupted(seed, kind)
        scenario["workload"] = {"table": workload}
    for cluster in scenario.get("clusters", [scenario.get("cluster")]):
        cluster["scheduler"]["backfill"] = backfill
        if random.random() < 0.5:
            cluster["scheduler"]["order"] = str(random.choice(ORDERS))
    return scenario


def digest(scenario: dict[str, Any]) -> str | None:
    try:
        return api.simulate(scenario).digest
    except InputError:
        return None
    except WalltimeError as error:
        return str(error).replace("Plan", "Conservative")


@pytest.mark.parametrize("first", range(0, 2 * TOGETHER, TOGETHER))
def test_the_plan_of_earliest_gaps_is_conservative_backfilling(first: int, tmp_path: Path) -> None:
    ran = 0
    for seed in range(first, first + TOGETHER):
        with index_from(2):
            plan, conservative = (digest(draw(seed, tmp_path, name)) for name in ("plan", "conservative"))
        assert plan == conservative, f"scenario {seed}"
        ran += plan is not None
    assert ran > TOGETHER // 2


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_best_gaps_agree_with_the_twin(first: int) -> None:
    different = 0
    for seed in range(first, first + 50):
        case = draw_tight(seed) if seed % 2 else draw_case(seed, 3, 30)
        with index_from((1, 3, 10**9)[seed % 3]):
            check_agreement(replace(case, policy=PARTS))  # type: ignore[arg-type]
        different += rows(case, PARTS) != rows(case, "conservative")
    assert different > 5


class Watchful(Operator):
    """Moves a job as `gap` does, and looks at all that is free whenever something has changed."""

    looks = 0

    def apply(self, draft: Any, random: Any, job: int) -> None:
        """Nothing is taken twice, as far as running jobs, failures and reservations leave it to the plan."""
        others = min(0, least_free(draft))
        before = draft.start_of(job)
        draft.take_out(job)
        start = draft.earliest(job, draft.now + random.below(1 + draft.end_of_plan() - draft.now))
        draft.put(job, before if start == NEVER else start)
        assert least_free(draft) >= others
        Watchful.looks += 1


def least_free(draft: Any) -> int:
    """The least that is free from now on."""
    steps = draft.steps()
    ends = [time for time, _ in steps[1:]] + [NEVER]
    return min(free for (_, free), end in zip(steps, ends, strict=True) if end > draft.now)


@pytest.mark.parametrize("name", ["gap-search", "annealing"])
def test_every_plan_is_legal_at_every_change(name: str, tmp_path: Path) -> None:
    """On sites of cores with queues, limits, reservations, failures and preemption; the audit finds nothing."""
    optimise = {"name": name, "operators": {Watchful: 2, "swap": 1, "sequence": 1, "user": 1, "queue": 1}, "rounds": 20}
    optimise |= {"on": ["arrivals", "ends"], "every": 7, "reach": None, "most": None}
    Watchful.looks = ran = 0
    for seed in range(24):
        scenario, workload = draw_site(seed, "cores") if seed % 3 == 0 else draw_disrupted(seed, "cores")
        scenario["workload"] = {"table": workload}
        scenario["cluster"]["scheduler"]["backfill"] = {"name": "plan", "optimise": optimise}
        with index_from((1, 10**9)[seed % 2]):
            try:
                result = api.simulate(scenario)
            except InputError:
                continue
        ran += 1
        violations = result.audit()
        assert not violations, f"scenario {seed}: {violations[:3]}"
    assert ran > 12
    assert Watchful.looks > 500


def rows(case: Case, policy: Any) -> list[Any]:
    return api.simulate(case.workload, cores=case.cores, policy=policy, overrun=case.overrun).jobs.rows()
