"""Programs that go on from what they saved; schedules worked out by hand."""

from __future__ import annotations

import json

import pytest
from jobs_on_nodes import STAR, job, simulate, times

from walltime.core.errors import UnsupportedError
from walltime.programs import Profile, register
from walltime.programs.profiles import write_out

IDLE = {"type": "idle", "args": {"time": 4}}
SAVE = {"type": "checkpoint"}
FAILURE = {"nodes": ["n0"], "at": 10, "length": 1}
MACHINE = {"nodes": "1x4", "failures": [FAILURE], "interrupted": "checkpoint"}


def sequence(*profiles, repeat=1):
    return {"type": "sequence", "args": {"profiles": list(profiles), "repeat": repeat}}


def spans(result, number=1):
    chosen = result.allocations.filter(result.allocations["job_id"] == number).sort("start")
    return chosen.select("start", "end").rows()


@pytest.mark.parametrize(
    ("profile", "end"),
    [
        (sequence(IDLE, repeat=5), 31),  # nothing was saved: all 20 seconds again
        (sequence(IDLE, SAVE, repeat=5), 23),  # 8 seconds were saved, 12 are left
        (sequence(IDLE, SAVE, IDLE, IDLE), 19),
        (sequence(IDLE, sequence(IDLE, SAVE, IDLE, repeat=2)), 23),  # in the inner one, behind its first step
        (sequence(sequence(IDLE, IDLE), SAVE, IDLE, IDLE), 19),
        (sequence(IDLE, IDLE, SAVE, {"type": "parallel", "args": {"profiles": [IDLE, IDLE]}}), 15),
        (sequence(IDLE, IDLE, IDLE, SAVE), 23),  # the failure comes before it
    ],
)
def test_a_profile_of_a_file_goes_on_behind_its_last_checkpoint(profile, end):
    result = simulate(MACHINE, job(json.dumps(profile)))
    assert spans(result) == [(0, 10), (11, end)]
    assert times(result) == [(0, end, "completed")]


def test_what_was_done_since_the_checkpoint_is_lost():
    result = simulate(MACHINE, job(json.dumps(sequence(IDLE, SAVE, repeat=5)), 3))
    assert result.jobs.select("run_time", "held_time", "lost_core_seconds").row(0) == (20, 22, 6)


class Steps(Profile):
    """Does `steps` steps of 4 seconds, each followed by a checkpoint of how many are done."""

    async def run(self, processes):
        done = processes[0].restored or {"steps": 0}
        while done["steps"] < 5:
            await processes[0].sleep(4)
            done["steps"] += 1
            processes[0].checkpoint(done)


register("steps", Steps)


def test_a_profile_in_python_is_given_the_state_that_it_saved():
    result = simulate(MACHINE, job(write_out("steps")))
    assert spans(result) == [(0, 10), (11, 23)]


def test_it_goes_on_again_and_again_and_on_other_nodes():
    failures = [FAILURE, {"nodes": ["n1"], "at": 14, "length": 1}, {"nodes": ["n1"], "at": 16, "length": 10}]
    result = simulate({"nodes": "2x4", "failures": failures, "interrupted": "checkpoint"}, job(write_out("steps")))
    nodes = result.allocations.sort("start").select("start", "end", "nodes").rows()
    assert nodes == [(0, 10, "0:1"), (10, 14, "1:1"), (14, 22, "0:1")]


def test_the_limit_counts_what_is_kept():
    result = simulate(MACHINE, job(write_out("steps"), limit=20))
    assert times(result) == [(0, 23, "completed")]
    result = simulate(MACHINE, job(write_out("steps"), limit=19))
    assert times(result) == [(0, 22, "timeout")]


def test_preemption_with_checkpoints():
    queues = {"low": {"priority": 1}, "high": {"priority": 2}}
    preempt = {"name": "queue", "mode": "checkpoint"}
    cluster = {"nodes": "1x4", "queues": queues, "scheduler": {"preempt": preempt}}
    rows = [job(write_out("steps"), 4, queue="low"), job(write_out("idle", time=2), 4, submit=9, queue="high")]
    assert spans(simulate(cluster, *rows)) == [(0, 9), (11, 23)]


def test_a_job_that_is_requeued_forgets_what_it_saved():
    result = simulate(MACHINE | {"interrupted": "requeue"}, job(write_out("steps")))
    assert spans(result) == [(0, 10), (11, 31)]


def test_a_job_without_a_profile_begins_again():
    result = simulate(MACHINE, job(None, run_time=20))
    assert spans(result) == [(0, 10), (11, 31)]


@pytest.mark.parametrize("profile", [{"type": "parallel", "args": {"profiles": [IDLE, SAVE]}}])
def test_a_checkpoint_of_one_of_several_branches_is_refused(profile):
    result = simulate({"nodes": "1x4", "network": STAR}, job(json.dumps(profile)))
    assert times(result) == [(0, 0, "failed")]
    assert "a checkpoint stands in the sequences of a job's profile" in result.record.facts["programs"]["first"][0]


def test_checkpoints_of_the_trace_are_not_for_programs():
    with pytest.raises(UnsupportedError, match="programs say themselves where"):
        simulate(MACHINE, job(write_out("steps")), execution={"checkpoint": {"interval": 10}})
