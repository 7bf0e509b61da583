"""A part of a scheduler as a scenario names it."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.values import Model, Name


class Part(Model):
    """A plug-in by name with its parameters: in YAML `easy`, or `{name: mine:Policy, depth: 3}`.

    In Python an object, a class or a function may stand for the name; it is kept as `instance`.
    """

    name: Name = Field(description="A built-in name, an installed one, or `module:attribute`.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Every other key is a parameter of the part.")
    instance: Any = Field(default=None, exclude=True, repr=False, description="Python only: the part itself.")

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        return read_part(value)

    def short(self) -> str | dict[str, Any]:
        """The form in which a file writes it: the name alone where there are no parameters."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name


def read_part(value: Any) -> Any:
    """What a part is made of, from any of its forms: a name, a mapping, a part, or in Python the thing itself."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict):
        return _split_parameters(value)
    if value is None or isinstance(value, bool | int | float | list | tuple):
        raise PydanticCustomError("part", "must be a name, or a mapping with a name and parameters")
    return value if isinstance(value, Part) else {"name": _describe(value), "instance": value}


def _split_parameters(value: dict[Any, Any]) -> dict[str, Any]:
    if "name" not in value:
        raise PydanticCustomError("part_name", "is a mapping without a name")
    named = {str(key): item for key, item in value.items() if key not in ("name", "parameters", "instance")}
    given = value.get("parameters")
    if isinstance(given, dict):
        named = {**given, **named}
    elif given is not None:
        named["parameters"] = given
    instance = value.get("instance")
    if isinstance(instance, str | bool | int | float | list | tuple | dict):
        raise PydanticCustomError("part_instance", "has an instance, which only Python can give")
    return {"name": value["name"], "parameters": named, "instance": instance}


def _describe(thing: Any) -> str:
    """`module:attribute` of a class or function, of its class for an object."""
    kind = thing if hasattr(thing, "__qualname__") and hasattr(thing, "__module__") else type(thing)
    return f"{kind.__module__}:{kind.__qualname__}"
