"""Processes that are over before their job give their nodes back; schedules worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest
from jobs_on_nodes import STAR, job, simulate, times

from walltime.programs import Profile, register
from walltime.programs.profiles import write_out


class Shrinking(Profile):
    """The process of rank k sleeps for `first` + k * `step` seconds and is released; the last ends the job."""

    def __init__(self, first: float = 0.0, step: float = 10.0) -> None:
        self.first, self.step = first, step

    async def run(self, processes):
        for process in processes:
            await process.sleep(self.first if process is processes[0] else self.step)
            process.release()


register("shrinking", Shrinking)
SHRINKING = write_out("shrinking", first=10.0, step=10.0)
NAP = write_out("idle", time=5)


def rows(result, number=1):
    chosen = result.allocations.filter(result.allocations["job_id"] == number)
    return chosen.select("start", "end", "cores", "nodes", "outcome").rows()


def test_a_waiting_job_starts_on_the_node_that_a_process_has_left():
    result = simulate({"nodes": "3x4", "network": STAR}, job(SHRINKING, 12, 3), job(NAP, 4, 1, submit=1))
    assert times(result) == [(0, 30, "completed"), (10, 15, "completed")]
    assert rows(result) == [
        (0, 10, 12, "0-2:4", "resized"),
        (10, 20, 8, "1-2:4", "resized"),
        (20, 30, 4, "2:4", "completed"),
    ]
    assert rows(result, 2) == [(10, 15, 4, "0:4", "completed")]
    one = result.jobs.filter(result.jobs["job_id"] == 1)
    assert one.select("nodes", "held_time", "run_time", "wait").row(0) == (3, 30, 30, 0)


def test_the_last_process_keeps_its_node_until_the_job_ends():
    result = simulate({"nodes": "1x4"}, job(write_out("shrinking", first=10.0), 4, 1))
    assert rows(result) == [(0, 10, 4, "0:4", "completed")]


def test_memory_goes_back_with_the_node_and_licences_do_not():
    nodes = {"count": 2, "cores": 4, "memory": "8G"}
    cluster = {"nodes": nodes, "licences": {"solver": 1}}
    wide = job(write_out("shrinking", first=10.0, step=20.0), 2, 2, memory_per_node=8 << 30, licences="solver:1")
    small = job(NAP, 1, 1, submit=1, memory_per_node=8 << 30)
    licensed = job(NAP, 1, 1, submit=2, memory_per_node=0, licences="solver:1")
    result = simulate(cluster, wide, small, licensed)
    assert times(result) == [(0, 30, "completed"), (10, 15, "completed"), (30, 35, "completed")]


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_reservations_move_up_when_nodes_come_back_early(backfill):
    """Both nodes are expected back at 100; one comes at 10, for a job that will have ended by then."""
    cluster = {"nodes": "2x4", "scheduler": {"backfill": backfill}}
    shrinking = job(write_out("shrinking", first=10.0, step=20.0), 8, 2, limit=100)
    result = simulate(cluster, shrinking, job(NAP, 8, 2, submit=1), job(NAP, 4, 1, submit=2, limit=80))
    later = {"none": (35, 40), "easy": (10, 15), "conservative": (10, 15)}[backfill]
    assert times(result) == [(0, 30, "completed"), (30, 35, "completed"), (*later, "completed")]


def test_a_reservation_for_one_node_is_met_when_the_first_comes_back():
    cluster = {"nodes": "2x4", "scheduler": {"backfill": "conservative"}}
    shrinking = job(write_out("shrinking", first=10.0, step=20.0), 8, 2, limit=100)
    result = simulate(cluster, shrinking, job(NAP, 4, 1, submit=1), job(NAP, 4, 1, submit=2))
    assert times(result) == [(0, 30, "completed"), (10, 15, "completed"), (15, 20, "completed")]


def test_whole_nodes_are_given_back_whole():
    cluster = {"nodes": "2x4", "sharing": "whole"}
    result = simulate(cluster, job(write_out("shrinking", first=10.0, step=20.0), 3, 2), job(NAP, 4, 1, submit=1))
    assert [row[:4] for row in rows(result)] == [(0, 10, 8, "0-1:4"), (10, 30, 4, "1:4")]
    assert times(result)[1] == (10, 15, "completed")


def test_a_failure_of_a_node_that_was_given_back_interrupts_nothing():
    failure = {"nodes": ["n0"], "at": 12, "length": 100}
    result = simulate({"nodes": "2x4", "failures": [failure]}, job(write_out("shrinking", first=10.0), 8, 2))
    assert times(result) == [(0, 20, "completed")]


def test_a_suspended_job_goes_on_with_the_nodes_that_it_has_left():
    queues = {"low": {"priority": 1}, "high": {"priority": 2}}
    cluster = {"nodes": "2x4", "queues": queues, "scheduler": {"preempt": {"name": "queue", "mode": "suspend"}}}
    low = job(write_out("shrinking", first=10.0, step=20.0), 8, 2, queue="low")
    result = simulate(cluster, low, job(NAP, 8, 2, submit=15, queue="high"))
    assert [row[:4] for row in rows(result)] == [(0, 10, 8, "0-1:4"), (10, 15, 4, "1:4"), (20, 35, 4, "1:4")]
    assert rows(result)[1][4] == "suspended"


def test_a_requeued_job_gets_all_its_nodes_again():
    cluster = {"nodes": "2x4", "failures": [{"nodes": ["n1"], "at": 15, "length": 1}], "interrupted": "requeue"}
    result = simulate(cluster, job(write_out("shrinking", first=10.0), 8, 2))
    assert [row[:4] for row in rows(result)] == [
        (0, 10, 8, "0-1:4"),
        (10, 15, 4, "1:4"),
        (16, 26, 8, "0-1:4"),
        (26, 36, 4, "1:4"),
    ]


def test_a_process_that_computes_is_not_released():
    class Hasty(Profile):
        async def run(self, processes):
            work = processes[0].compute(1e9)
            processes[0].release()
            await work

    register("hasty", Hasty)
    result = simulate({"nodes": "1x4"}, job(write_out("hasty")))
    assert times(result) == [(0, 0, "failed")]
    assert "process 0 is released while it computes" in result.record.facts["programs"]["first"][0]


def test_what_it_wrote_on_its_node_goes_with_a_process():
    class Writing(Profile):
        async def run(self, processes):
            await processes[0].write(100)
            processes[0].release()
            await processes[1].sleep(100)

    register("writing", Writing)
    nodes = {"count": 2, "cores": 1, "disk": {"capacity": 100, "read": 10.0, "write": 10.0}}
    again = job(write_out("disk-write", size=100), submit=1)
    result = simulate({"nodes": nodes}, job(write_out("writing"), 2, 2), again)
    assert times(result) == [(0, 110, "completed"), (10, 20, "completed")]


def test_the_audit_finds_a_job_that_comes_by_nodes_after_it_gave_some_back():
    result = simulate({"nodes": "3x4", "network": STAR}, job(write_out("shrinking", first=10.0), 8, 2))
    table = result.record.allocations
    last = pl.col("end") == 20
    result.record.allocations = table.with_columns(pl.when(last).then(pl.lit("2:4")).otherwise("nodes").alias("nodes"))
    assert [str(one) for one in result.audit()] == [
        "nodes: job 1 at 10 s: has nodes that it did not have before it gave some back"
    ]
    result.record.allocations = table.filter(~last)
    assert "gives nodes back and does not go on with the others" in " ".join(str(one) for one in result.audit())
