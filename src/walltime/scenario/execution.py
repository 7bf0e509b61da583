"""How a started job unfolds: the scenario's key `execution`."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.disruptions import Checkpoint
from walltime.scenario.part import Part
from walltime.scenario.values import Duration, File, Model, Moment

SHARING = ("processor-sharing", "time-shared", "gang")
"""The execution models in which tasks share the time of a core."""

PROGRAMS = "programs"
"""The execution model in which jobs are programs, whose run times emerge."""


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
