"""Which keys of a scenario an engine honours: it names them, and refuses any other that says something."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from walltime.scenario.part import Part
from walltime.scenario.values import Model

Honoured = Mapping[str, str]
"""Keys by the dotted key that they are under, as words; what is under a key that is not listed itself is not looked at.
The cluster is `clusters`; neither numbers nor names of items are written."""


def find_refused(
    model: Model, honoured: Honoured, reason: str, key: str = "", place: str = ""
) -> Iterator[tuple[str, str]]:
    """(dotted key, reason) of everything in the model that is not the default and that the engine does not name.

    `key` is what the model is under in `honoured`, `place` the same as the file writes it.
    """
    for name, default in _defaults(type(model)).items():
        value = getattr(model, name)
        if value is None or value == default:
            continue
        inner = f"{key}.{name}".lstrip(".")
        written = f"{place}.{name}".lstrip(".")
        if name not in honoured[key].split():
            yield written, reason
        elif inner in honoured:
            for where, item in _items(value, written):
                yield from find_refused(item, honoured, reason, inner, where)


@functools.cache
def _defaults(model: type[Model]) -> dict[str, Any]:
    """The keys that a file may have, with what they are where it does not; compared with only, never handed on."""
    fields = model.model_fields.items()
    return {name: field.get_default(call_default_factory=True) for name, field in fields if not field.exclude}


def _items(value: Any, place: str) -> Iterator[tuple[str, Model]]:
    """The models in a value with their places; not parts, whose keys are the parameters of a plug-in."""
    if isinstance(value, Model):
        if type(value) is not Part:
            yield place, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _items(item, f"{place}.{name}")
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            only = place == "clusters" and len(value) == 1
            yield from _items(item, "cluster" if only else f"{place}.{number}")
