"""The Workload: a columnar table of jobs, the one form that every trace, model and generator is turned into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import LATEST, SECOND, format_duration

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["time", "integer", "label", "text"]
MISSING = -1
"""In a time or integer column: no value. In a label column: no label."""
UNTOLD = "not told"
UNLIMITED = 365 * 86_400 * SECOND
"""The requested time of a job without a limit: a year, with which Slurm's backfilling plans such a job. It is at least
the run time, so that it is never what ends a job."""


@dataclass(frozen=True)
class Column:
    """One column: `time` is int64 microseconds, `integer` int64, `label` int32 codes into a list of names,
    `text` Python strings. `default` is what an absent column means."""

    name: str
    kind: Kind
    default: Any
    meaning: str


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("job_id", "integer", None, "the job's number in its trace; by default its row, from 1"),
        Column("name", "text", "", "a label for people, such as 12_3; empty: the job_id"),
        Column("submit", "time", None, "when the job is submitted"),
        Column("run_time", "time", None, "how long it actually runs; missing: until it is cancelled or its limit"),
        Column("requested_time", "time", MISSING, "the user's wall-time request"),
        Column("cores", "integer", 1, "cores in total"),
        Column("nodes", "integer", MISSING, "number of nodes, where the request has a shape"),
        Column("cores_per_node", "integer", MISSING, "cores on each of those nodes"),
        Column("parts", "label", MISSING, "of a job whose nodes differ, nodes x cores of each part: 1x32+4x16"),
        Column("memory", "integer", MISSING, "bytes for the whole job"),
        Column("memory_per_node", "integer", MISSING, "bytes on each of its nodes"),
        Column("memory_per_core", "integer", MISSING, "bytes with each of its cores"),
        Column("gpus", "integer", 0, "GPUs for the whole job"),
        Column("gpus_per_node", "integer", MISSING, "GPUs on each of its nodes"),
        Column("resources", "label", MISSING, "anything else a node has: scratch:100,fpga:1/core,ram:8/job"),
        Column("licences", "label", MISSING, "what the cluster has as a whole: matlab:2,ansys"),
        Column("constraint", "label", MISSING, "properties that its nodes must have: ib&xeon, or a|b"),
        Column("exclusive", "integer", 0, "1: no other job on its nodes"),
        Column("user", "label", MISSING, "who submitted it"),
        Column("group", "label", MISSING, "the user's group"),
        Column("account", "label", MISSING, "the account that pays"),
        Column("queue", "label", MISSING, "queue or partition; several with commas between"),
        Column("qos", "label", MISSING, "quality of service"),
        Column("reservation", "label", MISSING, "the reservation that it is bound to"),
        Column("priority", "integer", 0, "the user's or site's number; higher is more urgent"),
        Column("dependencies", "text", "", "as Slurm writes them, over job_ids: afterok:12:13,afterany:7"),
        Column("array", "label", MISSING, "the array it is a task of; 12%4: at most four of its tasks at once"),
        Column("workflow", "label", MISSING, "the workflow it is a task of, or all of"),
        Column("aware", "integer", 0, "1: ordered as its workflow, as if eligible since it was submitted"),
        Column("begin", "time", MISSING, "not eligible before this time"),
        Column("deadline", "time", MISSING, "should have ended by this time"),
        Column("cancel", "time", MISSING, "its user cancels it at this time, waiting or running"),
        Column("patience", "time", MISSING, "its user gives up and cancels it when it has waited so long"),
        Column("profile", "label", MISSING, "how it unfolds, where an execution model asks"),
        Column("started", "time", MISSING, "it has been running since then, whatever the scheduler would have decided"),
        Column("suspended", "time", MISSING, "it runs since `started`, and has been suspended since then"),
        Column("running_on", "label", MISSING, "its cores on each node, by number, where it runs already: 0-1:5,2:7"),
        Column("phase", "label", MISSING, "fill, stabilization or experiment, where the jobs were generated so"),
        Column("recorded_wait", "time", MISSING, "the wait in the original log, kept for comparison"),
        Column("preceding_job", "integer", MISSING, "SWF's preceding job, whose end it waits for"),
        Column("think_time", "time", MISSING, "SWF's think time after the end of the preceding job"),
    )
}


@dataclass(frozen=True)
class Origin:
    """What time zero of the trace means: seconds since 1970 UTC, and the time zone's name, where known."""

    epoch: float | None = None
    timezone: str | None = None


