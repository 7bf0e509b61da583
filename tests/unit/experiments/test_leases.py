"""Leases: each run is taken once, and only the holder of its latest fence says what became of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa
from small import Clock, done, registered

from walltime.experiments import leases as module
from walltime.experiments.leases import SILENCE, Leases, can_see, process_name
from walltime.experiments.maintenance import verify
from walltime.experiments.schema import figures, runners, runs
from walltime.experiments.tasks import MACHINE, OWN, TaskOutcome


@pytest.fixture
def stocked(open_store):
    store, experiment = registered(open_store)
    return store, experiment


def rename(store, runner, process="another machine/1/2"):
    """As if the runner were on a machine that cannot be seen from here."""
    store.database.write(lambda c: c.execute(runners.update().where(runners.c.id == runner).values(process=process)))


def test_no_run_is_taken_twice(stocked):
    store, experiment = stocked
    one, other = Leases(store), Leases(store)
    first, second = one.take(experiment, 3), other.take(experiment, 3)
    assert (len(first), len(second)) == (3, 1)
    assert not {task.run for task in first} & {task.run for task in second}
    assert store.count(experiment) == {"waiting": 0, "running": 4, "done": 0, "failed": 0}


def test_a_result_is_written_once(stocked):
    store, experiment = stocked
    leases = Leases(store)
    tasks = leases.take(experiment, 4)
    assert leases.finish([done(task) for task in tasks]) == [True] * 4
    assert leases.finish([done(task) for task in tasks]) == [True] * 4  # as after a server that went away: the same
    assert store.database.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(figures)).scalar()) == 4
    leases.close()
    assert verify(store) == []


def test_a_late_result_of_a_runner_that_was_given_up_is_discarded(stocked):
    store, experiment = stocked
    clock = Clock()
    late, heir = Leases(store), Leases(store, clock)
    rename(store, late.runner)
    held = late.take(experiment, 4)
    assert heir.reap() == 0
    clock.now += SILENCE + 1
    assert heir.reap() == 4
    taken = heir.take(experiment, 4)
    assert [(new.run, new.fence > old.fence) for new, old in zip(taken, held, strict=True)] == [
        (old.run, True) for old in held
    ]
    assert late.finish([done(task, files={"by_size.parquet": b"late"}) for task in held]) == [False] * 4
    assert heir.finish([done(task, files={"by_size.parquet": b"right"}) for task in taken]) == [True] * 4
    kept = [store.results.folder_of(task.digest) / "by_size.parquet" for task in taken]
    assert {path.read_bytes() for path in kept} == {b"right"}
    heir.close()
    assert verify(store) == []


def test_a_runner_that_beats_is_not_given_up(stocked):
    store, experiment = stocked
    clock = Clock()
    slow, other = Leases(store, clock), Leases(store, clock)
    rename(store, slow.runner)
    slow.take(experiment, 4)
    for _ in range(5):
        clock.now += SILENCE * 0.9
        slow.beat()
        assert other.reap() == 0


def test_one_that_was_given_up_enrols_again(stocked):
    store, experiment = stocked
    clock = Clock()
    stalled, other = Leases(store, clock), Leases(store, clock)
    before = stalled.runner
    rename(store, before)
    stalled.take(experiment, 2)
    other.reap()
    clock.now += SILENCE + 1
    assert other.reap() == 2
    stalled.beat()
    assert stalled.runner > before
    assert len(stalled.take(experiment, 4)) == 4


@pytest.mark.parametrize("jump", [1e9, -1e9])
def test_a_clock_that_jumps_gives_nobody_up(stocked, monkeypatch, jump):
    """The time of day is for people: a lease is ended by a process that is gone, or by a steady clock."""
    store, experiment = stocked
    alive, other = Leases(store), Leases(store)
    rename(store, alive.runner)
    held = alive.take(experiment, 4)
    other.reap()
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + jump)
    assert other.reap() == 0
    assert alive.finish([done(task) for task in held]) == [True] * 4


def test_a_process_that_is_gone_is_given_up_at_once(stocked, open_store):
    store, experiment = stocked
    code = (
        "import sys, json, os\n"
        "from walltime.experiments.store import Store\n"
        "from walltime.experiments.leases import Leases\n"
        "store = Store(sys.argv[1]); held = Leases(store).take(int(sys.argv[2]), 2)\n"
        "print(json.dumps([task.run for task in held]), flush=True); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, open_store.place, str(experiment)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == -9
    assert len(json.loads(ended.stdout)) == 2
    heir = Leases(store)
    assert heir.reap() == 2
    assert len(heir.take(experiment, 9)) == 4


def test_processes_are_told_apart():
    assert can_see(process_name()) is True
    machine, pid, begun = process_name().rsplit("/", 2)
    assert can_see(f"{machine}/{pid}/{int(begun) + 1}") is False
    assert can_see(f"elsewhere/{pid}/{begun}") is None


def test_another_attempt_has_another_fence(stocked):
    store, experiment = stocked
    leases = Leases(store)
    task = leases.take(experiment, 1)[0]
    again = leases.again(task)
    assert (again.fence, again.attempt) == (task.fence + 1, task.attempt + 1)
    assert leases.finish([done(task)]) == [False]
    assert leases.again(task) is None
    assert leases.finish([done(again)]) == [True]


def test_what_is_given_back_waits_as_if_nothing_had_been(stocked):
    store, experiment = stocked
    leases = Leases(store)
    tasks = leases.take(experiment, 3)
    leases.release(tasks[:1])
    leases.close()
    rows = store.database.read(lambda c: c.execute(sa.select(runs.c.state, runs.c.attempts, runs.c.runner_id)).all())
    assert {tuple(row) for row in rows} == {("waiting", 0, None)}
    assert store.database.read(lambda c: c.execute(sa.select(runners)).all()) == []


def test_failures_of_machines_are_taken_up_again_and_others_when_asked(stocked):
    store, experiment = stocked
    leases = Leases(store)
    machine, own, *_ = leases.take(experiment, 2)
    leases.finish(
        [TaskOutcome(machine, fault=MACHINE, error="gone"), TaskOutcome(own, fault=OWN, error="wrong", log="why")]
    )
    assert store.count(experiment)["failed"] == 2
    assert verify(store) == []
    assert leases.retry_failed(experiment) == 1
    assert store.run(own.digest)["log"] == "why"
    assert leases.retry_failed(experiment, every=True) == 1
    assert store.count(experiment)["failed"] == 0
