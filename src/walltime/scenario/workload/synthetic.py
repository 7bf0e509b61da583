"""A synthetic workload as a scenario describes it: arrivals and a mix of job types."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.values import Count, Duration, Model, Moment, Name


def _random_number(value: Any) -> Any:
    from walltime.workload.distributions import parse_distribution

    try:
        return parse_distribution(value)
    except InputError as error:
        raise ValueError(error.what if error.value is value else str(error)) from None


def _arrival_process(value: Any) -> Any:
    from walltime.workload.synthesis.mix import parse_arrivals

    try:
        return parse_arrivals(value)
    except InputError as error:
        raise ValueError(str(error)) from None


def _weight(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError("must be a number, 0 or more")
    return float(value)


_written = PlainSerializer(lambda value: value if value is None else value.short())
RandomNumber = Annotated[Any, BeforeValidator(_random_number), _written]
ArrivalProcess = Annotated[Any, BeforeValidator(_arrival_process), _written]
Weight = Annotated[float, BeforeValidator(_weight)]


class JobKind(Model):
    """One kind of job in a mix; a random number is a plain number or `{name: exponential, mean: 10}` and the like."""

    weight: Weight = Field(default=1.0, description="How often it comes, relative to the others.")
    tasks: RandomNumber = Field(default=1, description="Tasks, each of which wants a core.")
    work: RandomNumber = Field(description="Seconds of cpu time, at speed 1, of each task.")
    memory: RandomNumber | None = Field(default=None, description="Bytes of memory of the whole job.")
    nodes: Count | None = Field(default=None, description="On so many nodes; where absent, on any.")
    request: RandomNumber | None = Field(
        default=None, description="The requested time over the work; where absent, what `missing_request` says."
    )
    profile: Name | None = Field(
        default=None,
        description="How its tasks meet, where not as the execution model says: `sequential`, `lock-step`, "
        "`master-slave`, or with options, `lock-step step=0.5 delay=0.01 spin`; of the model `programs`, the name of a "
        "profile.",
    )
    priority: int = Field(default=0, description="Its jobs' priority, for orders that look at it.")
    user: Name | None = Field(default=None, description="Its jobs' user.")
    group: Name | None = Field(default=None, description="Its jobs' group; the kind's own name where absent.")
    account: Name | None = Field(default=None, description="Its jobs' account.")
    queue: Name | None = Field(default=None, description="Its jobs' queue.")
    qos: Name | None = Field(default=None, description="Its jobs' quality of service.")
    constraint: Name | None = Field(default=None, description="Properties that its jobs' nodes must have.")


class Synthetic(Model):
    """Jobs drawn from distributions; every variable has a random stream of its own."""

    jobs: Count | None = Field(default=None, description="How many jobs; or `span`.")
    span: Duration | None = Field(default=None, description="All jobs that arrive within this time; or `jobs`.")
    arrivals: ArrivalProcess = Field(
        description="Seconds between arrivals: a random number, or `{name: mmpp, rates: [...], stays: [...]}`."
    )
    begin: Moment = Field(default=0.0, description="The first gap begins at this time.")
    batch: RandomNumber = Field(default=1, description="Jobs that arrive together.")
    types: dict[Name, JobKind] = Field(description="The kinds of jobs, by name.")

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if (self.jobs is None) == (self.span is None):
            raise PydanticCustomError("length", "needs either jobs or span")
        if not self.types:
            raise PydanticCustomError("types", "needs at least one kind of job in types")
        if not sum(kind.weight for kind in self.types.values()):
            raise PydanticCustomError("weights", "has no kind of job with a weight above zero")
        return self

    def draw(self, seed: int) -> Workload:
        """The jobs."""
        from walltime.workload.synthesis.mix import LABELS, JobType, synthesise

        kinds = []
        for name, kind in self.types.items():
            labels = {label: text for label in LABELS if (text := getattr(kind, label))}
            kinds.append(
                JobType(
                    name,
                    kind.work,
                    kind.tasks,
                    kind.weight,
                    kind.request,
                    kind.priority,
                    labels,
                    kind.memory,
                    kind.nodes,
                )
            )
        return synthesise(
            self.arrivals, kinds, jobs=self.jobs, span=self.span, batch=self.batch, seed=seed, begin=self.begin
        )
