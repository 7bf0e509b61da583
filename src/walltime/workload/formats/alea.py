"""The three columns that the simulator Alea writes after SWF's 18, in the two dialects that its data sets have.

Alea's own (its data sets `wagap`, `meta`, `zewura`): `{1241,1241} q_1d 2:ppn=1:x86_64:cl_zewura#excl`

- for each processor the number of the node that it was on in the original log, which a replay has no use for;
- the name of the queue, in place of SWF's number;
- the node specification: parts joined by `+`, each `NODES:ppn=CORES:property:property`, and `#excl` for whole nodes.

AleaNG's (what its generator writes): `8 301 normal:excl:4x16`

- GPUs of the whole job; the run time that its user expects, which has no counterpart here;
- the property that its nodes must have (`all`: none), `excl` for whole nodes, `NODESxCORES`.

In both, requested memory is that of each node: in bytes in the first dialect, in KB in the second. Of the properties
only those that name a cluster (`cl_zewura`, `^cl_zewura` for any other) mean something in the first dialect, as in
Alea: nothing tells which nodes have the others. They are counted by name in the notes, as `unused_properties`; so are
specifications whose processors are not the job's (`other_cores`), which are spread evenly over their nodes. Nodes that
differ (`1:ppn=8+1:ppn=1`) are the column `parts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import MISSING

EXTRAS = 3
"""How many columns there are after SWF's own."""
CLUSTER = "cl_"
"""What the property begins with that names a cluster."""

Extra = tuple[int, int, bytes]
"""A row, its line in the file, and the text after the 18 fields."""

_PROCESSORS = re.compile(r"\{[\d,.-]*\}")
_CORES = re.compile(r"ppn=(\d+)(?:\.\d+)?(.*)")
_SHAPE = re.compile(r"(\d+)x(\d+)")
_MOST = 1 << 31
_EMPTY = {"nodes": MISSING, "constraint": MISSING, "parts": MISSING, "gpus": 0, "exclusive": 0}
_EPOCHS = 1_000_000_000  # seconds: later than this, a trace without a header counts from 1970


@dataclass(frozen=True)
class NodeSpecification:
    """What a node specification asks for; `nodes` 0 where it does not say."""

    nodes: int = 0
    cores: int = 0
    constraint: str | None = None
    exclusive: bool = False
    parts: str | None = None
    unused: tuple[str, ...] = ()


class Columns:
    """Reads the extra columns of one file, batch after batch; codes of labels mean the same in every batch.

    `names` are names of users, groups and queues by the numbers that the trace calls them. `epochs` tells whether the
    trace has Alea's columns, and times that count from 1970.
    """

    def __init__(self, file: str, names: Mapping[str, Mapping[str, str]]) -> None:
        self.file = file
        self.epochs = False
        self._names = names
        self._codes: dict[str, dict[str, int]] = {"queue": {}, "constraint": {}, "parts": {}}
        self._dialect: str | None = None

    def add(self, columns: dict[str, Any], notes: dict[str, Any], extras: list[Extra]) -> None:
        """Puts what the extra columns say into the batch, where they are Alea's; others are left as they were."""
        if self._dialect is None:
            self._dialect = _recognise(extras[0][2]) if extras and extras[0][0] == 0 else ""
            self.epochs = bool(self._dialect) and int(columns["submit"][0]) >= _EPOCHS * SECOND
        if not self._dialect:
            return
        size = len(columns["submit"])
        if len(extras) < size:
            job = int(columns["job_id"][_first_gap(extras)])
            raise InputError(f"this job lacks the {EXTRAS} extra columns of the others", value=job, file=self.file)
        batch = _Batch(columns)
        for row, line, text in extras:
            fields = text.split()
            if len(fields) != EXTRAS or _recognise(text) != self._dialect:
                what = "not the extra columns that the lines before have"
                raise InputError(what, value=_shown(text), file=self.file, line=line)
            try:
                self._read_row(batch, row, [word.decode("utf-8", "replace") for word in fields])
            except ValueError as error:
                raise InputError(str(error), value=_shown(fields[2]), file=self.file, line=line) from None
        columns.update(batch.finish(1 if self._dialect == "alea" else 1024))
        if self._dialect == "alea":
            columns["queue"] = batch.queue
        notes["extra_columns"] = 0
        notes["unused_properties"] = dict(batch.unused)
        notes["other_cores"] = batch.other_cores

    def name(self, labels: dict[str, list[str]]) -> dict[str, list[str]]:
        """The labels of SWF's own columns with their names for numbers, and those of the extra columns."""
        named = {
            column: [self._names.get(column, {}).get(label, label) for label in known]
            for column, known in labels.items()
        }
        extra = {column: list(codes) for column, codes in self._codes.items() if codes}
        return named | extra

    def _read_row(self, batch: _Batch, row: int, fields: list[str]) -> None:
        if self._dialect == "alea":
            request = parse_nodes(fields[2])
            batch.queue[row] = self._code("queue", None if fields[1] == "-1" else fields[1])
        else:
            request = parse_shape(fields[2])
            batch.gpus[row] = max(int(fields[0]), 0)
        if batch.put(row, request):
            batch.parts[row] = self._code("parts", request.parts)
        batch.constraint[row] = self._code("constraint", request.constraint)

    def _code(self, column: str, name: str | None) -> int:
        codes = self._codes[column]
        return MISSING if name is None else codes.setdefault(name, len(codes))


