"""How several clusters are joined: the broker, its queues, which jobs are bound where, and which may move."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from walltime.scenario.part import Part, read_part
from walltime.scenario.values import Count, Duration, Flag, Model, Name, Names, check_ranges

CRITERIA = ("performance", "available", "load", "queue", "start")
"""What the broker `weighted` knows of every cluster, besides its attributes."""


def _targets(value: Any) -> Any:
    """Names of clusters, at least one."""
    if value is None or (isinstance(value, list | tuple) and not value):
        raise ValueError("binds jobs to no cluster")
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("must be a cluster, or a list of clusters")
    return tuple(name.strip() for name in names)


class JobSelector(Model):
    """Which jobs are meant: those for which all that is said is true; all jobs where nothing is said."""

    users: Names | None = Field(default=None, description="One of these users.")
    groups: Names | None = Field(default=None, description="One of these groups.")
    accounts: Names | None = Field(default=None, description="One of these accounts, or below them.")
    queues: Names | None = Field(default=None, description="The workload names one of these queues.")
    qos: Names | None = Field(default=None, description="One of these qualities of service.")
    types: Names | None = Field(default=None, description="One of these job types: the workload's `profile`.")
    min_cores: Count | None = Field(default=None, description="At least so many cores.")
    max_cores: Count | None = Field(default=None, description="At most so many cores.")
    min_time: Duration | None = Field(default=None, description="A requested time of at least this.")
    max_time: Duration | None = Field(default=None, description="A requested time of at most this.")

    @model_validator(mode="before")
    @classmethod
    def _all_jobs(cls, value: Any) -> Any:
        return {} if value is None else value

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_ranges(self)
        return self


class Binding(JobSelector):
    """A rule of the sites: these jobs run on these clusters only. Of several rules that mean a job, all hold."""

    clusters: Annotated[tuple[str, ...], BeforeValidator(_targets)] = Field(description="Where they may run.")


class GlobalQueue(JobSelector):
    """A queue of the global scheduler; a job waits in the first of them that it belongs to."""

    priority: int = Field(default=0, description="A queue with a higher number is served first.")
    order: Part | None = Field(default=None, description="The order within it, where it is not the broker's.")
    broker: Part | None = Field(default=None, description="Which cluster its jobs go to, where it is not the broker.")


class Migration(Model):
    """Jobs that wait in a cluster move to another that would start them earlier."""

    every: Duration | None = Field(
        default=None, description="Look so often; where absent, whenever something other than an arrival has happened."
    )
    gain: Duration = Field(default=60.0, description="By how much earlier the job must be predicted to start.")
    most: Count = Field(default=3, description="So often a job moves at most.")
    depth: Count = Field(
        default=100, description="So many of each cluster's waiting jobs are looked at, from the first."
    )

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {} if value is None or value is True else value


class Brokering(Part):
    """The global scheduler: a broker with its parameters, as any part, and how jobs wait before they have a cluster."""

    order: Part = Field(default=Part(name="fcfs"), description="The order of the jobs that have no cluster yet.")
    queues: dict[Name, GlobalQueue] = Field(
        default_factory=dict, description="Several global queues, by name; the first that a job belongs to is its own."
    )
    hold: Flag = Field(default=False, description="A job waits globally until some cluster could start it at once.")
    overtake: Flag = Field(
        default=True, description="Whether a job may go before one that has to wait globally and stands ahead of it."
    )
    shared_limits: Flag = Field(
        default=False,
        description="Limits, and caps of queues, count over all clusters together. With `hold`, and where all clusters "
        "have the same queues and limits.",
    )
    bind: tuple[Binding, ...] = Field(default=(), description="Which jobs may run on which clusters only.")
    migrate: Migration | None = Field(default=None, description="Whether waiting jobs move between clusters.")
    optimise: Part | None = Field(
        default=None, description="What improves the plans of all clusters with `backfill: plan` together."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, Part) and not isinstance(value, Brokering):
            value = {"name": value.name, "parameters": value.parameters, "instance": value.instance}
        if not isinstance(value, dict):
            return read_part(value)
        own = {key: value[key] for key in value if key in OWN}
        if own.get("migrate") is False:
            own["migrate"] = None
        elif "migrate" in own and own["migrate"] is None:
            own["migrate"] = {}
        rest = {key: item for key, item in value.items() if key not in OWN}
        return own | dict(read_part(rest))

    def short(self) -> str | dict[str, Any]:
        """The form in which a file writes it."""
        base, own = super().short(), {key: value for key, value in Model.short(self).items() if key in OWN}
        return base if not own else ({"name": base} if isinstance(base, str) else base) | own


OWN = ("order", "queues", "hold", "overtake", "shared_limits", "bind", "migrate", "optimise")
"""Keys of `broker` that are not parameters of the broker."""
