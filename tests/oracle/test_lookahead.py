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


def test_a_head_that_is_promised_cores_of_its_own_queue_is_promised_them_of_all(schedule):
    """A (2 cores) and B (4 cores, after A) are of the queue `small`, which has s0 alone; C and D of `all`, for 20 s.

    ::
             0    10   15
        s0   AA   BBBB           At 10 both nodes have 8 cores, of which B is promised 4. So 4 of the 6 that are free
        l0   DD   DD   CCC       are for jobs that last longer: C (3 cores), or D and E (2 each), which is more. With
        l0   EE   EE             all 6 of them, C and D seem to be the best.
    """
    queues = {"small": {"nodes": "s"}, "all": {}}
    jobs = [
        job(0, 10, 2, queue="small"),
        job(0, 5, 4, queue="small"),
        job(0, 20, 3, queue="all"),
        job(0, 20, 2, queue="all"),
        job(0, 20, 2, queue="all"),
    ]
    got = schedule(with_lookahead({"nodes": FOURS}, queues=queues), *jobs)
    assert got.starts == [0, 10, 15, 0, 0]


def test_what_is_left_is_that_beside_the_head_not_beside_maintenance_before_it(schedule):
    """8 cores, one of them maintained from 5 to 8. A has 4 until 10, then B 6 until 15.

    ::
             0    5  8  10    15
        8 c  AAAAAAAAAA BBBBB C     C (1 core, 20 s) and D (2 cores, 20 s): in the maintenance 3 cores are left to them,
             DDDDDDDDDD DDDDD D     at 10 beside B 2.
    """
    window = {"name": "r", "start": 5, "length": 3, "cores": 1}
    jobs = [job(0, 10, 4), job(0, 5, 6), job(0, 20, 1), job(0, 20, 2)]
    got = schedule(with_lookahead({"cores": 8}, reservations=[window]), *jobs)
    assert got.starts == [0, 10, 15, 0]


def test_nodes_that_are_not_there_when_the_head_starts_are_not_left(schedule):
    """Four nodes of 2 cores; n3 is maintained from 8 to 30. A has n0 until 10, X a core of n1. B wants two whole nodes
    for 9 s.

    ::
             0  8  10   19
        n0   AA AA BB   C.
        n1   X. X. BB           C (1 core, 20 s) and D (2 cores, 20 s): at 10 the 2 cores of n2 are left, none of n3.
        n2   DD DD DD   DD
        n3   .. xx xx   xx
    """
    window = {"name": "r", "start": 8, "length": 22, "nodes": ["n3"]}
    jobs = [job(0, 10, 2), job(0, 10, 1), job(0, 9, 4, nodes=2), job(0, 20, 1), job(0, 20, 2)]
    machine = {"nodes": [{"count": 4, "cores": 2, "name": "n"}]}
    got = schedule(with_lookahead(machine, reservations=[window]), *jobs)
    assert got.starts == [0, 0, 10, 19, 0]
