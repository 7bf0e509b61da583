"""The model file: a fitted workload as small, readable, versioned JSON.

Times are in seconds, memory in bytes, shares between 0 and 1. Histograms list [bin, count] pairs of the bins that hold
something. Users are numbered by their activity; nothing in the file names a person.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from walltime.core.errors import InputError
from walltime.core.files import replacing
from walltime.core.reading import reader, reading

VERSION = 1
HOURS = 168


class Section(BaseModel):
    """What all parts of the file share: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class BinnedDistribution(Section):
    """One of ScSF's distributions: the width of its bins, and [bin, count] pairs."""

    width: float = Field(gt=0)
    bins: list[tuple[int, int]] = Field(min_length=1)


class ModelSource(Section):
    """Where the model comes from."""

    log: str
    jobs: int = Field(ge=1)
    first: str | None = None
    days: float = Field(gt=0)
    machine_cores: int | None = Field(default=None, ge=1)
    timezone: str | None = None
    removed: list[dict[str, Any]] = Field(default_factory=list)


class Rates(Section):
    """How much is submitted in the mean."""

    jobs_per_day: float = Field(gt=0)
    core_hours_per_day: float = Field(gt=0)
    offered_load: float | None = None


class Rhythm(Section):
    """When sessions begin: 168 weights from Monday 0:00, mean 1; how unequal days are beyond chance (0: not at all);
    and quantiles of the gaps between sessions on the clock that runs with the weights, as multiples of their mean."""

    hours: list[float] = Field(min_length=HOURS, max_length=HOURS)
    day_spread: float = Field(ge=0)
    gaps: list[float] = Field(min_length=2)


class Template(Section):
    """A job that a user submits again and again: how often the next job of a session is the same one once more, and
    quantiles of run time / requested time (of the run time in seconds, where nothing is requested)."""

    jobs: int = Field(ge=1)
    repeat: float = Field(default=0, ge=0, le=1)
    cores: int = Field(ge=1)
    requested_time: float | None = None
    queue: int | None = None
    memory: int | None = None
    gpus: int = 0
    outcome: list[float] = Field(min_length=2)


class User(Section):
    """One of the busy users; `sizes` are [jobs in a session, sessions] pairs.

    `returns` is the probability that a session begins with the job that the last one ended with, `likeness` how alike
    the outcomes of repeated jobs are.
    """

    jobs: int = Field(ge=1)
    group: int | None = None
    sizes: list[tuple[int, int]] = Field(min_length=1)
    returns: float = Field(default=0, ge=0, le=1)
    likeness: float = Field(ge=0, le=1)
    templates: list[Template] = Field(default_factory=list)


class Others(Section):
    """All other users together: jobs of each and their groups, and how they submit."""

    users: list[int] = Field(default_factory=list)
    groups: list[int | None] = Field(default_factory=list)
    sizes: list[tuple[int, int]] = Field(default_factory=list)
    likeness: float = Field(default=0, ge=0, le=1)


class RequestPool(Section):
    """Jobs that no user repeats: a table of requests with their numbers of jobs."""

    jobs: list[int] = Field(default_factory=list)
    repeat: list[float] = Field(default_factory=list)
    cores: list[int] = Field(default_factory=list)
    requested_time: list[float | None] = Field(default_factory=list)
    queue: list[int | None] = Field(default_factory=list)
    memory: list[int | None] = Field(default_factory=list)
    gpus: list[int] = Field(default_factory=list)


class RunTimeQuantiles(Section):
    """Run time / requested time of the jobs of one class: requests up to a bound, on up to so many cores.

    Where `requested_time` is None these are run times in seconds, of jobs that asked for nothing.
    """

    requested_time: float | None
    cores: int
    quantiles: list[float] = Field(min_length=2)


class ModelFile(Section):
    """A fitted workload."""

    walltime_model: Literal[1] = 1
    kind: Literal["empirical"] = "empirical"
    source: ModelSource
    rates: Rates
    variables: dict[str, BinnedDistribution]
    rhythm: Rhythm
    gaps: dict[str, BinnedDistribution] = Field(default_factory=dict)
    queues: list[str] = Field(default_factory=list)
    groups: int = 0
    users: list[User] = Field(default_factory=list)
    others: Others = Field(default_factory=Others)
    pool: RequestPool = Field(default_factory=RequestPool)
    outcomes: list[RunTimeQuantiles] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> ModelFile:
        for name in ("interarrival", "cores"):
            if name not in self.variables:
                raise ValueError(f"variables has no {name}")
        lengths = {name: len(values) for name, values in self.pool}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"pool: its columns differ in length ({lengths})")
        others = self.others
        if len(others.users) != len(others.groups) or bool(others.users) != bool(others.sizes):
            raise ValueError("others: users, groups and sizes do not belong together")
        templates = [template for user in self.users for template in user.templates]
        queues = [*self.pool.queue, *(template.queue for template in templates)]
        groups = [*others.groups, *(user.group for user in self.users)]
        for name, used, known in (("queue", queues, len(self.queues)), ("group", groups, self.groups)):
            if any(code is not None and not 0 <= code < known for code in used):
                raise ValueError(f"a {name} has a number that is not there; there are {known}")
        if self.pool.jobs and not self.outcomes:
            raise ValueError("outcomes: there are none, but the pool has jobs")
        if not self.users and not self.others.users:
            raise ValueError("there are neither users nor others")
        return self


@reader
def read_model(path: str | Path) -> ModelFile:
    """The model in a file; raises InputError with the place of what is wrong."""
    with reading(path) as file:
        data = file.json("not a model file: not valid JSON")
    if not isinstance(data, dict) or "walltime_model" not in data:
        raise InputError("not a model file (`walltime workload fit` writes one)", file=path)
    if data["walltime_model"] != VERSION:
        raise InputError(
            "this model file has another version than this Walltime reads (1); fit the log again",
            value=data["walltime_model"],
            file=path,
        )
    try:
        return ModelFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(key) for key in first["loc"]) or "the file"
        raise InputError(f"{where}: {first['msg']}", file=path) from None


def write_model(model: ModelFile, path: str | Path) -> None:
    """Writes the file, all or nothing; short lists stand on one line."""
    text = _dump(model.model_dump(mode="json", exclude_none=False), 0) + "\n"
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def _dump(value: Any, depth: int) -> str:
    """JSON for a person: mappings over several lines, lists of numbers and small mappings on one."""
    pad, inner = " " * depth, " " * (depth + 1)
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        rows = [f"{inner}{json.dumps(key)}: {_dump(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{inner}{_dump(item, depth + 1)}" for item in value) + f"\n{pad}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
