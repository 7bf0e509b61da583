"""Jobs drawn from a model of a log, or a published one, for the scenario's machine: the key `workload.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.values import Count, File, Model, Moment, Name
from walltime.workload.synthesis.fill import WIDTH

if TYPE_CHECKING:
    from walltime.workload.models.sample import JobModel
    from walltime.workload.synthesis.machine import SynthesisPlan

DAY = 86_400.0
_HIGHEST = 1.1  # of the pressure, as a multiple of the lower edge, where only that is given


def _pressure(value: Any) -> tuple[float, float]:
    edges = value if isinstance(value, list | tuple) else [value, value * _HIGHEST] if _is_number(value) else []
    if len(edges) != 2 or not all(map(_is_number, edges)):
        raise ValueError(
            "must be a number, or two: below the first jobs are added, from the second on they are dropped"
        )
    return float(edges[0]), float(edges[1])


def _number(value: Any) -> float:
    if not _is_number(value):
        raise ValueError("must be a number")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


Number = Annotated[float, BeforeValidator(_number)]


class Modelled(Model):
    """Jobs drawn from a model, other ones for each seed, in phases: fill, stabilization, experiment, drain."""

    file: File | None = Field(
        default=None, description="A model that `walltime workload fit` wrote (.json), or `name`."
    )
    name: Name | None = Field(
        default=None, description="A published model, such as `lublin`, or one of your own as `module:attribute`."
    )
    days: Number = Field(description="Length of the experiment.")
    cores: Count | None = Field(
        default=None, description="The machine that they are made for; where absent, all cores of the clusters."
    )
    load: Number | None = Field(default=None, description="Offered load; where absent, as often as in the log.")
    pressure: Annotated[tuple[float, float], BeforeValidator(_pressure)] | None = Field(
        default=None,
        description="In the place of a load: submitted over produced core-hours. Jobs are added below the first "
        "number, and dropped from the second on (1.1 times the first, where there is only one).",
    )
    fill: Moment = Field(default=0.0, description="Work for the whole machine in small jobs before all others.")
    fill_width: Number = Field(default=WIDTH, description="The share of the machine that a job of the fill has.")
    stabilization: Moment = Field(default=DAY, description="Before the experiment; its jobs count in no figure.")
    drain: Moment = Field(default=0.0, description="The run ends so long after the last submission.")
    start: Name | None = Field(default=None, description="When the experiment begins, such as `2024-03-04`.")
    estimates: Literal["model", "tsafrir", "none"] | None = Field(
        default=None,
        description="Requested times: the model's own, or those of Tsafrir's model, which is the default of published "
        "ones.",
    )
    structure: Literal["users", "independent"] = Field(
        default="users",
        description="Of a fitted model: users who repeat themselves, or ScSF's independent distributions.",
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if (self.file is None) == (self.name is None):
            raise PydanticCustomError("model", "needs file (a fitted model) or name (another), one of them")
        try:
            self._plan(self.cores or 1_000_000, 1, 0)
        except InputError as error:
            said = str(error).removeprefix("generate: ")
            raise PydanticCustomError("model", "cannot be drawn from: {said}", {"said": said}) from None
        return self

    def _plan(self, cores: int, node_cores: int, seed: int) -> SynthesisPlan:
        from walltime.workload.models import PUBLISHED
        from walltime.workload.synthesis.machine import SynthesisPlan, parse_date

        return SynthesisPlan(
            cores=cores,
            days=self.days,
            load=self.load,
            pressure=self.pressure,
            seed=seed,
            stabilization=self.stabilization,
            fill=self.fill / 3600,
            drain=self.drain,
            fill_width=self.fill_width,
            start=None if self.start is None else parse_date(self.start),
            node_cores=node_cores,
            estimates=self.estimates or ("tsafrir" if self.name in PUBLISHED else "model"),
        )

    def load_model(self) -> JobModel:
        """The model; raises InputError for one that there is not, or that may not be imported."""
        from walltime.workload.models import load_model

        if self.file is not None:
            return load_model(self.file, self.structure)
        assert self.name is not None
        if ":" not in self.name:
            return load_model(self.name)
        from walltime.core.plugins import import_target, require_allowed

        label = f"model {self.name!r}"
        require_allowed(self.name, label)
        made: Any = import_target(self.name, label)
        model: JobModel = made() if isinstance(made, type) else made
        for wanted in ("title", "jobs_per_day", "clock", "draw"):
            if not hasattr(model, wanted):
                raise InputError(f"{label} has no {wanted}", choices=("title", "jobs_per_day", "clock", "draw"))
        return model

    def draw(self, cores: int | None, node_cores: int, seed: int) -> Workload:
        """The jobs for a machine of so many cores; raises InputError."""
        from walltime.workload.synthesis.machine import synthesize

        size = self.cores or cores
        if size is None:
            raise InputError("workload.model needs the size of the machine: cores or nodes of the cluster, or its own")
        return synthesize(self.load_model(), self._plan(size, min(node_cores, size), seed))
