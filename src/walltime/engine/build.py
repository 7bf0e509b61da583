"""From a scenario's cluster to the pieces of a simulation: ledger, lines, counters and domains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.cluster.nodes import FULL_SPEED, Layout
from walltime.core.errors import EngineError, InputError
from walltime.core.time import microseconds
from walltime.core.workload import Origin, Workload
from walltime.engine.accrual import Accrual
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation, take_notices, take_openings
from walltime.engine.brokering.admission import Admission, GlobalRouting
from walltime.engine.brokering.assignments import Assignments
from walltime.engine.brokering.dispatch import Dispatch, GlobalQueue
from walltime.engine.brokering.joint_plan import JointPlan
from walltime.engine.brokering.migration import Migration
from walltime.engine.cluster import Cluster as ClusterState
from walltime.engine.disruptions.outages import MONTH, FailureSource, OutageState, ReservationSource
from walltime.engine.disruptions.preemption import Preemptor
from walltime.engine.loop import Rank, Simulation
from walltime.engine.users import Users
from walltime.engine.warm_start import WarmStart
from walltime.engine.workflow_order import order_as_workflows
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.ledger.place import Place, QueuePlaces
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.queue.choices import Choices
from walltime.kernel.queue.lines import LinesQueue
from walltime.kernel.quotas import Quotas
from walltime.policies.backfill.lookahead import Lookahead
from walltime.policies.optimise.neighbourhoods import Neighbourhoods
from walltime.policies.optimise.search import Search
from walltime.policy import registry
from walltime.policy.api import Order, Policy, Rhythm
from walltime.policy.place import as_place
from walltime.policy.surroundings import Surroundings, join_surroundings
from walltime.rules.accounts import Accounts
from walltime.rules.limits import Counters, collect_rules
from walltime.rules.reactions import build_reactions
from walltime.rules.requests import RequestBook
from walltime.rules.site import Lane, ReservedDomain, SiteRules, stands_in_lines
from walltime.scenario import Cluster, Part, Scenario
from walltime.scenario import GlobalQueue as GlobalQueueSpec
from walltime.scenario import Migration as MigrationSpec
from walltime.scenario.outages import reserved_nodes
from walltime.scenario.rules import ACCRUING
from walltime.scenario.start import with_usage
from walltime.workload.conditions.arrays import number_arrays
from walltime.workload.conditions.aware import Flows, find_flows
from walltime.workload.users.plan import UserPlan

DEFAULT_PLACE = Part(name="best-fit")
SLURM = "slurm"
SLURMS_PLACE = Part(name="consecutive")


def is_ruled(cluster: Cluster) -> bool:
    """Whether more than a number of cores and one order of waiting jobs decides which jobs run."""
    return cluster.layout() is not None or stands_in_lines(cluster)


def build_nodes(jobs: JobTable, cluster: Cluster, layout: Layout, index: int, seed: int) -> ResourceLedger:
    """The ledger of a cluster's nodes."""
    nodes = Hardware(
        np.stack([layout.amounts(name) for name in layout.resources()], axis=1),
        _build_place(cluster),
        layout.whole,
        layout.pace(),
        layout.switches(),
        list(layout.licences.values()),
        seed,
        layout.resources(),
        cluster.scheduler.holds == "named",
    )
    return ResourceLedger(jobs, nodes, index)


def _build_place(cluster: Cluster) -> Place:
    """The placement of the cluster, or those of its queues."""
    usual = cluster.scheduler.place or _usual_place(cluster)
    if not any(queue.place for queue in cluster.queues.values()):
        return as_place(registry.build("place", usual))
    parts = [queue.place or usual for queue in cluster.queues.values()]
    firsts = [parts.index(part) for part in parts]
    made = {first: as_place(registry.build("place", parts[first])) for first in firsts}
    return QueuePlaces([made[first] for first in firsts])


def _usual_place(cluster: Cluster) -> Part:
    """Where nothing is said of places; Slurm's planner goes with Slurm's own choice of nodes."""
    return SLURMS_PLACE if cluster.scheduler.rhythm.name == SLURM else DEFAULT_PLACE


def build_ledger(jobs: JobTable, cluster: Cluster, index: int, plans: bool, seed: int) -> Ledger:
    """Nodes where the cluster has them; else a plain number of cores, to which a shaped request is its total."""
    layout = cluster.layout()
    if layout is not None:
        return build_nodes(jobs, cluster, layout, index, seed)
    return (PlanLedger if plans else CoreLedger)(jobs, cluster.total_cores, index)


