"""Mistakes in a site's rules that no single key shows: told before anything runs, by name and line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from walltime.core.errors import InputError
from walltime.scenario.brokering import CRITERIA
from walltime.scenario.cluster import Cluster
from walltime.scenario.execution import PROGRAMS, SHARING
from walltime.scenario.model import Scenario
from walltime.scenario.names import place_error
from walltime.scenario.outages import in_disruptions
from walltime.scenario.part import Part
from walltime.scenario.rules import Caps, Queue
from walltime.workload.pattern import make_pattern, parse_profile

_RESERVED = ("cores", "memory", "gpus")


def check_rules(scenario: Scenario) -> None:
    """Raise InputError for the first rule that cannot be meant: no nodes, a cycle, a name that does not exist."""
    for index, cluster in enumerate(scenario.clusters):
        prefix = "cluster" if len(scenario.clusters) == 1 else f"clusters.{index}"
        for key, error in _mistakes(cluster):
            raise place_error(error, scenario, f"{prefix}.{key}")
        for number, group in enumerate(cluster.nodes or ()):
            if group.max_load > 1 and scenario.execution.model.name == "trace":
                key = "nodes.max_load" if len(cluster.nodes or ()) == 1 else f"nodes.{number}.max_load"
                what = "several tasks on a core, but the execution model (trace) does not share its time"
                raise place_error(InputError(f"{what}; others are {', '.join(SHARING)}"), scenario, f"{prefix}.{key}")
        for key, error in _in_checkpoints(scenario, cluster):
            raise place_error(error, scenario, f"{prefix}.{key}")
        for key, error in _in_machine(cluster):
            raise place_error(error, scenario, f"{prefix}.{key}")
    for key, error in [*_in_broker(scenario), *_in_profiles(scenario)]:
        raise place_error(error, scenario, key)


def _in_machine(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    """A network that does not hold together."""
    try:
        if cluster.network is not None:
            cluster.machine()
    except InputError as error:
        yield "network", InputError(str(error)) if error.file is not None else error


def _in_profiles(scenario: Scenario) -> Iterator[tuple[str, InputError]]:
    """Profiles of generated jobs that say nothing to the execution model; those of programs are looked at with their
    file."""
    synthetic = scenario.workload.synthetic
    if synthetic is None or scenario.execution.model.name == PROGRAMS:
        return
    for name, kind in synthetic.types.items():
        try:
            if kind.profile is not None:
                parse_profile(kind.profile, make_pattern("sequential", 1, 0, "block"))
        except InputError as error:
            yield f"workload.synthetic.types.{name}.profile", error


def _mistakes(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    yield from _in_names(cluster)
    yield from _in_queues(cluster)
    yield from _in_routes(cluster)
    yield from _in_accounts(cluster)
    yield from _in_limits(cluster)
    yield from in_disruptions(cluster)


def _in_checkpoints(scenario: Scenario, cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    """Jobs that are to go on from checkpoints that no job writes."""
    preempt = cluster.scheduler.preempt
    what = "no execution.checkpoint says that jobs write any"
    if scenario.execution.checkpoint is not None or scenario.execution.model.name == "programs":
        return  # programs say themselves where they do
    if cluster.interrupted == "checkpoint":
        yield "interrupted", InputError(what, value="checkpoint")
    if preempt is not None and preempt.parameters.get("mode") == "checkpoint":
        yield "scheduler.preempt.mode", InputError(what, value="checkpoint")


def _in_broker(scenario: Scenario) -> Iterator[tuple[str, InputError]]:
    """Clusters without a size, names of clusters that are not there, criteria that no broker has."""
    several = len(scenario.clusters) > 1
    for index, cluster in enumerate(scenario.clusters):
        if several and cluster.total_cores is None:
            yield f"clusters.{index}", InputError("a cluster without nodes or cores", value=cluster.name)
    broker = scenario.broker
    if broker is None:
        return
    names = [cluster.name for cluster in scenario.clusters]
    if broker.shared_limits and not broker.hold:
        yield "broker.shared_limits", InputError("limits are shared by clusters only with hold: true")
    first = scenario.clusters[0]
    for cluster in scenario.clusters[1:] if broker.shared_limits else ():
        for key in ("queues", "limits", "accounts"):
            if getattr(cluster, key) != getattr(first, key):
                what = f"{cluster.name} has other {key} than {first.name}, with which it should share its limits"
                yield "broker.shared_limits", InputError(what)
    for number, binding in enumerate(broker.bind):
        for name in binding.clusters:
            if name not in names:
                key = f"broker.bind.{number}.clusters"
                yield key, InputError("bound to a cluster that is not there", value=name, choices=names)
    parts: list[tuple[str, Part | None]] = [("broker", broker)]
    parts += [(f"broker.queues.{name}.broker", queue.broker) for name, queue in broker.queues.items()]
    for key, part in parts:
        weights = None if part is None or part.name != "weighted" else part.parameters.get("weights")
        for criterion in weights if isinstance(weights, dict) else ():
            for cluster in scenario.clusters:
                if criterion not in CRITERIA and criterion not in cluster.attributes:
                    choices = [*CRITERIA, *cluster.attributes]
                    what = f"cluster {cluster.name} has no such attribute to be weighed"
                    yield f"{key}.weights.{criterion}", InputError(what, value=criterion, choices=choices)


def _in_names(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    layout = cluster.layout()
    if layout is None:
        return
    twice = [name for name, count in Counter(layout.names()).items() if count > 1]
    if twice:
        yield "nodes", InputError("two nodes have the same name; give their groups other names", value=twice[0])
    for number, group in enumerate(cluster.nodes or ()):
        for name in group.resources:
            if name in _RESERVED:
                yield f"nodes.{number}.resources", InputError("a resource of its own key is named again", value=name)
            if name in cluster.licences:
                yield f"licences.{name}", InputError("a licence has the name of a resource of nodes", value=name)


def _in_queues(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    layout = cluster.layout()
    defaults = [name for name, queue in cluster.queues.items() if queue.default]
    if len(defaults) > 1:
        yield f"queues.{defaults[1]}.default", InputError("there is one default queue already", value=defaults[0])
    for name, queue in cluster.queues.items():
        key = f"queues.{name}"
        if "," in name:
            yield key, InputError("a queue's name has a comma, which stands between several queues", value=name)
        cores = cluster.total_cores
        if queue.nodes is not None:
            if layout is None:
                yield f"{key}.nodes", InputError("the queue has nodes, but the cluster is a plain number of cores")
                continue
            try:
                cores = int(layout.cores()[layout.select(queue.nodes)].sum())
            except InputError as error:
                yield f"{key}.nodes", error
                continue
        yield from _in_sizes(key, queue, cores)
        for kind in queue.accounts or ():
            if cluster.accounts and kind not in cluster.accounts:
                yield f"{key}.accounts", InputError("no such account", value=kind, choices=list(cluster.accounts))


def _in_sizes(key: str, queue: Queue, cores: int | None) -> Iterator[tuple[str, InputError]]:
    """Sizes with which no job could ever run."""
    if queue.min_cores is None:
        return
    if cores is not None and queue.min_cores > cores:
        yield f"{key}.min_cores", InputError(f"the queue has only {cores} cores", value=queue.min_cores)
    for per in ("per_user", "per_group", "per_account"):
        caps = getattr(queue, per)
        if caps is not None and caps.running_cores is not None and caps.running_cores < queue.min_cores:
            yield (
                f"{key}.{per}.running_cores",
                InputError(
                    f"a cap below the queue's smallest job (min_cores: {queue.min_cores})", value=caps.running_cores
                ),
            )


def _in_routes(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    for number, route in enumerate(cluster.routes):
        if route.queue not in cluster.queues:
            yield (
                f"routes.{number}.queue",
                InputError("a route to a queue that is not there", value=route.queue, choices=list(cluster.queues)),
            )
        for name in route.named or ():
            if name in cluster.queues:
                yield f"routes.{number}.named", InputError("jobs that name this queue are in it already", value=name)


def _in_accounts(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    charged: dict[str, str] = {}
    for name, account in cluster.accounts.items():
        if account.parent is not None and account.parent not in cluster.accounts:
            choices = [other for other in cluster.accounts if other != name]
            yield f"accounts.{name}.parent", InputError("no such account", value=account.parent, choices=choices)
            return
        for user in account.users or ():
            if user in charged:
                yield f"accounts.{name}.users", InputError(f"the user is in account {charged[user]} too", value=user)
            charged[user] = name
    for name in cluster.accounts:
        met: list[str] = []
        above: str | None = name
        while above is not None and above not in met:
            met.append(above)
            above = cluster.accounts[above].parent
        if above is not None:
            circle = [*met[met.index(above) :], above]
            yield f"accounts.{above}.parent", InputError("accounts in a circle", value=" < ".join(circle))
            return


def _in_limits(cluster: Cluster) -> Iterator[tuple[str, InputError]]:
    for number, limit in enumerate(cluster.limits):
        key = f"limits.{number}"
        for kind, known in (("queue", cluster.queues), ("account", cluster.accounts)):
            for name in getattr(limit, kind) or ():
                if known and name not in known and not limit.optional:
                    yield f"{key}.{kind}", InputError(f"no such {kind}", value=name, choices=list(known))
        yield from _in_cap(cluster, key, limit, limit.queue or ())


def _in_cap(cluster: Cluster, key: str, caps: Caps, queues: tuple[str, ...]) -> Iterator[tuple[str, InputError]]:
    for name in queues:
        least = cluster.queues[name].min_cores if name in cluster.queues else None
        if least is not None and caps.running_cores is not None and caps.running_cores < least:
            yield (
                f"{key}.running_cores",
                InputError(
                    f"a cap below the smallest job of queue {name} (min_cores: {least})", value=caps.running_cores
                ),
            )
