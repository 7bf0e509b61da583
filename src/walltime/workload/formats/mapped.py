"""Tables of other people, Parquet or CSV, read through a map from our columns to theirs.

A value of the map is `column` or `column:unit`: units of time (us, ms, s, min, h, d), of memory (b, kb, mb, gb).
Besides our own names, `start` and `end` may be mapped: the run time and the recorded wait then follow from them. Times
may be numbers, dates with times (ISO 8601, or a date type), or, for lengths of time, texts such as 1-12:00:00. Columns
of the table that have our names are taken too; all others are passed over. A row that lacks a submission, a run time or
cores is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.dates import read_date
from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.core.time import LATEST, SECOND, microseconds, parse_duration
from walltime.core.workload import COLUMNS, MISSING, Origin, Workload, sort_by_submission
from walltime.workload.formats.parquet import encode_series, load_table
from walltime.workload.formats.sacct.reader import zone_offset

if TYPE_CHECKING:
    import polars as pl

_TIMES = {"us": 1, "ms": 1000, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND, "d": 86_400 * SECOND}
_SIZES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_MOMENTS = ("submit", "begin", "deadline", "cancel", "start", "end")
_EXTRA = ("start", "end")


def is_column(name: str) -> bool:
    """Whether a map may give a column of this name."""
    return name in COLUMNS or name in _EXTRA


def parse_map(pairs: list[str]) -> dict[str, str]:
    """The map from texts such as `submit=time_submit` and `run_time=elapsed:min`."""
    found: dict[str, str] = {}
    for pair in pairs:
        ours, sign, theirs = pair.partition("=")
        if not sign or not theirs:
            raise InputError("a map of columns is OURS=THEIRS, such as submit=time_submit; this is", value=pair)
        found[ours.strip()] = theirs.strip()
    return found


@reader
def read_mapped(path: str | Path, columns: Mapping[str, str], timezone: str | None = None) -> Workload:
    """The workload in a table with other names; raises InputError for a wrong name, unit or value."""
    table, _ = load_table(path)
    chosen = _choose(path, table, columns)
    read = {ours: _convert(path, table[theirs], ours, unit, timezone) for ours, (theirs, unit) in chosen.items()}
    values = {name: pair[0] for name, pair in read.items()}
    labels = {name: pair[1] for name, pair in read.items() if pair[1] is not None}
    _derive(path, values)
    kept, skipped_at = _complete(values)
    if not kept.any():
        raise InputError("no row of this table is a job with a submission, a run time and cores", file=path)
    rows = np.flatnonzero(kept)
    result = {
        name: [column[i] for i in rows] if isinstance(column, list) else column[rows] for name, column in values.items()
    }
    before = result["submit"]
    origin = _begin_clock(result, timezone)
    submit = result["submit"]
    zero = int(before[0] - submit[0])
    skipped_at = {reason: np.where(times < 0, MISSING, times - zero) for reason, times in skipped_at.items()}
    skipped = {reason: len(times) for reason, times in skipped_at.items()}
    notes = {"lines": len(kept), "skipped": skipped, "unsorted": bool(np.any(submit[1:] < submit[:-1]))}
    return Workload(
        sort_by_submission(result), labels, origin=origin, notes=notes, source=str(path), skipped_at=skipped_at
    )


def _choose(path: str | Path, table: pl.DataFrame, columns: Mapping[str, str]) -> dict[str, tuple[str, str | None]]:
    """For each of our columns the table's column and its unit; the map comes before equal names."""
    chosen: dict[str, tuple[str, str | None]] = {name: (name, None) for name in table.columns if name in COLUMNS}
    for ours, text in columns.items():
        if not is_column(ours):
            raise InputError("unknown workload column", value=ours, file=path, choices=(*COLUMNS, *_EXTRA))
        theirs, _, unit = (text, "", "") if text in table.columns else text.rpartition(":")
        theirs, unit = (theirs, unit.lower()) if theirs else (text, "")
        if theirs not in table.columns:
            raise InputError("the table has no such column", value=theirs, file=path, choices=table.columns)
        if unit and unit not in (*_TIMES, *_SIZES):
            raise InputError("unknown unit", value=unit, choices=(*_TIMES, *_SIZES))
        if theirs in chosen and theirs not in columns:  # what the map takes for another column is not its namesake
            del chosen[theirs]
        chosen[ours] = (theirs, unit or None)
    return chosen


def _convert(
    path: str | Path, series: pl.Series, ours: str, unit: str | None, timezone: str | None
) -> tuple[Any, list[str] | None]:
    kind = "time" if ours in _EXTRA else COLUMNS[ours].kind
    if kind == "label":
        return encode_series(series)
    if kind == "text":
        import polars as pl

        return series.cast(pl.String).fill_null("").to_list(), None
    if kind == "time":
        if unit in _SIZES:
            raise InputError(f"{ours} is a time; its unit cannot be", value=unit, choices=_TIMES)
        return _times(path, series, ours, unit, timezone), None
    if unit in _TIMES:
        raise InputError(f"{ours} is no time; its unit cannot be", value=unit, choices=_SIZES)
    number = _numbers(path, series) * (_SIZES[unit] if unit else 1)
    known = np.isfinite(number)
    if np.any(known & (np.abs(number) > LATEST)):
        raise InputError(f"column {series.name}: a number out of range", file=path)
    return np.where(known, np.rint(np.where(known, number, 0)), MISSING).astype(np.int64), None


