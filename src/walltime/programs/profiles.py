"""Profiles by name, from a YAML or JSON file: `{type, args}`, or the name of one that stands before.

A file is a mapping of names. A type is one of ours, a name of the file, or `module:Class` of your own, whose `run` is a
coroutine. Everything that is wrong is told with its line, before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.plugins import import_target, require_allowed
from walltime.core.reading import reader, reading
from walltime.core.source import KeyPath, SourceData, parse_source, read_source
from walltime.programs.program import gather
from walltime.programs.steps import (
    Checkpoint,
    Compute,
    Custom,
    DiskUse,
    Exchange,
    Exit,
    External,
    Idle,
    Matrix,
    Parallel,
    ParallelTask,
    Sequence,
    SourceTarget,
    Step,
)
from walltime.workload.formats.batsim import is_batsim, translate_profile

LABEL = "profile"
_MOST_REPEATS = 1 << 40
_DEEPEST = 50
_LONG = 1 << 20


class Profiles:
    """The profiles that jobs may name. `find` also takes one written out, as JSON or YAML in braces."""

    def __init__(self, given: Mapping[str, Step] | None = None) -> None:
        self.steps: dict[str, Step] = dict(given or {})
        self._written: dict[str, Step] = {}

    def find(self, text: str) -> Step:
        """The profile of a job; raises InputError for a name that no file tells."""
        if text in self.steps:
            return self.steps[text]
        if text in self._written:
            return self._written[text]
        if text.lstrip().startswith("{"):
            made = _Reader(parse_source(text, None), self.steps).read(parse_source(text, None).data, (), 0)
            self._written[text] = made
            return made
        if text in _registered:
            self._written[text] = _Reader(SourceData(None, None), self.steps).make_own(text, {}, ())
            return self._written[text]
        names = [*self.steps, *_registered]
        what = "no profile of this name" if names else "no file of profiles tells what this is"
        raise InputError(what, value=text, choices=names)


class Profile:
    """A program of your own: override `run`. `processes` are one for each node, in the order of the nodes."""

    async def run(self, processes: list[Any]) -> None:
        """What the job does; it is over when this returns."""
        raise NotImplementedError(f"{type(self).__name__}.run")


class MasterWorkers(Profile):
    """The first process sends to each other, which computes what it got; then the first computes."""

    def __init__(
        self, master_compute_work: float = 0.0, worker_compute_work: float = 0.0, data_transfer_size: float = 0.0
    ) -> None:
        self.master, self.worker, self.size = master_compute_work, worker_compute_work, data_transfer_size

    async def run(self, processes: list[Any]) -> None:
        master, *workers = processes
        await gather(*(self._serve(master, worker) for worker in workers))
        await master.compute(self.master)

    async def _serve(self, master: Any, worker: Any) -> None:
        await master.transfer(self.size, worker)
        await worker.compute(self.worker)


def register(name: str, make: Callable[..., Any]) -> None:
    """Let files and jobs use a type of your own by this name: `make(**args)` gives something with `run(processes)`."""
    if name in TYPES or ":" in name:
        raise InputError("a type of profiles has this name already, or it has a colon", value=name)
    _registered[name] = make


_registered: dict[str, Callable[..., Any]] = {}


@reader
def read_profiles(path: str | Path) -> Profiles:
    """The profiles of a file; raises InputError with the line of what is wrong."""
    source = _read_data(path)
    if not isinstance(source.data, dict):
        raise InputError("a file of profiles is a mapping of names, each with type and args", file=path, line=1)
    if is_batsim(source.data):
        return _read_batsim(source, path)
    steps: dict[str, Step] = {}
    reader = _Reader(source, steps)
    for name, value in source.data.items():
        if not isinstance(name, str):
            raise InputError("the name of a profile is a text", value=name, file=path, line=source.line((name,)))
        steps[name] = reader.read(value, (name,), 0)
    return Profiles(steps)


def _read_data(path: str | Path) -> SourceData:
    """The file's data; that of a long one in JSON is read without its lines."""
    with reading(path) as file:
        text = file.text()
    if text.lstrip()[:1] != "{":
        return read_source(path)
    try:
        with reading(path) as file:
            data = file.json()
    except InputError:
        return read_source(path)
    return SourceData(data, str(path), {} if len(text) > _LONG else read_source(path).lines)


