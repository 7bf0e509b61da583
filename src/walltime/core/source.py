"""YAML text to plain data that remembers on which line each key stands."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from walltime.core.errors import InputError
from walltime.core.reading import check_path, describe, reader, reading

_LARGEST = 16 << 20
_MOST_VALUES = 200_000  # far beyond any real file; stops an alias bomb

KeyPath = tuple[str | int, ...]
"""The keys that lead to a value in the data: ("clusters", 0, "cores")."""


@dataclass
class SourceData:
    """A file's data, and the line of each of its keys; `file` is None for data that a program made."""

    data: Any
    file: str | None
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, key_path: KeyPath) -> int | None:
        """The line of the key, or of the nearest key around it."""
        for length in range(len(key_path), -1, -1):
            if key_path[:length] in self.lines:
                return self.lines[key_path[:length]]
        return None


@reader
def read_source(path: str | Path) -> SourceData:
    """The data of a YAML file; raises InputError for anything that is not one."""
    file = Path(path)
    check_path(file)
    if file.is_dir():
        raise InputError("this is a folder; a scenario is a YAML file", file=file)
    try:
        with reading(file) as opened:
            text = opened.text(_LARGEST)
    except InputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise missing_file(file) from None
        if isinstance(error.__cause__, UnicodeDecodeError):
            what = "not a text file (a scenario is YAML in UTF-8)"
            raise InputError(what, file=file, line=error.line) from None
        raise
    return parse_source(text, str(file))


def parse_source(text: str, file: str | None, most: int = _MOST_VALUES) -> SourceData:
    """The data of a YAML text of at most so many values; raises InputError with the line of what is wrong."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            source = SourceData(None, file)
            if root is None:
                raise InputError("the file is empty", file=file)
            source.data = _Builder(loader, source, most).build(root, ())
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise InputError("not a text file (it has control characters)", file=file, line=line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be parsed"
        raise InputError(f"not valid YAML: {problem}", file=file, line=mark.line + 1 if mark else None) from None
    except RecursionError:
        raise InputError("not valid YAML: nested too deeply", file=file) from None
    return source


def parse_value(text: str) -> Any:
    """The value of a text that stands alone, typed as YAML types it; raises InputError."""
    if not text.strip():
        return None
    return parse_source(text, None).data


class _Loader(yaml.SafeLoader):
    """YAML's own, whose merged mappings (`<<`) stay as small as their keys are many."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len({id(key) for key, _ in node.value}) < len(node.value):
            node.value = list({_key(key): (key, value) for key, value in node.value}.values())


def _key(node: yaml.Node) -> str | int:
    return node.value if isinstance(node, yaml.ScalarNode) else id(node)


class _Builder:
    """Walks the parsed tree once, building values and noting lines."""

    def __init__(self, loader: yaml.SafeLoader, source: SourceData, most: int) -> None:
        self.loader = loader
        self.source = source
        self.most = most
        self.values = 0
        self.open: set[int] = set()

    def build(self, node: yaml.Node, key_path: KeyPath) -> Any:
        self.values += 1
        if self.values > self.most:
            raise InputError("too many values (aliases within aliases?)", file=self.source.file)
        self.source.lines.setdefault(key_path, node.start_mark.line + 1)
        if isinstance(node, yaml.CollectionNode):
            return self.build_collection(node, key_path)
        return self.scalar(node)

    def scalar(self, node: yaml.Node) -> Any:
        try:
            value = self.loader.construct_object(node, deep=True)
            if isinstance(value, str) and not value.isascii():
                value.encode()
        except (ValueError, OverflowError) as error:  # a date such as 2024-02-31, half a character
            line = node.start_mark.line + 1
            raise InputError(f"not a valid value ({describe(error)})", file=self.source.file, line=line) from None
        return value

    def build_collection(self, node: yaml.CollectionNode, key_path: KeyPath) -> Any:
        if id(node) in self.open:
            line = node.start_mark.line + 1
            raise InputError("an alias contains itself", file=self.source.file, line=line)
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self.build_mapping(node, key_path)
            return [self.build(item, (*key_path, index)) for index, item in enumerate(node.value)]
        finally:
            self.open.discard(id(node))

    def build_mapping(self, node: yaml.MappingNode, key_path: KeyPath) -> dict[str, Any]:
        self.refuse_duplicates(node)
        self.loader.flatten_mapping(node)
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            self.source.lines[(*key_path, key)] = key_node.start_mark.line + 1
            result[key] = self.build(value_node, (*key_path, key))
        return result

    def key(self, node: yaml.Node) -> str:
        value = self.scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if isinstance(value, bool):  # YAML 1.1 reads `on:` and `yes:` as booleans
            value = node.value
        if not isinstance(value, str | int | float):
            raise InputError("a key must be a plain word", file=self.source.file, line=node.start_mark.line + 1)
        return str(value)

    def refuse_duplicates(self, node: yaml.MappingNode) -> None:
        seen: dict[str, int] = {}
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue  # refused as a key
            line, name = key_node.start_mark.line + 1, key_node.value
            if name in seen and name != "<<":
                raise InputError(
                    f"the key {name!r} appears twice (first on line {seen[name]})", file=self.source.file, line=line
                )
            seen.setdefault(name, line)


def missing_file(file: Path) -> InputError:
    """The error for a file that is not there, with a similar name of the same folder where there is one."""
    try:
        names = [entry.name for entry in file.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(file.name, names, n=1)
    return InputError(f"no such file{f'; did you mean {near[0]!r}?' if near else ''}", file=file)
