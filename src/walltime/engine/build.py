"""From a scenario's cluster to the pieces of a simulation: ledger, lines, counters and islands."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.limits import collect_rules
from walltime.engine.loop import Simulation
from walltime.engine.site import Site
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger import CoreLedger, Ledger
from walltime.kernel.lines import Choices, LinesQueue
from walltime.kernel.nodes import NodeLedger
from walltime.kernel.plan import PlanLedger
from walltime.kernel.quotas import Quotas
from walltime.policy import registry
from walltime.policy.place import as_place
from walltime.scenario import Cluster, Part, Scenario

DEFAULT_PLACE = Part(name="best-fit")


def is_ruled(cluster: Cluster) -> bool:
    """Whether more than cores, nodes and one order of waiting jobs decides who runs."""
    return bool(cluster.queues or cluster.limits)


def build_ledger(jobs: JobTable, cluster: Cluster, index: int, plans: bool, seed: int) -> Ledger:
    """Nodes where the cluster has them; else a plain number of cores, to which a shaped request is its total."""
    layout = cluster.layout()
    if layout is None:
        return (PlanLedger if plans else CoreLedger)(jobs, cluster.total_cores, index)
    place = as_place(registry.build("place", cluster.scheduler.place or DEFAULT_PLACE))
    return NodeLedger(jobs, layout.cores(), place, index, layout.whole, layout.pace(), seed)


def build_site(scenario: Scenario, batches: Iterable[Workload], options: dict[str, Any]) -> tuple[Simulation, Arrivals]:
    """A simulation of the only cluster, which has rules, and the arrivals that obey them."""
    cluster = scenario.clusters[0]
    stream = iter(batches)
    first = next(stream, None)
    labels = [] if first is None else first.label_names("queue")
    jobs = JobTable()
    plans = registry.build("backfill", cluster.scheduler.backfill).plans
    ledger = build_ledger(jobs, cluster, 0, plans, scenario.seed)
    quotas = Quotas(jobs) if collect_rules(cluster.queues, cluster.limits) else None
    choices = Choices()
    site = Site(cluster, labels, quotas, choices)
    arrivals = Arrivals(chain([] if first is None else [first], stream), site)
    simulation = Simulation(arrivals, jobs=jobs, **options)
    orders = {lane.order.model_dump_json(): registry.build("order", lane.order) for lane in site.lanes}
    target = simulation.add_site(
        cluster.name,
        ledger,
        [orders[lane.order.model_dump_json()] for lane in site.lanes],
        registry.build("estimate", cluster.scheduler.estimate),
        quotas,
        bool(cluster.licences),
    )
    for island in sorted({lane.island for lane in site.lanes}):
        queue = LinesQueue(jobs, ledger, quotas, choices)
        for number, lane in enumerate(site.lanes):
            if lane.island == island:
                queue.add_lane(number, lane.tier, -1, lane.local, target.orders[number].dynamic)
        target.add_island(queue, registry.build("backfill", cluster.scheduler.backfill))
    return simulation, arrivals