def build_order(part: Part, around: Surroundings) -> Order:
    """The order that the part names, acquainted with its cluster."""
    order: Order = registry.build("order", part)
    order.attach(around)
    return order


def acquaint(policy: Policy, around: Surroundings, target: ClusterState) -> Policy:
    """The policy, acquainted with its cluster, which tells it what jobs use where it wants to know."""
    policy.attach(around)
    if policy.charged is not None:
        target.charge_to(policy.charged)
    return policy


def _flows(first: Workload | None) -> Flows | None:
    """The workflows whose tasks are ordered as one."""
    return None if first is None else find_flows(first)


def origin_of(first: Workload | None) -> Origin:
    """What time zero means to the jobs."""
    return Origin() if first is None else first.origin


def build_rhythm(
    cluster: Cluster,
    begin: int | None = None,
    arrays: np.ndarray | None = None,
    around: Surroundings | None = None,
) -> Rhythm | None:
    """When there are passes; None for whenever something changed. None is before `begin`, where that is told.
    `arrays` is the array of each row of the workload, where some are tasks of one."""
    made = registry.build("rhythm", cluster.scheduler.rhythm)
    rhythm = None if isinstance(made, str) else made
    if rhythm is not None and arrays is not None:
        rhythm.set_arrays(arrays)
    if rhythm is not None and around is not None:
        rhythm.set_surroundings(around)
    return rhythm if begin is None else WarmStart(begin, rhythm)


def build_policy(cluster: Cluster, seed: int, domain: int = 0) -> Policy:
    """The policy of a cluster, or of one of its domains."""
    policy: Policy = registry.build("backfill", cluster.scheduler.backfill)
    policy.prepare(seed, f"{cluster.name}.{domain}")
    return policy


def plans_ahead(cluster: Cluster) -> bool:
    """Whether the backfill keeps promises from pass to pass: then it wants a ledger that is made for that."""
    rhythm = build_rhythm(cluster)
    return bool(registry.build("backfill", cluster.scheduler.backfill).plans) and not (
        rhythm is not None and rhythm.replans
    )


def begin_of(first: Workload | None) -> int | None:
    """When the scheduler begins to decide, where jobs are told that were there before."""
    start = None if first is None else first.notes.get("start")
    return None if start is None else microseconds(start["time"])


@dataclass(frozen=True)
class ClusterPieces:
    """What a cluster is made of before there is a simulation; `site` is None where nothing but its cores and one order
    of waiting jobs decides."""

    cluster: Cluster
    site: SiteRules | None
    ledger: Ledger
    quotas: Quotas | None
    choices: Choices


def make_pieces(
    jobs: JobTable, scenario: Scenario, index: int, first: Workload | None, shared: Counters | None = None
) -> ClusterPieces:
    """The rules of a cluster and what counts by them; the `first` batch of the workload tells what is asked for.

    `shared` are counters that other clusters have too.
    """
    cluster = scenario.clusters[index]
    ledger = build_ledger(jobs, cluster, index, plans_ahead(cluster), scenario.seed)
    if not is_ruled(cluster):
        return ClusterPieces(cluster, None, ledger, None, Choices())
    labels = [] if first is None else first.label_names("queue")
    counters = shared or make_counters(jobs, cluster)
    quotas = None if counters is None else counters.quotas
    choices = Choices() if quotas is None else quotas.choices
    site = SiteRules(
        cluster, labels, counters, choices, scenario.execution.checkpoint, alone=len(scenario.clusters) == 1
    )
    layout = cluster.layout()
    if layout is not None and isinstance(ledger, ResourceLedger):
        site.requests = RequestBook(layout, ledger, site.masks, site.names)
    return ClusterPieces(cluster, site, ledger, quotas, choices)


def make_counters(jobs: JobTable, cluster: Cluster) -> Counters | None:
    """The counters of a cluster's limits; None where it has none."""
    rules = collect_rules(cluster)
    return Counters(rules, Accounts(cluster.accounts), Quotas(jobs)) if rules else None


