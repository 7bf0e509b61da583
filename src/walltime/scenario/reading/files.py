"""The files that a scenario names: relative paths start at the folder of the file that has them."""

from __future__ import annotations

import os
import typing
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from walltime.scenario.model import Scenario
from walltime.scenario.part import Part
from walltime.scenario.reading.problems import model_of
from walltime.scenario.values import Model, is_file


def join_files(data: dict[str, Any], folder: Path, replaced: Collection[str]) -> dict[str, Any]:
    """A scenario's data with its own paths joined to the folder.

    `replaced` are the dotted keys that the caller has set: what is there, or below, is relative to where they are.
    """
    joined: dict[str, Any] = _join(data, Scenario, folder, replaced, [""])
    return joined


def find_files(model: Model, key: str = "") -> Iterator[tuple[str, str]]:
    """The files that a scenario, or a part of one, names: (dotted key, path), in the order of the keys."""
    for name, field in type(model).model_fields.items():
        value, inside = getattr(model, name), f"{key}.{name}".lstrip(".")
        if is_file(field, value):
            yield inside, value
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
        for step, item in [("", value), *items]:
            if isinstance(item, Model):
                yield from find_files(item, f"{inside}.{step}".rstrip("."))


def _join(data: Any, model: type[Model], folder: Path, replaced: Collection[str], places: list[str]) -> Any:
    """The same for the data of any model; `places` are the dotted keys by which it can be meant."""
    if isinstance(data, str) and model.text_is is not None:
        data = {model.text_is: data}
    if not isinstance(data, dict):
        return data
    joined = dict(data)
    for key, value in data.items():
        field = model.model_fields.get("clusters" if model is Scenario and key == "cluster" else key)
        inside = [f"{place}.{key}".lstrip(".") for place in places]
        if field is None or _is_within(inside, replaced):
            continue
        inner = model_of(field.annotation)
        if is_file(field, value):
            joined[key] = str(folder / os.path.expanduser(value.strip())) if value.strip() else value
        elif inner is not None and issubclass(inner, Model) and not issubclass(inner, Part):
            named = typing.get_origin(field.annotation) is dict
            joined[key] = _join_inside(value, inner, folder, replaced, inside, named)
    return joined


def _join_inside(
    value: Any, model: type[Model], folder: Path, replaced: Collection[str], places: list[str], named: bool
) -> Any:
    """One item, a list of them, or a mapping of names to them."""
    if named and isinstance(value, dict):
        return {
            name: _join(item, model, folder, replaced, [f"{place}.{name}" for place in places])
            for name, item in value.items()
        }
    if not isinstance(value, list | tuple):
        return _join(value, model, folder, replaced, [*places, *_as_items(places, 0, value)])
    return [
        _join(item, model, folder, replaced, _as_items(places, number, item) + (places if len(value) == 1 else []))
        for number, item in enumerate(value)
    ]


def _as_items(places: list[str], number: int, item: Any) -> list[str]:
    """An item of a list by its number and by its name; the only cluster also as `cluster` or `clusters.NAME`."""
    lists = list(dict.fromkeys("clusters" if place == "cluster" else place for place in places))
    name = item.get("name") if isinstance(item, dict) else None
    found = [f"{place}.{step}" for place in lists for step in (number, name) if step is not None]
    return [*found, "cluster"] if places == ["clusters"] and number == 0 else found


def _is_within(places: list[str], replaced: Collection[str]) -> bool:
    """Whether one of the places was set, or something around it."""
    return any(place == key or place.startswith(f"{key}.") for place in places for key in replaced)
