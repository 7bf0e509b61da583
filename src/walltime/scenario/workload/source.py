"""Where the jobs come from: the scenario's key `workload`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.values import Count, File, Model, Name
from walltime.scenario.workload.jobs import Adjustment
from walltime.scenario.workload.modelled import Modelled
from walltime.scenario.workload.synthetic import Synthetic
from walltime.scenario.workload.workflows import Workflows
from walltime.workload.formats.hosts import parse_host
from walltime.workload.requests import How


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