def add_pieces(
    simulation: Simulation, arrivals: Arrivals, scenario: Scenario, pieces: ClusterPieces, first: Workload | None
) -> Any:
    """The cluster in the simulation, with a domain for queues that share nodes, and its outages."""
    cluster, site, ledger, quotas = pieces.cluster, pieces.site, pieces.ledger, pieces.quotas
    accruals = None if site is None else _add_accrual(simulation, site)
    around = Surroundings(cluster, arrivals.codes, origin_of(first), accruals=accruals)
    estimate, flows = registry.build("estimate", cluster.scheduler.estimate), _flows(first)
    parts = [cluster.scheduler.order] if site is None else [lane.order for lane in site.lanes]
    named = [part.model_dump_json() for part in parts]
    orders = {
        name: order_as_workflows(build_order(with_usage(part, scenario), around), estimate, flows)
        for name, part in dict(zip(named, parts, strict=True)).items()
    }
    plans = plans_ahead(cluster)
    jobs = simulation.jobs
    target = simulation.add(
        ClusterState(
            cluster.name,
            len(simulation.clusters),
            ledger,
            [orders[name] for name in named],
            estimate,
            quotas,
            bool(cluster.licences),
        )
    )
    if quotas is not None:
        target.openings = take_openings(simulation)
    bounds = () if site is None else site.bound
    reserved = {bound.domain: _reserve(bound, jobs, cluster, target.index, plans, scenario.seed) for bound in bounds}
    around.ledgers.update({(target.index, domain): other for domain, other in {-1: ledger, **reserved}.items()})
    for other in reserved.values():
        if isinstance(other, ResourceLedger) and isinstance(ledger, ResourceLedger):
            other.share_licences(ledger)
    arrays = number_arrays(first) if first is not None and cluster.scheduler.rhythm.name == SLURM else None
    if site is None or not site.lined:
        policy = acquaint(build_policy(cluster, scenario.seed), around, target)
        target.add_domain(None, policy, None, build_rhythm(cluster, begin_of(first), arrays, around))
        add_outages(simulation, scenario, target.index, first, {})
        return target
    for domain in sorted({lane.domain for lane in site.lanes}):
        own = reserved.get(domain)
        queue = LinesQueue(simulation.jobs, ledger if own is None else own, quotas, pieces.choices)
        for number, lane in enumerate(site.lanes):
            if lane.domain == domain:
                node_set = _node_set(ledger, site, lane) if own is None else -1
                queue.add_lane(number, lane.tier, node_set, lane.local, target.orders[number].dynamic)
        policy = acquaint(build_policy(cluster, scenario.seed, domain), around, target)
        rhythm = build_rhythm(cluster, begin_of(first), arrays, around)
        if rhythm is not None:
            rhythm.set_partitions(site.masks if own is None else [None for _ in site.masks])
            queue.parks = not rhythm.asks_limits
        mask = _domain_mask(site, domain) if own is None else None
        nodes = _count_set(site, domain, ledger if own is None else own) if isinstance(policy, Lookahead) else -1
        target.add_domain(queue, policy, own, rhythm, _shared_nodes(site), nodes)
        if accruals is not None or simulation.observers or len(scenario.clusters) > 1:
            target.domains[-1].late = False  # these look at jobs at a limit too, or change their keys in between
        target.domains[-1].mask = mask
        target.domains[-1].cores = _count_cores(cluster, mask) if own is None else own.size
    if cluster.scheduler.preempt is not None:
        part = registry.build("preempt", cluster.scheduler.preempt)
        part.attach(around)
        for domain in range(len(target.domains)):
            notices = take_notices(simulation)
            preemptor = Preemptor(part, simulation, notices, [lane.tier for lane in site.lanes])
            target.domains[domain].preemptor = preemptor
            notices.add(target.index, domain, preemptor)
    add_outages(simulation, scenario, target.index, first, {one.number: one.domain for one in site.bound})
    return target


def _add_accrual(simulation: Simulation, site: SiteRules) -> Accrual | None:
    """What says which waiting jobs grow older, where limits do."""
    if site.counters is None or not any(ACCRUING in rule.caps for rule in site.counters.rules):
        return None
    accrual = Accrual(site.counters)
    simulation.add_source(Rank.TIMERS, accrual)
    return accrual


def _reserve(bound: ReservedDomain, jobs: JobTable, cluster: Cluster, index: int, plans: bool, seed: int) -> Ledger:
    """The ledger of a reservation that jobs may use: its cores, or all nodes, of which its jobs know only its own."""
    nodes, layout = reserved_nodes(bound.reservation, cluster), cluster.layout()
    if nodes is None or layout is None:
        return (PlanLedger if plans else CoreLedger)(jobs, bound.cores, index)
    ledger = build_nodes(jobs, cluster, layout, index, seed)
    mask = np.zeros(layout.count, bool)
    mask[nodes] = True
    bound.requests = RequestBook(layout, ledger, [mask], [bound.reservation.name])
    return ledger