def _times(path: str | Path, series: pl.Series, ours: str, unit: str | None, timezone: str | None) -> np.ndarray:
    """Microseconds, missing where empty; dates become microseconds since 1970 UTC."""
    import polars as pl

    if series.dtype == pl.Duration:
        return np.array(series.dt.total_microseconds().fill_null(MISSING))
    if series.dtype == pl.String and ours in _MOMENTS and _has_dates(series):
        return _read_dates(path, series, timezone)
    if series.dtype == pl.Datetime or series.dtype == pl.Date:
        aware = getattr(series.dtype, "time_zone", None) is not None
        ticks = np.array(series.dt.epoch("us").fill_null(MISSING))
        return ticks if aware else _to_utc(ticks, timezone)
    if series.dtype == pl.String and ours not in _MOMENTS and series.str.contains(":").any():
        return np.array([MISSING if not text else parse_duration(text.strip()) for text in series.to_list()], np.int64)
    scaled = _numbers(path, series) * _TIMES[unit or "s"]
    known = np.isfinite(scaled) & (scaled >= 0)
    if np.any(known & (scaled > LATEST)):
        raise InputError(f"column {series.name}: time out of range (a unit other than {unit or 's'}?)", file=path)
    return np.where(known, np.rint(np.where(known, scaled, 0)), MISSING).astype(np.int64)


def _read_dates(path: str | Path, series: pl.Series, timezone: str | None) -> np.ndarray:
    """Microseconds since 1970 UTC of dates as texts: most of one form, others, also with a zone, one by one."""
    text = series.str.strip_chars()
    found = text.str.replace("T", " ").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    ticks = _to_utc(np.array(found.dt.epoch("us").fill_null(MISSING)), timezone)
    for row in np.flatnonzero((found.is_null() & text.is_not_null()).to_numpy()).tolist():
        try:
            ticks[row] = microseconds(read_date(text[row], timezone))
        except InputError as error:
            raise InputError(f"row {row + 1}: {error.what}", value=text[row], file=path) from None
    return ticks


def _has_dates(series: pl.Series) -> bool:
    return bool(series.str.contains(r"^\s*\d{4}-\d\d-\d\d").any())


def _to_utc(ticks: np.ndarray, timezone: str | None) -> np.ndarray:
    offset = zone_offset(timezone)
    quarters, index = np.unique(ticks // (900 * SECOND), return_inverse=True)
    shifts = np.array([offset(int(quarter)) for quarter in quarters], np.int64)
    return np.where(ticks == MISSING, MISSING, ticks - shifts[index] * SECOND)


def _numbers(path: str | Path, series: pl.Series) -> np.ndarray:
    """The column as floats, NaN where empty; text that is no number is an error with its row."""
    import polars as pl

    if series.dtype == pl.String:
        text = series.str.strip_chars()
        text = text.set(text == "", None)
        number = text.cast(pl.Float64, strict=False)
        lost = (number.is_null() & text.is_not_null()).to_numpy()
        if lost.any():
            row = int(np.argmax(lost))
            raise InputError(f"row {row + 1}: column {series.name} is not a number", value=text[row], file=path)
        series = number
    if not series.dtype.is_numeric() and series.dtype != pl.Null:
        raise InputError(f"column {series.name} should hold numbers, not", value=str(series.dtype), file=path)
    return np.array(series.cast(pl.Float64).fill_null(float("nan")))


def _derive(path: str | Path, values: dict[str, Any]) -> None:
    """The run time and the recorded wait from starts and ends, which are no columns of ours."""
    if "submit" not in values:
        raise InputError("the map has to name the column of submissions: submit=...", file=path)
    start, end, submit = values.pop("start", None), values.pop("end", None), values["submit"]
    if "run_time" not in values:
        if start is None or end is None:
            raise InputError("the map has to name run_time, or start and end", file=path)
        values["run_time"] = np.where((start != MISSING) & (end > start), end - start, MISSING)
    if start is not None and "recorded_wait" not in values:
        values["recorded_wait"] = np.where((start >= submit) & (submit != MISSING), start - submit, MISSING)


def _complete(values: dict[str, Any]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Which rows are jobs, and when those that are not were submitted, by reason."""
    reasons = {"submit time unknown": values["submit"] < 0, "run time unknown or zero": values["run_time"] <= 0}
    if "cores" in values:
        reasons["cores unknown or zero"] = values["cores"] < 1
    kept = np.ones(len(values["submit"]), np.bool_)
    skipped_at = {}
    for reason, bad in reasons.items():
        if (bad & kept).any():
            skipped_at[reason] = values["submit"][bad & kept]
        kept &= ~bad
    return kept, skipped_at


def _begin_clock(columns: dict[str, Any], timezone: str | None) -> Origin:
    """Moves calendar times to a clock that begins at the first submission's midnight; other clocks stay."""
    earliest = int(columns["submit"].min())
    year = 365 * 86_400 * SECOND
    if earliest < 10 * year:  # a clock of its own
        return Origin(None, timezone)
    shift = zone_offset(timezone)(earliest // (900 * SECOND)) * SECOND
    day = 86_400 * SECOND
    zero = (earliest + shift) // day * day - shift
    for name in _MOMENTS:
        if name in columns:
            columns[name] = np.where(columns[name] == MISSING, MISSING, columns[name] - zero)
    return Origin(zero / SECOND, timezone or "UTC")
