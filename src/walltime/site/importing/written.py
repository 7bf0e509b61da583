"""A scenario as a file, with where each value comes from beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from walltime.site.conf import ConfLine

DEFAULT = "Slurm's default"
_WIDTH = 110


class Said(NamedTuple):
    """A value of the scenario, and what says so."""

    value: Any
    source: str


def cite(line: ConfLine, key: str | None = None) -> str:
    """Where a word stands, for a comment: `slurm.conf:12 MaxTime=2-0`; without a key, what the line describes."""
    word = f" {key}={line.get(key)}" if key is not None else f" {line.pairs[0][0]}={line.name}"
    return f"{Path(line.file).name}:{line.number}{word}"


def plain(tree: Any) -> Any:
    """The scenario as a file's data, without the comments."""
    if isinstance(tree, Said):
        return tree.value
    if isinstance(tree, Mapping):
        return {key: plain(value) for key, value in tree.items()}
    return [plain(item) for item in tree] if isinstance(tree, list) else tree


def write(tree: Mapping[str, Any], head: list[str]) -> str:
    """YAML with a comment on every line that has a source; `head` are lines of comments before all."""
    lines = [line for text in head for line in (_comment(text) if text else [""])]
    return "\n".join([*lines, *_block(tree, "")]) + "\n"


def _comment(text: str) -> list[str]:
    inner = len(text) - len(text.lstrip()) + 2
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# " + " " * inner) or ["#"]


def _block(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        name = f"{indent}{_flow(key)}:"
        if isinstance(value, Mapping):
            yield name if value else f"{name} {{}}"
            yield from _block(value, indent + "  ")
        elif isinstance(value, list):
            yield name
            yield from (_with_source(f"{indent}  - ", item) for item in value)
        else:
            yield _with_source(f"{name} ", value)


def _with_source(begin: str, value: Any) -> str:
    if not isinstance(value, Said):
        return f"{begin}{_flow(value)}"
    return f"{begin}{_flow(value.value)}" + (f"  # {value.source}" if value.source else "")


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1 << 20)
    return text.removesuffix("...\n").strip()
