"""From a scenario to a site: which lines of slurm.conf say what the scenario says.

This is the one place where the words of a scenario meet the words of Slurm. A word without a line here is refused by
`unsupported`, by name.
"""

from __future__ import annotations

from collections.abc import Iterator

from walltime.core.errors import InputError
from walltime.scenario import Cluster, Part, Scenario
from walltime.slurm.hostlist import compress
from walltime.slurm.site import Node, Site

PARTITION = "batch"
MOST_CPUS = 65_000
"""Of one node: the controller counts them in 16 bits."""
RESERVATIONS = {"conservative": 0, "easy": 1, "depth": None, "none": None}
"""For how many jobs of a partition the backfill scheduler keeps a place; 0: for all that it looks at."""
ORDERS = ("fcfs",)


def unsupported(scenario: Scenario) -> list[tuple[str, str]]:
    """What in the scenario a controller cannot honour, as (key, reason)."""
    return list(_find_unsupported(scenario))


def _find_unsupported(scenario: Scenario) -> Iterator[tuple[str, str]]:
    if len(scenario.clusters) > 1:
        yield "clusters", "a controller has one cluster"
    for key, part in (("broker", scenario.broker), ("users", scenario.users)):
        if part is not None:
            yield key, f"{part.name}: not in a controller"
    if scenario.execution.model.name != "trace":
        yield "execution.model", f"{scenario.execution.model.name}: only trace"
    yield from _find_in_cluster(scenario.clusters[0])


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
    if any(group.speed != 1.0 for group in cluster.nodes or ()):
        yield "cluster.nodes", "speed: a controller knows none"
    if cluster.nodes is None and (cluster.total_cores or 0) > MOST_CPUS:
        yield "cluster.cores", f"a pool becomes one node, of at most {MOST_CPUS} cores; give nodes instead"
    if any(group.cores > MOST_CPUS for group in cluster.nodes or ()):
        yield "cluster.nodes", f"more than {MOST_CPUS} cores in a node"


def translate(scenario: Scenario) -> Site:
    """The site of a resolved scenario whose every word can be honoured."""
    cluster = scenario.clusters[0]
    nodes = _make_nodes(cluster)
    linear = cluster.sharing == "whole"
    extend = scenario.execution.overrun == "extend"
    settings = (
        *_write_selection(linear),
        *_write_scheduler(cluster),
        f"OverTimeLimit={'UNLIMITED' if extend else 0}",
        "MinJobAge=60",
        "MaxJobCount=500000",
        *write_nodes(nodes),
        f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
    )
    return Site("walltime", settings, nodes, linear=linear, overtime=float("inf") if extend else 0.0)


def _make_nodes(cluster: Cluster) -> tuple[Node, ...]:
    """The nodes in their order; a pool of cores is one node that has them all."""
    layout = cluster.layout()
    if layout is None:
        cores = cluster.total_cores
        if cores is None:
            raise InputError("the size of the cluster is not known")
        return (Node("pool", cores, cores=cores),)
    return tuple(
        Node(name, int(cores), cores=int(cores)) for name, cores in zip(layout.names(), layout.cores(), strict=True)
    )


def _write_selection(linear: bool) -> list[str]:
    return ["SelectType=select/linear"] if linear else ["SelectType=select/cons_tres", "SelectTypeParameters=CR_Core"]


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
    begin = 0
    for place in range(1, len(nodes) + 1):
        first = nodes[begin]
        if place < len(nodes) and nodes[place].cpus == first.cpus:
            continue
        names = compress([node.name for node in nodes[begin:place]])
        lines.append(
            f"NodeName={names} NodeAddr=127.0.0.1 CPUs={first.cpus} Boards=1 SocketsPerBoard=1 "
            f"CoresPerSocket={first.cores} ThreadsPerCore=1 RealMemory={first.memory} State=UNKNOWN"
        )
        begin = place
    return lines
