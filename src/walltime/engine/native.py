"""The native engine: a scenario in, a Record out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
import polars as pl

from walltime.cluster.requests import find_parts, round_to_cores
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.tables import SERIES, Record
from walltime.core.time import NEVER, SECOND, microseconds
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import Conditions
from walltime.engine.brokering.dispatch import Dispatch
from walltime.engine.build import build_simulation
from walltime.engine.honoured import HONOURED
from walltime.engine.loop import Rank, Simulation
from walltime.engine.recording.counts import RunCounts
from walltime.engine.recording.pieces import Pieces, Sink
from walltime.engine.recording.tables import build_outages, build_tables
from walltime.engine.users import Users
from walltime.engine.warm_start import RunningPlacements
from walltime.engine.watching.plans import PlanRecorder
from walltime.execution.programs import Programs
from walltime.kernel.source import Observer
from walltime.policy import registry
from walltime.rules.limits import collect_rules, find_ageless
from walltime.rules.users import plan_users
from walltime.scenario import Cluster, Part, Scenario
from walltime.scenario.execution import PROGRAMS, SHARING
from walltime.scenario.honoured import find_refused
from walltime.scenario.names import find_strangers
from walltime.workload.conditions.dependencies import resolve_arrays, resolve_dependencies
from walltime.workload.users.plan import UserPlan

NAME = "native"
CONTIGUOUS = "contiguous"
"""The placement by which a job may wait for certain nodes."""

NAMED = 10
"""So many of the jobs that are left at the end are named, of each reason."""


class Progress(Protocol):
    """A function that wants a sign of life, about ten times a second.

    One that also has `attach(simulation)` is given the simulation before it begins, to look at but not to touch;
    it may set `simulation.every`, the seconds between two signs of life.
    """

    def progress(self, now: int, submitted: int, ended: int) -> None:
        """The clock in microseconds, jobs that have entered, jobs that have left."""


def unsupported(scenario: Scenario) -> list[tuple[str, str]]:
    """What in the scenario this engine cannot honour, as (key, reason)."""
    problems = list(find_refused(scenario, HONOURED, "the native engine does not know it"))
    for i, cluster in enumerate(scenario.clusters):
        scheduler = cluster.scheduler
        prefix = "cluster.scheduler" if len(scenario.clusters) == 1 else f"clusters.{i}.scheduler"
        if scenario.execution.model.name in (*SHARING, PROGRAMS) and cluster.nodes is None:
            where = prefix.removesuffix(".scheduler")
            uses = "shares the time of nodes" if scenario.execution.model.name in SHARING else "run on nodes"
            problems.append((f"{where}.cores", f"{scenario.execution.model.name} {uses}; give nodes"))
        problems += _beyond(scenario, cluster, prefix)
        problems += _only_for_programs(scenario, cluster, prefix.removesuffix(".scheduler"))
        if scheduler.place is not None and cluster.nodes is None:
            problems.append((f"{prefix}.place", "the cluster is a plain number of cores; give it nodes"))
        if scheduler.holds == "named" and cluster.nodes is None:
            problems.append((f"{prefix}.holds", "the cluster is a plain number of cores; give it nodes"))
        problems += _find_in_rules(scenario, cluster, prefix.removesuffix(".scheduler"))
        if scenario.execution.overrun == "extend" and _limits_work(cluster):
            problems.append(("execution.overrun", "extend, together with a limit on running_core_minutes"))
        for key in ("overtime", "limit_check"):
            if getattr(scenario.execution, key) and _limits_work(cluster):
                problems.append((f"execution.{key}", "jobs beyond their limit, and a limit on running_core_minutes"))
    problems += _find_growing(scenario)
    if len({cluster.threads_per_core for cluster in scenario.clusters}) > 1:
        problems.append(("clusters", "threads_per_core: cores of one number of threads in all of them"))
    if len({cluster.scheduler.rhythm.name == "event" for cluster in scenario.clusters}) > 1:
        problems.append(("clusters", "a pass after every single event (rhythm: event) in one of several clusters"))
    if len(scenario.clusters) > 1 and scenario.start is not None:
        problems.append(("start", "a system of several clusters"))
    if len(scenario.clusters) > 1 and scenario.broker is None:
        problems.append(("broker", "several clusters need one, such as least-loaded"))
    if scenario.slurm is not None and scenario.slurm.conf is not None:
        problems.append(("slurm.conf", "is for the slurm engine; `walltime site import` makes a scenario of it"))
    if scenario.users is not None and scenario.users.reacts and scenario.start is not None:
        problems.append(("users", f"{scenario.users.mode}, together with a system that is there already (start)"))
    return problems


def _find_growing(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Jobs that get more cores for their memory have them from their submission on."""
    reason = None
    if len(scenario.clusters) > 1:
        reason = "of one of several clusters"
    elif scenario.users is not None and scenario.users.reacts:
        reason = "together with users who react"
    elif scenario.broker is not None:
        reason = "together with a broker"
    for number, cluster in enumerate(scenario.clusters) if reason else ():
        prefix = "cluster" if len(scenario.clusters) == 1 else f"clusters.{number}"
        told = [(prefix, cluster.max_memory)]
        told += [(f"{prefix}.queues.{name}", queue.max_memory) for name, queue in cluster.queues.items()]
        for key, most in told:
            if most is not None and most.endswith("/core"):
                yield f"{key}.max_memory", f"more cores for more memory with a core, {reason}"


