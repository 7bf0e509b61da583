"""What is written down of jobs in short rows, and in long ones."""

from __future__ import annotations

import pytest

import walltime
from building import add_cluster
from walltime import Workload
from walltime.core.time import NEVER, SECOND
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.engine.loop import Rank
from walltime.engine.recording.recorder import ALLOCATION, JOB
from walltime.execution.trace import TraceExecution
from walltime.kernel.jobs import State
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.source import Source
from walltime.policies.backfill.aggressive import Aggressive


def record(until=NEVER):
    """On four cores: jobs 0 and 2 complete at 10 and 5 s, 1 is killed at 20 s, 3 is too large, 4 wants all
    cores, and has them when 5, which overtakes it, ends at 43 s."""
    jobs = Workload.from_columns(
        submit=[0, 0, 5, 6, 7, 8],
        run_time=[10, 30, 0, 1, 5, 35],
        requested_time=[10, 20, 1, 1, 5, 50],
        cores=[2, 1, 1, 9, 4, 1],
    )
    simulation = make_simulation(Arrivals([jobs]), TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, 4, 0), Aggressive())
    simulation.run(until)
    return simulation.recorder


def by_entry(table, names):
    """The rows as tuples, the packed word apart, by order of entry."""
    rows = [dict(zip(names, row, strict=True)) for row in table.tolist()]
    return sorted((*(row[name] for name in names[:-1]), row["packed"] & 0xFF, row["packed"] >> 8) for row in rows)


S = SECOND
DONE, KILLED, REJECTED, RUNNING, WAITING = (
    int(State[name]) for name in ("COMPLETED", "TIMEOUT", "REJECTED", "RUNNING", "WAITING")
)


def test_a_job_that_ran_once_has_a_short_row_that_is_read_as_two():
    recorder = record()
    assert (recorder.plain.size, recorder.jobs.size, recorder.allocations.size) == (4, 2, 1)
    jobs, allocations, _, _ = recorder.take()
    assert recorder.count_jobs() == recorder.count_allocations() == 0
    assert by_entry(jobs, JOB) == [
        (0, 0, 0, 0, 10 * S, 10 * S, 10 * S, 0, DONE, 0),
        (1, 1, 0, 0, 20 * S, 20 * S, 20 * S, 0, KILLED, 0),
        (2, 2, 5 * S, 5 * S, 5 * S, 0, 0, 0, DONE, 0),
        (3, 3, -1, -1, -1, 0, 0, 0, REJECTED, 0),
        (4, 4, 7 * S, 43 * S, 48 * S, 5 * S, 5 * S, 0, DONE, 0),
        (5, 5, 8 * S, 8 * S, 43 * S, 35 * S, 35 * S, 0, DONE, 1),
    ]
    assert by_entry(allocations, ALLOCATION) == [
        (0, 0, 10 * S, 2, DONE, 0),
        (1, 0, 20 * S, 1, KILLED, 0),
        (2, 5 * S, 5 * S, 1, DONE, 0),
        (4, 43 * S, 48 * S, 4, DONE, 0),
        (5, 8 * S, 43 * S, 1, DONE, 0),
    ]


def test_a_column_is_that_of_the_rows_and_a_cut_run_has_long_ones():
    recorder = record(15 * S)
    started = recorder.allocation_column("start").tolist()
    jobs, allocations, _, _ = recorder.take()
    assert allocations[:, 1].tolist() == started
    states = {row[0]: row[-1] & 0xFF for row in jobs.tolist()}
    assert states == {0: DONE, 1: RUNNING, 2: DONE, 3: REJECTED, 4: WAITING, 5: RUNNING}


DAY = 86_400
LATE = 8 * 365 * DAY  # beyond 44 bits of microseconds, which two words of a short row have


@pytest.mark.parametrize(
    ("submit", "run", "cores", "short"),
    [
        (LATE, 25 * DAY, 4_194_303, 3),
        (LATE, 25 * DAY, 4_194_304, 1),  # 22 bits of cores
        (LATE, 26 * DAY, 4_194_303, 0),  # 41 bits of a run, and of a wait
        (9 * 365 * DAY, 25 * DAY, 4_194_303, 0),  # 48 bits of a start
    ],
)
def test_what_a_short_row_cannot_tell_has_long_ones(submit, run, cores, short):
    jobs = Workload.from_columns(
        submit=[submit] * 3, run_time=[run, 1, 0], requested_time=[run, 1, 1], cores=[cores, cores, 1]
    )
    simulation = make_simulation(Arrivals([jobs]), TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, cores, 0), Aggressive())
    simulation.run()
    assert simulation.recorder.plain.size == short
    rows, allocations, _, _ = simulation.recorder.take()
    first, end = submit * S, (submit + run) * S
    assert by_entry(rows, JOB) == [
        (0, 0, first, first, end, run * S, run * S, 0, DONE, 0),
        (1, 1, first, end, end + S, S, S, 0, DONE, 0),
        (2, 2, first, end + S, end + S, 0, 0, 0, DONE, 0),
    ]
    assert by_entry(allocations, ALLOCATION) == [
        (0, first, end, cores, DONE, 0),
        (1, end, end + S, cores, DONE, 0),
        (2, end + S, end + S, 1, DONE, 0),
    ]


class Follower(Source):
    """Submits one more job at 1 s and at 3 s."""

    def attach(self, engine):
        super().attach(engine)
        self.next = S

    def fire(self, now):
        self.next = 3 * S if now == S else NEVER
        self.engine.submit(run_time=S, requested_time=S, cores=1)


def test_a_job_whose_row_is_not_its_place_of_entry_keeps_it():
    jobs = Workload.from_columns(submit=[0, 2, 4], run_time=[5, 5, 5], requested_time=[5, 5, 5], cores=[1, 1, 1])
    simulation = make_simulation(Arrivals([jobs]), TraceExecution(), sources=[(Rank.CONDITIONS, Follower())])
    add_cluster(simulation, CoreLedger(simulation.jobs, 4, 0), Aggressive())
    simulation.run()
    recorder = simulation.recorder
    assert (recorder.plain.size, recorder.moved.size, recorder.is_in_order()) == (5, 4, False)
    jobs, *_ = recorder.take()
    assert dict(jobs[:, :2].tolist()) == {0: 0, 1: -1, 2: 1, 3: -2, 4: 2}
    assert recorder.moved.size == 0


def test_jobs_of_more_clusters_than_a_short_row_can_number_are_told_with_theirs():
    names = [f"c{i}" for i in range(20)]
    result = walltime.simulate(
        {
            "workload": {"table": Workload.from_columns(submit=[0] * 20, run_time=[9] * 20, cores=[1] * 20)},
            "clusters": [{"name": name, "cores": 1} for name in names],
            "broker": "earliest-start",
        }
    )
    assert result.jobs["start"].to_list() == [0] * 20
    assert sorted(result.jobs["cluster"].to_list()) == sorted(names)
    assert sorted(result.allocations["cluster"].to_list()) == sorted(names)