@dataclass(repr=False)
class Workload:
    """Jobs as columns, sorted by submission (ties in the given order). Treat as immutable.

    `columns` holds NumPy arrays (lists of strings for `text`) of equal length for the columns that are present; the
    names behind a label column's codes are in `labels`. `notes` says what reading did, in counts: skipped jobs by
    reason and the like; `skipped_at` when these were submitted, in microseconds, MISSING where that is not known.
    `machine_cores` is the size of the machine where the source tells.
    """

    columns: dict[str, Any]
    labels: dict[str, list[str]] = field(default_factory=dict)
    origin: Origin = Origin()
    machine_cores: int | None = None
    header: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    skipped_at: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = {name: _contiguous(name, values) for name, values in self.columns.items()}
        _validate(self.columns, self.labels)

    def __len__(self) -> int:
        return len(self.columns["submit"])

    def __repr__(self) -> str:
        source = f" {self.source}" if self.source else ""
        return f"<Workload{source}: {', '.join(self._headline())}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a line, and the first jobs."""
        import html

        caption = html.escape(f"{self.source or 'Workload'}: {', '.join(self._headline())}")
        return f"<div><p>{caption}</p>{self.select(np.arange(min(len(self), 5))).to_polars()._repr_html_()}</div>"

    def _headline(self) -> list[str]:
        found = [f"{len(self):,} job{'' if len(self) == 1 else 's'}"]
        if len(self):
            submit = self.columns["submit"]
            found.append(f"up to {int(np.max(self.column('cores'))):,} cores")
            found.append(f"submitted within {format_duration(float(submit[-1] - submit[0]) / SECOND)}")
        return found

    def has(self, name: str) -> bool:
        """Whether the column is present (rather than defaulted)."""
        return name in self.columns

    def column(self, name: str) -> Any:
        """The column's values, the default's where it is absent."""
        if name in self.columns:
            return self.columns[name]
        column = COLUMNS[name]
        if name == "job_id":
            return np.arange(1, len(self) + 1, dtype=np.int64)
        if name == "cores" and "nodes" in self.columns:  # a request in nodes alone
            each = np.maximum(self.column("cores_per_node"), 1)
            return np.where(self.columns["nodes"] > 0, self.columns["nodes"] * each, 1)
        if column.kind == "text":
            return [column.default] * len(self)
        dtype = np.int32 if column.kind == "label" else np.int64
        return np.full(len(self), column.default, dtype)

    def label_names(self, name: str) -> list[str]:
        """The names behind the codes of a label column."""
        return self.labels.get(name, [])

    def select(self, rows: np.ndarray) -> Workload:
        """The given rows (a mask or indices, in order of submission) as a new Workload."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        places = rows.tolist() if any(COLUMNS[name].kind == "text" for name in self.columns) else []
        columns = {
            name: [values[i] for i in places] if COLUMNS[name].kind == "text" else values[rows]
            for name, values in self.columns.items()
        }
        return self.replace(columns)

    def replace(self, columns: Mapping[str, Any], **other: Any) -> Workload:
        """The same workload with other columns (all of them are given)."""
        kept: dict[str, Any] = {
            "labels": dict(self.labels),
            "origin": self.origin,
            "machine_cores": self.machine_cores,
            "header": dict(self.header),
            "notes": dict(self.notes),
            "source": self.source,
            "skipped_at": dict(self.skipped_at),
        }
        return Workload(sort_by_submission(dict(columns)), **(kept | other))

    def batches(self, rows: int) -> Iterator[Workload]:
        """The same jobs as a stream of smaller workloads."""
        for first in range(0, len(self), rows):
            part = {name: values[first : first + rows] for name, values in self.columns.items()}
            if "job_id" not in part:
                part["job_id"] = np.arange(first + 1, first + 1 + len(part["submit"]), dtype=np.int64)
            yield self.replace(part)

    def to_polars(self) -> pl.DataFrame:
        """Present columns as a Polars table, times in seconds, labels as their names, missing values empty."""
        import polars as pl

        from walltime.core.tables import label_series, time_series

        series = []
        for name in COLUMNS:
            if name not in self.columns:
                continue
            values = self.columns[name]
            match COLUMNS[name].kind:
                case "time":
                    series.append(time_series(name, values))
                case "label":
                    series.append(label_series(name, values, self.label_names(name)))
                case "text":
                    series.append(pl.Series(name, values, dtype=pl.String))
                case _:
                    series.append(pl.Series(name, values))
        return pl.DataFrame(series)

    @classmethod
    def from_columns(cls, /, **columns: Any) -> Workload:
        """From sequences by column name: times in seconds (None: missing), labels as strings, the rest as they are.

        >>> jobs = Workload.from_columns(submit=[0, 5], run_time=[10, 2], cores=[4, 1], user=["ann", "bo"])
        >>> len(jobs), jobs.columns["submit"].tolist()
        (2, [0, 5000000])
        """
        table: dict[str, Any] = {}
        labels: dict[str, list[str]] = {}
        for name, values in columns.items():
            if name not in COLUMNS:
                raise InputError("unknown workload column", value=name, choices=COLUMNS)
            match COLUMNS[name].kind:
                case "time":
                    table[name] = _times(name, values)
                case "integer":
                    table[name] = _integers(name, values)
                case "label":
                    table[name], labels[name] = encode_labels(values)
                case "text":
                    table[name] = ["" if value is None else str(value) for value in values]
        for required in ("submit", "run_time"):
            if required not in table:
                raise InputError("a workload needs the column", value=required)
        return cls(sort_by_submission(table), labels)


def sort_by_submission(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns in order of submission; equal submissions keep their order, and so do columns already sorted."""
    submit = columns["submit"]
    if len(submit) < 2 or bool(np.all(submit[1:] >= submit[:-1])):
        return columns
    if "job_id" not in columns:
        columns["job_id"] = np.arange(1, len(submit) + 1, dtype=np.int64)
    order = np.argsort(submit, kind="stable")
    places = order.tolist() if any(isinstance(values, list) for values in columns.values()) else []
    return {
        name: [values[i] for i in places] if isinstance(values, list) else values[order]
        for name, values in columns.items()
    }