def _find_in_rules(scenario: Scenario, cluster: Cluster, prefix: str) -> Iterator[tuple[str, str]]:
    """What of queues and limits cannot be."""
    for number, limit in enumerate(cluster.limits):
        if limit.accruing_jobs is not None and len(scenario.clusters) > 1:
            yield f"{prefix}.limits.{number}.accruing_jobs", "in one of several clusters"
    for key, reason in find_ageless(cluster):
        yield f"{prefix}.{key}", reason
    own = {name: queue.place for name, queue in cluster.queues.items() if queue.place is not None}
    for name, place in own.items():
        key = f"{prefix}.queues.{name}.place"
        if cluster.nodes is None:
            yield key, "the cluster is a plain number of cores; give it nodes"
        elif CONTIGUOUS in (place.name, getattr(cluster.scheduler.place, "name", None)):
            yield key, f"{CONTIGUOUS} in one of several queues; give it to the scheduler"


def _beyond(scenario: Scenario, cluster: Cluster, prefix: str) -> list[tuple[str, str]]:
    """What of checkpoints, suspensions and the like does not go together."""
    problems = []
    scheduler = cluster.scheduler
    if scheduler.rhythm.name == "periodic" and (cluster.reservations or cluster.failures or scheduler.preempt):
        what = "periodic, together with reservations, failures or preemption; the rhythm slurm has them"
        problems.append((f"{prefix}.rhythm", what))
    if scheduler.rhythm.name == "slurm" and cluster.nodes is None:
        problems.append((f"{prefix}.rhythm", "slurm plans with nodes; give the cluster nodes"))
    if scheduler.rhythm.name == "slurm" and scheduler.holds == "named":
        problems.append((f"{prefix}.holds", "named, together with the rhythm slurm, which plans with nodes anyhow"))
    by_priority = scheduler.rhythm.name == "slurm" and scheduler.rhythm.parameters.get("bf_min_prio_reserve")
    if by_priority and scheduler.order.name != "multifactor":
        problems.append((f"{prefix}.rhythm.bf_min_prio_reserve", "a priority, which only multifactor tells"))
    execution = scenario.execution
    if execution.checkpoint is not None and execution.model.name == PROGRAMS:
        problems.append(("execution.checkpoint", "programs say themselves where: profiles of the type checkpoint"))
    elif execution.checkpoint is not None and execution.model.name != "trace":
        problems.append(("execution.checkpoint", f"only the model trace writes them, not {execution.model.name}"))
    return problems


def _only_for_programs(scenario: Scenario, cluster: Cluster, prefix: str) -> list[tuple[str, str]]:
    """What only jobs that are programs use."""
    if scenario.execution.model.name == PROGRAMS:
        return []
    given = {
        "execution.profiles": scenario.execution.profiles,
        f"{prefix}.network": cluster.network,
        f"{prefix}.components": cluster.components,
        f"{prefix}.nodes.disk": any(group.disk is not None for group in cluster.nodes or ()),
    }
    return [(key, f"only the execution model {PROGRAMS} uses it") for key, value in given.items() if value]


