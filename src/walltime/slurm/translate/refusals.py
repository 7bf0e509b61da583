"""What of a scenario a controller cannot honour, by its key. `translate` has a line for everything else."""

from __future__ import annotations

from collections.abc import Iterator

from walltime.rules.limits import find_ageless
from walltime.scenario import Cluster, Part, Scenario
from walltime.scenario.honoured import find_refused
from walltime.slurm.translate import outages, preemption
from walltime.slurm.translate.priority import find_problems

MOST_CPUS = 65_000
"""Of one node: the controller counts them in 16 bits."""
LARGEST_POOL = 10_000
"""Cores of a pool: each is a node, because backfilling keeps places by the node."""
RESERVATIONS = {"conservative": 0, "easy": 1, "depth": None, "none": None}
"""For how many jobs of a partition the backfill scheduler keeps a place; 0: for all that it looks at."""
LIMIT_CHECK = 30
"""Seconds between two looks at the limits of running jobs."""
TOPOLOGY = Part(name="topology")
LEAST_LOADED = Part(name="worst-fit")
"""Slurm's CR_LLN, or LLN=YES of a partition."""
CONSECUTIVE = Part(name="consecutive")
_CAPS = "running_jobs running_cores running_gpus running_memory running_core_minutes submitted_jobs"
_DRAW = "distribution mean shape sigma"
HONOURED = {
    "": "walltime seed engine workload clusters record slurm until execution broker users dependencies deadlines "
    "cancellations start timezone",
    "users": "mode session_gap campaign overlap waits think hours population files reactions",
    "execution": "model overrun overtime limit_check",
    "cancellations": "share after distribution spread running",
    "clusters": "name cores nodes sharing threads_per_core default_memory max_memory licences queues routes accounts "
    "limits scheduler shares reservations failures interrupted requeue_delay",
    "clusters.nodes": "count cores speed name memory gpus resources features per_switch",
    "clusters.scheduler": "order backfill estimate place preempt rhythm holds",
    "clusters.queues": f"{_CAPS} priority nodes order place sharing default_memory max_memory default_time max_time "
    "min_cores max_cores users groups accounts per_user per_group per_account default job_factor",
    "clusters.queues.per_user": _CAPS,
    "clusters.queues.per_group": _CAPS,
    "clusters.queues.per_account": _CAPS,
    "clusters.routes": "queue min_cores max_cores min_time max_time users groups accounts named",
    "clusters.accounts": "parent users shares priority",
    "clusters.limits": f"{_CAPS} accruing_jobs user group account qos queue per optional",
    "clusters.reservations": "name start length every times nodes count cores users groups accounts",
    "clusters.failures": "nodes cores between repair together at length file notice known",
    "clusters.failures.between": _DRAW,
    "clusters.failures.repair": _DRAW,
}
"""The keys that are looked at, by the key that they are under; any other that is used is refused."""
BESIDE_CONF = {"clusters": "name cores nodes sharing"}
"""Those of the cluster that go together with a slurm.conf: the size that it tells."""
UNKNOWN = "not translated; a slurm.conf (slurm.conf) may say it"


def unsupported(scenario: Scenario) -> list[tuple[str, str]]:
    """What in the scenario a controller cannot honour, as (key, reason)."""
    return list(_find_unsupported(scenario))


