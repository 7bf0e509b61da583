"""The experiment: a scenario, a grid over its keys, seeds, and what is kept of each run.

    name: backfill
    base: scenario.yaml
    grid:
      policy: [fcfs, easy, conservative]
      load: {key: workload.generate.load, range: {start: 0.7, stop: 0.9, step: 0.1}}
    repetitions: 6

Everything that can be told without simulating is told when it is loaded or checked, with the line of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.analysis.metrics import KEYS
from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.core.source import KeyPath, SourceData, read_source
from walltime.experiments.grid import Axis, Cell, Level, make_cells
from walltime.scenario.part import Part
from walltime.scenario.reading.problems import explain
from walltime.scenario.values import Count, Duration, File, Flag, Model, Moment, Name, Seed, Size

MOST_RUNS = 10_000_000


class Keep(Model):
    """What the store keeps of a run besides its figures: nothing (`summary`), tables by group, the result's tables."""

    groups: tuple[Literal[*KEYS], ...] = Field(  # type: ignore[valid-type]
        default=(), description="A table of jobs, waits and slowdowns by each of these."
    )
    tables: Flag = Field(default=False, description="The whole result, as `walltime run --output` writes it.")
    weeks: Flag = Field(
        default=False, description="The figures, and the tables by group, also of each week without its first day."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in ("summary", "tables"):
                raise PydanticCustomError("keep", "must be summary, tables, or a mapping with groups, tables and weeks")
            return {"tables": value == "tables"}
        return value


class RunBounds(Model):
    """What one run may take; more is a failure of that run, and of no other."""

    time: Duration | None = Field(default=None, description="Of real time.")
    memory: Size | None = Field(default=None, description="Beyond what a worker takes that does nothing.")


class Experiment(Model):
    """A scenario, a grid over its keys, and seeds; immutable. `load_experiment` reads one from a file."""

    walltime: Literal[1] = Field(default=1, description="Version of this layout.")
    name: Name = Field(default="experiment", description="Its name in the store; the file's name where absent.")
    base: File | None = Field(default=None, description="The scenario's file.")
    scenario: dict[str, Any] | None = Field(default=None, description="The scenario itself, instead of a file.")
    grid: dict[Name, Axis] | None = Field(default=None, description="The axes, by name.")
    exclude: tuple[dict[Name, Any], ...] = Field(
        default=(), description="Cells that are left out: by axis a label, or a list of labels."
    )
    seeds: tuple[Seed, ...] | None = Field(default=None, description="The seeds of the repetitions.")
    repetitions: Count | None = Field(
        default=None, description="So many repetitions, instead of seeds: the scenario's seed and those after it."
    )
    warmup: Moment = Field(default=0.0, description="Jobs submitted in this time count in no figure.")
    window: Duration | None = Field(default=None, description="Jobs submitted in this time after the warm-up count.")
    drain: Duration | None = Field(default=None, description="The run ends so long after the window.")
    keep: Keep = Field(default_factory=lambda: Keep(), description="What is kept of each run.")
    analyses: tuple[Part, ...] = Field(
        default=(), description="Functions of a result, ours by name or yours as `module:attribute`, with parameters."
    )
    limits: RunBounds = Field(default_factory=lambda: RunBounds(), description="What a run may take.")

    _source: SourceData = PrivateAttr(default_factory=lambda: SourceData(None, None))

    @field_validator("grid", mode="before")
    @classmethod
    def _some_axis(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and not value:
            raise ValueError("must not be empty")
        return value

    @field_validator("seeds", mode="before")
    @classmethod
    def _some_seed(cls, value: Any) -> Any:
        if value is not None and not isinstance(value, list | tuple):
            raise ValueError("must be a list; `repetitions` takes a number")
        if value is not None and not value:
            raise ValueError("must not be empty")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.base is None) == (self.scenario is None):
            raise PydanticCustomError("base", "needs a base (the scenario's file) or a scenario, and not both")
        if self.seeds is not None and self.repetitions is not None:
            raise PydanticCustomError("seeds", "has both seeds and repetitions; give one of them")
        if self.seeds is not None and len(set(self.seeds)) < len(self.seeds):
            raise PydanticCustomError("seeds", "names a seed twice")
        if self.drain is not None and self.window is None:
            raise PydanticCustomError("drain", "has a drain, which follows a window, but no window")
        return self

    @property
    def file(self) -> str | None:
        """The file that it was read from."""
        return self._source.file

    @property
    def folder(self) -> Path:
        """Where relative paths of the experiment start: the folder of its file."""
        return Path(self._source.file).absolute().parent if self._source.file else Path.cwd()

    @cached_property
    def axes(self) -> list[list[Level]]:
        """The levels of each axis; raises InputError with the line of the axis."""
        found = []
        for name, axis in (self.grid or {}).items():
            try:
                found.append(axis.levels(name))
            except InputError as error:
                raise InputError(error.what, value=error.value, **self.place(("grid", name))) from None
        return found

    def cells(self) -> Iterator[Cell]:
        """The cells of the grid in their order, without those that are excluded."""
        return make_cells(self.axes, [self._rule(number, rule) for number, rule in enumerate(self.exclude)])

    def place(self, key_path: KeyPath) -> dict[str, Any]:
        """`file` and `line` of a place, for an InputError; empty for an experiment that a program made."""
        return {} if self._source.file is None else {"file": self._source.file, "line": self._source.line(key_path)}

    def line_of(self, level: Level) -> dict[str, Any]:
        """The same of a level, also where the file writes the values as a plain list."""
        whole: KeyPath = ("grid", level.axis, *level.place)
        short: KeyPath = ("grid", level.axis, *level.place[1:])
        return self.place(short if whole not in self._source.lines and short in self._source.lines else whole)

    def placed(self, source: SourceData) -> Self:
        """The same experiment, knowing the lines of its file."""
        self._source = source
        return self

    def _rule(self, number: int, rule: dict[str, Any]) -> dict[str, set[str]]:
        """An exclusion as labels by axis; raises InputError for an axis or a label that is not there."""
        known = {levels[0].axis: [level.label for level in levels] for levels in self.axes}
        made: dict[str, set[str]] = {}
        for axis, wanted in rule.items():
            where = self.place(("exclude", number, axis))
            if axis not in known:
                raise InputError("exclude: no such axis", value=axis, choices=known, **where)
            made[axis] = {_as_label(item) for item in (wanted if isinstance(wanted, list | tuple) else [wanted])}
            for label in sorted(made[axis] - set(known[axis])):
                raise InputError(f"exclude: {axis} has no such label", value=label, choices=known[axis], **where)
        if not made:
            raise InputError("exclude: an empty exclusion leaves out everything", **self.place(("exclude", number)))
        return made


@reader
def load_experiment(path: str | Path) -> Experiment:
    """The experiment of a YAML file; raises InputError with file, line, key, value and choices."""
    source = read_source(path)
    if not isinstance(source.data, dict):
        what = "an experiment is a mapping of keys and values, such as `base: scenario.yaml`"
        raise InputError(what, file=source.file, line=1)
    data = {"name": Path(path).stem} | source.data
    try:
        made = Experiment.model_validate(data)
    except ValidationError as error:
        raise explain(error, source, Experiment) from None
    return made.placed(source)


def parse_experiment(mapping: Mapping[str, Any]) -> Experiment:
    """The experiment of a mapping with the same keys as a file; raises InputError."""
    data = dict(mapping)
    try:
        return Experiment.model_validate(data)
    except ValidationError as error:
        raise explain(error, SourceData(data, None), Experiment) from None


def _as_label(value: Any) -> str:
    from walltime.experiments.grid import write_label

    return write_label(value)