def complete(scenario: Scenario) -> Scenario:
    """The scenario with what the engine alone can tell of it: here, nothing."""
    return scenario


def run(
    scenario: Scenario,
    workload: Workload | Iterable[Workload],
    observer: Progress | None = None,
    observers: Sequence[Observer] = (),
    sink: Sink | None = None,
) -> Record:
    """Simulate a resolved scenario; `workload` is its own, read and with its requests filled, whole or in batches.

    A `sink` is handed the jobs of a stream piece by piece, as they have left; the record has none of them then. Where
    a stream has `notes` and an `origin`, as a Workload does, they are read at the end.
    """
    problems = unsupported(scenario)
    if problems:
        raise UnsupportedError(NAME, problems)
    wall, cpu = time.perf_counter(), time.process_time()
    scenario = _placed_evenly(scenario)
    planned = PlanRecorder() if scenario.record.plans else None
    watching = observers if planned is None else [*observers, planned]
    options = _options(scenario, observer, watching) | {"conditions": _conditions(workload, scenario)}
    names = [cluster.name for cluster in scenario.clusters]
    ignored = Ignored(scenario)
    counted = RunCounts(scenario)
    pieces, source = None, workload
    if sink is not None:
        assert not isinstance(workload, Workload)
        if scenario.execution.model.name != "trace":  # others look at the workload again when a job starts
            raise UnsupportedError(NAME, [("execution.model", "with jobs that are handed on as they leave")])

        def hand_on(jobs: pl.DataFrame, allocations: pl.DataFrame, asked: Workload) -> None:
            counted.add(jobs, asked)
            sink(jobs, allocations, asked)

        pieces = Pieces(hand_on, names, ignored.look)
        workload = pieces.pass_on(workload)
    batches = iter(_checked(workload, scenario))
    first = next(batches, None)
    batches = chain([] if first is None else [first], batches)
    profiles = [] if first is None else first.label_names("profile")
    options["execution"].equip([cluster.layout() for cluster in scenario.clusters], scenario.seed, profiles)
    options["execution"].connect([cluster.machine() for cluster in scenario.clusters])
    plan = _plan_users(scenario, workload)
    simulation, arrivals = build_simulation(scenario, first, batches, options, plan)
    if pieces is not None:
        pieces.attach(simulation, arrivals)
    if first is not None and first.has("started"):
        layouts = [cluster.layout() for cluster in scenario.clusters]
        shared = min(0 if layout is None or layout.whole else len(layout.names()) for layout in layouts)
        simulation.add_source(Rank.ARRIVALS, RunningPlacements(first, shared))
    if (attach := getattr(observer, "attach", None)) is not None:
        attach(simulation)
    simulation.overtime = microseconds(scenario.execution.overtime)
    simulation.limit_check = microseconds(scenario.execution.limit_check or 0)
    if (checkpoint := scenario.execution.checkpoint) is not None:
        times = (checkpoint.interval, checkpoint.cost, checkpoint.restart)
        simulation.execution.write_checkpoints(*(microseconds(time) for time in times))
    simulation.run(NEVER if scenario.until is None else microseconds(scenario.until))
    ran = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if pieces is not None:
        pieces.flush()
    for batch in arrivals.batches:
        ignored.look(batch)
    jobs, allocations = build_tables(simulation, arrivals, names)
    facts = _facts(scenario, source, simulation, arrivals) | {"ignored": ignored.counts}
    facts["strangers"] = [] if first is None else find_strangers(scenario, first)
    facts["rejected_reasons"] = simulation.reasons
    facts["cancelled_reasons"] = simulation.withdrawn
    if simulation.unfinished:
        facts["left"] = {why: {"jobs": len(ids), "first": ids[:NAMED]} for why, ids in simulation.unfinished.items()}
    acts = facts.get("users", {}).get("acts", {})
    if isinstance(workload, Workload):
        counted.add(jobs, workload, acts)
    facts |= counted.facts(simulation)
    plans = None if planned is None else planned.table()
    outages = build_outages(simulation, names)
    record = Record(jobs, allocations, facts, ran, outages, _samples(simulation), plans=plans)
    if isinstance(simulation.execution, Programs):
        record.traffic = dict(zip(names, simulation.execution.traffic(), strict=False)) or None
    return record


