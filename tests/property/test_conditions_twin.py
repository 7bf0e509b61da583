"""Dependencies, arrays, deadlines, impatient users: the engine agrees with its slow twins, and the audit with both."""

from __future__ import annotations

from typing import Any

import pytest
import test_engine_twin as plain
from conditions import add_conditions
from site_runs import compare_with_twin
from site_scenarios import KINDS, draw_site

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

ORDERS = ("fcfs", "sjf", "edf", "wfp3", "largest")
BACKFILLS = ("none", "easy", "aggressive", "conservative")


def slow_plain(scenario):
    """Each job by the twin, on a plain number of cores."""
    rows = []
    for job in reference.simulate(scenario):
        times = (None if time is None else time / SECOND for time in (job.eligible, job.start, job.end, job.run))
        rows.append((job.job_id, job.state, *times, job.backfilled))
    return rows


def draw_plain(seed: int) -> tuple[dict[str, Any], Workload]:
    """A scenario on a plain number of cores without its workload, and the jobs with their conditions."""
    random = stream(seed, "conditions.case")
    case = plain.draw_case(seed, 4, 40)
    workload, keys = add_conditions(case.workload, seed, SECOND * int(random.choice([1, 20])))
    scheduler = {"order": str(random.choice(ORDERS)), "backfill": str(random.choice(BACKFILLS))}
    until = None if random.random() < 0.7 else int(random.integers(1, 4000))
    overrun = "kill" if until is None else case.overrun
    cluster = {"cores": case.cores, "scheduler": scheduler}
    return keys | {"cluster": cluster, "execution": {"overrun": overrun}, "until": until}, workload


def compare_plain(seed: int) -> int:
    """Engine and twin agree on a plain number of cores; how many jobs waited for others."""
    keys, workload = draw_plain(seed)
    scenario = parse(keys | {"workload": {"table": workload}})
    result = api.simulate(scenario)
    fast, slow = result.jobs.select(plain.FIELDS).rows(), slow_plain(scenario)
    if fast != slow:
        pairs = [pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1]]
        pytest.fail(f"seed {seed}: engine {pairs[0][0]}, twin {pairs[0][1]}; {keys}", pytrace=False)
    assert audit(result.record, workload=workload, scenario=result.scenario) == []
    return int(result.record.facts.get("conditions", {}).get("dependencies", {}).get("jobs", 0))


@pytest.mark.parametrize("part", range(2))
def test_on_a_plain_number_of_cores(part):
    """Others each day, as on sites: soak_twins.py."""
    assert sum(map(compare_plain, range(part * 60, part * 60 + 60))) > 150


def draw_scenario(seed: int, kind: str) -> Scenario:
    """A site whose jobs have conditions."""
    site, drawn = draw_site(seed, kind)
    workload, keys = add_conditions(drawn, seed)
    return parse(site | keys | {"workload": {"table": workload}})


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_site(kind):
    compare_with_twin(draw_scenario, kind, range(40), audited=True)