def add_outages(
    simulation: Simulation, scenario: Scenario, index: int, first: Workload | None, bound: dict[int, int]
) -> None:
    """The failures and reservations of a cluster; `bound` are the domains of reservations that jobs may use."""
    cluster = scenario.clusters[index]
    if not cluster.failures and not cluster.reservations:
        return
    longest = 0 if first is None or not len(first) else int(first.column("requested_time").max())
    horizon = max(MONTH, longest)
    machine = OutageState(index, cluster, simulation, min(bound.values(), default=1 << 30))
    simulation.machines.append(machine)
    simulation.clusters[index].machine = machine
    if cluster.failures:
        name = cluster.name if len(scenario.clusters) > 1 else ""
        simulation.add_source(Rank.FAILURES, FailureSource(machine, scenario.seed, name))
    if cluster.reservations:
        simulation.add_source(Rank.RESERVATIONS, ReservationSource(machine, bound, horizon))
    rhythm = max((microseconds(one.every) for one in cluster.reservations if one.every is not None), default=0)
    simulation.ending.patience = max(simulation.ending.patience, 2 * rhythm)


def make_arrivals(
    batches: Iterable[Workload],
    scenario: Scenario,
    plan: UserPlan | None,
    site: SiteRules | None = None,
    admission: Admission | None = None,
) -> Arrivals:
    """The arrivals of jobs at their recorded times, or as their users' `plan` and reactions have it."""
    if plan is None or scenario.users is None:
        return Arrivals(batches, site, admission)
    return Users(batches, plan, build_reactions(scenario), site, admission)


def build_simulation(
    scenario: Scenario,
    first: Workload | None,
    batches: Iterable[Workload],
    options: dict[str, Any],
    plan: UserPlan | None = None,
) -> tuple[Simulation, Arrivals]:
    """A simulation of the scenario's clusters, and the arrivals that obey their rules; `first` of `batches` tells what
    is asked for, `plan` when users submit it."""
    jobs = JobTable()
    together = scenario.broker is not None and scenario.broker.shared_limits
    shared = make_counters(jobs, scenario.clusters[0]) if together else None
    several = [make_pieces(jobs, scenario, index, first, shared) for index in range(len(scenario.clusters))]
    sites = [pieces.site for pieces in several]
    if scenario.broker is None:
        arrivals = make_arrivals(batches, scenario, plan, sites[0])
        simulation = make_simulation(arrivals, jobs=jobs, **options)
        _add_clusters(simulation, arrivals, scenario, several, first)
        return simulation, arrivals
    ruled = any(site is not None for site in sites)
    assignments = [
        None if not ruled else Assignments([], []) if site is None else Assignments(site.reasons, site.names)
        for site in sites
    ]
    routing = GlobalRouting(scenario)
    chosen = scenario.users is not None and bool(scenario.users.reactions)  # users may choose a cluster
    used = routing if routing.needed or chosen else None
    admission = Admission(used, sites, assignments) if used is not None or ruled else None
    arrivals = make_arrivals(batches, scenario, plan, admission=admission)
    around = join_surroundings(scenario.clusters, arrivals.codes, origin_of(first))
    dispatch = build_dispatch(scenario, used, around, _flows(first))
    simulation = make_simulation(arrivals, jobs=jobs, scheduling=dispatch, **options)
    for source in (dispatch.migration, dispatch.joint):
        if source is not None:
            simulation.add_source(Rank.TIMERS, source)
    made = _add_clusters(simulation, arrivals, scenario, several, first)
    for one, cluster, theirs in zip(made, scenario.clusters, assignments, strict=True):
        one.assignments = theirs
        one.attributes = dict(cluster.attributes)
        one.speed = _mean_speed(cluster)
    return simulation, arrivals


def _add_clusters(
    simulation: Simulation,
    arrivals: Arrivals,
    scenario: Scenario,
    several: Sequence[ClusterPieces],
    first: Workload | None,
) -> list[Any]:
    """The clusters in the simulation, from their pieces."""
    made = [add_pieces(simulation, arrivals, scenario, pieces, first) for pieces in several]
    for one, cluster in zip(made, scenario.clusters, strict=True):
        one.requeue_delay = microseconds(cluster.requeue_delay)
    if any(cluster.requeue_delay for cluster in scenario.clusters):
        simulation.add_source(Rank.RELEASES, simulation.returns)
    return made