def _find_unsupported(scenario: Scenario) -> Iterator[tuple[str, str]]:
    cluster = scenario.clusters[0]
    told = scenario.slurm is not None and scenario.slurm.conf is not None
    top = {key: words for key, words in HONOURED.items() if not told or not key.startswith("clusters")}
    yield from find_refused(scenario, top, UNKNOWN)
    if len(scenario.clusters) > 1:
        yield "clusters", "a controller has one cluster"
    if scenario.broker is not None:
        yield "broker", f"{scenario.broker.name}: not in a controller"
    if scenario.dependencies != type(scenario.dependencies)():
        yield "dependencies", "the controller has rules of its own (slurm.settings.DependencyParameters)"
    if scenario.record.plans:
        yield "record.plans", "the controller does not tell what it plans"
    if scenario.start is not None:
        yield "start", "the controller begins with an empty system"
    if scenario.deadlines != "keep":
        yield "deadlines", "the controller is not told of deadlines"
    if scenario.cancellations is not None and not scenario.cancellations.running:
        yield "cancellations", "users who give up waiting; with running: true they cancel at a time, which it can do"
    if scenario.execution.model.name != "trace":
        yield "execution.model", f"{scenario.execution.model.name}: only trace"
    if scenario.execution.limit_check not in (None, LIMIT_CHECK):
        yield "execution.limit_check", f"the controller looks at limits every {LIMIT_CHECK} s"
    if scenario.execution.overtime % 60 or (told and scenario.execution.overtime):
        yield "execution.overtime", "slurm.conf says it" if told else "the controller counts whole minutes"
    if told:
        yield from find_refused(cluster, BESIDE_CONF, "slurm.conf says it, or slurm.events", "clusters", "cluster")
    else:
        settings = {} if scenario.slurm is None else scenario.slurm.settings
        yield from _find_in_cluster(cluster, f"SchedulerParameters.{preemption.YOUNGEST}" in settings)
        yield from outages.find_problems(scenario)


def _find_in_cluster(cluster: Cluster, told: bool) -> Iterator[tuple[str, str]]:
    scheduler = cluster.scheduler
    yield from find_problems(cluster)
    if scheduler.backfill.name not in RESERVATIONS:
        yield "cluster.scheduler.backfill", f"{scheduler.backfill.name}: only {', '.join(RESERVATIONS)}"
    elif set(scheduler.backfill.parameters) - {"depth"}:
        yield "cluster.scheduler.backfill", "of its parameters only depth"
    if scheduler.estimate.name != "request":
        yield "cluster.scheduler.estimate", f"{scheduler.estimate.name}: the controller goes by the request"
    if scheduler.place is not None and scheduler.place not in (TOPOLOGY, LEAST_LOADED, CONSECUTIVE):
        yield "cluster.scheduler.place", f"{scheduler.place.name}: the controller has its own"
    if scheduler.holds == "named":
        yield "cluster.scheduler.holds", "named: the controller's backfilling has its own"
    yield from preemption.find_problems(cluster, told)
    yield from ((f"cluster.{key}", reason) for key, reason in find_ageless(cluster))
    yield from _find_in_queues(cluster)
    yield from _find_in_nodes(cluster)


def _find_in_queues(cluster: Cluster) -> Iterator[tuple[str, str]]:
    usual = cluster.scheduler.place or CONSECUTIVE
    for name, queue in cluster.queues.items():
        place = queue.place or usual
        if place != usual and (TOPOLOGY in (place, usual) or place not in (LEAST_LOADED, CONSECUTIVE)):
            yield f"cluster.queues.{name}.place", f"{place.name}: a partition has the least loaded nodes first, or not"
        if queue.order is not None and queue.order != cluster.scheduler.order:
            yield f"cluster.queues.{name}.order", "the controller has one order for all"
        for key in ("max_time", "default_time"):
            if (given := getattr(queue, key)) is not None and given % 60:
                yield f"cluster.queues.{name}.{key}", f"{given:g} s: the controller counts whole minutes"
        sizes = [key for key in ("min_cores", "max_cores") if getattr(queue, key) is not None]
        if sizes and "whole" in (cluster.sharing, queue.sharing):
            what = "of a node that is given as a whole Slurm counts all cores, not those asked for"
            yield f"cluster.queues.{name}.{sizes[0]}", what


def _find_in_nodes(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if cluster.nodes is None and (cluster.total_cores or 0) > LARGEST_POOL:
        yield "cluster.cores", f"a pool becomes nodes of one core, at most {LARGEST_POOL}; give nodes instead"
    for group in cluster.nodes or ():
        if group.speed != 1.0:
            yield "cluster.nodes", "speed: a controller knows none"
        if group.cores > MOST_CPUS:
            yield "cluster.nodes", f"more than {MOST_CPUS} cores in a node"
