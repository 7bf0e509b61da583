"""From a scenario to a site: which lines of slurm.conf say what the scenario says.

This is the one place where the words of a scenario meet the words of Slurm. A word without a line here is refused by
name (`refusals`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from walltime.cluster.hostlist import compress
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Scenario
from walltime.scenario.rules import Queue
from walltime.scenario.values import ALL, MemoryShare, read_share
from walltime.site.gres import MOST_FILES, Gres
from walltime.site.nodes import Node
from walltime.slurm.site import Site
from walltime.slurm.translate import preemption
from walltime.slurm.translate.outages import find_guests, spell
from walltime.slurm.translate.priority import is_weighted, needs_age, write_main, write_order, write_rhythm
from walltime.slurm.translate.quotas import Quotas, has_quotas, name_quality
from walltime.slurm.translate.refusals import LEAST_LOADED, RESERVATIONS, TOPOLOGY
from walltime.slurm.translate.submission import MEGABYTE, ControllerUsers

PARTITION = "batch"
MOST_TASKS = 100_001


def translate(scenario: Scenario, workload: Workload | None = None) -> Site:
    """The site of a resolved scenario for a workload; raises UnsupportedError for limits that Slurm cannot say."""
    cluster = scenario.clusters[0]
    jobs = Workload.from_columns(submit=[], run_time=[]) if workload is None else workload
    by_age = needs_age(cluster, jobs)
    ruled = by_age or has_quotas(cluster) or is_weighted(cluster) or preemption.by_quality(cluster)
    quotas = Quotas(cluster, jobs) if ruled else None
    by_age |= quotas is not None and quotas.counts("running_core_minutes")  # they need a clock of their own
    access, problems = _find_access(cluster, jobs)
    problems += find_guests(cluster, jobs)[1]
    if problems := [*problems, *(quotas.problems if quotas is not None else ())]:
        raise UnsupportedError("slurm", problems)
    nodes, layout = _make_nodes(cluster), cluster.layout()
    pool = cluster.nodes is None
    linear = cluster.sharing == "whole" or pool
    extend = scenario.execution.overrun == "extend"
    settings = (
        *_write_selection(linear, _counts_memory(cluster), _has_least_loaded(cluster) == {True}),
        *_write_scheduler(cluster, quotas is not None, by_age),
        *(["AccountingStorageEnforce=associations,limits,qos"] if quotas is not None else []),
        *(
            ["AccountingStorageTRES=gres/gpu"]
            if quotas is not None and any(group.gpus for group in cluster.nodes or ())
            else []
        ),
        *preemption.write_preemption(cluster),
        f"JobRequeue={0 if cluster.interrupted == 'fail' and not preemption.requeues(cluster) else 1}",
        *([f"AuthInfo=cred_expire={cluster.requeue_delay - 1:.0f}"] if cluster.requeue_delay else []),
        f"OverTimeLimit={'UNLIMITED' if extend else round(scenario.execution.overtime / 60)}",
        "EnforcePartLimits=ANY",  # a job that names several queues may run in those that take it
        "ReturnToService=1",
        "MinJobAge=60",
        "MaxJobCount=500000",
        f"MaxArraySize={MOST_TASKS}",
        *_write_generic(nodes),
        *(["TopologyPlugin=topology/tree"] if cluster.scheduler.place == TOPOLOGY else []),
        *_write_licences(cluster),
        *write_nodes(nodes),
        *_write_queues(cluster, quotas),
    )
    return Site(
        "walltime",
        settings,
        nodes,
        partitions=tuple(cluster.queues) or (PARTITION,),
        linear=linear,
        pool=pool,
        even=True,
        strict=layout is not None,
        counts_gpus=layout is not None and layout.resources() != ["cores"],
        associations=None if quotas is None else quotas.associations(),
        charges="account" if quotas is None else quotas.charges,
        accounts={} if quotas is None else quotas.spelled,
        groups=access,
        reservations={one.name: spell(one.name) for one in cluster.reservations if not one.maintenance},
        files=_write_topology(cluster) if cluster.scheduler.place == TOPOLOGY else {},
        queues={} if cluster.queues else {"*": PARTITION},
        overtime=float("inf") if extend else scenario.execution.overtime / 60,
        counts_memory=_counts_memory(cluster),
        licences=dict(cluster.licences),
        max_array=MOST_TASKS,
    )


def _has_least_loaded(cluster: Cluster) -> set[bool]:
    """Whether the least loaded nodes come first in its queues: in all, in none, or in some."""
    places = [queue.place or cluster.scheduler.place for queue in cluster.queues.values()]
    return {place == LEAST_LOADED for place in places or [cluster.scheduler.place]}


def _counts_memory(cluster: Cluster) -> bool:
    return any(group.memory is not None for group in cluster.nodes or ())


def _write_generic(nodes: tuple[Node, ...]) -> list[str]:
    kinds = dict.fromkeys(one.name for node in nodes for one in node.gres)
    return [f"GresTypes={','.join(kinds)}"] if kinds else []


def _write_topology(cluster: Cluster) -> dict[str, str]:
    """A switch for each run of nodes that share one, and one above them all."""
    layout = cluster.layout()
    if layout is None:
        raise InputError("the placement topology needs nodes", value=cluster.cores)
    pairs = zip(layout.switches().tolist(), layout.names(), strict=True)
    leaves = [(switch, [name for _, name in run]) for switch, run in groupby(pairs, key=lambda pair: pair[0])]
    lines = [f"SwitchName=leaf{switch} Nodes={compress(names)}" for switch, names in leaves]
    lines.append(f"SwitchName=root Switches={compress([f'leaf{switch}' for switch, _ in leaves])}")
    return {"topology.conf": "\n".join(lines) + "\n"}


def _write_licences(cluster: Cluster) -> list[str]:
    given = [f"{name}:{count}" for name, count in cluster.licences.items()]
    return [f"Licenses={','.join(given)}"] if given else []


def _find_access(cluster: Cluster, jobs: Workload) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """The group of users who may use each queue that is not for all; a trace's group is a group of its users."""
    users, groups = jobs.label_names("user"), jobs.label_names("group")
    pairs = dict.fromkeys(zip(jobs.column("user").tolist(), jobs.column("group").tolist(), strict=True))
    found: dict[str, tuple[str, ...]] = {}
    problems = []
    for name, queue in cluster.queues.items():
        if queue.users is None and queue.groups is None:
            continue
        allowed = set(users if queue.users is None else queue.users)
        if queue.groups is not None:
            inside = {
                users[user] for user, group in pairs if user >= 0 and group >= 0 and groups[group] in queue.groups
            }
            outside = {
                users[user] for user, group in pairs if user >= 0 and (group < 0 or groups[group] not in queue.groups)
            }
            if torn := sorted(inside & outside & allowed):
                what = f"{torn[0]} has jobs inside and outside of these groups, and Slurm looks at the user"
                problems.append((f"cluster.queues.{name}.groups", what))
            allowed &= inside
        found[name_quality(name)] = tuple(ControllerUsers.spell(user) for user in sorted(allowed))
    return found, problems


