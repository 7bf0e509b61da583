"""Workloads as tables of our own: Parquet or CSV with the columns of `walltime.core.workload.COLUMNS`.

Times are in seconds, exact to the microsecond; labels are names; an empty cell is a missing value. Parquet also keeps
the origin, the size of the machine, the header and the notes; CSV keeps the jobs alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from walltime.core.errors import InputError
from walltime.core.files import replacing, write_parquet
from walltime.core.reading import reader, reading
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import COLUMNS, MISSING, Origin, Workload, sort_by_submission

if TYPE_CHECKING:
    import polars as pl

_METADATA = "walltime"
_REQUIRED = ("submit", "run_time")
_SLICE = 1 << 18
"""Rows that are read at a time, about as many as are packed together."""
_SHOWN = 40  # characters of a bad value that a message shows


@reader
def read_table(path: str | Path) -> Workload:
    """The workload in a Parquet or CSV file, by its suffix, sorted by submission; InputError for a wrong column."""
    table, extra = load_table(path)
    return _make(path, table, extra, table.height)


def read_parquet_batches(path: str | Path, rows: int) -> Iterator[Workload]:
    """The workload in a Parquet file as a stream of workloads of at most `rows` jobs, in bounded memory; the file has
    to be in order of submission, and its jobs' numbers have to rise."""
    import polars as pl

    with reading(path) as file:
        scanned = file.scan()
        extra = _read_extra(pl.read_parquet_metadata(path).get(_METADATA))
        height = scanned.select(pl.len()).collect().item()
        for first in range(0, max(height, 1), _SLICE):
            part = _make(path, scanned.slice(first, _SLICE).collect(), extra, height)
            if not part.has("job_id"):
                numbers = np.arange(first + 1, first + 1 + len(part), dtype=np.int64)
                part = part.replace(dict(part.columns) | {"job_id": numbers})
            yield from part.batches(rows)


@reader
def read_names(path: str | Path) -> list[str]:
    """The columns of a Parquet file."""
    with reading(path) as file:
        return file.scan().collect_schema().names()


def _make(path: str | Path, table: pl.DataFrame, extra: dict[str, Any], lines: int) -> Workload:
    """The workload of a table, or of a part of one that has so many `lines` in all."""
    _check_columns(path, table)
    columns, labels = _convert(path, table)
    submit = columns["submit"]
    notes = extra.get("notes") or {"lines": lines, "skipped": {}}
    return Workload(
        sort_by_submission(columns),
        labels,
        origin=Origin(**extra.get("origin", {})),
        machine_cores=extra.get("machine_cores"),
        header=extra.get("header", {}),
        notes=notes | {"unsorted": bool(np.any(submit[1:] < submit[:-1]))},
        source=str(path),
    )


def _check_columns(path: str | Path, table: pl.DataFrame) -> None:
    for name in table.columns:
        if name not in COLUMNS:
            raise InputError("unknown workload column", value=name, file=path, choices=COLUMNS)
    for name in _REQUIRED:
        if name not in table.columns:
            raise InputError("a workload needs the column", value=name, file=path)
    if not table.height:
        raise InputError("there are no jobs in this file", file=path)


def _convert(path: str | Path, table: pl.DataFrame) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The columns of a Workload and the names of its labels."""
    import polars as pl

    columns: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    for series in table:
        name = series.name
        match COLUMNS[name].kind:
            case "label":
                columns[name], labels[name] = encode_series(series)
            case "text":
                columns[name] = series.cast(pl.String).fill_null("").to_list()
            case "time":
                columns[name] = _times(path, series)
            case _:
                columns[name] = _integers(path, series)
    endless = columns["run_time"] == MISSING
    if "requested_time" in columns:
        endless &= columns["requested_time"] == MISSING
    if endless.any():
        row = int(np.argmax(endless))
        _refuse(path, table["run_time"], row, "is empty, and the job has no requested_time that would end it")
    return columns, labels


def write_table(workload: Workload, path: str | Path) -> None:
    """Writes the workload as Parquet or CSV, by the suffix, all or nothing."""
    table = workload.to_polars()
    table = table.with_columns(_emptied(table))
    with replacing(path) as draft:
        if _is_csv(path):
            table.write_csv(draft)
        else:
            extra = {
                "origin": {"epoch": workload.origin.epoch, "timezone": workload.origin.timezone},
                "machine_cores": workload.machine_cores,
                "header": workload.header,
                "notes": workload.notes,
            }
            write_parquet(table, draft, metadata={_METADATA: json.dumps(extra)})


def _is_csv(path: str | Path) -> bool:
    return str(path).lower().endswith(".csv")


def load_table(path: str | Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table as it stands in the file, and what Parquet's metadata say beside it."""
    import polars as pl

    with reading(path) as file:
        if _is_csv(path):
            return file.table(infer_schema=False), {}
        return file.table(), _read_extra(pl.read_parquet_metadata(path).get(_METADATA))


