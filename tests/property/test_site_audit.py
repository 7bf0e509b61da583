"""The audit finds nothing in the schedules of random sites, neither in the engine's nor in the slow twin's."""

from __future__ import annotations

import pytest
from site_record import audited_slowly
from site_scenarios import KINDS, draw_site

from walltime import api
from walltime.scenario import parse


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", [api.simulate, audited_slowly], ids=["engine", "twin"])
def test_schedules_of_random_sites_are_legal(kind, run):
    for seed in range(80):
        site, workload = draw_site(seed, kind)
        violations = run(parse(site | {"workload": {"table": workload}})).audit()
        assert not violations, f"draw_site({seed}, {kind!r}): {violations[0]}; {site}"