def _write_queues(cluster: Cluster, quotas: Quotas | None) -> list[str]:
    """A partition for each queue; its priority is a tier, which comes before all else, as in the scenario."""
    if not cluster.queues:
        words = [f"PartitionName={PARTITION}", "Nodes=ALL", "Default=YES", "MaxTime=INFINITE", *_write_memory(cluster)]
        return [" ".join([*words, "State=UP"])]
    layout = cluster.layout()
    least = min(queue.priority for queue in cluster.queues.values())
    lines = []
    for name, queue in cluster.queues.items():
        nodes = "ALL"
        if queue.nodes is not None and layout is not None:
            names = layout.names()
            nodes = compress([names[index] for index in layout.select(queue.nodes).nonzero()[0]])
        words = [f"PartitionName={name}", f"Nodes={nodes}", f"Default={'YES' if queue.default else 'NO'}"]
        words.append(f"PriorityTier={queue.priority - least + 1}")
        if "job_factor" in queue.model_fields_set:
            words.append(f"PriorityJobFactor={queue.job_factor}")
        words.append(f"MaxTime={_minutes(queue.max_time) if queue.max_time is not None else 'INFINITE'}")
        if queue.default_time is not None:
            words.append(f"DefaultTime={_minutes(queue.default_time)}")
        if queue.users is not None or queue.groups is not None:
            words.append(f"AllowGroups={name_quality(name)}")
        if quotas is not None:
            words += quotas.write_partition(name)
        if len(_has_least_loaded(cluster)) > 1 and (queue.place or cluster.scheduler.place) == LEAST_LOADED:
            words.append("LLN=YES")
        words += ["OverSubscribe=EXCLUSIVE"] if queue.sharing == "whole" else []
        words += _write_memory(cluster, queue)
        words += preemption.write_partition(cluster)
        lines.append(" ".join([*words, "State=UP"]))
    return lines


