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
from test_unused_rules import met_dependencies

from walltime import Result, api
from walltime.core.errors import InputError, PolicyError

Scenario = dict[str, Any]
SEEDS = range(70)
FAR = 50_000_000
LATE = 30_000
ENOUGH = 100_000
LEAST = 10
"""Scenarios to which each rule can be added, at least."""
ASKED = ("memory", "memory_per_node", "memory_per_core", "gpus", "gpus_per_node")
CONDITIONS = ("dependencies", "preceding_job", "begin", "after_job", "think_time")
SHIFT = 10_000
"""So long before anything else the outage of an empty cluster may be; a multiple of all intervals that are drawn."""
NAMED = {"queue": ("queue",)}
"""Columns in which the name legitimately stands of what a rule brings."""


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


def _late_maintenance(scenario: Scenario) -> bool:
    """After every end that is expected or planned, and so near that it is known from the beginning."""
    return _close(scenario, "reservations", {"name": "odd", "start": LATE, "length": 1})


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
    scenario["clusters"] = [scenario.pop("cluster") | {"name": "cluster"}]
    scenario["broker"] = "least-loaded"
    return True


def _cluster(scenario: Scenario) -> bool:
    """Failures that are drawn are drawn anew for each name of several clusters. In the order of the global queue a
    job's size may count, as a share of all cores."""
    if "clusters" not in scenario and not _broker(scenario):
        return False
    broker = scenario["broker"] if isinstance(scenario["broker"], dict) else {"name": scenario["broker"]}
    drawn = any("between" in source for cluster in clusters_of(scenario) for source in cluster.get("failures", ()))
    if broker.get("bind") or "job_size" in repr(broker) or (drawn and len(clusters_of(scenario)) == 1):
        return False
    scenario["broker"] = broker | {"bind": [{"clusters": [cluster["name"] for cluster in clusters_of(scenario)]}]}
    scenario["clusters"].append({"name": "odd", "nodes": "9x9"})
    return True


def _outage_elsewhere(scenario: Scenario) -> bool:
    """Of the cluster that no job may use, while others are busy."""
    if not _cluster(scenario):
        return False
    scenario["clusters"][-1]["reservations"] = [{"name": "odd", "start": 7, "length": 10}]
    scenario["clusters"][-1]["failures"] = [{"at": 40, "length": 5}]
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
    "maintenance that is known": _late_maintenance,
    "failure": _failure,
    "known failure": _known_failure,
    "preemption": _preemption,
    "checkpoints": _checkpoints,
    "a broker over one cluster": _broker,
    "another cluster": _cluster,
    "an outage of another cluster": _outage_elsewhere,
}
"""Each adds its rule and tells whether that was possible."""


BROKERED = ("a broker over one cluster", "another cluster", "an outage of another cluster")


def rows(result: Result, rule: str = "") -> list[Any]:
    """The tables without the columns in which a name stands that the rule brings. At a broker a job that is rejected,
    or withdrawn at its submission, comes to no cluster and no queue, and one that is rejected was eligible before."""
    jobs, allocations = (table.drop(*NAMED.get(rule, ()), strict=False) for table in (result.jobs, result.allocations))
    if rule in BROKERED:
        state = pl.col("state")
        gone = (state == "rejected") | ((state == "cancelled") & (pl.col("end") == pl.col("submit")))
        jobs = jobs.with_columns(pl.when(~gone).then(pl.col("eligible", "queue", "cluster")))
    return [jobs.rows(), allocations.rows()]


def withdrawn(result: Result) -> set[int]:
    """Jobs that were withdrawn at the instant of their submission. At a broker they come to no cluster, so none can
    reject them for the number of jobs that it has."""
    cancelled = result.jobs.filter(pl.col("state") == "cancelled", pl.col("end") == pl.col("submit"))
    return set(cancelled["job_id"].to_list())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, Path, Result]]:
    """The scenarios that may be, as they are."""
    folder = tmp_path_factory.mktemp("mixtures")
    found = []
    for seed in SEEDS:
        try:
            found.append((seed, folder, api.simulate(draw_mixture(seed, folder))))
        except PolicyError:
            raise
        except InputError:
            continue
    return found


