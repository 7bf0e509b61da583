"""Workers: what a run does to its process stays with that run."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from walltime.core.plugins import allow_plugins
from walltime.experiments.pool import WorkerPool
from walltime.experiments.tasks import MACHINE, OWN, RunLimits, Task

MISBEHAVING = """
import os, signal, sys, time

KEPT = []

def sleeps(p):
    time.sleep(600)

def dies(p):
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

def hoards(p):
    kept = [bytearray(1 << 20) for _ in range(4000)]

def litters(p):
    if not KEPT:
        made = [bytes(2000) for _ in range(200_000)]
        KEPT.extend(made[::100])  # so that what is free is in many pieces

def leaks(p):
    if not KEPT:
        KEPT.append(bytes(1) * (400 << 20))

def fails(p):
    raise ValueError("not today")

def full(p):
    raise OSError(28, "No space left on device")
"""


@pytest.fixture
def own_code(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "misbehaving.py").write_text(MISBEHAVING, encoding="utf-8")
    allow_plugins(tmp_path)


@pytest.fixture
def pool():
    made = []

    def make(size=1, **limits):
        made.append(WorkerPool(size, RunLimits(**limits)))
        return made[-1]

    yield make
    for one in made:
        one.kill()


def task(number=1, policy="easy", jobs=20, **keep):
    scheduler = {"order": "fcfs", "backfill": policy}
    scenario = {"workload": {"generate": {"jobs": jobs, "cores": 8}}, "cluster": {"cores": 8, "scheduler": scheduler}}
    return Task(number, f"{number:064x}", 1, 1, json.dumps({"scenario": scenario, "keep": keep}), 0)


def collect(pool, count):
    found = []
    while len(found) < count:
        found += pool.collect(0.5)
    return found


def alive(pid):
    return Path(f"/proc/{pid}").exists()


def test_figures_and_files_come_out(pool, tmp_path):
    import polars as pl

    import walltime

    own = pool()
    own.give(task(groups=["size"], tables=True))
    (outcome,) = collect(own, 1)
    assert (outcome.fault, outcome.error) == (None, None)
    assert outcome.figures["jobs"] == 20
    assert outcome.memory > 10_000_000
    for name, data in outcome.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert pl.read_parquet(tmp_path / "by_size.parquet")["jobs"].sum() == 20
    assert walltime.load(tmp_path / "result").digest == outcome.result


def test_a_run_that_fails_keeps_its_trace_and_the_worker_goes_on(pool, own_code):
    own = pool()
    own.give(task(1, "misbehaving:fails"))
    own.give(task(2))
    first, second = collect(own, 2)
    assert (first.fault, first.task.run) == (OWN, 1)
    assert "not today" in first.error
    assert "in fails" in first.log
    assert second.fault is None
    assert len(own.workers) == 1


def test_a_disk_that_is_full_is_a_fault_of_the_machine(pool, own_code):
    own = pool()
    own.give(task(1, "misbehaving:full"))
    assert collect(own, 1)[0].fault == MACHINE


def test_a_worker_that_dies_takes_one_task_with_it(pool, own_code):
    own = pool()
    own.give(task(1, "misbehaving:dies"))
    own.give(task(2))
    first, second = collect(own, 2)
    assert (first.task.run, first.fault, first.error) == (1, MACHINE, "its worker ended by SIGKILL")
    assert "last words" in first.log
    assert (second.task.run, second.fault) == (2, None)


def test_a_worker_that_is_killed_from_outside(pool, own_code):
    own = pool()
    own.give(task(1, "misbehaving:sleeps"))
    while not own.workers[0].ready:
        own.collect(0.1)
    os.kill(own.workers[0].process.pid, signal.SIGKILL)
    assert collect(own, 1)[0].fault == MACHINE


def test_a_run_may_take_so_much_time_and_no_more(pool, own_code):
    own = pool(time=0.3)
    own.give(task(1, "misbehaving:sleeps"))
    own.give(task(2))
    first, second = collect(own, 2)
    assert (first.task.run, first.fault) == (1, OWN)
    assert first.error.startswith("longer than its limit")
    assert second.fault is None


def test_a_run_may_take_so_much_memory_and_no_more(pool, own_code):
    own = pool(memory=200 << 20)
    own.give(task(1, "misbehaving:hoards"))
    own.give(task(2))
    first, second = collect(own, 2)
    assert (first.task.run, first.fault) == (1, OWN)
    assert first.error.startswith("more memory than its limit")
    assert second.fault is None


@pytest.mark.parametrize(("policy", "same"), [("misbehaving:litters", True), ("misbehaving:leaks", False)])
def test_a_worker_ends_only_where_memory_cannot_be_given_back(pool, own_code, policy, same):
    own = pool()
    own.give(task(1, policy))
    own.give(task(2))
    first = own.workers[0].process.pid
    assert [outcome.fault for outcome in collect(own, 2)] == [None, None]
    assert (own.workers[0].process.pid == first) == same


def test_the_end_of_the_pool_is_the_end_of_its_workers(pool, own_code):
    own = pool(2)
    own.give(task(1, "misbehaving:sleeps"))
    own.give(task(2, "misbehaving:sleeps"))
    pids = [worker.process.pid for worker in own.workers]
    assert len(pids) == 2
    own.kill()
    assert not any(alive(pid) for pid in pids)