def _write_memory(cluster: Cluster, queue: Queue | None = None) -> list[str]:
    """What a partition says of memory. Jobs that say nothing of it have all of their nodes' where it says nothing."""
    if not _counts_memory(cluster):
        return []
    usual, most = (
        getattr(cluster, key) if queue is None or getattr(queue, key) is None else getattr(queue, key)
        for key in ("default_memory", "max_memory")
    )
    share = MemoryShare(0, "core") if usual in (None, ALL) else read_share(usual)
    said = [] if usual == ALL else [("Def", share if share.size else MemoryShare(0, "core"))]
    said += [] if most is None else [("Max", read_share(most))]
    return [f"{what}MemPer{'CPU' if per == 'core' else 'Node'}={-(-size // MEGABYTE)}" for what, (size, per) in said]


def _minutes(seconds: float) -> int:
    return max(1, -(-int(seconds) // 60))


def _make_nodes(cluster: Cluster) -> tuple[Node, ...]:
    """The nodes in their order; a pool of cores is as many nodes of one core."""
    layout = cluster.layout()
    if layout is None:
        cores = cluster.total_cores
        if cores is None:
            raise InputError("the size of the cluster is not known")
        return tuple(Node(f"core{index}", 1) for index in range(cores))
    names = iter(layout.names())
    nodes = []
    for group in layout.groups:
        for _ in range(group.count):
            node = Node(
                next(names),
                group.cores,
                cores=group.cores // cluster.threads_per_core,
                threads=cluster.threads_per_core,
                memory=1 if group.memory is None else max(1, group.memory // MEGABYTE),
                features=",".join(group.features) if group.features else None,
                gres=tuple(
                    Gres(kind, None, count, files=count <= MOST_FILES)
                    for kind, count in {"gpu": group.gpus, **group.resources}.items()
                    if count
                ),
            )
            nodes.append(node)
    return tuple(nodes)


def _write_selection(linear: bool, memory: bool, least_loaded: bool) -> list[str]:
    if linear:
        return ["SelectType=select/linear", *(["SelectTypeParameters=CR_Memory"] if memory else [])]
    words = f"CR_Core{'_Memory' if memory else ''}{',CR_LLN' if least_loaded else ''}"
    return ["SelectType=select/cons_tres", f"SelectTypeParameters={words}"]


def _write_scheduler(cluster: Cluster, limited: bool, by_age: bool) -> list[str]:
    """The order, with or without a backfill scheduler that keeps so many places; `limited`: there are associations."""
    backfill = cluster.scheduler.backfill
    order = write_order(cluster, by_age)
    kind, words = "builtin", write_main(cluster)
    if backfill.name != "none":
        reservations = RESERVATIONS[backfill.name]
        if reservations is None:
            reservations = int(backfill.parameters.get("depth", 1))
        kind, words = "backfill", write_rhythm(cluster, reservations)
    words += preemption.parameters(cluster)
    if not limited:  # there is no limit that could stop anything, and the controller crashes on the word
        words = [word for word in words if word != "assoc_limit_stop"]
    said = [f"SchedulerParameters={','.join(words)}"] if words else []
    return [*order, f"SchedulerType=sched/{kind}", *said]


def write_nodes(nodes: tuple[Node, ...]) -> list[str]:
    """Lines for runs of equal nodes."""
    lines = []
    for _, run in groupby(nodes, key=lambda node: replace(node, name="")):
        alike = list(run)
        first = alike[0]
        words = [
            f"NodeName={compress([node.name for node in alike])} NodeAddr=127.0.0.1 CPUs={first.cpus} Boards=1",
            f"SocketsPerBoard=1 CoresPerSocket={first.cores} ThreadsPerCore={first.threads} RealMemory={first.memory}",
        ]
        words += [f"Features={first.features}"] if first.features else []
        words += [f"Gres={','.join(f'{one.name}:{one.count}' for one in first.gres)}"] if first.gres else []
        lines.append(" ".join([*words, "State=UNKNOWN"]))
    return lines
