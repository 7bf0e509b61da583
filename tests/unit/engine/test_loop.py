"""The loop merges sources and lets schedulers decide; what else there is hooks into a job's life."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import walltime.engine
from building import add_cluster
from walltime import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.engine.loop import Rank
from walltime.execution.trace import TraceExecution
from walltime.kernel.jobs import Outcome, State
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.source import GONE, Moment, Remedy, Source
from walltime.policies.backfill.easy import Easy

LOOP = Path(walltime.engine.__file__).parent / "loop.py"
FEATURES = (
    "array",
    "broker",
    "checkpoint",
    "deadline",
    "dependenc",
    "dispatch",
    "displac",
    "fair",
    "licence",
    "limit",
    "migrat",
    "patience",
    "preemptor",
    "quota",
    "workflow",
)
"""What a loop that names features would say; its table of ranks does."""


def test_the_loop_names_no_feature_and_can_be_read_in_ten_minutes():
    text = LOOP.read_text()
    ranks = text[text.index("class Rank") : text.index("@cython.final")]
    found = [word for word in FEATURES if re.search(word, text.replace(ranks, ""), re.IGNORECASE)]
    assert not found, found
    assert text.count("\n") < 400


class Diary(Source):
    """Writes down every moment that it hears of; holds job 2 until 5 s, and turns job 3 away."""

    def __init__(self):
        super().__init__()
        self.hears = int(sum(Moment))
        self.lines = []

    def note(self, moment, slot):
        self.lines.append((self.engine.now // 1_000_000, moment, int(self.engine.jobs.job_id[slot])))
        return 0

    def entered(self, slot, begin):
        self.note("entered", slot)
        if self.engine.jobs.job_id[slot] == 3:
            self.engine.move(slot, State.HELD)
            self.engine.withdraw(slot, "because")
            return GONE
        return 5_000_000 if self.engine.jobs.job_id[slot] == 2 else begin

    def admits(self, slot):
        self.note("eligible", slot)
        return True

    def started(self, slot):
        return self.note("started", slot)

    def begun(self, slot):
        return self.note("begun", slot)

    def interrupted(self, slot):
        return self.note("interrupted", slot)

    def left(self, slot, state):
        return self.note(State(state).name.lower(), slot)


class Breaker(Source):
    """Interrupts whatever runs at 7 s."""

    def __init__(self):
        super().__init__()
        self.next = 7_000_000

    def fire(self, now):
        self.next = 1 << 62
        for slot in range(self.engine.jobs.size):
            if self.engine.jobs.state[slot] == State.RUNNING:
                self.engine.interrupt(slot, Remedy.REQUEUE, Outcome.REQUEUED)


def test_a_source_hears_of_every_moment_and_may_hold_or_turn_away_a_job():
    jobs = Workload.from_columns(submit=[0, 1, 2], run_time=[4, 6, 1], requested_time=[4, 6, 1], cores=[1, 2, 1])
    diary = Diary()
    simulation = make_simulation(
        Arrivals([jobs]), TraceExecution(), sources=[(Rank.CONDITIONS, diary), (Rank.FAILURES, Breaker())]
    )
    add_cluster(simulation, CoreLedger(simulation.jobs, 2), Easy())
    simulation.run()
    assert diary.lines == [
        (0, "entered", 1),
        (0, "eligible", 1),
        (0, "started", 1),
        (0, "begun", 1),
        (1, "entered", 2),
        (2, "entered", 3),
        (2, "cancelled", 3),
        (4, "completed", 1),
        (5, "eligible", 2),
        (5, "started", 2),
        (5, "begun", 2),
        (7, "interrupted", 2),
        (7, "begun", 2),
        (13, "completed", 2),
    ]
    assert simulation.withdrawn == {"because": 1}


class Sleeper(Source):
    """Has something to do at once when a job enters; until then the loop need not look at it."""

    def __init__(self, asleep):
        super().__init__()
        self.asleep = asleep
        self.hears = Moment.ENTERED
        self.seen = []

    def entered(self, slot, begin):
        self.next = self.engine.now
        if self.asleep:
            self.asleep = False
            self.engine.attend()
        return begin

    def fire(self, now):
        self.next = 1 << 62
        self.seen.append((now, self.engine.jobs.state[: self.engine.jobs.size].tolist()))


@pytest.mark.parametrize("rank", [Rank.LIMITS, Rank.TIMERS])
@pytest.mark.parametrize("per_event", [False, True])
def test_a_source_that_awakes_in_an_instant_has_its_turn_as_if_it_had_been_awake(rank, per_event):
    seen = []
    for asleep in (False, True):
        jobs = Workload.from_columns(submit=[0, 1, 1], run_time=[4, 6, 1], requested_time=[4, 6, 1], cores=[1, 1, 1])
        sleeper = Sleeper(asleep)
        simulation = make_simulation(Arrivals([jobs]), TraceExecution(), sources=[(rank, sleeper)], per_event=per_event)
        add_cluster(simulation, CoreLedger(simulation.jobs, 2), Easy())
        simulation.run()
        seen.append(sleeper.seen)
    assert seen[0] == seen[1]
    assert seen[0][0] == (0, [State.WAITING if rank == Rank.TIMERS and not per_event else State.RUNNING])


def test_several_clusters_need_a_global_scheduler():
    simulation = make_simulation(Arrivals([]), TraceExecution())
    for index in range(2):
        add_cluster(simulation, CoreLedger(simulation.jobs, 2, index), Easy())
    with pytest.raises(Exception, match="2 clusters without a global scheduler"):
        simulation.run()
