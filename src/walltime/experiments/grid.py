"""The grid of an experiment: axes by name, their levels with labels, and the cells that they make together."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.errors import InputError
from walltime.core.source import KeyPath
from walltime.scenario.values import Model, Name

POLICY = "policy"
"""The axis of this name takes what `--policy` takes: it sets the parts of every cluster's scheduler."""
MOST_VALUES = 1_000_000

Setting = tuple[str, Any]
"""A dotted key of the scenario, and the value that it gets."""


class Range(Model):
    """Numbers from `start` to `stop`, both included: by a `step`, by a `factor`, or so many (`count`) evenly."""

    start: float = Field(description="The first number.")
    stop: float = Field(description="The last number, where the steps lead there.")
    step: float | None = Field(default=None, description="What is added from one to the next.")
    factor: float | None = Field(default=None, description="What each is multiplied by for the next.")
    count: int | None = Field(default=None, description="How many numbers, evenly spread.")

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ValueError("must be a number")
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [name for name in ("step", "factor", "count") if getattr(self, name) is not None]
        if len(given) != 1:
            raise PydanticCustomError("range", "needs one of step, factor and count")
        upward = self.stop >= self.start
        if self.step is not None and (self.step == 0 or (self.step > 0) != upward):
            raise PydanticCustomError("range", "has a step that never leads from start to stop")
        if self.factor is not None and not (self.start > 0 and self.stop > 0 and self.factor > 0 and self.factor != 1):
            raise PydanticCustomError("range", "with a factor needs numbers above 0, and a factor that is not 1")
        if self.factor is not None and self.start != self.stop and (self.factor > 1) != upward:
            raise PydanticCustomError("range", "has a factor that never leads from start to stop")
        if self.count is not None and self.count < 1:
            raise PydanticCustomError("range", "has a count below 1")
        return self

    def numbers(self) -> list[int | float]:
        """The numbers; exact in decimals, so that 0.1 three times is 0.3."""
        start, stop = (Fraction(str(value)) for value in (self.start, self.stop))
        if self.count is not None:
            step = (stop - start) / max(1, self.count - 1)
            return [_plain(start + step * index) for index in range(self.count)]
        found: list[Fraction] = []
        value = start
        while (value <= stop if stop >= start else value >= stop) and len(found) < MOST_VALUES:
            found.append(value)
            value = value * Fraction(str(self.factor)) if self.step is None else value + Fraction(str(self.step))
        return [_plain(value) for value in found]


class Axis(Model):
    """One dimension of the grid: a key with `values` or a `range`, or named `combinations` of several keys.

    A plain list is a list of values. Values by label are a mapping: `{shallow: 1, deep: 100}`.
    """

    key: Name | None = Field(default=None, description="The scenario's dotted key; where absent the axis' own name.")
    values: Any = Field(default=None, description="A list of values, or a mapping of labels to values.")
    range: Range | None = Field(default=None, description="Numbers at regular distances.")
    combinations: dict[Name, dict[str, Any]] | None = Field(
        default=None, description="By label, the dotted keys that are set together, with their values."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return {"values": list(value)}
        if not isinstance(value, Mapping | Axis):
            raise PydanticCustomError(
                "axis", "must be a list of values, or a mapping with values, range or combinations"
            )
        return value

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("values", "range", "combinations") if getattr(self, name) is not None]
        if len(given) != 1:
            raise PydanticCustomError("axis", "needs one of values, range and combinations")
        if self.values is not None and not isinstance(self.values, Mapping | list | tuple):
            raise PydanticCustomError("axis", "has values that are neither a list nor a mapping of labels")
        if not self.range and not (self.values or self.combinations):
            raise PydanticCustomError("axis", "has no values: the grid would be empty")
        if self.combinations is not None and self.key is not None:
            raise PydanticCustomError("axis", "has combinations, which name their keys themselves, and a key")
        return self

    def levels(self, name: str) -> list[Level]:
        """The levels in their order; raises InputError for two of one label."""
        if self.combinations is not None:
            found = [
                Level(name, label, tuple(keys.items()), ("combinations", label))
                for label, keys in self.combinations.items()
            ]
        else:
            key = self.key or name
            found = [Level(name, label, ((key, value),), place) for label, value, place in self._labelled()]
        seen: set[str] = set()
        for level in found:
            if level.label in seen:
                raise InputError(
                    f"grid.{name} has two values with one label; give labels of your own", value=level.label
                )
            seen.add(level.label)
        return found

    def _labelled(self) -> Iterator[tuple[str, Any, KeyPath]]:
        if self.range is not None:
            yield from ((write_label(number), number, ("range",)) for number in self.range.numbers())
        elif isinstance(self.values, Mapping):
            yield from ((str(label), value, ("values", str(label))) for label, value in self.values.items())
        else:
            yield from ((write_label(value), value, ("values", index)) for index, value in enumerate(self.values))


@dataclass(frozen=True)
class Level:
    """One value of an axis: its label, the settings that it stands for, and its place below the axis in the file."""

    axis: str
    label: str
    settings: tuple[Setting, ...]
    place: KeyPath


@dataclass(frozen=True)
class Cell:
    """One point of the grid: a level of every axis."""

    number: int
    levels: tuple[Level, ...]

    @property
    def labels(self) -> dict[str, str]:
        """The label on each axis, by the axis' name."""
        return {level.axis: level.label for level in self.levels}

    def __str__(self) -> str:
        return ", ".join(f"{axis}={label}" for axis, label in self.labels.items()) or "the only cell"


def make_cells(axes: list[list[Level]], excluded: list[dict[str, set[str]]]) -> Iterator[Cell]:
    """The cells, the last axis changing fastest, without those that match every axis of an exclusion."""
    kept = (
        levels
        for levels in itertools.product(*axes)
        if not any(all(level.label in rule.get(level.axis, (level.label,)) for level in levels) for rule in excluded)
    )
    return (Cell(number, levels) for number, levels in enumerate(kept))


def write_label(value: Any) -> str:
    """What a value is called where the file gives no label: `0.9`, `easy`, `depth depth=4`."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        others = [f"{key}={write_label(item)}" for key, item in value.items() if key != "name"]
        return " ".join([value["name"], *others])
    return json.dumps(value, default=str, separators=(",", ":"))


def parse_labels(text: str | None) -> dict[str, str]:
    """Labels by axis of `policy=easy,load=0.9`; raises InputError."""
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        axis, equals, label = part.partition("=")
        if not equals or not axis.strip():
            raise InputError("a cell is AXIS=LABEL, several with commas between", value=text)
        found[axis.strip()] = label.strip()
    return found


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)
