"""The rules of a site: queues and the way into them, accounts, and limits on how much each may run at once."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.part import Part
from walltime.scenario.values import (
    Amount,
    Count,
    Duration,
    Flag,
    Model,
    MostMemory,
    Name,
    Names,
    Shares,
    Size,
    UsualMemory,
    check_ranges,
)

ENTITIES = ("user", "group", "account", "qos", "queue")
"""What a limit can be on."""
ACCRUING = "accruing_jobs"
"""The cap that keeps no job from running, only from growing older."""


class Caps(Model):
    """Upper bounds that hold at every moment; absent ones do not bind."""

    running_jobs: Count | None = Field(default=None, description="Jobs that run at once.")
    running_cores: Count | None = Field(default=None, description="Cores in use at once.")
    running_gpus: Amount | None = Field(default=None, description="GPUs in use at once.")
    running_memory: Size | None = Field(default=None, description="Memory in use at once: bytes, or `94G`.")
    running_core_minutes: Count | None = Field(
        default=None,
        description="Cores in use times the minutes that their jobs may still run, by their requests.",
    )
    submitted_jobs: Count | None = Field(
        default=None, description="Jobs in the system, waiting or running; one too many is rejected."
    )

    def caps(self) -> dict[str, int]:
        """The bounds that are given, by name."""
        given = {name: getattr(self, name) for name in Caps.model_fields}
        return {name: value for name, value in given.items() if value is not None}


class Queue(Caps):
    """A queue, or partition: which jobs may wait in it, on which nodes they run, and what they may have together."""

    priority: int = Field(
        default=0, ge=-(1 << 31), lt=1 << 31, description="Jobs of a queue with a higher number come first."
    )
    nodes: Names | None = Field(
        default=None,
        description="Its nodes: names of groups, of nodes, or ranges such as `n[0-9,12]`; all nodes where absent. "
        "Queues may overlap.",
    )
    order: Part | None = Field(default=None, description="The order within the queue, where it is not the scheduler's.")
    place: Part | None = Field(
        default=None, description="On which nodes its jobs run, where that is not the scheduler's placement."
    )
    sharing: Literal["shared", "whole"] | None = Field(
        default=None,
        description="Of a cluster whose nodes are shared: `whole` gives its jobs nodes of their own, as if each asked "
        "for them (`exclusive`), while jobs of other queues share theirs. The cluster's, where absent.",
    )
    default_memory: UsualMemory | None = Field(
        default=None,
        description="What a job has here that says nothing of memory; the cluster's, where absent.",
    )
    max_memory: MostMemory | None = Field(
        default=None, description="The most memory that a job may ask for here; the cluster's, where absent."
    )
    job_factor: Amount = Field(
        default=1,
        description="Of the order `multifactor`: the partition factor of its jobs, over the largest of all queues.",
    )
    default_time: Duration | None = Field(
        default=None, description="What a job without a requested time is taken to ask for."
    )
    max_time: Duration | None = Field(default=None, description="A job that asks for more time is rejected.")
    min_cores: Count | None = Field(default=None, description="A smaller job is rejected.")
    max_cores: Count | None = Field(default=None, description="A larger job is rejected.")
    users: Names | None = Field(default=None, description="Only these users may use it.")
    groups: Names | None = Field(default=None, description="Only these groups may use it.")
    accounts: Names | None = Field(default=None, description="Only these accounts, and those below, may use it.")
    per_user: Caps | None = Field(default=None, description="Bounds for each user in this queue.")
    per_group: Caps | None = Field(default=None, description="Bounds for each group in this queue.")
    per_account: Caps | None = Field(default=None, description="Bounds for each account in this queue.")
    default: Flag = Field(default=False, description="Takes the jobs that name no queue and that no route takes.")

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        return {} if value is None else value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.default_time is not None and self.max_time is not None and self.default_time > self.max_time:
            raise PydanticCustomError("times", "has a default_time above its max_time")
        if self.min_cores is not None and self.max_cores is not None and self.min_cores > self.max_cores:
            raise PydanticCustomError("sizes", "has min_cores above max_cores")
        if self.min_cores is not None and self.running_cores is not None and self.running_cores < self.min_cores:
            raise PydanticCustomError(
                "cap",
                "has running_cores: {cap}, below its smallest job (min_cores: {least})",
                {"cap": self.running_cores, "least": self.min_cores},
            )
        return self


class Route(Model):
    """A rule that sends jobs to a queue: those for which all that it says is true; the first rule that fits counts."""

    queue: Name = Field(description="Where the job goes.")
    min_cores: Count | None = Field(default=None, description="At least so many cores.")
    max_cores: Count | None = Field(default=None, description="At most so many cores.")
    min_time: Duration | None = Field(default=None, description="A requested time of at least this.")
    max_time: Duration | None = Field(default=None, description="A requested time of at most this.")
    users: Names | None = Field(default=None, description="One of these users.")
    groups: Names | None = Field(default=None, description="One of these groups.")
    accounts: Names | None = Field(default=None, description="One of these accounts, or below them.")
    named: Names | None = Field(default=None, description="The trace names one of these queues, which are not ours.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_ranges(self)
        return self


class Account(Model):
    """An account in the tree of accounts; a limit on it counts everything below it."""

    parent: Name | None = Field(default=None, description="The account above it.")
    users: Names | None = Field(
        default=None, description="Users whose jobs are charged to it where the workload names no account."
    )
    shares: Shares = Field(
        default=1.0,
        description="Of fair share: what is due to it, in proportion to its siblings under the same parent.",
    )
    priority: Amount = Field(
        default=0,
        description="Of the order `multifactor`: the association factor of its jobs, over the largest of all accounts; "
        "an account without one has its parent's.",
    )

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        return {} if value is None else value


class Limit(Caps):
    """What some jobs may have together: those that match all of the names given, or, with `per`, each of them apart.

    `{group: atlas, running_cores: 2000}` is a quota of a group, `{per: user, running_jobs: 100}` one of every user.
    A limit that names a user takes the place of one `per: user` that says the same of the others.
    """

    user: Names | None = Field(default=None, description="Jobs of these users.")
    group: Names | None = Field(default=None, description="Jobs of these groups.")
    account: Names | None = Field(default=None, description="Jobs of these accounts and of all below them.")
    qos: Names | None = Field(default=None, description="Jobs of these qualities of service.")
    queue: Names | None = Field(default=None, description="Jobs in these queues.")
    per: Literal["user", "group", "account", "qos", "queue"] | None = Field(
        default=None, description="Each of them for itself, instead of all together."
    )
    accruing_jobs: Amount | None = Field(
        default=None,
        description="Of the order `multifactor`: waiting jobs whose age counts. The others grow no older until one of "
        "these starts or leaves.",
    )
    optional: Flag = Field(default=False, description="Whether it may name what the workload does not have.")

    def caps(self) -> dict[str, int]:
        return super().caps() | ({} if self.accruing_jobs is None else {ACCRUING: self.accruing_jobs})

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.caps():
            raise PydanticCustomError(
                "limit", "limits nothing; give one of " + ", ".join((*Caps.model_fields, ACCRUING))
            )
        if self.accruing_jobs is not None and (self.queue is not None or self.per == "queue"):
            raise PydanticCustomError("limit", f"has {ACCRUING} of a queue; give it of users, accounts or a qos")
        return self

    def names(self) -> dict[str, tuple[str, ...]]:
        """The names given, by kind of entity."""
        given = {kind: getattr(self, kind) for kind in ENTITIES}
        return {kind: names for kind, names in given.items() if names is not None}