def _read_batsim(source: SourceData, path: str | Path) -> Profiles:
    """The profiles of a workload of Batsim's, where a sequence may name what stands after it."""
    given = source.data["profiles"]
    if not isinstance(given, dict):
        raise InputError("profiles has to be a mapping of names", file=path, line=source.line(("profiles",)))
    steps: dict[str, Step] = {}
    reader, begun = _Reader(source, steps), set[str]()

    def make(name: str, depth: int) -> None:
        key_path: KeyPath = ("profiles", name)
        if name in begun or depth > _DEEPEST:
            raise reader.wrong("a profile that is part of itself, or too deep", key_path, name)
        begun.add(name)
        try:
            ours = translate_profile(name, given, path)
        except InputError as error:
            raise reader.wrong(error.what, key_path, error.value, error.choices) from None
        for part in ours["args"].get("profiles", ()):
            for inner in part["args"].get("profiles", ()) if isinstance(part, dict) else [part]:
                if inner not in steps:
                    make(inner, depth + 1)
        steps[name] = reader.read(ours, key_path, 0)

    for name in given:
        if name not in steps:
            make(name, 0)
    return Profiles(steps)


class _Reader:
    """Makes steps of a file's data; `known` are the names that stand before."""

    def __init__(self, source: SourceData, known: Mapping[str, Step]) -> None:
        self.source = source
        self.known = known

    def wrong(self, what: str, key_path: KeyPath, value: Any = None, choices: Any = ()) -> InputError:
        return InputError(what, value=value, file=self.source.file, line=self.source.line(key_path), choices=choices)

    def read(self, value: Any, key_path: KeyPath, depth: int) -> Step:
        """A step, from a name or from {type, args}."""
        if depth > _DEEPEST:
            raise self.wrong("profiles inside profiles inside profiles, too deep", key_path)
        if isinstance(value, str):
            if value not in self.known:
                raise self.wrong("no profile of this name stands before", key_path, value, list(self.known))
            return self.known[value]
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise self.wrong("a profile is a name, or a mapping with type and args", key_path, value)
        if extra := [key for key in value if key not in ("type", "args")]:
            raise self.wrong("a profile has no such key", (*key_path, extra[0]), extra[0], ("type", "args"))
        args = value.get("args")
        if args is not None and not isinstance(args, dict):
            raise self.wrong("args are a mapping", (*key_path, "args"), args)
        if value["type"] in self.known and value["type"] not in TYPES and not args:
            return self.known[value["type"]]
        made = self.make(value["type"], args or {}, key_path, depth)
        made.stand(self.source.file, self.source.line(key_path))
        return made

    def make(self, kind: str, args: dict[Any, Any], key_path: KeyPath, depth: int) -> Step:
        """A step of this type."""
        if ":" in kind or kind in _registered:
            return self.make_own(kind, args, key_path)
        if kind not in TYPES:
            choices = [*TYPES, *_registered, *self.known]
            raise self.wrong("no type of profiles", (*key_path, "type"), kind, choices)
        step, needed, optional = TYPES[kind]
        inside = (*key_path, "args")
        for key in args:
            if key not in needed and key not in optional:
                raise self.wrong(f"{kind} takes no such argument", (*inside, key), key, [*needed, *optional])
        if missing := [key for key in needed if args.get(key) is None]:
            raise self.wrong(f"{kind} needs {missing[0]}", inside)
        read = {
            key: (needed | optional)[key](self, args[key], (*inside, key), depth)
            for key in args
            if args[key] is not None
        }
        return step(**read)

    def make_own(self, kind: str, args: dict[Any, Any], key_path: KeyPath) -> Step:
        """A profile in Python, with its arguments."""
        try:
            if kind not in _registered:
                require_allowed(kind, LABEL)
            made = _registered[kind] if kind in _registered else import_target(kind, LABEL)
            profile = made(**args) if callable(made) else made
        except InputError as error:
            raise self.wrong(error.what, (*key_path, "type"), error.value, error.choices) from None
        except (TypeError, ValueError) as error:
            raise self.wrong(f"{kind} cannot be made with these args: {error}", (*key_path, "args"), args) from None
        if not callable(getattr(profile, "run", None)):
            raise self.wrong(f"{kind} has no run(processes)", (*key_path, "type"))
        return Custom(profile)

    # ---- arguments

    def number(self, value: Any, key_path: KeyPath, _depth: int) -> float:
        if isinstance(value, str):  # YAML's 1e9, which it takes for a text
            try:
                value = float(value)
            except ValueError:
                value = None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
            raise self.wrong("must be a number from 0 on", key_path, value)
        return float(value)

    def numbers(self, value: Any, key_path: KeyPath, depth: int) -> list[float]:
        if not isinstance(value, list) or not value:
            raise self.wrong("must be a list of numbers", key_path, value)
        return [self.number(item, (*key_path, index), depth) for index, item in enumerate(value)]

    def matrix(self, value: Any, key_path: KeyPath, depth: int) -> list[list[float]]:
        if not isinstance(value, list) or not value:
            raise self.wrong("must be a list of rows", key_path, value)
        rows = [self.numbers(row, (*key_path, index), depth) for index, row in enumerate(value)]
        if any(len(row) != len(rows) for row in rows):
            raise self.wrong(f"a matrix of {len(rows)} rows has rows of other lengths", key_path)
        return rows

    def ranks(self, value: Any, key_path: KeyPath, _depth: int) -> list[int]:
        items = value if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < 1 << 31:
                raise self.wrong("must be numbers of processes, from 0 on", key_path, value)
        return items

    def text(self, value: Any, key_path: KeyPath, _depth: int) -> str:
        if not isinstance(value, str) or not value:
            raise self.wrong("must be a name", key_path, value)
        return value

    def count(self, value: Any, key_path: KeyPath, _depth: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_REPEATS:
            raise self.wrong("must be a whole number from 0 on", key_path, value)
        return value

    def code(self, value: Any, key_path: KeyPath, _depth: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 31) <= value <= 1 << 31:
            raise self.wrong("must be a whole number", key_path, value)
        return value

    def flag(self, value: Any, key_path: KeyPath, _depth: int) -> bool:
        if not isinstance(value, bool):
            raise self.wrong("must be true or false", key_path, value)
        return value

    def several(self, value: Any, key_path: KeyPath, depth: int) -> list[Step]:
        if not isinstance(value, list) or not value:
            raise self.wrong("must be a list of profiles", key_path, value)
        return [self.read(item, (*key_path, index), depth + 1) for index, item in enumerate(value)]


def _reading(size: float, processes: list[int] | None = None, component_name: str | None = None) -> DiskUse:
    return DiskUse(processes, size, 0.0, component_name)


def _writing(size: float, processes: list[int] | None = None, component_name: str | None = None) -> DiskUse:
    return DiskUse(processes, 0.0, size, component_name)


def _outside(component_name: str, processes: list[int] | None = None, **sizes: Any) -> External:
    return External(processes, component_name, **sizes)


Argument = Callable[[_Reader, Any, KeyPath, int], Any]
_NUMBER, _NUMBERS, _MATRIX, _RANKS = _Reader.number, _Reader.numbers, _Reader.matrix, _Reader.ranks
_TEXT, _COUNT, _SEVERAL = _Reader.text, _Reader.count, _Reader.several
_CODE, _FLAG = _Reader.code, _Reader.flag
_DISK: dict[str, Argument] = {"processes": _RANKS, "component_name": _TEXT}
_ROUNDS: dict[str, Argument] = {"repeat": _COUNT}

TYPES: dict[str, tuple[Callable[..., Step], dict[str, Argument], dict[str, Argument]]] = {
    "idle": (Idle, {"time": _NUMBER}, {}),
    "compute-homogenous": (Compute, {"compute_work": _NUMBER}, {}),
    "compute-vector": (Compute, {"compute_work": _NUMBERS}, {}),
    "communication-homogenous": (Exchange, {"size": _NUMBER}, {}),
    "communication-matrix": (Matrix, {"matrix": _MATRIX}, {}),
    "communication-src-dst": (SourceTarget, {"src": _RANKS, "dst": _RANKS, "size": _NUMBER}, {}),
    "communication-external": (
        _outside,
        {"component_name": _TEXT},
        {"processes": _RANKS, "input_size": _NUMBER, "output_size": _NUMBER, "total": _FLAG},
    ),
    "parallel-task": (ParallelTask, {}, {"compute_work": _NUMBERS, "matrix": _MATRIX}),
    "parallel-task-homogenous": (ParallelTask, {}, {"compute_work": _NUMBER, "size": _NUMBER, "total": _FLAG}),
    "master-workers": (
        lambda **args: Custom(MasterWorkers(**args)),
        {"worker_compute_work": _NUMBER, "data_transfer_size": _NUMBER},
        {"master_compute_work": _NUMBER},
    ),
    "disk-ops": (DiskUse, {}, _DISK | {"read_size": _NUMBER, "write_size": _NUMBER}),
    "disk-read": (_reading, {"size": _NUMBER}, _DISK),
    "disk-write": (_writing, {"size": _NUMBER}, _DISK),
    "exit": (Exit, {"code": _CODE}, {}),
    "checkpoint": (Checkpoint, {}, {}),
    "sequence": (Sequence, {"profiles": _SEVERAL}, _ROUNDS),
    "parallel": (Parallel, {"profiles": _SEVERAL}, _ROUNDS),
}
"""What a profile may be: its step, the arguments that it needs, and those that it may have."""


def write_out(kind: str, **args: Any) -> str:
    """A profile in the form in which a job's column may have it."""
    return json.dumps({"type": kind, "args": args})
