"""From what pydantic found to one message that names the file, the line, the key, the value and the choices."""

from __future__ import annotations

import re
import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from walltime.core.errors import InputError
from walltime.core.source import KeyPath, SourceData
from walltime.scenario.model import Scenario
from walltime.scenario.part import Part

PYTHON_ONLY = {"table", "instance"}
"""Fields that a file cannot give, and that are therefore never offered."""


def explain(error: ValidationError, source: SourceData, model: type[BaseModel] = Scenario) -> InputError:
    """One InputError for everything that is wrong; the first problem's parts where there is only one."""
    problems = [_problem(detail, source, model) for detail in error.errors(include_url=False)]
    unique = {str(problem): problem for problem in problems}
    ordered = sorted(unique.values(), key=lambda problem: problem.line or 0)
    if len(ordered) == 1:
        return ordered[0]
    lines = "".join(f"\n  {problem}" for problem in ordered)
    return InputError(f"{source.file or 'the scenario'} has {len(ordered)} problems:{lines}")


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys that a file may use there."""
    keys = [name for name in model.model_fields if name not in PYTHON_ONLY]
    return [*keys, "cluster"] if model is Scenario else keys


def choices_of(key: str) -> tuple[str, ...]:
    """The values that a dotted key may have, where they are a few words: those of `execution.overrun`, for example."""
    *around, last = key.split(".")
    annotation = _model_at(Scenario, tuple(around)).model_fields[last].annotation
    return tuple(str(value) for value in typing.get_args(annotation))


def _problem(detail: Any, source: SourceData, model: type[BaseModel]) -> InputError:
    key_path = as_written(tuple(detail["loc"]), source.data)
    key = dotted(key_path)
    where: dict[str, Any] = {"file": source.file, "line": source.line(key_path)}
    value = _shown(detail["input"])
    match detail["type"]:
        case "extra_forbidden":
            around = dotted(key_path[:-1])
            what = f"unknown key in {around}" if around else "unknown key"
            return InputError(
                what, value=key_path[-1], choices=keys_of(_model_at(model, tuple(detail["loc"])[:-1])), **where
            )
        case "missing":
            return InputError(f"the key {key} is missing", **where)
        case "literal_error":
            choices = re.findall(r"'([^']*)'", detail["ctx"]["expected"]) or [str(detail["ctx"]["expected"])]
            return InputError(key, value=value, choices=choices, **where)
        case "model_type" | "model_attributes_type" | "dict_type":
            return InputError(f"{key or 'a scenario'} must be a mapping of keys and values", value=value, **where)
        case "tuple_type" | "list_type":
            return InputError(f"{key} must be a list", value=value, **where)
        case "too_short":
            return InputError(f"{key} must not be empty", **where)
        case "value_error":
            return InputError(f"{key} {detail['ctx']['error']}", value=value, **where)
        case _:
            return InputError(f"{key or 'the scenario'} {detail['msg']}", value=value, **where)


def as_written(key_path: KeyPath, data: Any) -> KeyPath:
    """The place as the file writes it: `cluster` for the only one, without pydantic's own steps."""
    if key_path[:2] == ("clusters", 0) and isinstance(data, dict) and "cluster" in data:
        key_path = ("cluster", *key_path[2:])
    written: list[Any] = []
    for step in key_path:
        if isinstance(step, int) and not isinstance(data, list | tuple) and data is not None:
            continue  # one item that the file writes without a list around it
        written.append(step)
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            data = None
    return tuple(written)


def dotted(key_path: KeyPath) -> str:
    """`cluster.scheduler.backfill.depth`, the form that --set and grids use too."""
    return ".".join(str(step) for step in key_path)


def _shown(value: Any) -> Any:
    """The offending value where it is short enough to be of help."""
    return value if isinstance(value, str | int | float | bool) else None


def _model_at(model: type[BaseModel], key_path: KeyPath) -> type[BaseModel]:
    """The model that validates the given place."""
    for step in key_path:
        if isinstance(step, int) or step not in model.model_fields:
            continue  # an item of a list, or a name that the file chose
        inner = model_of(model.model_fields[step].annotation)
        if inner is None:
            break
        model = inner
    return model


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `Part | None` or `tuple[Cluster, ...]`, where there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, tuple, list, dict, typing.Annotated):
        for inner in typing.get_args(annotation):
            if (found := model_of(inner)) is not None:
                return found
    return None


def is_part(annotation: Any) -> bool:
    """Whether the annotation takes a part, whose other keys are parameters."""
    model = model_of(annotation)
    return model is not None and issubclass(model, Part)
