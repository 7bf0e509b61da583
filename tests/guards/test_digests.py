"""Guarded scenarios give the schedules that they gave."""

from __future__ import annotations

import pytest
from guarded import measure, scenarios
from regenerate import DIGESTS, read_digests

RUNS = dict(scenarios())
KINDS = sorted({name.partition("/")[0] for name in RUNS})


@pytest.mark.parametrize("kind", KINDS)
def test_the_schedules_are_as_before(kind, tmp_path):
    expected = read_digests(DIGESTS)
    changed = [
        name for name, run in RUNS.items() if name.startswith(f"{kind}/") and measure(run, tmp_path) != expected[name]
    ]
    assert not changed, f"{changed}: repair it, or run `make guards REASON='why it changed'`"


def test_every_scenario_has_its_digest_and_no_two_the_same():
    expected = read_digests(DIGESTS)
    assert list(expected) == list(RUNS)
    assert len(set(expected.values())) == len(RUNS) > 300