def _read_extra(text: str | None) -> dict[str, Any]:
    """What we wrote beside the jobs, as far as it is what we write."""
    found = json.loads(text) if text else {}
    kinds = {"origin": dict, "machine_cores": int, "header": dict, "notes": dict}
    if not isinstance(found, dict):
        return {}
    extra = {key: found[key] for key, kind in kinds.items() if type(found.get(key)) is kind}
    origin = extra.get("origin", {})
    epoch, timezone = origin.get("epoch"), origin.get("timezone")
    known = {"epoch": epoch if isinstance(epoch, int | float) else None}
    return extra | {"origin": known | {"timezone": timezone if isinstance(timezone, str) else None}}


def _emptied(table: pl.DataFrame) -> list[pl.Series]:
    """The whole-number columns that know a missing value, with empty cells in its place."""
    return [
        table[name].set(table[name] == MISSING, None)
        for name in table.columns
        if COLUMNS[name].kind == "integer" and COLUMNS[name].default == MISSING
    ]


def encode_series(series: pl.Series) -> tuple[np.ndarray, list[str]]:
    """Codes and names; an Enum keeps its own order, other labels are coded by first appearance."""
    import polars as pl

    if not isinstance(series.dtype, pl.Enum):
        text = series.cast(pl.String)
        text = text.set(text == "", None)
        series = text.cast(pl.Enum(text.drop_nulls().unique(maintain_order=True)))
    codes = series.to_physical().cast(pl.Int32).fill_null(MISSING)
    names: list[str] = series.dtype.categories.to_list()  # type: ignore[attr-defined]
    return codes.to_numpy().copy(), names


def _times(path: str | Path, series: pl.Series) -> np.ndarray:
    """Microseconds from seconds; an empty cell and NaN are missing."""
    import polars as pl

    numbers = _numbers(path, series, "a number of seconds").cast(pl.Float64).fill_nan(None)
    known = numbers.is_not_null().to_numpy()
    if series.name == "submit" and not known.all():
        _refuse(path, series, int(np.argmin(known)), "is empty")
    seconds = numbers.fill_null(0.0).to_numpy()
    whole = np.floor(seconds)
    bad = ~(np.abs(seconds) <= LATEST / SECOND)
    if bad.any():
        _refuse(path, series, int(np.argmax(bad)), "is out of range")
    # Whole seconds and the rest apart: a large product would lose the last digit.
    exact = whole.astype(np.int64) * SECOND + np.rint((seconds - whole) * SECOND).astype(np.int64)
    return np.where(known, exact, MISSING)


def _integers(path: str | Path, series: pl.Series) -> np.ndarray:
    """Whole numbers; an empty cell is the column's default."""
    import polars as pl

    numbers = _numbers(path, series, "a whole number")
    if not numbers.dtype.is_integer():
        fractional = (numbers.cast(pl.Float64) % 1 != 0).fill_null(False).to_numpy()
        if fractional.any():
            _refuse(path, series, int(np.argmax(fractional)), "is not a whole number")
    values = numbers.cast(pl.Int64, strict=False)
    lost = (values.is_null() & numbers.is_not_null()).to_numpy()
    if lost.any():
        _refuse(path, series, int(np.argmax(lost)), "is out of range")
    empty = COLUMNS[series.name].default
    if empty is None and values.has_nulls():
        _refuse(path, series, int(np.argmax(values.is_null().to_numpy())), "is empty")
    return np.array(values.fill_null(empty or 0))


def _numbers(path: str | Path, series: pl.Series, what: str) -> pl.Series:
    """The column as numbers; text is parsed, any other type refused."""
    import polars as pl

    if series.dtype == pl.Null:
        return series.cast(pl.Int64)
    if series.dtype.is_numeric():
        return series
    if series.dtype != pl.String:
        raise InputError(f"column {series.name} should hold {what}, not", value=str(series.dtype), file=path)
    text = series.str.strip_chars()
    text = text.set(text == "", None)
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() > text.null_count():
        numbers = text.cast(pl.Float64, strict=False)
    lost = (numbers.is_null() & text.is_not_null()).to_numpy()
    if lost.any():
        _refuse(path, series, int(np.argmax(lost)), f"is not {what}")
    return numbers


def _refuse(path: str | Path, series: pl.Series, row: int, problem: str) -> NoReturn:
    """Raises the InputError for one cell; a CSV file's line counts its heading."""
    value = series[row]
    if isinstance(value, str) and len(value) > _SHOWN:
        value = value[: _SHOWN - 1] + "…"
    if _is_csv(path):
        raise InputError(f"column {series.name} {problem}", value=value, file=path, line=row + 2)
    raise InputError(f"row {row + 1}: column {series.name} {problem}", value=value, file=path)
