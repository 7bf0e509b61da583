"""The scenario: everything that one simulation is made of, as validated and immutable models."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.cluster.hostlist import expand
from walltime.cluster.machine import Machine
from walltime.cluster.network import Constant, Link
from walltime.cluster.nodes import Layout, NodeGroup
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.brokering import Brokering
from walltime.scenario.controller import Controller
from walltime.scenario.dependencies import Cancellations, Dependencies
from walltime.scenario.disruptions import Checkpoint, Failures, Reservation
from walltime.scenario.jobs import Adjustment
from walltime.scenario.modelled import Modelled
from walltime.scenario.network import Component, Disk, Network
from walltime.scenario.part import Part
from walltime.scenario.reading.shares import read_shares
from walltime.scenario.rules import Account, Limit, Queue, Route
from walltime.scenario.start import Start
from walltime.scenario.synthetic import Synthetic
from walltime.scenario.users import Users
from walltime.scenario.values import (
    FILE,
    Amount,
    Count,
    Duration,
    File,
    Flag,
    Later,
    Model,
    Moment,
    Name,
    Names,
    Score,
    Seed,
    Shares,
    Size,
    Speed,
    Zone,
)
from walltime.scenario.workflows import Workflows
from walltime.workload.formats.hosts import parse_host
from walltime.workload.requests import How

SCHEMA = 1
"""Version of the scenario file's layout."""

SHARING = ("processor-sharing", "time-shared", "gang")
"""The execution models in which tasks share the time of a core."""

PROGRAMS = "programs"
"""The execution model in which jobs are programs, whose run times emerge."""

_NODES = re.compile(r"(\d+)\s*[xX*]\s*(\d+)")


class Scheduler(Model):
    """How one cluster schedules: a composition of small parts, each with one question to answer."""

    spelt_out = ("order", "backfill", "estimate", "rhythm")

    order: Part = Field(default=Part(name="fcfs"), description="Which job is next: the order of the waiting jobs.")
    backfill: Part = Field(default=Part(name="easy"), description="Which jobs may overtake a blocked one.")
    estimate: Part = Field(
        default=Part(name="request"), description="How long the scheduler believes that a job will run."
    )
    place: Part | None = Field(default=None, description="On which nodes a job runs.")
    preempt: Part | None = Field(default=None, description="Which running jobs may be displaced.")
    rhythm: Part = Field(
        default=Part(name="instant"),
        description="When to think: `instant`, one pass after everything that happens at an instant; "
        "`event`, a pass after every single event; `periodic`, a main pass on events and a backfill pass "
        "every so often; `slurm`, the two passes of Slurm's controller with its own rules, on nodes.",
    )


