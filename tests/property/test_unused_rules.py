"""A rule that nothing uses changes no schedule: what-if questions about it would otherwise measure something else.

Random jobs run on random nodes, shared or given as a whole: some want any cores, some so many nodes or so many cores on
each; under every backfill, several orders and placements. Then they run again with a rule that none of them uses. Jobs
and allocations are the same, but for what the rule itself names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from walltime import Result, api
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import parse

Site = dict[str, Any]
BACKFILLS = ("none", "aggressive", "easy", {"name": "depth", "depth": 3}, "conservative", "lookahead", "plan", "tetris")
ORDERS = ("fcfs", "sjf", "largest", "wfp3", "fairshare", "drf")
PLACES = ("first-fit", "best-fit", "worst-fit", "contiguous", "random", "even", "round-robin")
KINDS = ("any cores", "shaped", "whole nodes", "shaped, whole nodes")
SEEDS = range(2 * len(BACKFILLS) * len(KINDS))
FIRST = 50
"""Nothing is submitted before this time."""
FAR = 10_000_000
LATE = 20_000
"""After every end, and so near that the scheduler knows of it from the beginning."""
ROWS = 40


def draw(seed: int) -> tuple[Site, dict[str, list[Any]]]:
    """A cluster, and the columns of its jobs."""
    random = stream(seed, "unused rules")
    kind = KINDS[seed // len(BACKFILLS) % len(KINDS)]

    def integer(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    sizes = [(integer(1, 4), integer(1, 6)) for _ in range(integer(1, 2))]
    count = sum(number for number, _ in sizes)
    run = [integer(0, 30) for _ in range(ROWS)]
    columns: dict[str, list[Any]] = {
        "submit": sorted(FIRST + integer(0, 150) for _ in range(ROWS)),
        "run_time": run,
        "requested_time": [max(1, time + integer(-2, 20)) for time in run],
        "cores": [integer(1, sum(number * cores for number, cores in sizes)) for _ in range(ROWS)],
        "user": [f"u{integer(0, 3)}" for _ in range(ROWS)],
    }
    if "shaped" in kind:
        columns["nodes"] = [integer(1, count) if random.random() < 0.6 else -1 for _ in range(ROWS)]
        columns["cores_per_node"] = [integer(1, 3) if random.random() < 0.3 else -1 for _ in range(ROWS)]
        asked = zip(columns["cores"], columns["nodes"], columns["cores_per_node"], strict=True)
        columns["cores"] = [
            max(nodes, min(cores, nodes * integer(1, 4)), nodes * each if each > 0 else 0) if nodes > 0 else cores
            for cores, nodes, each in asked
        ]
    scheduler = {
        "backfill": BACKFILLS[seed % len(BACKFILLS)],
        "order": ORDERS[integer(0, len(ORDERS) - 1)],
        "place": PLACES[integer(0, len(PLACES) - 1)],
    }
    groups = [{"count": number, "cores": cores, "name": "n"} for number, cores in sizes]
    sharing = "whole" if "whole" in kind else "shared"
    return {"seed": seed, "cluster": {"nodes": groups, "sharing": sharing, "scheduler": scheduler}}, columns


def _feature(site: Site) -> None:
    site["cluster"]["nodes"][0]["features"] = ["big"]


def _memory(site: Site) -> None:
    for number, group in enumerate(site["cluster"]["nodes"]):
        group["memory"] = f"{8 << 3 * number}G"


def _resource(site: Site) -> None:
    for group in site["cluster"]["nodes"]:
        group["resources"] = {"fpga": 2}


def _gpus(site: Site) -> None:
    site["cluster"]["nodes"][-1]["gpus"] = 1


def _licence(site: Site) -> None:
    site["cluster"]["licences"] = {"solver": 3}


def _queue(site: Site) -> None:
    queue = {"priority": 1, "default": True}
    place = site["cluster"]["scheduler"].get("place", "contiguous")
    if place != "contiguous":  # which no queue has for itself
        queue |= {"place": place}
    site["cluster"]["queues"] = {"everything": queue}


def _closed_queue(site: Site) -> None:
    """One that no job may use, before the others and on the same nodes, with rules of its own."""
    _queue(site)
    site["cluster"]["queues"]["odd"] = {"users": ["nobody"], "priority": 9, "running_cores": 1, "order": "ljf"}


def _nodes(site: Site) -> None:
    """More of them, larger, in a queue that no job may use."""
    _queue(site)
    site["cluster"]["queues"]["everything"]["nodes"] = "n"
    site["cluster"]["nodes"] += [{"count": 2, "cores": 9, "name": "odd"}]
    site["cluster"]["queues"]["odd"] = {"users": ["nobody"], "nodes": "odd"}


def _limits(site: Site) -> None:
    order = site["cluster"]["scheduler"].get("order")
    ageing = isinstance(order, dict) and order["name"] == "multifactor"  # no other counts age
    site["cluster"]["limits"] = [
        {"per": "user", "running_jobs": 1000, "submitted_jobs": 1000} | ({"accruing_jobs": 1000} if ageing else {}),
        {"user": "u0", "running_cores": 100_000, "optional": True},
    ]


def _maintenance(site: Site) -> None:
    site["cluster"]["reservations"] = [{"name": "m", "start": FAR, "length": 1, "nodes": "n0"}]


def _known_maintenance(site: Site) -> None:
    site["cluster"]["reservations"] = [{"name": "m", "start": LATE, "length": 1}]


def _failure(site: Site) -> None:
    site["cluster"]["failures"] = [{"at": FAR, "length": 1, "nodes": "n0"}]


def _idle_maintenance(site: Site) -> None:
    site["cluster"]["reservations"] = [{"name": "m", "start": 20, "length": 10}]


def _idle_failure(site: Site) -> None:
    site["cluster"]["failures"] = [{"at": 20, "length": 10}]


def _pause(site: Site) -> None:
    site["cluster"]["requeue_delay"] = 121


def _preemption(site: Site) -> None:
    site["cluster"]["scheduler"]["preempt"] = {"name": "queue"}
    _queue(site)


def _checkpoints(site: Site) -> None:
    site["execution"] = {"checkpoint": {"interval": FAR, "cost": 0, "restart": 0}}


def _broker(site: Site) -> None:
    """The cluster keeps its name, by which a search draws its random numbers."""
    site["clusters"] = [site.pop("cluster") | {"name": "cluster"}]
    site["broker"] = "least-loaded"


def _cluster(site: Site) -> None:
    _broker(site)
    site["clusters"].append({"name": "other", "nodes": "9x9"})
    site["broker"] = {"name": "least-loaded", "bind": [{"clusters": ["cluster"]}]}


RULES: dict[str, Callable[[Site], None]] = {
    "feature": _feature,
    "memory": _memory,
    "resource": _resource,
    "gpus": _gpus,
    "licence": _licence,
    "queue": _queue,
    "a queue for nobody": _closed_queue,
    "nodes for nobody": _nodes,
    "limits": _limits,
    "maintenance": _maintenance,
    "maintenance that is known": _known_maintenance,
    "failure": _failure,
    "maintenance of an empty cluster": _idle_maintenance,
    "failure of an empty cluster": _idle_failure,
    "preemption": _preemption,
    "a pause for what is put back": _pause,
    "checkpoints": _checkpoints,
    "a broker over one cluster": _broker,
    "another cluster": _cluster,
}
NAMED = dict.fromkeys(("queue", "preemption", "a queue for nobody", "nodes for nobody"), ("queue",))
"""Columns in which the name legitimately stands of what a rule brings."""


def simulate(site: Site, columns: dict[str, list[Any]]) -> Result:
    return api.simulate(parse(site | {"workload": {"table": Workload.from_columns(**columns)}}))


def rows(result: Result, rule: str = "") -> list[Any]:
    """The tables without the columns in which a name stands that the rule brings."""
    return [table.drop(*NAMED.get(rule, ()), strict=False).rows() for table in (result.jobs, result.allocations)]


@cache
def without(seed: int) -> Result:
    """The run without any such rule."""
    return simulate(*draw(seed))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule):
    for seed in SEEDS:
        site, columns = draw(seed)
        RULES[rule](site)
        assert rows(simulate(site, columns), rule) == rows(without(seed), rule), (rule, seed, site)


def met_dependencies(without: Result, columns: dict[str, list[Any]]) -> list[str]:
    """Dependencies of jobs on such as have ended, in the run without them, before they are submitted."""
    jobs = without.jobs.select("job_id", "end", "state").rows()
    ended = [(end, job, state) for job, end, state in jobs if end is not None and state != "rejected"]
    texts = []
    for submit in columns["submit"]:
        done = [(job, state) for end, job, state in ended if end < submit]
        any_of, ok = done[-2:], [job for job, state in done if state == "completed"][-1:]
        parts = [f"afterany:{':'.join(str(job) for job, _ in any_of)}"] if any_of else []
        texts.append(",".join([*parts, *(f"afterok:{job}" for job in ok)]))
    return texts


def test_dependencies_that_are_met_at_submission_change_no_schedule():
    """A job waits for such as have ended before it is submitted."""
    met = 0
    for seed in SEEDS:
        site, columns = draw(seed)
        columns["dependencies"] = met_dependencies(without(seed), columns)
        met += sum(bool(text) for text in columns["dependencies"])
        assert rows(simulate(site, columns)) == rows(without(seed)), (seed, site)
    assert met > len(SEEDS) * ROWS // 4


@pytest.mark.parametrize("told", [{}, {"memory": "8G"}, {"gpus": 1}, {"resources": {"fpga": 2}}])
def test_idle_whole_nodes_are_taken_from_the_lowest_on_whatever_they_tell(told):
    """The second job starts while the first has node 0, the third when all are idle."""
    columns = {
        "submit": [0, 1, 100],
        "run_time": [50, 10, 10],
        "requested_time": [60, 20, 20],
        "cores": [4, 3, 3],
        "nodes": [-1, 3, 3],
        "cores_per_node": [-1, -1, 1],
    }
    scheduler = {"backfill": "none", "place": "first-fit"}
    nodes = {"count": 5, "cores": 6} | told
    result = simulate({"cluster": {"nodes": nodes, "sharing": "whole", "scheduler": scheduler}}, columns)
    assert result.allocations.sort("job_id")["nodes"].to_list() == ["0:6", "1-3:6", "0-2:6"]