def _checked(workload: Workload | Iterable[Workload], scenario: Scenario) -> Iterable[Workload]:
    """The batches, each looked through for what this engine cannot run."""
    endless = scenario.execution.overrun == "extend" and scenario.until is None
    shaped = any(cluster.nodes is not None for cluster in scenario.clusters)
    for batch in [workload] if isinstance(workload, Workload) else workload:
        if not isinstance(workload, Workload) and (batch.has("array") or _waits(batch, scenario)):
            what = "arrays, and jobs that wait for others, in a stream; give the whole workload at once"
            raise UnsupportedError(NAME, [("workload.dependencies", what)])
        if not batch.has("cores") and batch.has("nodes") and batch.has("cores_per_node"):
            batch = _with_total(batch)
        if len(batch) and np.any(batch.column("requested_time") < 0):
            row = int(np.argmax(batch.column("requested_time") < 0))
            raise InputError("a job has no requested time", value=int(batch.column("job_id")[row]))
        if shaped and batch.has("nodes") and np.any(batch.column("cores") < batch.column("nodes")):
            row = int(np.argmax(batch.column("cores") < batch.column("nodes")))
            job = int(batch.column("job_id")[row])
            raise InputError("a job asks for fewer cores than nodes", value=job)
        _check_parts(batch, scenario)
        bound = batch.column("cancel") >= 0
        if scenario.execution.model.name == PROGRAMS:
            bound |= batch.column("profile") >= 0
        if endless and np.any((batch.column("run_time") < 0) & ~bound):
            row = int(np.argmax((batch.column("run_time") < 0) & ~bound))
            job = int(batch.column("job_id")[row])
            raise InputError("a job without a run time would run for ever (overrun: extend, no until)", value=job)
        threads = scenario.clusters[0].threads_per_core
        yield batch if threads == 1 else round_to_cores(batch, threads)


ALIKE = "workload.adjust.alike: true gives them as many alike nodes, in the queue of the first part"


def _check_parts(batch: Workload, scenario: Scenario) -> None:
    """Jobs whose nodes differ run on nodes of one queue, by cores and not by threads, which neither Slurm's own planner
    chooses nor a placement that keeps them together."""
    if not batch.has("parts"):
        return
    where = ""
    for cluster in scenario.clusters:
        if cluster.scheduler.rhythm.name == "slurm":
            where = "in the rhythm slurm"
        elif cluster.threads_per_core > 1:
            where = where or "with threads_per_core"
        elif cluster.nodes is not None and cluster.scheduler.place is not None:
            where = where or (f"with place: {CONTIGUOUS}" if cluster.scheduler.place.name == CONTIGUOUS else "")
    if where and (found := find_parts(batch, lambda parts: True)) is not None:
        raise UnsupportedError(NAME, [("workload", f"jobs whose nodes differ, {where} ({ALIKE}); {found}")])
    queues = any(cluster.queues for cluster in scenario.clusters)
    if queues and (found := find_parts(batch, lambda parts: len({part.queue for part in parts}) > 1)) is not None:
        what = f"heterogeneous jobs with parts in several queues ({ALIKE}); {found}"
        raise UnsupportedError(NAME, [("workload", what)])


def _with_total(batch: Workload) -> Workload:
    """The batch with the total of requests that are given by their shape alone."""
    nodes, each = batch.column("nodes"), batch.column("cores_per_node")
    return batch.replace(dict(batch.columns) | {"cores": np.where((nodes > 0) & (each > 0), nodes * each, 1)})


def _plan_users(scenario: Scenario, workload: Workload | Iterable[Workload]) -> UserPlan | None:
    """When users submit what, where they react; of a stream their past and future is not known."""
    if scenario.users is None or not scenario.users.reacts:
        return None
    if not isinstance(workload, Workload):
        raise UnsupportedError(NAME, [("users", "with a stream of jobs; give the whole workload at once")])
    return plan_users(scenario, workload)


