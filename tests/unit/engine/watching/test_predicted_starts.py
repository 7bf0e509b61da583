"""When would it start? What `explain` says was planned, where every estimate is true and no job comes later: that time,
by hand."""

from __future__ import annotations

import pytest

import walltime
from walltime import Workload
from walltime.core.time import SECOND
from walltime.engine.watching.forecasts import ForecastRecorder
from walltime.kernel.source import Observer
from walltime.pipeline import prepare
from walltime.scenario import parse

FCFS = {"order": "fcfs", "backfill": "none"}


def planned(cluster, job, rows):
    """The first plan of the job's start, and when it started; rows are (submit, length, cores, queue)."""
    submit, length, cores, queue = zip(*rows, strict=True)
    jobs = Workload.from_columns(
        submit=[float(time) for time in submit],
        run_time=[float(time) for time in length],
        requested_time=[float(time) for time in length],
        cores=list(cores),
        queue=list(queue),
    )
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    told = walltime.explain(result, job)
    return told.foreseen[0].start, told.start


ROWS = [(0, 100, 3, "a"), (1, 50, 4, "a"), (2, 10, 1, "a")]


def test_none_overtakes_where_none_may():
    """The third would fit beside the first, but waits behind the second, which begins at 100 and has everything."""
    assert planned({"cores": 4, "scheduler": FCFS}, 3, ROWS) == (150, 150)


def test_with_backfilling_it_would_be_planned_beside_the_first():
    """A policy that looks only every 60 s: at 2 it is planned for this moment, and starts when the policy looks."""
    scheduler = {"order": "fcfs", "backfill": "easy", "rhythm": {"name": "periodic", "bf_interval": 60}}
    assert planned({"cores": 4, "scheduler": scheduler}, 3, ROWS)[0] == 2


def test_a_maintenance_that_is_known_is_planned_with():
    """The second could begin at 100, but would not be done at 120."""
    maintenance = [{"name": "repair", "start": 120, "length": 30, "cores": 4}]
    assert planned({"cores": 4, "scheduler": FCFS, "reservations": maintenance}, 2, ROWS[:2]) == (150, 150)


@pytest.mark.parametrize("job", [3, 4])
def test_each_part_of_a_divided_machine_has_a_plan(job):
    """Queue b has two nodes of its own; its first job has both until 40."""
    rows = [(0, 100, 8, "a"), (0, 40, 4, "b"), (1, 30, 4, "b"), (2, 5, 4, "b")]
    cluster = {
        "nodes": [{"name": "n[1-2]", "cores": 4}, {"name": "m[1-2]", "cores": 2}],
        "queues": {"a": {"nodes": "n[1-2]"}, "b": {"nodes": "m[1-2]"}},
        "scheduler": FCFS,
    }
    assert planned(cluster, job, rows) == ({3: 40, 4: 70}[job],) * 2


def test_behind_others_it_is_not_planned_before_it_fits_on_its_queues_nodes():
    """Queue b has one of the five nodes, which queue a has too: the others are idle, and no use to the third job."""
    cluster = {
        "nodes": [{"name": "n[1-4]", "cores": 4}, {"name": "m[1]", "cores": 4}],
        "queues": {"a": {}, "b": {"nodes": "m[1]"}},
        "scheduler": {"order": "fcfs", "backfill": "easy"},
    }
    assert planned(cluster, 3, [(0, 100, 4, "b"), (1, 50, 4, "b"), (2, 10, 4, "b")]) == (150, 150)


def test_on_nodes_the_first_is_planned_by_what_it_needs_there():
    """Two cores are free, but on two nodes; the second job wants two on one node."""
    jobs = Workload.from_columns(
        submit=[0.0, 1.0], run_time=[100.0, 10.0], requested_time=[100.0, 10.0], cores=[2, 2], nodes=[2, 1]
    )
    cluster = {"nodes": {"count": 2, "cores": 2}, "scheduler": FCFS}
    told = walltime.explain(walltime.simulate({"workload": {"table": jobs}, "cluster": cluster}), 2)
    assert (told.foreseen[0].start, told.start) == (100, 100)


def test_a_pass_tells_nodes_from_reservations():
    """As many cores as it needs are free, and no job is promised anything."""
    answers = []

    def ask(p):
        for slot in p.waiting():
            if p.fits(slot):
                p.start(slot)
            else:
                answers.append(p.why(slot))

    jobs = Workload.from_columns(
        submit=[0.0, 1.0], run_time=[100.0, 10.0], requested_time=[100.0, 10.0], cores=[2, 2], nodes=[2, 1]
    )
    walltime.simulate({"workload": {"table": jobs}, "cluster": {"nodes": {"count": 2, "cores": 2}}}, policy=ask)
    assert answers[0] == "resources: it needs 2 cores, 2 are free, but not on the nodes that it needs"


LIMITS = [
    ({"running_cores": 4}, 100),
    ({"running_cores": 5}, 50),
    ({"running_jobs": 2}, 50),
    ({"running_cores": 4, "running_jobs": 2}, 100),
    ({"running_core_minutes": 6}, 27.5),
]


@pytest.mark.parametrize(("limit", "start"), LIMITS)
def test_a_job_at_a_limit_is_planned_for_when_the_limit_lets_it_in(limit, start):
    """The machine has room all the time. The user has a job of 3 cores for 100 s and one of a core for 50 s, together
    350 core-seconds, which shrink by 4 a second; the third needs 2 cores for 60 s, so that 240 may be left of 360."""
    cluster = {"cores": 20, "scheduler": FCFS, "limits": [{"per": "user", **limit}]}
    jobs = Workload.from_columns(
        submit=[0.0, 0.0, 1.0],
        run_time=[100.0, 50.0, 60.0],
        requested_time=[100.0, 50.0, 60.0],
        cores=[3, 1, 2],
        user=["ann"] * 3,
    )
    told = walltime.explain(walltime.simulate({"workload": {"table": jobs}, "cluster": cluster}), 3)
    assert (told.foreseen[0].start, told.start) == (start, start)


def test_what_is_kept_of_plans_under_a_rhythm_does_not_depend_on_who_hears_of_promises():
    """The third job comes at the instant of a backfill cycle, which plans it for 1980, in steps of a minute; what is
    kept of it is the start behind the second, as of the fourth, which comes between two cycles."""

    class Hears(Observer):
        """Of every promise."""

    def recorded(*others):
        recorder = ForecastRecorder()
        prepare(scenario).run(observers=[recorder, *others])
        return {job: time / SECOND for job, time in recorder.planned.items()}

    jobs = Workload.from_columns(
        submit=[0.0, 1.0, 60.0, 130.0],
        run_time=[1000.0] * 4,
        requested_time=[1000.0, 1000.0, 1500.0, 1000.0],
        cores=[3, 4, 1, 4],
    )
    scheduler = {"order": "fcfs", "backfill": "conservative", "rhythm": {"name": "slurm", "bf_interval": 60}}
    cluster = {"nodes": [{"name": "n", "count": 1, "cores": 4}], "scheduler": scheduler}
    scenario = parse({"workload": {"table": jobs}, "cluster": cluster}, [])
    assert recorded() == recorded(Hears()) == {1: 0.0, 2: 1000.0, 3: 2000.0, 4: 3500.0}