class Nodes(Model):
    """Equal nodes: in YAML `120x2`, or `{count: 120, cores: 2, speed: 1.5, name: fast}`."""

    count: Count = Field(description="How many nodes.")
    cores: Count = Field(description="Cores of each node.")
    speed: Speed = Field(
        default=1.0, description="Speed of each node; a job that runs an hour at 1.0 takes half an hour at 2.0."
    )
    name: Name = Field(
        default="n",
        description="What the nodes' names begin with; a number follows. Or all of their names: `cn[001-028]`, which "
        "also tells the count.",
    )
    memory: Size | None = Field(default=None, description="Memory of each node; not counted where absent.")
    gpus: Amount = Field(default=0, description="GPUs of each node.")
    resources: dict[Name, Amount] = Field(
        default_factory=dict, description="Anything else that can be counted, such as `{scratch: 400}`, of each node."
    )
    features: Names | None = Field(default=None, description="Properties that a job may ask for, such as `infiniband`.")
    per_switch: Count | None = Field(
        default=None, description="So many neighbouring nodes share a switch, for the placement `topology`."
    )
    disk: Disk | None = Field(default=None, description="Of nodes that programs run on: the disk of each node.")
    max_load: Count = Field(
        default=1,
        description="Of nodes whose time is shared: so many tasks at most for each core. Needs an execution model that "
        "shares time.",
    )
    quantum: Duration | None = Field(
        default=None, description="Of nodes whose time is shared: the time slice, where not the execution model's."
    )
    switch_cost: Moment | None = Field(
        default=None, description="Likewise: the time that a change from one task to another costs."
    )
    sync_delay: Moment | None = Field(
        default=None, description="Likewise: what a meeting of a job's tasks takes on this node."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            match = _NODES.fullmatch(value.strip())
            if not match:
                raise PydanticCustomError("nodes", "must be NODESxCORES, such as 120x2")
            return {"count": int(match[1]), "cores": int(match[2])}
        if not isinstance(value, dict | Nodes):
            raise PydanticCustomError("nodes", "must be NODESxCORES, such as 120x2, or a mapping of count and cores")
        if isinstance(value, dict) and "count" not in value and re.search(r"[\[,]", str(value.get("name", ""))):
            try:
                return value | {"count": len(expand(str(value["name"])))}
            except InputError as error:
                raise PydanticCustomError("nodes", "{what}", {"what": f"has {error}"}) from None
        return value

    def short(self) -> str | dict[str, Any]:
        """The form in which a file writes it."""
        given: dict[str, Any] = super().short()
        return given if len(given) > 2 else f"{self.count}x{self.cores}"


class Cluster(Model):
    """A machine and its scheduler. Without `cores` and `nodes` its size is the one that the trace's header tells."""

    spelt_out = ("name", "scheduler")

    name: Name = Field(default="cluster", description="Its name in results; unique.")
    cores: Count | None = Field(default=None, description="Its size as one pool of cores. Not together with `nodes`.")
    nodes: tuple[Nodes, ...] | None = Field(
        default=None,
        description="Its size as nodes, such as `120x2`, or a list of groups of equal nodes. Not together with "
        "`cores`.",
    )
    sharing: Literal["shared", "whole"] = Field(
        default="shared",
        description="Of a cluster with nodes: jobs share a node, each with cores of its own (`shared`), or a node is "
        "given to one job at a time (`whole`).",
    )
    threads_per_core: Count = Field(
        default=1,
        description="Of a cluster with nodes whose `cores` are threads, as Slurm's CPUs may be: so many are a core, "
        "which one job has as a whole; what a job asks for is rounded up, on each of its nodes.",
    )
    licences: dict[Name, Amount] = Field(
        default_factory=dict, description="What the cluster as a whole has of things that are on no node."
    )
    queues: dict[Name, Queue] = Field(default_factory=dict, description="Its queues, or partitions, by name.")
    routes: tuple[Route, ...] = Field(
        default=(), description="Rules that send jobs that name none of the queues to one of them."
    )
    accounts: dict[Name, Account] = Field(default_factory=dict, description="The tree of accounts, by name.")
    shares: Annotated[dict[Name, Shares], FILE] = Field(
        default_factory=dict,
        description="Of fair share: what is due to users (or groups) by name, in proportion to the others in the same "
        "account; one that is not named has 1. A group that has the name of a user is `group:NAME`. In a file: the "
        "name of a text file with a name and a number in each line.",
    )
    limits: tuple[Limit, ...] = Field(default=(), description="Limits and quotas of users, groups, accounts and QOS.")
    reservations: tuple[Reservation, ...] = Field(
        default=(), description="Advance reservations and maintenance windows."
    )
    failures: tuple[Failures, ...] = Field(default=(), description="Failures of nodes.")
    interrupted: Literal["requeue", "fail", "checkpoint"] = Field(
        default="requeue",
        description="What becomes of a running job whose node fails, or that is in the way of a reservation: it waits "
        "again and starts from nothing (`requeue`) or from its last checkpoint (`checkpoint`), or it has failed.",
    )
    requeue_delay: Moment = Field(
        default=0.0,
        description="For so long a job that was put back, by such an interruption or for a more urgent job, cannot "
        "start again. In Slurm: `cred_expire` of `AuthInfo`, 120 s, and one second.",
    )
    network: Network | None = Field(
        default=None, description="Of a cluster that programs run on: how its nodes are connected."
    )
    components: dict[Name, Component] = Field(
        default_factory=dict,
        description="Likewise: what is outside the nodes, by name, such as a storage that programs read from.",
    )
    attributes: dict[Name, Score] = Field(
        default_factory=dict,
        description="Anything else that a broker may weigh, as numbers: `{reliability: 0.99, connectivity: 10}`.",
    )
    scheduler: Scheduler = Field(default_factory=lambda: Scheduler(), description="How it schedules.")

    @field_validator("shares", mode="before")
    @classmethod
    def _shares_of_file(cls, value: Any) -> Any:
        if isinstance(value, str):
            try:
                return read_shares(value)
            except InputError as error:
                raise ValueError(str(error)) from None
        return {} if value is None else value

    @field_validator("nodes", mode="before")
    @classmethod
    def _one_or_many_groups(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise PydanticCustomError("nodes", "must not be empty")
        return value if value is None or isinstance(value, list | tuple) else (value,)

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.cores is not None and self.nodes is not None:
            raise PydanticCustomError("size", "has both cores and nodes; give one of them")
        if self.sharing == "whole" and self.nodes is None:
            raise PydanticCustomError("sharing", "shares whole nodes but has none; give nodes")
        if odd := [group.cores for group in self.nodes or () if group.cores % self.threads_per_core]:
            what = f"has {odd[0]} cores on a node, which are no whole cores of {self.threads_per_core} threads"
            raise PydanticCustomError("threads", "{what}", {"what": what})
        if self.threads_per_core > 1 and self.nodes is None:
            raise PydanticCustomError("threads", "has threads_per_core but no nodes; give nodes")
        if self.licences and self.nodes is None:
            raise PydanticCustomError("licences", "has licences but no nodes; give nodes")
        try:
            self.layout()
        except InputError as error:
            raise PydanticCustomError("nodes", "{what}", {"what": f"has {error.what}"}) from None
        return self

    def short(self) -> dict[str, Any]:
        """The form in which a file writes it."""
        given: dict[str, Any] = super().short()
        if len(self.nodes or ()) == 1:
            given["nodes"] = given["nodes"][0]
        return given

    def layout(self) -> Layout | None:
        """The nodes as plain data; None for one pool of cores. It is made once, and remembers what it is asked."""
        return self._layout

    @cached_property
    def _layout(self) -> Layout | None:
        if self.nodes is None:
            return None
        groups = tuple(NodeGroup(**group.model_dump(exclude={"disk"})) for group in self.nodes)
        return Layout(groups, self.sharing, self.licences)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, whose nodes may be others."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            copied.__dict__.pop("_layout", None)
        return copied

    def machine(self) -> Machine | None:
        """The nodes with their disks, the network and the components outside; None for one pool of cores.

        Without a network the nodes are connected without limit. Raises InputError for one that does not hold together.
        """
        layout = self.layout()
        if layout is None or self.nodes is None:
            return None
        names, components = layout.names(), [one.component(name) for name, one in self.components.items()]
        free = Constant(layout.count, Link())
        network = free if self.network is None else self.network.build(names, components)
        kinds = [None if group.disk is None else group.disk.plain() for group in self.nodes]
        disks = [disk for disk, group in zip(kinds, self.nodes, strict=True) for _ in range(group.count)]
        return Machine(layout, network, tuple(disks), tuple(components))

    @property
    def total_cores(self) -> int | None:
        """Cores that are offered to jobs in total; None while the size is not resolved."""
        if self.nodes is None:
            return self.cores
        return sum(group.count * group.cores * group.max_load for group in self.nodes)


class Generate(Model):
    """An artificial workload; the same for the same seed."""

    jobs: Count = Field(description="How many jobs.")
    cores: Count = Field(description="The size of the machine that they are made for; no job is larger.")
    load: float = Field(default=0.8, description="Offered load: the work submitted over the machine's capacity.")
    model: dict[str, Any] = Field(
        default_factory=dict,
        description="Other parameters of the generator, such as `users`, `median_run` (seconds), `spread_run`, "
        "`serial`, `power_of_two`, `largest`, `exact_request`, `killed` (shares) and `rhythm`.",
    )

    @field_validator("load", mode="before")
    @classmethod
    def _sensible_load(cls, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError("must be a number")
        if not 0 < value <= 100:
            raise ValueError("must be above 0 and at most 100")
        return float(value)

    @field_validator("model")
    @classmethod
    def _known_parameters(cls, value: dict[str, Any]) -> dict[str, Any]:
        from walltime.workload.generate import Model as Parameters

        names = [field.name for field in fields(Parameters)]
        for name, given in value.items():
            if name not in names:
                raise ValueError(str(InputError("has no such parameter", value=name, choices=names)))
            if not isinstance(given, int | float):
                raise ValueError(f"{name} must be a number")
        try:
            Parameters(**value)
        except InputError as error:
            raise ValueError(str(error)) from None
        return value


class WorkloadSource(Model):
    """Where jobs come from: one of `trace`, `generate`, `synthetic` and `model`."""

    text_is = "trace"

    trace: File | None = Field(
        default=None, description="A trace file; a relative path starts at the scenario file's folder."
    )
    generate: Generate | None = Field(default=None, description="An artificial workload instead of a trace.")
    synthetic: Synthetic | None = Field(
        default=None, description="Arrivals and a mix of job types, each drawn from a distribution of your choice."
    )
    model: Modelled | None = Field(
        default=None, description="Jobs like those of a log, from a model of it, or from a published one."
    )
    format: Name | None = Field(
        default=None,
        description="`swf`, `sacct`, `torque`, `batsim`, `dslab`, `google`, `alibaba` or `table`, where neither suffix "
        "nor contents tell.",
    )
    columns: dict[Name, Name] = Field(
        default_factory=dict,
        description="Of a foreign table: its columns, with the unit where it is not seconds, by ours: "
        '`{submit: time_submit, run_time: "elapsed:min"}`.',
    )
    collections: File | None = Field(
        default=None, description="Of `dslab` and `google`: the file that tells users (and priorities) of collections."
    )
    host: Name | None = Field(
        default=None,
        description="Of `google` and `alibaba`, whose requests are shares of a machine: what that has, as `96x512G`.",
    )

    @field_validator("host")
    @classmethod
    def _is_host(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                parse_host(value)
            except InputError as error:
                raise ValueError(error.what) from None
        return value

    @property
    def sources(self) -> list[str]:
        """The keys that say where jobs come from."""
        return [name for name in ("trace", "generate", "synthetic", "model") if getattr(self, name) is not None]

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = self.sources
        if len(given) != 1:
            what = (
                f"has both {given[0]} and {given[1]}; give one of them"
                if given
                else "needs trace, generate, synthetic or model"
            )
            raise PydanticCustomError("source", "{what}", {"what": what})
        return self


class WorkloadSpec(WorkloadSource):
    """Where the jobs come from: one of `trace`, `generate`, `synthetic` and `model` (in Python also `table`), or a list
    of several, whose jobs are mixed."""

    spelt_out = ("missing_request",)

    mix: tuple[WorkloadSource, ...] = Field(
        default=(),
        description="Several workloads whose jobs are mixed; a file may have a list in the workload's place.",
    )
    missing_request: How = Field(
        default="exact",
        description="What a job without a requested time is taken to have asked for: its `exact` run time (such jobs "
        "are labelled as perfect estimates), the `max` of the requests, or a `model` of how people ask.",
    )
    workflows: tuple[Workflows, ...] = Field(default=(), description="Workflows among the jobs; one mix, or a list.")
    adjust: Adjustment | None = Field(
        default=None,
        description="Jobs as they might have been under other limits; left out, they are as the log has them. "
        "(`reaction` means the same.)",
    )
    table: Any = Field(default=None, exclude=True, repr=False, description="Python only: a Workload.")

    @model_validator(mode="before")
    @classmethod
    def _from_table(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return {"mix": value}
        if isinstance(value, Mapping) and "reaction" in value and "adjust" not in value:
            value = {"adjust" if key == "reaction" else key: one for key, one in value.items()}
        return {"table": value} if isinstance(value, Workload) else value

    @field_validator("workflows", mode="before")
    @classmethod
    def _one_or_many_mixes(cls, value: Any) -> Any:
        return (value,) if isinstance(value, dict) else () if value is None else value

    @field_validator("table", mode="after")
    @classmethod
    def _is_table(cls, value: Any) -> Any:
        if value is not None and not isinstance(value, Workload):
            raise ValueError(
                "takes a walltime Workload, from Python only; a file says trace, generate, synthetic or model"
            )
        return value

    @property
    def sources(self) -> list[str]:
        """The keys that say where jobs come from."""
        return [*super().sources, *(name for name in ("mix", "table") if getattr(self, name) not in ((), None))]


class Execution(Model):
    """How a started job unfolds."""

    spelt_out = ("model", "overrun")

    model: Part = Field(
        default=Part(name="trace"), description="What decides a job's run time; `trace`: the workload's own."
    )
    overrun: Literal["kill", "extend"] = Field(
        default="kill",
        description="A job that runs longer than it asked is killed at its limit (`kill`), or runs on and the "
        "scheduler sees corrected ends (`extend`, the default where the nodes' time is shared).",
    )
    overtime: Moment = Field(
        default=0.0,
        description="With `kill`: for so long a job may run beyond its limit. In Slurm: `OverTimeLimit`.",
    )
    limit_check: Duration | None = Field(
        default=None,
        description="With `kill`: limits are looked at every so often, counted from time zero, and a job beyond its "
        "own is killed then; left out, at its limit. In Slurm: every 30 s.",
    )
    checkpoint: Checkpoint | None = Field(default=None, description="Jobs that write checkpoints.")
    profiles: File | None = Field(
        default=None, description="Of the model `programs`: a YAML or JSON file of profiles, which jobs name."
    )

    @model_validator(mode="before")
    @classmethod
    def _longer_when_shared(cls, value: Any) -> Any:
        """Where time is shared, it is not known in advance how long a job takes: no request is meant as a limit."""
        if not isinstance(value, dict) or "overrun" in value:
            return value
        model = value.get("model")
        name = model.get("name") if isinstance(model, dict) else getattr(model, "name", model)
        return value | {"overrun": "extend"} if name in SHARING else value

    @model_validator(mode="after")
    def _limits_that_kill(self) -> Self:
        if self.overrun == "extend" and (self.overtime or self.limit_check):
            what = f"has {'overtime' if self.overtime else 'limit_check'}, but no job is killed: overrun: extend"
            raise PydanticCustomError("overrun", "{what}", {"what": what})
        return self


class Record(Model):
    """What a result keeps."""

    text_is = "keep"
    spelt_out = ("series",)

    keep: Literal["tables", "summary"] = Field(
        default="tables",
        description="A row for each job and each allocation (`tables`), or the figures of the summary alone, and the "
        "series where their `interval` is told (`summary`). A trace is then read as it is needed, and memory goes with "
        "the jobs that are in the system at a time.",
    )
    series: Flag = Field(default=True, description="Time series of utilization, queue length and the like.")
    interval: Duration | None = Field(
        default=None,
        description="The length of an interval of the series; left out, a round one of which there are 1000 at most.",
    )
    by: tuple[
        Literal["user", "group", "account", "queue", "qos", "size", "resource", "cluster", "node", "node-group"], ...
    ] = Field(
        default=("queue",),
        description="What groups of jobs with series of their own are told apart by; of nodes and of groups of nodes "
        "(`node-group`) the loads are kept.",
    )
    plans: Flag = Field(
        default=False,
        description="The planned start, and nodes, of every job that is promised one, whenever they change.",
    )

    @model_validator(mode="after")
    def _plans_are_rows(self) -> Self:
        if self.plans and self.keep == "summary":
            raise PydanticCustomError("record", "keep: summary keeps no row of any job, and so no plans")
        return self


class Origin:
    """Where a scenario was read; says nothing of what it is, so that all origins are equal."""

    def __init__(self, file: str | None = None, lines: dict[str, int] | None = None) -> None:
        self.file = file
        self.lines = lines or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    __hash__ = None  # type: ignore[assignment]


class Scenario(Model):
    """Everything that one simulation is made of; the same scenario gives the same result, bit for bit."""

    spelt_out = ("walltime", "seed", "engine", "clusters", "execution", "record")

    walltime: Literal[1] = Field(default=1, description="Version of this layout.")
    seed: Seed = Field(default=0, description="The seed of every random stream.")
    engine: Literal["native", "slurm"] = Field(default="native", description="What runs it.")
    workload: WorkloadSpec = Field(description="Where the jobs come from; a plain text is a trace.")
    clusters: tuple[Cluster, ...] = Field(
        default=(Cluster(),), description="The machines; `cluster:` with one mapping where there is one."
    )
    broker: Brokering | None = Field(default=None, description="Which cluster a job goes to, where there are several.")
    execution: Execution = Field(default_factory=lambda: Execution(), description="How a started job unfolds.")
    users: Users | None = Field(
        default=None, description="Users who react to the system; a plain text is the mode. By default they do not."
    )
    dependencies: Dependencies = Field(
        default_factory=lambda: Dependencies(), description="Jobs that wait for other jobs."
    )
    deadlines: Literal["keep", "cancel"] = Field(
        default="keep",
        description="A job that can no longer end by its deadline, were it to start now and use the time it asked for, "
        "is run all the same and its lateness counted (`keep`), or cancelled and counted (`cancel`, as Slurm does).",
    )
    cancellations: Cancellations | None = Field(
        default=None, description="Users who withdraw their jobs, besides the cancellations in the workload."
    )
    start: Start | None = Field(
        default=None, description="The system as it stands, which the simulation begins from; by default it is empty."
    )
    record: Record = Field(default_factory=lambda: Record(), description="What the result keeps.")
    slurm: Controller | None = Field(
        default=None,
        description="Of the slurm engine: what the controller is told. On the native engine it has no effect, so that "
        "a scenario without `slurm.conf` runs on both.",
    )
    timezone: Zone | None = Field(
        default=None,
        description="The time zone, as `Europe/Prague`, of dates without one: in this file, and in a log of sacct or "
        "Torque. UTC where absent.",
    )
    until: Later | None = Field(
        default=None,
        description="Stop at this time after the trace's zero (seconds, `90s`, `15m`, `1.5h`, `10d1h`, `1-12:00:00`), "
        "or at a date (`2026-10-14T08:00`).",
    )

    _origin: Origin = PrivateAttr(default_factory=lambda: Origin())

    @model_validator(mode="before")
    @classmethod
    def _one_cluster(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "cluster" not in value:
            return value
        if "clusters" in value:
            raise PydanticCustomError("clusters", "has both cluster and clusters; give one of them")
        rest = {key: item for key, item in value.items() if key != "cluster"}
        return rest | {"clusters": [{} if value["cluster"] is None else value["cluster"]]}

    @model_validator(mode="after")
    def _unique_names(self) -> Self:
        if not self.clusters:
            raise PydanticCustomError("no_clusters", "needs at least one cluster")
        names = [cluster.name for cluster in self.clusters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise PydanticCustomError("names", "two clusters have the name {name}", {"name": repr(twice[0])})
        return self

    def short(self) -> dict[str, Any]:
        """The form in which a file writes it: `cluster` where there is one, none where slurm.conf says what it is."""
        written: dict[str, Any] = {}
        for key, value in super().short().items():
            if key != "clusters":
                written[key] = value
            elif self.slurm is None or self.slurm.conf is None:
                written |= {"cluster": value[0]} if len(value) == 1 else {"clusters": value}
        return written

    def read_workload(self) -> Workload:
        """The jobs, read or generated, with every missing request filled in; raises InputError."""
        from walltime.scenario.jobs import read_workload

        return read_workload(self)

    def parts(self) -> list[tuple[str, str, Part]]:
        """Every part in use as (dotted key, kind, part), in the order of the file."""
        found: list[tuple[str, str, Part]] = []
        for index, cluster in enumerate(self.clusters):
            prefix = "cluster" if len(self.clusters) == 1 else f"clusters.{index}"
            for kind in Scheduler.model_fields:
                if (part := getattr(cluster.scheduler, kind)) is not None:
                    found.append((f"{prefix}.scheduler.{kind}", kind, part))
            for name, queue in cluster.queues.items():
                for kind in ("order", "place"):
                    if getattr(queue, kind) is not None:
                        found.append((f"{prefix}.queues.{name}.{kind}", kind, getattr(queue, kind)))
        if self.broker is not None:
            found += [("broker", "broker", self.broker), ("broker.order", "order", self.broker.order)]
            if self.broker.optimise is not None:
                found.append(("broker.optimise", "optimise", self.broker.optimise))
            for name, above in self.broker.queues.items():
                for kind in ("order", "broker"):
                    if getattr(above, kind) is not None:
                        found.append((f"broker.queues.{name}.{kind}", kind, getattr(above, kind)))
        found.append(("execution.model", "execution", self.execution.model))
        for index, part in enumerate(self.users.reactions if self.users is not None else ()):
            found.append((f"users.reactions.{index}", "users", part))
        return found

    def place(self, key: str) -> dict[str, Any]:
        """`file` and `line` of a dotted key, for an InputError; empty for a scenario that was not read from a file."""
        if self._origin.file is None:
            return {}
        return {"file": self._origin.file, "line": self._origin.lines.get(key)}

    def placed(self, file: str, lines: dict[str, int]) -> Self:
        """The same scenario, knowing the lines of its dotted keys; equal to the one that does not."""
        self._origin = Origin(file, lines)
        return self

    def placed_as(self, other: Scenario) -> Self:
        """The same scenario, read where another was, whose lines it need not have any more."""
        self._origin = Origin(other._origin.file)
        return self

    @property
    def file(self) -> str | None:
        """The file that it was read from; None for one that a program made."""
        return self._origin.file

    @property
    def is_from_file(self) -> bool:
        """Whether a file says what it is, and not the program alone."""
        return self._origin.file is not None
