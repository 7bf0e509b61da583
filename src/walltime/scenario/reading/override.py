"""One dotted path into a scenario, for --set and for grids: `cluster.scheduler.backfill.depth`."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from walltime.core.errors import InputError
from walltime.core.source import parse_value
from walltime.scenario.cluster import Cluster
from walltime.scenario.controller import Controller
from walltime.scenario.model import Scenario
from walltime.scenario.part import Part
from walltime.scenario.reading.problems import is_part, keys_of, model_of
from walltime.scenario.values import Model


def parse_setting(text: str) -> tuple[str, Any]:
    """(dotted key, value) of `KEY=VALUE`, the value typed as YAML types it; raises InputError."""
    key, equals, raw = text.partition("=")
    if not equals or not key.strip():
        raise InputError("--set takes KEY=VALUE, such as cluster.scheduler.backfill=easy", value=text)
    try:
        return key.strip(), parse_value(raw)
    except (InputError, UnicodeError):
        raise InputError(f"--set {key.strip()}: the value is not valid YAML", value=raw) from None


def override(mapping: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The mapping with one value replaced, itself untouched; an unknown key raises InputError with the choices.

    `cluster` means the only cluster, however the mapping writes it; one of several is `clusters.NAME` or
    `clusters.INDEX`. A parameter of a part that is written as a plain name turns that name into a mapping.
    """
    steps = key.split(".")
    if not all(steps):
        raise InputError("not a dotted key, such as cluster.scheduler.backfill", value=key)
    data = dict(mapping)
    if steps[0] == "cluster" and "clusters" in data:
        clusters = data["clusters"]
        if not isinstance(clusters, list | tuple) or len(clusters) != 1:
            raise InputError("there are several clusters; say clusters.NAME instead of cluster", value=key)
        return data | {"clusters": [_set(clusters[0], Cluster, steps[1:], value, key)]}
    if steps[0] == "clusters" and "cluster" in data and len(steps) > 1:
        only = _items([data["cluster"]], steps[1], key)
        return data | {"cluster": _set([data["cluster"]][only], Cluster, steps[2:], value, key)}
    if steps[0] == "cluster":
        return data | {"cluster": _set(data.get("cluster"), Cluster, steps[1:], value, key)}
    result: dict[str, Any] = _set(data, Scenario, steps, value, key)
    return result


def _set(current: Any, model: type[BaseModel], steps: list[str], value: Any, key: str) -> Any:
    """`current`, validated by `model`, with the value put at the end of the steps."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if step not in keys_of(model) or (step == "cluster" and model is Scenario):
        around = ".".join(key.split(".")[: -len(steps)])
        raise InputError(
            f"cannot set {key}: unknown key{f' in {around}' if around else ''}", value=step, choices=keys_of(model)
        )
    table = _as_mapping(current, model, key)
    annotation = model.model_fields[step].annotation
    inner = model_of(annotation)
    if not rest:
        return table | {step: value}
    if model is Controller and typing.get_origin(annotation) is dict:
        rest = [".".join(rest)]  # a word of a setting has a dot, and so may a partition's name
    if typing.get_origin(annotation) is dict and (inner is not None or len(rest) == 1):
        return table | {step: _set_named(table.get(step), inner, rest, value, key)}
    if inner is None and len(rest) == 1 and isinstance(table.get(step), dict):  # a distribution's parameter
        return table | {step: table[step] | {rest[0]: value}}
    if inner is None:
        raise InputError(f"cannot set {key}: {step} is a single value; it has no keys of its own", value=".".join(rest))
    if "tuple" in str(annotation) and not _is_only(table.get(step), inner, rest):
        return table | {step: _set_item(table.get(step), inner, rest, value, key)}
    if is_part(annotation):
        default = model.model_fields[step].default
        return table | {step: _set_parameter(table.get(step, default), rest, value, key)}
    current = table.get(step)
    return table | {step: _set(current[0] if isinstance(current, list | tuple) else current, inner, rest, value, key)}


def _is_only(current: Any, model: type[BaseModel], rest: list[str]) -> bool:
    """Whether the next step is a key of the only item, which need not be numbered then: `cluster.nodes.cores`."""
    several = isinstance(current, list | tuple) and len(current) != 1
    return rest[0] in model.model_fields and not several


def _as_mapping(current: Any, model: type[BaseModel], key: str) -> dict[str, Any]:
    if current is None:
        return {}
    if isinstance(current, BaseModel):
        return {name: getattr(current, name) for name in current.model_fields_set}
    if isinstance(current, str) and issubclass(model, Model) and model.text_is is not None:
        return {model.text_is: current}
    if isinstance(current, str) and "count" in model.model_fields:
        count, _, cores = current.lower().partition("x")
        return {"count": int(count), "cores": int(cores)} if count.isdigit() and cores.isdigit() else {}
    if not isinstance(current, Mapping):
        raise InputError(f"cannot set {key}: what the scenario has there is not a mapping", value=current)
    return dict(current)


def _set_item(current: Any, model: type[BaseModel], steps: list[str], value: Any, key: str) -> list[Any]:
    items = list(current) if isinstance(current, list | tuple) else [] if current is None else [current]
    index = _items(items, steps[0], key)
    items[index] = _set(items[index], model, steps[1:], value, key)
    return items


def _set_named(current: Any, model: type[BaseModel] | None, steps: list[str], value: Any, key: str) -> dict[str, Any]:
    """A mapping of names, such as the queues, with one of them replaced, or a value inside one that is there."""
    table = dict(current) if isinstance(current, Mapping) else {}
    name, rest = steps[0], steps[1:]
    if rest and name not in table:
        raise InputError(f"cannot set {key}: no such item", value=name, choices=[str(known) for known in table])
    return table | {name: value if model is None else _set(table.get(name), model, rest, value, key)}


def _items(items: list[Any], step: str, key: str) -> int:
    """The index that a step means: a number, or the item's name."""
    names = [str(item.get("name", "cluster")) if isinstance(item, Mapping) else str(item) for item in items]
    if step in names:
        return names.index(step)
    if step.isdigit() and int(step) < len(items):
        return int(step)
    raise InputError(f"cannot set {key}: no such item", value=step, choices=[*names, *map(str, range(len(items)))])


def _set_parameter(current: Any, steps: list[str], value: Any, key: str) -> Any:
    """The part with one parameter set; further steps reach into a parameter that is a mapping."""
    if current is None:
        part: dict[str, Any] = {}
    elif isinstance(current, str):
        part = {"name": current}
    elif isinstance(current, BaseModel):
        written = current.short() if isinstance(current, Part) else {}
        part = dict(written) if isinstance(written, Mapping) else {"name": written}
        part |= {"instance": current.instance} if isinstance(current, Part) and steps[0] != "name" else {}
    elif isinstance(current, Mapping):
        part = dict(current)
    else:
        raise InputError(f"cannot set {key}: what the scenario has there is not a part", value=current)
    inner = part
    for step in steps[:-1]:
        inner[step] = dict(inner[step]) if isinstance(inner.get(step), Mapping) else {}
        inner = inner[step]
    inner[steps[-1]] = value
    return part
