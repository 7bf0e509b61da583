"""A scenario's failures and reservations as commands to the controller."""

from walltime import Workload
from walltime.core.time import SECOND
from walltime.scenario import parse
from walltime.slurm.translate.outages import Outages
from walltime.slurm.translate.scenario import translate

HOUR = 3600 * SECOND


def make(request: float = 60.0, **cluster) -> Outages:
    jobs = Workload.from_columns(submit=[0], run_time=[60], requested_time=[request], cores=[1])
    scenario = parse({"workload": {"table": jobs}, "engine": "slurm", "cluster": {"nodes": "4x2"} | cluster})
    return Outages(scenario, translate(scenario, jobs), jobs, 0)


def say(outages: Outages, until: int) -> list[str]:
    """The commands that are given up to that time, microseconds after the trace's zero."""
    said = []
    while outages.next is not None and outages.next <= until:
        said += outages.fire()
    return said


def test_a_reservation_that_recurs_often_is_announced_a_hundred_times_ahead():
    """Every minute, for ever: in a week, the controller's horizon, that would be ten thousand at once."""
    window = {"name": "backup", "start": 3600, "length": 10, "every": 60, "nodes": "n3"}
    outages = make(reservations=[window])
    first = say(outages, 0)
    assert 1 <= len(first) <= 101
    assert f"starttime=uts3600 endtime=uts3610 nodes={first[0].split('nodes=')[1].split()[0]}" in first[0]
    later = say(outages, HOUR + 600 * SECOND)
    assert len(first + later) == len({line.split()[2] for line in first + later})  # none is made twice
    starts = sorted(int(line.split("starttime=uts")[1].split()[0]) for line in first + later)
    assert starts == [3600 + 60 * number for number in range(len(starts))]
    assert HOUR + 600 * SECOND < starts[-1] * SECOND <= HOUR + 600 * SECOND + 101 * 60 * SECOND


def test_one_that_recurs_seldom_is_announced_as_far_as_the_controller_plans():
    window = {"name": "backup", "start": 3600, "length": 10, "every": 86_400, "nodes": "n3"}
    said = say(make(reservations=[window]), 0)
    assert len(said) == 7  # a week, and the longest request
    assert len(say(make(86_400.0, reservations=[window]), 0)) == 8