def run(scenario: Scenario) -> Result | None:
    """The run; None where a scenario may not have all that together."""
    try:
        return api.simulate(scenario)
    except PolicyError:
        raise
    except InputError:
        return None


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule: str, runs: list[tuple[int, Path, Result]]) -> None:
    tried = 0
    for seed, folder, without in runs:
        scenario = copy.deepcopy(draw_mixture(seed, folder))
        if not RULES[rule](scenario) or (found := run(scenario)) is None:
            continue
        tried += 1
        assert rows(found, rule) == rows(without, rule), (rule, seed)
    assert tried >= LEAST, tried


def test_dependencies_that_are_met_at_submission_change_no_schedule(runs: list[tuple[int, Path, Result]]) -> None:
    """Of jobs that have none, and are not `aware`: of one that has some this says since when it is eligible. Users who
    react submit jobs at other times."""
    tried = 0
    for seed, folder, without in runs:
        scenario = copy.deepcopy(draw_mixture(seed, folder))
        jobs = scenario["workload"]["table"]
        if "users" in scenario or len(set(jobs.column("job_id"))) < len(jobs):
            continue
        met = met_dependencies(without, {"submit": [time / 1e6 for time in jobs.column("submit").tolist()]})
        kept = zip(jobs.column("dependencies"), jobs.column("aware").tolist(), met, strict=True)
        texts = [text if text or aware else other for text, aware, other in kept]
        columns = dict(jobs.columns) | {"dependencies": texts, "job_id": jobs.column("job_id")}
        scenario["workload"]["table"] = jobs.replace(columns)
        if (found := run(scenario)) is None:
            continue
        tried += texts != list(jobs.column("dependencies"))
        assert rows(found) == rows(without), seed
    assert tried >= LEAST, tried


def shifted(scenario: Scenario) -> Scenario | None:
    """The same, all of it so much later; None where some of its times are in a file, or counted by a calendar."""
    moments = [scenario["cluster"]] if "cluster" in scenario else scenario["clusters"]
    if "start" in scenario or "users" in scenario or waits_for_beats(moments):
        return None
    jobs = scenario["workload"]["table"]
    columns = dict(jobs.columns)
    for name in ("submit", "begin", "deadline", "cancel"):
        if jobs.has(name):
            times = np.asarray(columns[name])
            columns[name] = np.where(times >= 0, times + SHIFT * 1_000_000, times)
    scenario["workload"]["table"] = jobs.replace(columns)
    if "until" in scenario:
        scenario["until"] += SHIFT
    for cluster in moments:
        for key, start in (("reservations", "start"), ("failures", "at")):
            for rule in cluster.get(key, ()):
                if start in rule:
                    rule[start] += SHIFT
    return scenario


def waits_for_beats(clusters: list[dict[str, Any]]) -> bool:
    """Slurm's backfill cycles keep their distance, also from one that an outage has caused: the beat is another one. A
    rhythm that makes its plans elsewhere takes no outage."""
    rhythms = [cluster["scheduler"].get("rhythm", "instant") for cluster in clusters]
    return any((rhythm["name"] if isinstance(rhythm, dict) else rhythm) in ("slurm", "periodic") for rhythm in rhythms)


@pytest.mark.parametrize("key", ["reservations", "failures"])
def test_an_outage_of_an_empty_cluster_changes_no_schedule(key: str, runs: list[tuple[int, Path, Result]]) -> None:
    tried = 0
    for seed, folder, _ in runs:
        plain, scenario = (shifted(copy.deepcopy(draw_mixture(seed, folder))) for _ in range(2))
        if plain is None or scenario is None or (without := run(plain)) is None:
            continue
        rule = {"name": "odd", "start": 20, "length": 10} if key == "reservations" else {"at": 20, "length": 10}
        if not _close(scenario, key, rule) or (found := run(scenario)) is None:
            continue
        tried += 1
        assert rows(found) == rows(without), seed
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
    kept = [[row for row in rows(result, BROKERED[0])[0] if row[0] not in others] for result in (without, brokered)]
    assert kept[0] == kept[1]
    assert rows(without)[1] == rows(brokered)[1]
