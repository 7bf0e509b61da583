"""Workflows among the jobs: the scenario's key `workload.workflows`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.values import Duration, File, Model, Name


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ValueError("must be a share, above 0 and at most 1")
    return float(value)


def _weight(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError("must be a number of 0 or more")
    return float(value)


class Manifest(Model):
    """One workflow: in YAML `montage.json`, or `{file: montage.json, weight: 2}`."""

    text_is = "file"

    file: File = Field(
        description="ScSF's manifest, WfCommons' WfFormat or Pegasus' DAX. A relative path starts at the scenario "
        "file's folder."
    )
    weight: Annotated[float, BeforeValidator(_weight)] = Field(
        default=1.0, description="How often it comes, beside the others."
    )


class Workflows(Model):
    """Workflows that are submitted in one of three ways, once every so often or as a share of the work."""

    manifests: tuple[Manifest, ...] = Field(description="The files of the workflows; one, or a list.")
    submit: Literal["single", "multi", "manifest"] = Field(
        default="manifest",
        description="As one pilot job (`single`), as jobs that wait for one another (`multi`), or as tasks that are "
        "ordered as their workflow (`manifest`).",
    )
    every: Duration | None = Field(default=None, description="One every so often, while jobs are submitted.")
    first: Duration | None = Field(default=None, description="With `every`: so long after the first job; else with it.")
    share: Annotated[float, BeforeValidator(_share)] | None = Field(
        default=None,
        description="Their share of the core-hours; as many other jobs, drawn by their numbers, are left out.",
    )
    user: Name | None = Field(default=None, description="Whose they are.")
    account: Name | None = Field(default=None, description="The account that pays.")
    queue: Name | None = Field(default=None, description="The queue that their jobs name.")
    priority: int = Field(default=0, description="Their priority, and that of each of their tasks.")

    @model_validator(mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("manifests"), str | dict):
            return value | {"manifests": [value["manifests"]]}
        return value

    @model_validator(mode="after")
    def _one_presence(self) -> Self:
        if (self.every is None) == (self.share is None):
            raise PydanticCustomError("presence", "needs every (a period) or share (of the core-hours), one of them")
        if not self.manifests:
            raise PydanticCustomError("manifests", "has no manifests")
        return self
