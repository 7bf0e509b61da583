"""From a scenario to a site: which lines of slurm.conf say what the scenario says.

This is the one place where the words of a scenario meet the words of Slurm. A word without a line here is refused by
`unsupported`, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from walltime.core.errors import InputError
from walltime.scenario import Cluster, Part, Scenario
from walltime.slurm.hostlist import compress
from walltime.slurm.site import Node, Site
from walltime.slurm.submission import MEGABYTE

PARTITION = "batch"
MOST_CPUS = 65_000
"""Of one node: the controller counts them in 16 bits."""
MOST_TASKS = 100_001
RESERVATIONS = {"conservative": 0, "easy": 1, "depth": None, "none": None}
"""For how many jobs of a partition the backfill scheduler keeps a place; 0: for all that it looks at."""
ORDERS = ("fcfs",)
QUEUE_WORDS = {"priority", "nodes", "max_time", "default_time", "default"}
"""What a partition can say of a queue."""


def unsupported(scenario: Scenario) -> list[tuple[str, str]]:
    """What in the scenario a controller cannot honour, as (key, reason)."""
    return list(_find_unsupported(scenario))


def _find_unsupported(scenario: Scenario) -> Iterator[tuple[str, str]]:
    if len(scenario.clusters) > 1:
        yield "clusters", "a controller has one cluster"
    for key, part in (("broker", scenario.broker), ("users", scenario.users)):
        if part is not None:
            yield key, f"{part.name}: not in a controller"
    if scenario.dependencies != type(scenario.dependencies)():
        yield "dependencies", "the controller has rules of its own (slurm.settings.DependencyParameters)"
    if scenario.deadlines != "keep":
        yield "deadlines", "the controller is not told of deadlines"
    if scenario.cancellations is not None and not scenario.cancellations.running:
        yield "cancellations", "users who give up waiting; with running: true they cancel at a time, which it can do"
    if scenario.execution.model.name != "trace":
        yield "execution.model", f"{scenario.execution.model.name}: only trace"
    cluster = scenario.clusters[0]
    if scenario.slurm is None or scenario.slurm.conf is None:
        yield from _find_in_cluster(cluster)
    elif "scheduler" in cluster.model_fields_set:
        yield "cluster.scheduler", "slurm.conf says how it schedules"


def _find_in_cluster(cluster: Cluster) -> Iterator[tuple[str, str]]:
    scheduler = cluster.scheduler
    if scheduler.order.name not in ORDERS:
        yield "cluster.scheduler.order", f"{scheduler.order.name}: only {', '.join(ORDERS)}"
    if scheduler.backfill.name not in RESERVATIONS:
        yield "cluster.scheduler.backfill", f"{scheduler.backfill.name}: only {', '.join(RESERVATIONS)}"
    elif set(scheduler.backfill.parameters) - {"depth"}:
        yield "cluster.scheduler.backfill", "of its parameters only depth"
    if scheduler.estimate.name != "request":
        yield "cluster.scheduler.estimate", f"{scheduler.estimate.name}: the controller goes by the request"
    if scheduler.rhythm.name != "instant":
        yield "cluster.scheduler.rhythm", f"{scheduler.rhythm.name}: the controller has its own"
    for key in ("place", "preempt", "admit"):
        part = getattr(scheduler, key)
        if part:
            name = part.name if isinstance(part, Part) else ", ".join(one.name for one in part)
            yield f"cluster.scheduler.{key}", f"{name}: the controller has its own"
    for key in ("routes", "accounts", "limits"):
        if getattr(cluster, key):
            yield f"cluster.{key}", "not translated; give a slurm.conf (slurm.conf) and associations instead"
    yield from _find_in_queues(cluster)
    yield from _find_in_nodes(cluster)


def _find_in_queues(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for name, queue in cluster.queues.items():
        for key in sorted(queue.model_fields_set - QUEUE_WORDS):
            if getattr(queue, key) is not None:
                yield f"cluster.queues.{name}.{key}", "not translated; give a slurm.conf (slurm.conf) instead"


def _find_in_nodes(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if cluster.nodes is None and (cluster.total_cores or 0) > MOST_CPUS:
        yield "cluster.cores", f"a pool becomes one node, of at most {MOST_CPUS} cores; give nodes instead"
    for group in cluster.nodes or ():
        if group.speed != 1.0:
            yield "cluster.nodes", "speed: a controller knows none"
        if group.cores > MOST_CPUS:
            yield "cluster.nodes", f"more than {MOST_CPUS} cores in a node"
        if group.resources:
            yield "cluster.nodes", f"resources ({', '.join(group.resources)}): not translated"
        if group.per_switch is not None:
            yield "cluster.nodes", "per_switch: not translated"


def translate(scenario: Scenario) -> Site:
    """The site of a resolved scenario whose every word can be honoured."""
    cluster = scenario.clusters[0]
    nodes = _make_nodes(cluster)
    linear = cluster.sharing == "whole"
    extend = scenario.execution.overrun == "extend"
    settings = (
        *_write_selection(linear, _counts_memory(cluster)),
        *_write_scheduler(cluster),
        f"OverTimeLimit={'UNLIMITED' if extend else 0}",
        "EnforcePartLimits=ALL",
        "ReturnToService=1",
        "MinJobAge=60",
        "MaxJobCount=500000",
        f"MaxArraySize={MOST_TASKS}",
        *(["GresTypes=gpu"] if any(node.gres for node in nodes) else []),
        *_write_licences(cluster),
        *write_nodes(nodes),
        *_write_queues(cluster),
    )
    return Site(
        "walltime",
        settings,
        nodes,
        partitions=tuple(cluster.queues) or (PARTITION,),
        linear=linear,
        queues={} if cluster.queues else {"*": PARTITION},
        overtime=float("inf") if extend else 0.0,
        counts_memory=_counts_memory(cluster),
        licences=bool(cluster.licences),
        max_array=MOST_TASKS,
    )


def _counts_memory(cluster: Cluster) -> bool:
    return any(group.memory is not None for group in cluster.nodes or ())


def _write_licences(cluster: Cluster) -> list[str]:
    given = [f"{name}:{count}" for name, count in cluster.licences.items()]
    return [f"Licenses={','.join(given)}"] if given else []


def _write_queues(cluster: Cluster) -> list[str]:
    """A partition for each queue; its priority is a tier, which comes before all else, as in the scenario."""
    if not cluster.queues:
        return [f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]
    layout = cluster.layout()
    least = min(queue.priority for queue in cluster.queues.values())
    lines = []
    for name, queue in cluster.queues.items():
        nodes = "ALL"
        if queue.nodes is not None and layout is not None:
            names = layout.names()
            nodes = compress([names[place] for place in layout.select(queue.nodes).nonzero()[0]])
        words = [f"PartitionName={name}", f"Nodes={nodes}", f"Default={'YES' if queue.default else 'NO'}"]
        words.append(f"PriorityTier={queue.priority - least + 1}")
        words.append(f"MaxTime={_minutes(queue.max_time) if queue.max_time is not None else 'INFINITE'}")
        if queue.default_time is not None:
            words.append(f"DefaultTime={_minutes(queue.default_time)}")
        lines.append(" ".join([*words, "State=UP"]))
    return lines


def _minutes(seconds: float) -> int:
    return max(1, -(-int(seconds) // 60))


def _make_nodes(cluster: Cluster) -> tuple[Node, ...]:
    """The nodes in their order; a pool of cores is one node that has them all."""
    layout = cluster.layout()
    if layout is None:
        cores = cluster.total_cores
        if cores is None:
            raise InputError("the size of the cluster is not known")
        return (Node("pool", cores, cores=cores),)
    names = iter(layout.names())
    nodes = []
    for group in layout.groups:
        for _ in range(group.count):
            node = Node(
                next(names),
                group.cores,
                cores=group.cores,
                memory=1 if group.memory is None else max(1, group.memory // MEGABYTE),
                features=",".join(group.features) if group.features else None,
                gres=(("gpu", None, group.gpus),) if group.gpus else (),
            )
            nodes.append(node)
    return tuple(nodes)


def _write_selection(linear: bool, memory: bool) -> list[str]:
    if linear:
        return ["SelectType=select/linear", *(["SelectTypeParameters=CR_Memory"] if memory else [])]
    return ["SelectType=select/cons_tres", f"SelectTypeParameters=CR_Core{'_Memory' if memory else ''}"]


def _write_scheduler(cluster: Cluster) -> list[str]:
    """First come, first served; with or without a backfill scheduler that keeps so many places."""
    backfill = cluster.scheduler.backfill
    if backfill.name == "none":
        return ["PriorityType=priority/basic", "SchedulerType=sched/builtin"]
    places = RESERVATIONS[backfill.name]
    if places is None:
        places = int(backfill.parameters.get("depth", 1))
    parameters = ["bf_continue", "bf_max_job_test=1000", "bf_window=10080"]
    parameters += [f"bf_job_part_count_reserve={places}"] if places else []
    return [
        "PriorityType=priority/basic",
        "SchedulerType=sched/backfill",
        f"SchedulerParameters={','.join(parameters)}",
    ]


def write_nodes(nodes: tuple[Node, ...]) -> list[str]:
    """Lines for runs of equal nodes."""
    lines = []
    for _, run in groupby(nodes, key=lambda node: replace(node, name="")):
        alike = list(run)
        first = alike[0]
        words = [
            f"NodeName={compress([node.name for node in alike])} NodeAddr=127.0.0.1 CPUs={first.cpus} Boards=1",
            f"SocketsPerBoard=1 CoresPerSocket={first.cores} ThreadsPerCore=1 RealMemory={first.memory}",
        ]
        words += [f"Features={first.features}"] if first.features else []
        words += [f"Gres={','.join(f'{name}:{count}' for name, _, count in first.gres)}"] if first.gres else []
        lines.append(" ".join([*words, "State=UNKNOWN"]))
    return lines
