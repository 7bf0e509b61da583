"""The scenario: everything that one simulation is made of, as validated and immutable models."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.workload import Workload
from walltime.scenario.brokering import Brokering
from walltime.scenario.cluster import Cluster, Scheduler
from walltime.scenario.controller import Controller
from walltime.scenario.dependencies import Cancellations, Dependencies
from walltime.scenario.execution import Execution
from walltime.scenario.part import Part
from walltime.scenario.start import Start
from walltime.scenario.users import Users
from walltime.scenario.values import Duration, Flag, Later, Model, Seed, Zone
from walltime.scenario.workload.source import WorkloadSpec


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
            raise PydanticCustomError("names", "has two clusters of the name {name}", {"name": repr(twice[0])})
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
        from walltime.scenario.workload.jobs import read_workload

        return read_workload(self)

    def parts(self) -> list[tuple[str, str, Part]]:
        """Every part in use as (dotted key, kind, part), in the order of the file."""
        found: list[tuple[str, str, Part]] = []
        for index, cluster in enumerate(self.clusters):
            prefix = "cluster" if len(self.clusters) == 1 else f"clusters.{index}"
            for kind in Scheduler.model_fields:
                if isinstance(part := getattr(cluster.scheduler, kind), Part):
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