def _placed_evenly(scenario: Scenario) -> Scenario:
    """The scenario in which tasks that share time are placed evenly, where nothing is said of their places."""
    if scenario.execution.model.name not in SHARING:
        return scenario
    clusters = []
    for cluster in scenario.clusters:
        if cluster.scheduler.place is None:
            scheduler = cluster.scheduler.model_copy(update={"place": Part(name="even")})
            cluster = cluster.model_copy(update={"scheduler": scheduler})
        clusters.append(cluster)
    return scenario.model_copy(update={"clusters": tuple(clusters)})


def _options(scenario: Scenario, observer: Progress | None, observers: Sequence[Any]) -> dict[str, Any]:
    """What a Simulation is made with, besides its arrivals."""
    execution = registry.build("execution", scenario.execution.model)
    execution.extends = scenario.execution.overrun == "extend"
    if scenario.execution.profiles is not None:
        execution.read(scenario.execution.profiles)
    if isinstance(execution, Programs):
        execution.metering = bool({"node", "node-group"} & set(scenario.record.by))
    return {
        "execution": execution,
        "observers": observers,
        "per_event": scenario.clusters[0].scheduler.rhythm.name == "event",
        "progress": None if observer is None else observer.progress,
    }


def _waits(batch: Workload, scenario: Scenario) -> bool:
    """Whether jobs wait for other jobs."""
    told = batch.has("dependencies") and any(batch.column("dependencies"))
    return told or (scenario.dependencies.preceding and batch.has("preceding_job"))


def _conditions(workload: Workload | Iterable[Workload], scenario: Scenario) -> Conditions:
    """What jobs wait for, and how late they may be."""
    late, rules = scenario.deadlines == "cancel", scenario.dependencies
    if not isinstance(workload, Workload):
        return Conditions(drop_late=late)
    graph = resolve_dependencies(workload, preceding=rules.preceding, unknown=rules.unknown)
    return Conditions(graph, rules.never == "stay", resolve_arrays(workload), late)


def _limits_work(cluster: Cluster) -> bool:
    return any("running_core_minutes" in rule.caps for rule in collect_rules(cluster))


def _limit_slack(scenario: Scenario) -> dict[str, float]:
    """By how much a job may outlive its limit before it is killed, where it may."""
    slack = scenario.execution.overtime + (scenario.execution.limit_check or 0)
    return {"limit_slack": slack} if slack else {}


def _facts(scenario: Scenario, workload: Any, simulation: Simulation, arrivals: Arrivals) -> dict[str, Any]:
    notes, origin = getattr(workload, "notes", {}), getattr(workload, "origin", None)
    oracle = any(cluster.estimate.oracle for cluster in simulation.clusters)
    return {
        "clusters": {cluster.name: cluster.total_cores for cluster in scenario.clusters},
        "nodes": {cluster.name: layout.facts() for cluster in scenario.clusters if (layout := cluster.layout())},
        "origin": {"epoch": origin.epoch if origin else None, "timezone": origin.timezone if origin else None},
        "submitted": simulation.jobs.entered,
        "skipped": dict(notes.get("skipped", {})),
        **({"renumbered": notes["renumbered"]} if "renumbered" in notes else {}),
        **({"log_clusters": notes["log_clusters"]} if "log_clusters" in notes else {}),
        "perfect_estimates": simulation.jobs.entered if oracle else notes.get("perfect_estimates", 0),
        "oracle": oracle,
        "ignored": {},
        "overrun": scenario.execution.overrun,
        **_limit_slack(scenario),
        **({"shared_time": True} if scenario.execution.model.name in SHARING else {}),
        **_programs(simulation),
        "passes": sum(cluster.passes for cluster in simulation.clusters),
        "longest_queue": max(cluster.longest_queue for cluster in simulation.clusters),
        "until": scenario.until,
        "over": simulation.over / SECOND if simulation.over >= 0 else None,
        **({"start": notes["start"]} if "start" in notes else {}),
        "held": _held(simulation),
        "disruptions": dict(simulation.counts) if any(simulation.counts.values()) else {},
        "checkpoint_core_hours": simulation.execution.spent_aside / (3600 * SECOND),
        **_brokered(simulation),
        **_users(scenario, arrivals),
    }


