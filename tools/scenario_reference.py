"""Prints docs/reference/scenario.md from the scenario's models: `python tools/scenario_reference.py > docs/...`."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from walltime.policies import PARTS, PRESETS
from walltime.policy.registry import KINDS
from walltime.scenario import Part, Scenario
from walltime.scenario.reading.problems import PYTHON_ONLY, model_of
from walltime.scenario.values import (
    Amount,
    Count,
    Duration,
    File,
    Flag,
    Instant,
    Later,
    Moment,
    MostMemory,
    Name,
    Names,
    Seed,
    Size,
    Speed,
    UsualMemory,
)

INTRODUCTION = """\
# The scenario file

A scenario is a YAML file with everything that one simulation is made of. `walltime run scenario.yaml` runs it; the same
scenario gives the same result, bit for bit. An unknown key is an error that names the line and the keys that exist.

```yaml
workload:
  trace: log.swf              # relative to this file
cluster:
  nodes: 120x2                # or cores: 240; without either, what the trace's header says
  scheduler:
    order: fcfs
    backfill: easy
until: 30d
```

Any value can be replaced from the command line by its dotted key, typed as in YAML:
`walltime run scenario.yaml --set cluster.scheduler.backfill=none --set seed=3`. One of several clusters is
`clusters.NAME`. A further step reaches a parameter of a part and keeps its name:
`--set cluster.scheduler.backfill.depth=3`.

This page is made from the program by `tools/scenario_reference.py`.
"""

KNOWN = {
    Count: "whole number, at least 1",
    Seed: "whole number, at least 0, or a text",
    Flag: "true or false",
    Duration: "duration",
    Moment: "duration",
    Instant: "duration, or a date",
    Later: "duration, or a date",
    Name: "text",
    File: "path of a file",
    Names: "name, or list of names",
    Size: "bytes, or `512M`, `94G`, `1.5T`",
    UsualMemory: "such as `4G/core` or `94G/node`, or `all`",
    MostMemory: "such as `4G/core` or `94G/node`",
    Amount: "whole number, at least 0",
    int: "whole number",
    Speed: "number from 0.001 to 1000",
    float: "number",
    dict[str, Any]: "mapping",
}


def describe_type(annotation: Any, metadata: list[Any]) -> str:
    """The values that a key takes, for a person."""
    for kind, text in KNOWN.items():
        if annotation == kind or (metadata and typing.get_args(kind)[1:] == tuple(metadata)):
            return text
    origin = typing.get_origin(annotation)
    if origin is dict:
        return f"mapping of names: {describe_type(typing.get_args(annotation)[1], [])}"
    if origin is typing.Annotated:
        inner, *rest = typing.get_args(annotation)
        return describe_type(inner, rest)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in typing.get_args(annotation))
    if origin in (typing.Union, types.UnionType):
        return describe_type(next(item for item in typing.get_args(annotation) if item is not type(None)), metadata)
    if origin is tuple:
        return f"list: {describe_type(typing.get_args(annotation)[0], [])}"
    model = model_of(annotation)
    if model is not None:
        return "a [part](#parts)" if model is Part else f"[mapping](#{title(model).lower()})"
    return "text"


def describe_default(field: FieldInfo) -> str:
    """What an absent key means; empty where it says nothing."""
    if field.is_required():
        return "**required**"
    value = field.default
    if isinstance(value, Part):
        return f"`{value.name}`"
    if value is PydanticUndefined or value is None or isinstance(value, tuple):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def title(model: type[BaseModel]) -> str:
    """The heading of a model's section."""
    return {"WorkloadSpec": "Workload"}.get(model.__name__, model.__name__)


def sections(model: type[BaseModel], seen: list[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models in the order of a reader: outside first."""
    if model in seen or model is Part:
        return seen
    seen.append(model)
    for field in model.model_fields.values():
        inner = model_of(field.annotation)
        if inner is not None:
            sections(inner, seen)
    return seen


def table(model: type[BaseModel]) -> str:
    """One model as a table of keys."""
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        if name not in PYTHON_ONLY:
            kind = describe_type(field.annotation, list(field.metadata))
            lines.append(f"| `{name}` | {kind} | {describe_default(field)} | {field.description} |")
    return "\n".join(lines)


def parts() -> str:
    """What a part is, and those that exist."""
    text = [
        "## Parts",
        "A part is a name, or a mapping with a `name` whose other keys are parameters: `backfill: easy`, "
        "`backfill: {name: mine:Policy, depth: 3}`. A name is one of the following, one that an installed package "
        "registers, or `module:attribute`: your own Python class or function, which `--plugins` has to allow.",
        "| kind | name | meaning | reference |\n|---|---|---|---|",
    ]
    rows = [
        f"| {item.kind} | `{item.name}` | {item.summary} | {item.reference} |"
        for kind in KINDS
        for item in PARTS
        if item.kind == kind
    ]
    text[-1] += "\n" + "\n".join(rows)
    text.append("`--policy` takes whole schedulers by name:")
    rows = [
        f"| `{item.name}` | {', '.join(f'{kind}: {name}' for kind, name in item.parts.items())} | {item.summary} |"
        for item in PRESETS
    ]
    text.append("| policy | parts | meaning |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(text)


def page() -> str:
    """The whole page."""
    blocks = [INTRODUCTION.rstrip()]
    for model in sections(Scenario, []):
        blocks.append(f"## {title(model)}\n\n{' '.join((model.__doc__ or '').split())}\n\n{table(model)}")
    return "\n\n".join([*blocks, parts()]) + "\n"


if __name__ == "__main__":
    print(page(), end="")
