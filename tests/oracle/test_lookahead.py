"""The best set of backfilling with lookahead: a few jobs each, whose schedule was worked out by hand.

In each A is the first job and B the head, which cannot start; C and D could start, but not both. D has more cores, so
it is the best set; taken for a set, both of them, C would start as the first and D would have to wait.
"""

from __future__ import annotations

import pytest
from site_schedule import job

FOURS = [{"count": 1, "cores": 4, "name": "s"}, {"count": 1, "cores": 4, "name": "l"}]


def with_lookahead(machine, **cluster):
    scheduler = {"backfill": "lookahead"} | ({} if "cores" in machine else {"place": "first-fit"})
    return machine | {"scheduler": scheduler} | cluster


@pytest.mark.parametrize("reason", ["reserved", "down"])
@pytest.mark.parametrize("kind", ["cores", "nodes"])
def test_what_is_not_there_is_not_filled(schedule, kind, reason):
    """Of 8 cores 4 are not there until 20. A has 2 of the others until 10, then B (4 cores) all of them until 15.

    ::
             0       8  10   15
        4 c  AA      AA  BBBB C     C (1 core, 8 s) and D (2 cores, 8 s): 2 cores are free, not 6.
             DD
    """
    machine, away = ({"cores": 8}, {"cores": 4}) if kind == "cores" else ({"nodes": FOURS}, {"nodes": ["l0"]})
    if reason == "reserved":
        rules = {"reservations": [{"name": "r", "start": 0, "length": 20} | away]}
    else:
        rules = {"failures": [{"at": 0, "length": 20, "known": True} | away]}
    first = 0 if reason == "reserved" else 1  # the failure first
    jobs = [job(first, 10, 2), job(first, 5, 4), job(first, 8, 1), job(first, 8, 2)]
    got = schedule(with_lookahead(machine, **rules), *jobs)
    assert got.starts == [first, first + 10, first + 15, first]