def _users(scenario: Scenario, arrivals: Arrivals) -> dict[str, Any]:
    """What only users who react have to tell."""
    if scenario.users is None or not isinstance(arrivals, Users):
        return {}
    told: dict[str, Any] = {"mode": scenario.users.mode, "session_gap": scenario.users.session_gap}
    told["not_submitted"] = arrivals.count_missing()
    return {"users": told | ({} if arrivals.reactions is None else arrivals.reactions.tell())}


def _programs(simulation: Simulation) -> dict[str, Any]:
    """Of jobs that are programs: how many failed by an error of their own and how many were stopped at their limit, and
    what the first of them say."""
    model = simulation.execution
    if not isinstance(model, Programs):
        return {}
    told: dict[str, Any] = {"failed": model.failed, "first": model.errors}
    return {"programs": told | ({"stopped": model.cut_off, "stopped_first": model.cut} if model.cut_off else {})}


def _brokered(simulation: Simulation) -> dict[str, Any]:
    """What only several clusters have to tell."""
    dispatch = simulation.scheduling
    if not isinstance(dispatch, Dispatch):
        return {}
    moves = {} if dispatch.migration is None else {"migrations": dispatch.migration.moves}
    moves |= {} if dispatch.joint is None else {"planned_moves": dispatch.joint.moves}
    return {"longest_global_queue": dispatch.longest} | moves


def _samples(simulation: Simulation) -> pl.DataFrame | None:
    """What orders have noted over time, as rows of the series; None where none has."""
    columns: dict[str, list[Any]] = {"time": [], "series": [], "entity": [], "value": []}
    several = len(simulation.clusters) > 1
    kept = [(f"{cluster.name}/" if several else "", cluster.orders) for cluster in simulation.clusters]
    if isinstance(simulation.scheduling, Dispatch):
        kept.append(("broker/", [line.order for line in simulation.scheduling.queues if line.order is not None]))
    for prefix, orders in kept:
        for order in dict.fromkeys(orders):
            for series, entities in order.history().items():
                for entity, points in entities.items():
                    columns["time"] += [time / SECOND for time, _ in points]
                    columns["value"] += [value for _, value in points]
                    columns["series"] += [series] * len(points)
                    columns["entity"] += [prefix + entity] * len(points)
    return pl.DataFrame(columns, schema=SERIES) if columns["time"] else None


def _held(simulation: Simulation) -> dict[str, float]:
    """The job-hours for which each limit kept jobs waiting."""
    held: dict[str, float] = {}
    for cluster in simulation.clusters:
        if cluster.quotas is not None:
            cluster.quotas.set_time(simulation.now)
            for title, waited in cluster.quotas.account():
                held[title] = waited / (3600 * SECOND)
    return held


class Ignored:
    """Requests for what no cluster counts, by resource: how many jobs of the batches make one."""

    def __init__(self, scenario: Scenario) -> None:
        layouts = [layout for cluster in scenario.clusters if (layout := cluster.layout()) is not None]
        counted = {name for layout in layouts for name in layout.resources()}
        if any(layout.resources() != ["cores"] for layout in layouts):
            counted.add("gpus")  # where nodes tell what they have, one that tells no GPUs has none
        self.kinds = {kind: label for kind, label in (("memory", "memory"), ("gpus", "GPUs")) if kind not in counted}
        self.kinds |= {} if layouts else {"licences": "licences"}
        self.counts: dict[str, int] = {}

    def look(self, batch: Workload) -> None:
        """Count those of a batch."""
        for kind, label in self.kinds.items():
            columns = [kind, f"{kind}_per_node", f"{kind}_per_core"]
            least = 0 if kind == "licences" else 1  # a label's code
            masks = [batch.column(name) >= least for name in columns if batch.has(name)]
            if masks and (count := int(np.count_nonzero(np.logical_or.reduce(masks)))):
                self.counts[label] = self.counts.get(label, 0) + count