def encode_labels(values: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Codes in order of first appearance, and the names; None and the empty string are missing."""
    codes: dict[str, int] = {}
    encoded = [
        MISSING if value is None or value == "" else codes.setdefault(str(value), len(codes)) for value in values
    ]
    return np.array(encoded, np.int32), list(codes)


def join_labels(parts: Iterable[tuple[np.ndarray, list[str]]]) -> tuple[np.ndarray, list[str]]:
    """The codes and names of several columns as those of one: as `encode_labels` of all names in a row.

    >>> join_labels([(np.array([1, -1]), ["ann", "bo"]), (np.array([0, 1]), ["cy", "bo"])])
    (array([ 0, -1,  1,  0], dtype=int32), ['bo', 'cy'])
    """
    known: dict[str, int] = {}
    joined = []
    for codes, names in parts:
        met, first = np.unique(codes, return_index=True)
        new = np.full(len(names) + 1, MISSING, np.int32)  # the last is for what is missing, whose code is -1
        for code in met[np.argsort(first)].tolist():
            if code >= 0 and names[code]:
                new[code] = known.setdefault(names[code], len(known))
        joined.append(new[codes])
    return np.concatenate(joined), list(known)


def _contiguous(name: str, values: Any) -> Any:
    """The column in the type that everything behind the table relies on; no copy where it has it already."""
    if name not in COLUMNS:
        raise InputError("unknown workload column", value=name, choices=COLUMNS)
    if COLUMNS[name].kind == "text":
        return values
    return np.ascontiguousarray(values, np.int32 if COLUMNS[name].kind == "label" else np.int64)


def _times(name: str, values: Sequence[float | None]) -> np.ndarray:
    try:
        seconds = np.array([np.nan if value is None else value for value in values], np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {name}: not a number of seconds ({error})") from None
    out = np.full(len(seconds), MISSING, np.int64)
    known = ~np.isnan(seconds)
    scaled = np.rint(seconds[known] * SECOND)
    if np.any(np.abs(scaled) > LATEST):
        raise InputError(f"column {name}: time out of range", value=float(seconds[known][np.abs(scaled) > LATEST][0]))
    out[known] = scaled.astype(np.int64)
    return out


def _integers(name: str, values: Sequence[int | None]) -> np.ndarray:
    try:
        given: list[Any] = [MISSING if value is None else value for value in values]
        for value in given:
            if isinstance(value, float) and not value.is_integer():
                raise InputError(f"column {name}: not an integer", value=value)
        return np.array(given, np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"column {name}: not an integer ({error})") from None


def _validate(columns: dict[str, Any], labels: dict[str, list[str]]) -> None:
    """Shapes and ranges that everything behind the table relies on."""
    size = len(columns["submit"])
    for name, values in columns.items():
        if len(values) != size:
            raise InputError(f"column {name} has {len(values)} values, submit has {size}")
        kind = COLUMNS[name].kind
        if kind == "label" and size and int(np.max(values)) >= len(labels.get(name, ())):
            raise InputError(f"column {name} has codes without a name")
        if kind == "time" and name not in ("submit", "begin", "deadline", "cancel") and size:
            _refuse(columns, name, values < MISSING, "negative")
    if not size:
        return
    submit = columns["submit"]
    _refuse(columns, "submit", submit == MISSING, UNTOLD)
    _refuse(columns, "submit", submit < 0, "negative")
    _refuse(columns, "submit", submit > LATEST, "beyond the largest time")
    if np.any(submit[1:] < submit[:-1]):
        raise InputError("the jobs are not in order of submission (sort_by_submission does that)")
    if "patience" in columns:
        _refuse(columns, "patience", columns["patience"] == 0, "not positive")
    if "cores" in columns:
        _refuse(columns, "cores", columns["cores"] < 1, "not positive")


def _refuse(columns: dict[str, Any], name: str, bad: np.ndarray, problem: str) -> None:
    if np.any(bad):
        row = int(np.argmax(bad))
        job = int(columns["job_id"][row]) if "job_id" in columns else row + 1
        unit = SECOND if COLUMNS[name].kind == "time" else 1
        value = int(columns[name][row])
        told = None if problem == UNTOLD else value if unit == 1 else value / unit
        raise InputError(f"job {job}: {name} is {problem}", value=told)
