"""The key `workload.reaction`: what users of a log might have done otherwise, by simple rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.time import microseconds
from walltime.scenario.values import Count, Duration, Flag, Model, Name, Names

if TYPE_CHECKING:
    from walltime.core.workload import Workload
    from walltime.scenario.model import Scenario


class Move(Model):
    """Jobs of some queues that go to another one: those within the bounds that its limits allow."""

    sources: Names = Field(description="The queues that the log names.")
    to: Name = Field(description="Where the jobs go.")
    min_cores: Count | None = Field(default=None, description="At least so many cores.")
    max_cores: Count | None = Field(default=None, description="At most so many cores.")
    min_time: Duration | None = Field(default=None, description="A requested time of at least this.")
    max_time: Duration | None = Field(
        default=None, description="A requested time of at most this; left out, what the new queue gives."
    )


class Reaction(Model):
    """What users of a log might have done under the limits of this scenario. A log itself does not react."""

    run_on: Flag = Field(
        default=False,
        description="Jobs that were cut off at their limit, where their queue now gives more, ask for all of it and "
        "run on to a length drawn from longer jobs of the log.",
    )
    moves: tuple[Move, ...] = Field(
        default=(), description="Jobs of other queues that go where they fit now; the first rule that fits counts."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.run_on and not self.moves:
            raise PydanticCustomError("reaction", "needs run_on or moves")
        return self


def react(workload: Workload, scenario: Scenario) -> Workload:
    """The jobs as users might have asked for them; the notes tell how many changed. Raises InputError."""
    from walltime.core.errors import InputError
    from walltime.workload.reactions import move, run_on

    spec = scenario.workload.reaction
    if spec is None:
        return workload
    queues = {name: queue for cluster in scenario.clusters for name, queue in cluster.queues.items()}
    limits = {name: None if queue.max_time is None else microseconds(queue.max_time) for name, queue in queues.items()}
    rules = []
    for rule in spec.moves:
        if rule.to not in queues:
            raise InputError("workload.reaction.moves: no such queue", value=rule.to, choices=queues)
        own = None if rule.max_time is None else microseconds(rule.max_time)
        bounds = [limit for limit in (own, limits[rule.to]) if limit is not None]
        low = None if rule.min_time is None else microseconds(rule.min_time)
        spans = {"cores": (rule.min_cores, rule.max_cores), "time": (low, min(bounds, default=None))}
        rules.append({"sources": rule.sources, "to": rule.to, **spans})
    moved, count = move(workload, rules)
    longer, cut = run_on(moved, limits, scenario.seed) if spec.run_on else (moved, 0)
    return longer.replace(longer.columns, notes=longer.notes | {"reaction": {"run_on": cut, "moved": count}})