@dataclass
class _Batch:
    """The columns of a batch while its rows are read."""

    columns: dict[str, Any]
    unused: Counter[str] = field(default_factory=Counter)
    other_cores: int = 0

    def __post_init__(self) -> None:
        self.size = len(self.columns["submit"])
        self.nodes = np.full(self.size, MISSING, np.int64)
        self.gpus = np.zeros(self.size, np.int64)
        self.exclusive = np.zeros(self.size, np.int64)
        self.queue = np.full(self.size, MISSING, np.int32)
        self.constraint = np.full(self.size, MISSING, np.int32)
        self.parts = np.full(self.size, MISSING, np.int32)

    def put(self, row: int, request: NodeSpecification) -> bool:
        """The shape of one job; a specification never gives it more nodes than it has cores. Whether it tells all of
        its cores."""
        cores = int(self.columns["cores"][row])
        if request.nodes:
            self.nodes[row] = min(request.nodes, cores)
            self.other_cores += request.cores != cores
        self.exclusive[row] = request.exclusive
        self.unused.update(request.unused)
        return request.cores == cores

    def finish(self, unit: int) -> dict[str, Any]:
        """The columns that have a value, with the memory of each node and of the whole job from the memory column.

        SWF's reader took the number for KB of each processor; here it is `unit` bytes of each node.
        """
        made: dict[str, Any] = {}
        for name, empty in _EMPTY.items():
            values = getattr(self, name)
            if bool((values != empty).any()):
                made[name] = values
        if "memory" in self.columns:
            asked = self.columns["memory"] // (1024 * self.columns["cores"]) * unit
            known = self.columns["memory"] >= 0
            made["memory_per_node"] = np.where(known, asked, MISSING)
            made["memory"] = np.where(known, asked * np.maximum(self.nodes, 1), MISSING)
        return made


@lru_cache(maxsize=1 << 14)
def parse_nodes(text: str) -> NodeSpecification:
    """A node specification of Torque, as Alea's data sets have it; raises ValueError."""
    specification, *flags = text.split("#")
    if specification == "-1":
        return NodeSpecification()
    counts: list[tuple[int, int]] = []
    wanted: dict[str, None] = {}
    unused: dict[str, None] = dict.fromkeys(flag for flag in flags if flag != "excl")
    for part in specification.split("+"):
        nodes, cores = 1, 1
        for index, word in enumerate(part.split(":")):
            if index == 0 and word.isdigit():
                nodes = int(word)
            elif match := _CORES.fullmatch(word):
                cores, word = int(match[1]), match[2]
                if word:  # the colon is missing: ppn=1cl_zewura
                    (wanted if is_cluster(word) else unused)[word] = None
            else:
                (wanted if is_cluster(word) else unused)[word] = None
        if not 0 < nodes * cores < _MOST:
            raise ValueError("a node specification without nodes or without processors, or with too many")
        counts.append((nodes, cores))
    nodes, cores = sum(n for n, _ in counts), sum(n * c for n, c in counts)
    constraint = "&".join(wanted) or None
    parts = "+".join(f"{n}x{c}" for n, c in counts) if len({c for _, c in counts}) > 1 else None
    return NodeSpecification(nodes, cores, constraint, "excl" in flags, parts, tuple(unused))


@lru_cache(maxsize=1 << 14)
def parse_shape(text: str) -> NodeSpecification:
    """A request of AleaNG, such as `normal:excl:4x16`; raises ValueError."""
    nodes = cores = 0
    exclusive = False
    wanted: dict[str, None] = {}
    for word in text.split(":"):
        if match := _SHAPE.fullmatch(word):
            nodes, cores = int(match[1]), int(match[1]) * int(match[2])
            if not 0 < cores < _MOST:
                raise ValueError("a request without nodes or without processors, or with too many")
        elif word == "excl":
            exclusive = True
        elif word not in ("all", "-1", ""):
            wanted[word] = None
    return NodeSpecification(nodes, cores, "&".join(wanted) or None, exclusive)


def is_cluster(word: str) -> bool:
    """Whether a property names a cluster, or with `^` every other one."""
    return word.removeprefix("^").startswith(CLUSTER)


def _recognise(text: bytes) -> str:
    """Which dialect the extra columns of a line are: `alea`, `aleang`, or neither."""
    words = text.decode("utf-8", "replace").split()
    if len(words) != EXTRAS:
        return ""
    if _PROCESSORS.fullmatch(words[0]):
        return "alea"
    numbers = all(re.fullmatch(r"-?\d+", word) for word in words[:2])
    return "aleang" if numbers and not re.fullmatch(r"[-+]?[\d.]+", words[2]) else ""


def _first_gap(extras: list[Extra]) -> int:
    rows = [row for row, _, _ in extras]
    return next((index for index, row in enumerate(rows) if index != row), len(rows))


def _shown(text: bytes) -> str:
    shown = text.decode("utf-8", "replace").strip()
    return shown if len(shown) <= 60 else shown[:59] + "…"
