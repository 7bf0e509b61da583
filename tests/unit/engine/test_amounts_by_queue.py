"""What a job that may be in several queues counts for at limits: it may have more nodes in one than in another."""

from typing import Any

import pytest

import walltime

NODES = [
    {"count": 4, "cores": 4, "memory": 100, "gpus": 2, "name": "s"},
    {"count": 1, "cores": 8, "memory": 100, "gpus": 2, "name": "l"},
]
QUEUES = {"small": {"nodes": "s"}, "large": {"nodes": "l"}}
LARGE_FIRST = {"small": {"nodes": "s"}, "large": {"nodes": "l", "priority": 1}}
POLICIES = ("easy", "conservative", "plan")


def run(limits: list[dict[str, Any]], policy: str = "easy", queues: Any = QUEUES, **columns: Any) -> walltime.Result:
    count = len(columns["queue"])
    usual = {"submit": [0] * count, "run_time": [10] * count, "requested_time": [10] * count, "cores": [8] * count}
    table = walltime.Workload.from_columns(**usual | columns)
    cluster = {"nodes": NODES, "queues": queues, "limits": limits, "scheduler": {"backfill": policy}}
    return walltime.simulate({"workload": {"table": table}, "cluster": cluster})


def starts(result: walltime.Result) -> list[Any]:
    assert result.audit() == []
    return result.jobs.select("start", "queue").rows()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("cap", "column", "each"), [("running_memory", "memory_per_node", 10), ("running_gpus", "gpus_per_node", 1)]
)
def test_a_job_counts_for_its_nodes_in_the_queue_in_which_it_runs(policy, cap, column, each):
    """Eight cores are two nodes in `small` and one in `large`: a job has two amounts there, or one."""
    columns = {"queue": ["small,large"] * 2, column: [each] * 2}
    assert starts(run([{cap: 2 * each}], policy, **columns)) == [(0, "small"), (10, "small")]
    assert starts(run([{cap: 3 * each}], policy, **columns)) == [(0, "small"), (0, "large")]
    assert starts(run([{cap: 4 * each}], policy, **columns)) == [(0, "small"), (0, "small")]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_it_runs_with_is_what_others_find_in_use(policy):
    """The first queue is `large`, where the second job has no room: it has 20 in `small`, and leaves none of 30."""
    columns = {"queue": ["small,large"] * 2 + ["small"], "memory_per_node": [10, 10, 1], "cores": [8, 8, 1]}
    tight, wide = (run([{"running_memory": most}], policy, LARGE_FIRST, **columns) for most in (30, 31))
    assert starts(tight) == [(0, "large"), (0, "small"), (10, "small")]
    assert starts(wide) == [(0, "large"), (0, "small"), (0, "small")]


def test_a_queue_in_which_it_would_be_too_large_is_left_out():
    columns = {"queue": ["small,large", "large,small", "small"], "memory_per_node": [10] * 3}
    result = run([{"running_memory": 15}], **columns)
    assert starts(result) == [(0, "large"), (10, "large"), (None, "small")]


def test_the_only_queue_that_takes_it_tells_its_amount():
    """The first takes no job of eight cores, so that the job is in `large` alone, with 10."""
    queues = {"small": {"nodes": "s", "max_cores": 4}, "large": {"nodes": "l"}}
    columns = {"queue": ["small,large", "small"], "memory_per_node": [10, 5], "cores": [8, 4]}
    assert starts(run([{"running_memory": 15}], queues=queues, **columns)) == [(0, "large"), (0, "small")]