def build_dispatch(scenario: Scenario, routing: GlobalRouting | None, around: Surroundings, flows: Any) -> Dispatch:
    """The global scheduler; `around` are all clusters together, `flows` the workflows whose tasks are ordered so."""
    broker = scenario.broker
    if broker is None:
        raise EngineError("several clusters without a broker")
    chosen = registry.build("broker", broker)
    request = registry.build("estimate", Part(name="request"))  # no cluster's own, before one is chosen
    queues = sorted(broker.queues.items(), key=lambda item: -item[1].priority) or [("", GlobalQueueSpec())]
    lines = [
        GlobalQueue(
            name,
            order_as_workflows(build_order(queue.order or broker.order, around), request, flows),
            chosen if queue.broker is None else registry.build("broker", queue.broker),
        )
        for name, queue in queues
    ]
    return Dispatch(
        lines,
        broker.hold,
        broker.overtake,
        routing,
        build_migration(broker.migrate),
        scenario.seed,
        broker.shared_limits,
        build_joint_plan(scenario, broker.optimise),
    )


def build_joint_plan(scenario: Scenario, wanted: Part | None) -> JointPlan | None:
    """What plans all clusters together, where that is wanted; by default jobs change cluster too."""
    if wanted is None:
        return None
    where = scenario.place("broker.optimise")
    others = [one.scheduler.backfill.name for one in scenario.clusters if one.scheduler.backfill.name != "plan"]
    if len(scenario.clusters) - len(others) < 2:
        value = others[0] if others else None
        raise InputError("broker.optimise is for several clusters with `backfill: plan`", value=value, **where)
    made = registry.build("optimise", wanted, "broker.optimise")
    if not isinstance(made, Search) or isinstance(made, Neighbourhoods):
        raise InputError("broker.optimise takes an optimiser with operators", value=wanted.name, **where)
    if "operators" not in wanted.parameters and wanted.instance is None:
        usual = {"cluster": 1} | dict(type(made).usual)
        named = Part(name=wanted.name, parameters=wanted.parameters | {"operators": usual})
        made = registry.build("optimise", named, "broker.optimise")
    return JointPlan(made, scenario.seed)


def build_migration(wanted: MigrationSpec | None) -> Migration | None:
    """What moves waiting jobs between clusters, where that is wanted."""
    if wanted is None:
        return None
    every = 0 if wanted.every is None else microseconds(wanted.every)
    return Migration(every, microseconds(wanted.gain), wanted.most, wanted.depth)


def _mean_speed(cluster: Cluster) -> float:
    """The mean speed of the cluster's cores."""
    layout = cluster.layout()
    if layout is None:
        return 1.0
    cores = layout.cores()
    return float((layout.pace() * cores).sum() / cores.sum() / FULL_SPEED)


def _domain_mask(site: SiteRules, domain: int) -> np.ndarray[Any, Any] | None:
    """The nodes that a domain's queues have; None for all of the cluster's."""
    masks = [site.mask_of(lane) for lane in site.lanes if lane.domain == domain]
    if any(mask is None for mask in masks):
        return None
    return np.asarray(np.array(masks).any(axis=0))


def _count_set(site: SiteRules, domain: int, ledger: Ledger) -> int:
    """The ledger's number for all nodes of a domain together; -1 for any."""
    if not isinstance(ledger, ResourceLedger):
        return -1
    mask = _domain_mask(site, domain)
    for bound in site.bound:
        nodes = reserved_nodes(bound.reservation, site.cluster) if bound.domain == domain else None
        if nodes is not None:
            mask = np.isin(np.arange(ledger.n), nodes)
    return -1 if mask is None else int(ledger.add_set(mask))


def _count_cores(cluster: Cluster, mask: np.ndarray[Any, Any] | None) -> int:
    """The cores of these nodes; -1 for all of the cluster's."""
    layout = cluster.layout()
    return -1 if layout is None or mask is None else int(layout.cores()[mask].sum())


def _shared_nodes(site: SiteRules) -> np.ndarray[Any, Any]:
    """By pairs of lanes, whether they share nodes."""
    masks = [site.mask_of(lane) for lane in site.lanes]
    return np.array([[a is None or b is None or bool((a & b).any()) for b in masks] for a in masks], np.uint8)


def _node_set(ledger: Ledger, site: SiteRules, lane: Lane) -> int:
    """The ledger's number for the nodes of a lane; -1 for any."""
    mask = site.mask_of(lane)
    return ledger.add_set(mask) if mask is not None and isinstance(ledger, ResourceLedger) else -1
