"""The native engine: a scenario in, a Record out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from walltime.core.errors import InputError, UnsupportedError
from walltime.core.tables import Record
from walltime.core.time import NEVER, microseconds
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.engine.tables import build_tables, count_rejections
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger import CoreLedger, Ledger
from walltime.kernel.nodes import NodeLedger
from walltime.kernel.plan import PlanLedger
from walltime.kernel.source import Observer
from walltime.policy import registry
from walltime.policy.place import as_place
from walltime.scenario import Cluster, Part, Scenario

NAME = "native"
DEFAULT_PLACE = Part(name="best-fit")


class Progress(Protocol):
    """Whoever wants a sign of life, about ten times a second."""

    def progress(self, now: int, submitted: int, ended: int) -> None:
        """The clock in microseconds, jobs that have entered, jobs that have left."""


def unsupported(scenario: Scenario) -> list[tuple[str, str]]:
    """What in the scenario this engine cannot honour, as (key, reason)."""
    problems = []
    for i, cluster in enumerate(scenario.clusters):
        scheduler = cluster.scheduler
        prefix = "cluster.scheduler" if len(scenario.clusters) == 1 else f"clusters.{i}.scheduler"
        for part in ("admit", "preempt"):
            if getattr(scheduler, part):
                problems.append((f"{prefix}.{part}", "no such part yet"))
        if scheduler.place is not None and cluster.nodes is None:
            problems.append((f"{prefix}.place", "the cluster is a plain number of cores; give it nodes"))
        place = prefix.removesuffix(".scheduler")
        problems += [
            (f"{place}.{key}", "no such rules yet")
            for key in ("licences", "queues", "routes", "accounts", "limits")
            if getattr(cluster, key)
        ]
        layout = cluster.layout()
        if layout is not None and not (layout.plain and not layout.features()):
            problems.append((f"{place}.nodes", "memory, GPUs, features and other resources of nodes: not yet"))
        if scheduler.rhythm.name not in ("instant", "event"):
            problems.append((f"{prefix}.rhythm", f"{scheduler.rhythm.name}: only instant and event"))
    if len({cluster.scheduler.rhythm.name for cluster in scenario.clusters}) > 1:
        problems.append(("clusters", "all clusters have the same rhythm: instant or event"))
    if len(scenario.clusters) > 1 and scenario.broker is None:
        problems.append(("broker", "several clusters need one"))
    if scenario.users is not None:
        problems.append(("users", f"{scenario.users.name}: no model of users yet"))
    return problems


def run(
    scenario: Scenario,
    workload: Workload | Iterable[Workload],
    observer: Progress | None = None,
    observers: Sequence[Observer] = (),
) -> Record:
    """Simulate a resolved scenario; `workload` is its own, read and with its requests filled, whole or in batches."""
    problems = unsupported(scenario)
    if problems:
        raise UnsupportedError(NAME, problems)
    wall, cpu = time.perf_counter(), time.process_time()
    arrivals = Arrivals(_checked(workload, scenario))
    simulation = _build(scenario, arrivals, observer, observers)
    simulation.run(NEVER if scenario.until is None else microseconds(scenario.until))
    ran = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    names = [cluster.name for cluster in scenario.clusters]
    jobs, allocations = build_tables(simulation, arrivals, names)
    facts = _facts(scenario, workload, simulation, arrivals)
    facts["rejected_reasons"] = count_rejections(simulation, arrivals)
    return Record(jobs, allocations, facts, ran)


def _checked(workload: Workload | Iterable[Workload], scenario: Scenario) -> Iterable[Workload]:
    """The batches, each looked through for what this engine cannot run."""
    endless = scenario.execution.overrun == "extend" and scenario.until is None
    shaped = any(cluster.nodes is not None for cluster in scenario.clusters)
    for batch in [workload] if isinstance(workload, Workload) else workload:
        if batch.has("dependencies") and any(batch.column("dependencies")):
            raise UnsupportedError(NAME, [("workload.dependencies", "jobs that wait for other jobs")])
        if not batch.has("cores") and batch.has("nodes") and batch.has("cores_per_node"):
            batch = _with_total(batch)
        if len(batch) and np.any(batch.column("requested_time") < 0):
            row = int(np.argmax(batch.column("requested_time") < 0))
            raise InputError("a job has no requested time", value=int(batch.column("job_id")[row]))
        if shaped and batch.has("nodes") and np.any(batch.column("cores") < batch.column("nodes")):
            row = int(np.argmax(batch.column("cores") < batch.column("nodes")))
            job = int(batch.column("job_id")[row])
            raise InputError("a job asks for fewer cores than nodes", value=job)
        if endless and np.any((batch.column("run_time") < 0) & (batch.column("cancel") < 0)):
            row = int(np.argmax((batch.column("run_time") < 0) & (batch.column("cancel") < 0)))
            job = int(batch.column("job_id")[row])
            raise InputError("a job without a run time would run for ever (overrun: extend, no until)", value=job)
        yield batch


def _with_total(batch: Workload) -> Workload:
    """The batch with the total of requests that are given by their shape alone."""
    nodes, each = batch.column("nodes"), batch.column("cores_per_node")
    return batch.replace(dict(batch.columns) | {"cores": np.where((nodes > 0) & (each > 0), nodes * each, 1)})


def _build(scenario: Scenario, arrivals: Arrivals, observer: Progress | None, observers: Sequence[Any]) -> Simulation:
    simulation = Simulation(
        arrivals,
        registry.build("execution", scenario.execution.model),
        broker=None if scenario.broker is None else registry.build("broker", scenario.broker),
        observers=observers,
        extend=scenario.execution.overrun == "extend",
        per_event=scenario.clusters[0].scheduler.rhythm.name == "event",
        progress=None if observer is None else observer.progress,
    )
    for index, cluster in enumerate(scenario.clusters):
        parts = cluster.scheduler
        policy = registry.build("backfill", parts.backfill)
        simulation.add_cluster(
            cluster.name,
            _build_ledger(simulation.jobs, cluster, index, policy.plans, scenario.seed),
            registry.build("order", parts.order),
            registry.build("estimate", parts.estimate),
            policy,
        )
    return simulation


def _build_ledger(jobs: JobTable, cluster: Cluster, index: int, plans: bool, seed: int) -> Ledger:
    """Nodes where the cluster has them; else a plain number of cores, to which a shaped request is its total."""
    layout = cluster.layout()
    if layout is None:
        return (PlanLedger if plans else CoreLedger)(jobs, cluster.total_cores, index)
    place = as_place(registry.build("place", cluster.scheduler.place or DEFAULT_PLACE))
    pace = layout.pace()
    return NodeLedger(jobs, layout.cores(), place, index, layout.whole, pace, seed)


def _facts(scenario: Scenario, workload: Any, simulation: Simulation, arrivals: Arrivals) -> dict[str, Any]:
    notes = workload.notes if isinstance(workload, Workload) else {}
    origin = workload.origin if isinstance(workload, Workload) else None
    oracle = any(cluster.estimate.oracle for cluster in simulation.clusters)
    return {
        "clusters": {cluster.name: cluster.total_cores for cluster in scenario.clusters},
        "nodes": {cluster.name: layout.facts() for cluster in scenario.clusters if (layout := cluster.layout())},
        "origin": {"epoch": origin.epoch if origin else None, "timezone": origin.timezone if origin else None},
        "submitted": simulation.jobs.entered,
        "skipped": dict(notes.get("skipped", {})),
        "perfect_estimates": simulation.jobs.entered if oracle else notes.get("perfect_estimates", 0),
        "oracle": oracle,
        "ignored": _ignored(arrivals.batches),
        "overrun": scenario.execution.overrun,
        "passes": sum(cluster.passes for cluster in simulation.clusters),
        "longest_queue": max(cluster.longest_queue for cluster in simulation.clusters),
        "until": scenario.until,
    }


def _ignored(batches: Sequence[Workload]) -> dict[str, int]:
    """Requests for what this engine does not schedule, by resource: how many jobs make one."""
    counts = {}
    for name, label in (("memory", "memory"), ("gpus", "GPUs")):
        count = sum(int(np.count_nonzero(batch.column(name) > 0)) for batch in batches if batch.has(name))
        if count:
            counts[label] = count
    return counts
