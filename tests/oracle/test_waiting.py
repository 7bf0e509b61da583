"""Which jobs are left waiting: a few jobs each, whose schedule was worked out by hand."""

from __future__ import annotations

import pytest
from site_schedule import job

SHARES = {"name": "multifactor", "weights": {"fairshare": 1000}}


@pytest.mark.parametrize("order", ["fairshare", SHARES], ids=["fairshare", "multifactor"])
@pytest.mark.parametrize("backfill", ["aggressive", "easy", "conservative"])
def test_two_that_fit_together_start_together_though_they_change_places(schedule, order, backfill):
    """Four cores. A takes three from 0 to 6. Then B (2 cores, of the user who had A) and C (2 cores, of another) come;
    C stands before B, but there are cores for both."""
    four = {"cores": 4, "scheduler": {"order": order, "backfill": backfill}}
    got = schedule(four, job(0, 6, 3, user="b"), job(6, 7, 2, user="b"), job(6, 3, 2, user="a"))
    assert got.starts == [0, 6, 6]
