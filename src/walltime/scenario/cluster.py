"""A machine and its scheduler: the scenario's key `cluster`, one of `clusters`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.cluster.hostlist import expand
from walltime.cluster.machine import Machine
from walltime.cluster.network import Constant, Link
from walltime.cluster.nodes import Layout, NodeGroup
from walltime.core.errors import InputError
from walltime.scenario.disruptions import Failures, Reservation
from walltime.scenario.network import Component, Disk, Network
from walltime.scenario.part import Part
from walltime.scenario.reading.shares import read_shares
from walltime.scenario.rules import Account, Limit, Queue, Route
from walltime.scenario.values import (
    FILE,
    Amount,
    Count,
    Duration,
    Model,
    Moment,
    MostMemory,
    Name,
    Names,
    Score,
    Shares,
    Size,
    Speed,
    UsualMemory,
)

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
    holds: Literal["counted", "named"] = Field(
        default="counted",
        description="What a reservation on nodes keeps for a blocked job: `counted`, a number of cores or of whole "
        "nodes where it does not matter which, else certain nodes; `named`, certain nodes, from when it is made.",
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
        "also tells the count. A single one ends with a comma: `login,`.",
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
    default_memory: UsualMemory | None = Field(
        default=None,
        description="Of nodes that tell their memory: what a job has that says nothing of it, `4G/core`, `94G/node`, "
        "or `all` of its nodes; nothing where absent.",
    )
    max_memory: MostMemory | None = Field(
        default=None,
        description="Likewise: the most that a job may ask for. `94G/node`: one that asks for more on a node is "
        "rejected. `4G/core`: one that asks for more with a core gets more cores.",
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
        for name, queue in self.queues.items():
            if queue.sharing == "whole" and self.nodes is None:
                what = "has the queue {name}, which gives whole nodes, but no nodes; give nodes"
                raise PydanticCustomError("sharing", what, {"name": name})
            if queue.sharing == "shared" and self.sharing == "whole":
                what = "gives whole nodes, also to jobs of the queue {name}: sharing is for the cluster to say"
                raise PydanticCustomError("sharing", what, {"name": name})
        if not any(group.memory for group in self.nodes or ()):
            for one in (self, *self.queues.values()):
                for key in ("default_memory", "max_memory"):
                    if getattr(one, key) is not None:
                        what = "has {key}, but no node tells its memory"
                        raise PydanticCustomError("memory", what, {"key": key})
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
