"""A rule that nothing uses changes no schedule, whatever else a scenario has.

The scenarios are those of `mixtures`: sites with queues, limits, resources and reservations, failures, preemption,
rhythms, brokers, conditions, users who react. Each runs again with a rule that none of its jobs uses. Jobs and
allocations are the same, but for the columns in which the rule's own name stands. What a rule legitimately changes
is said where it is added.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from mixtures import draw_mixture

from walltime import Result, api
from walltime.core.errors import InputError, PolicyError

Scenario = dict[str, Any]
SEEDS = range(60)
FAR = 50_000_000
ENOUGH = 100_000
LEAST = 10
"""Scenarios to which each rule can be added, at least."""
ASKED = ("memory", "memory_per_node", "memory_per_core", "gpus", "gpus_per_node")
CONDITIONS = ("dependencies", "preceding_job", "begin", "after_job", "think_time")
NAMED = ("queue", "cluster")
"""Columns in which a rule's own name legitimately stands."""


def clusters_of(scenario: Scenario) -> list[dict[str, Any]]:
    return list(scenario["clusters"]) if "clusters" in scenario else [scenario["cluster"]]


def groups_of(scenario: Scenario) -> Iterator[dict[str, Any]]:
    for cluster in clusters_of(scenario):
        yield from cluster.get("nodes", ())


def asks(scenario: Scenario, *names: str) -> bool:
    """Whether a job has such a column with something in it."""
    jobs = scenario["workload"]["table"]
    return any(jobs.has(name) and bool(np.any(np.asarray(jobs.column(name)) > 0)) for name in names)


def _feature(scenario: Scenario) -> bool:
    for group in groups_of(scenario):
        group["features"] = [*group.get("features", ()), "odd"]
    return any(groups_of(scenario))


def _memory(scenario: Scenario) -> bool:
    """Requests for what nodes do not tell are not counted, so the first that tell of it would make them count."""
    if asks(scenario, *ASKED) or any("memory" in group for group in groups_of(scenario)):
        return False
    for number, group in enumerate(groups_of(scenario)):
        group["memory"] = f"{8 << number}G"
    return any(groups_of(scenario))


def _gpus(scenario: Scenario) -> bool:
    if asks(scenario, *ASKED) or any("gpus" in group for group in groups_of(scenario)):
        return False
    for number, group in enumerate(groups_of(scenario)):
        group["gpus"] = 1 + number
    return any(groups_of(scenario))


def _resource(scenario: Scenario) -> bool:
    """GPUs count where nodes tell of more than cores, as they then do."""
    if asks(scenario, "gpus", "gpus_per_node"):
        return False
    for group in groups_of(scenario):
        group["resources"] = dict(group.get("resources", {})) | {"odd": 2}
    return any(groups_of(scenario))


def _licence(scenario: Scenario) -> bool:
    for cluster in clusters_of(scenario):
        if "nodes" in cluster:
            cluster["licences"] = dict(cluster.get("licences", {})) | {"odd": 3}
    return any(groups_of(scenario))


def _queue(scenario: Scenario) -> bool:
    plain = [cluster for cluster in clusters_of(scenario) if not cluster.get("queues") and not cluster.get("routes")]
    if scenario["workload"]["table"].has("queue"):
        return False
    for cluster in plain:
        cluster["queues"] = {"everything": {"default": True, "priority": 1}}
    return bool(plain)


def _add_limits(scenario: Scenario, *limits: dict[str, Any]) -> bool:
    for cluster in clusters_of(scenario):
        cluster["limits"] = [*cluster.get("limits", ()), *limits]
    return True


def _limit(scenario: Scenario) -> bool:
    return _add_limits(scenario, {"running_jobs": ENOUGH, "running_cores": ENOUGH})


def _limit_per_user(scenario: Scenario) -> bool:
    return _add_limits(scenario, {"per": "user", "submitted_jobs": ENOUGH})


def _limit_on_work(scenario: Scenario) -> bool:
    return _add_limits(scenario, {"running_core_minutes": 1_000 * ENOUGH})


def _qos(scenario: Scenario) -> bool:
    return _add_limits(
        scenario, {"qos": ["odd"], "running_jobs": 1, "optional": True}, {"per": "qos", "running_jobs": ENOUGH}
    )


def _close(scenario: Scenario, key: str, rule: dict[str, Any]) -> bool:
    """A rhythm that makes its plans elsewhere takes no closing."""
    for cluster in clusters_of(scenario):
        rhythm = cluster["scheduler"].get("rhythm", "instant")
        if isinstance(rhythm, dict) and rhythm["name"] == "periodic":
            return False
        cluster[key] = [*cluster.get(key, ()), rule]
    return True


def _maintenance(scenario: Scenario) -> bool:
    return _close(scenario, "reservations", {"name": "odd", "start": FAR, "length": 1})


def _failure(scenario: Scenario) -> bool:
    return _close(scenario, "failures", {"at": FAR, "length": 1})


def _known_failure(scenario: Scenario) -> bool:
    return _close(scenario, "failures", {"at": FAR, "length": 1, "known": True})


def _preemption(scenario: Scenario) -> bool:
    """By rank, and all have the same."""
    calm = [cluster for cluster in clusters_of(scenario) if "preempt" not in cluster["scheduler"]]
    for cluster in calm:
        cluster["scheduler"]["preempt"] = {"name": "qos", "ranks": {"high": 0}}
    return bool(calm)


def _checkpoints(scenario: Scenario) -> bool:
    execution = scenario.setdefault("execution", {})
    if "checkpoint" in execution or "model" in execution:
        return False
    execution["checkpoint"] = {"interval": FAR, "cost": 0, "restart": 0}
    return True


def _broker(scenario: Scenario) -> bool:
    """A job goes to a cluster when what it waits for is there, and counts there as submitted from then on only. One
    that is withdrawn at its submission goes to none: see `withdrawn`."""
    if "clusters" in scenario or "broker" in scenario or asks_for_conditions(scenario):
        return False
    scenario["clusters"] = [scenario.pop("cluster") | {"name": "main"}]
    scenario["broker"] = "least-loaded"
    return True


def _cluster(scenario: Scenario) -> bool:
    """Failures that are drawn are drawn anew for each name of several clusters."""
    if "clusters" not in scenario and not _broker(scenario):
        return False
    broker = scenario["broker"] if isinstance(scenario["broker"], dict) else {"name": scenario["broker"]}
    drawn = any("between" in source for cluster in clusters_of(scenario) for source in cluster.get("failures", ()))
    if broker.get("bind") or (drawn and len(clusters_of(scenario)) == 1):
        return False
    scenario["broker"] = broker | {"bind": [{"clusters": [cluster["name"] for cluster in clusters_of(scenario)]}]}
    scenario["clusters"].append({"name": "odd", "nodes": "9x9"})
    return True


def asks_for_conditions(scenario: Scenario) -> bool:
    jobs = scenario["workload"]["table"]
    waits = any(jobs.has(name) for name in CONDITIONS) or "dependencies" in scenario
    return waits or "workflows" in scenario["workload"] or "start" in scenario


RULES: dict[str, Callable[[Scenario], bool]] = {
    "feature": _feature,
    "memory": _memory,
    "gpus": _gpus,
    "resource": _resource,
    "licence": _licence,
    "queue": _queue,
    "limit": _limit,
    "limit of each user": _limit_per_user,
    "limit on work": _limit_on_work,
    "QOS": _qos,
    "maintenance": _maintenance,
    "failure": _failure,
    "known failure": _known_failure,
    "preemption": _preemption,
    "checkpoints": _checkpoints,
    "a broker over one cluster": _broker,
    "another cluster": _cluster,
}
"""Each adds its rule and tells whether that was possible."""


def rows(result: Result) -> list[Any]:
    """The tables without the names of rules; a job that was rejected may have been eligible at a broker before."""
    jobs, allocations = (table.drop(*NAMED, strict=False) for table in (result.jobs, result.allocations))
    at = jobs.columns.index("eligible")
    rejected = jobs.columns.index("state")
    return [
        [row[:at] + row[at + 1 :] if row[rejected] == "rejected" else row for row in jobs.rows()],
        allocations.rows(),
    ]


def withdrawn(result: Result) -> set[int]:
    """Jobs that were withdrawn at the instant of their submission. At a broker they come to no cluster, so none can
    reject them for the number of jobs that it has."""
    cancelled = result.jobs.filter(pl.col("state") == "cancelled", pl.col("end") == pl.col("submit"))
    return set(cancelled["job_id"].to_list())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, Path, list[Any]]]:
    """The scenarios that may be, as they are."""
    folder = tmp_path_factory.mktemp("mixtures")
    found = []
    for seed in SEEDS:
        try:
            found.append((seed, folder, rows(api.simulate(draw_mixture(seed, folder)))))
        except PolicyError:
            raise
        except InputError:
            continue
    return found


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule: str, runs: list[tuple[int, Path, list[Any]]]) -> None:
    tried = 0
    for seed, folder, without in runs:
        scenario = copy.deepcopy(draw_mixture(seed, folder))
        if not RULES[rule](scenario):
            continue
        try:
            found = rows(api.simulate(scenario))
        except PolicyError:
            raise
        except InputError:  # what a scenario may not have together
            continue
        tried += 1
        assert found == without, (rule, seed)
    assert tried >= LEAST, tried


def test_a_limit_on_work_that_never_binds_asks_for_no_pass_while_jobs_wait_at_another(tmp_path: Path) -> None:
    """A pass that comes while no job may start puts off the next one, where a rhythm keeps them apart."""
    scenario = copy.deepcopy(draw_mixture(1582, tmp_path))
    assert _limit_on_work(scenario)
    assert rows(api.simulate(scenario)) == rows(api.simulate(draw_mixture(1582, tmp_path)))


def test_only_without_a_broker_a_full_cluster_rejects_a_job_that_is_withdrawn_at_its_submission(tmp_path: Path) -> None:
    scenario = draw_mixture(1033, tmp_path)
    without = api.simulate(scenario)
    scenario = copy.deepcopy(scenario)
    assert _broker(scenario)
    brokered = api.simulate(scenario)
    others = withdrawn(brokered) - withdrawn(without)
    assert others
    for job in others:
        assert without.jobs.filter(pl.col("job_id") == job)["state"].to_list() == ["rejected"]
    kept = [[row for row in rows(result)[0] if row[0] not in others] for result in (without, brokered)]
    assert kept[0] == kept[1]
    assert rows(without)[1] == rows(brokered)[1]
