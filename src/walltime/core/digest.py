"""The digest of a result: a hash of what its two tables say, not of how they are stored."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.core.codes import find_first, translate
from walltime.core.tables import ALLOCATIONS, JOBS, enum_codes, integer_series, label_series
from walltime.core.workload import COLUMNS, Workload

if TYPE_CHECKING:
    from hashlib import _Hash

_FORM = b"walltime digest 1\n"
"""Changes whenever the same contents would get another digest."""


_INFINITY = np.float64(np.inf).view(np.int64)


def digest(jobs: pl.DataFrame, allocations: pl.DataFrame) -> str:
    """SHA-256, in hexadecimal, of the contents of the two tables, column by column in the order of their schemas.

    The same contents give the same digest whatever the version of Polars, the encoding of text (Enum or String) and
    the file they were read from. An empty cell differs from every value; columns outside the schemas do not count.
    """
    state = hashlib.sha256(_FORM)
    for title, table, schema in (("jobs", jobs, JOBS), ("allocations", allocations, ALLOCATIONS)):
        _add_text(state, title)
        _add_count(state, table.height)
        for name, dtype in schema.items():
            _add_text(state, name)
            _add_column(state, table[name], dtype)
    return state.hexdigest()


def digest_workload(workload: Workload) -> str:
    """SHA-256, in hexadecimal, of what a workload says of its jobs; an absent column counts as full of its default."""
    state = hashlib.sha256(_FORM)
    _add_text(state, "workload")
    _add_count(state, len(workload))
    for name, column in COLUMNS.items():
        values = workload.column(name)
        if column.kind == "text":
            series = pl.Series(name, values, dtype=pl.String).replace("", None)
        elif column.kind == "label":
            series = label_series(name, values, workload.label_names(name))
        else:
            series = integer_series(name, values)
        _add_text(state, name)
        _add_column(state, series, pl.String if column.kind in ("text", "label") else pl.Int64)
    return state.hexdigest()


def _add_column(state: _Hash, series: pl.Series, dtype: Any) -> None:
    """Which cells are empty, then the values with a fixed one in the empty cells."""
    missing = series.null_count()
    _add_count(state, missing)
    if missing == len(series):
        return
    if missing:
        state.update(np.packbits(series.is_null().to_numpy()).data)
    if dtype == pl.String:
        _add_labels(state, series)
    elif dtype == pl.Boolean:
        state.update(np.packbits(_filled(series, dtype, False)).data)
    elif dtype == pl.Float64:
        values = _filled(series, dtype, 0.0)
        if not _is_plain(values):
            values = values + 0.0  # -0.0 + 0.0 is 0.0
            values[np.isnan(values)] = np.nan  # one of the many bit patterns
        state.update(np.ascontiguousarray(values, "<f8").data)
    else:
        state.update(np.ascontiguousarray(_filled(series, pl.Int64(), 0), "<i8").data)


def _is_plain(values: np.ndarray) -> bool:
    """Whether no float is negative or not a number, by its bits: such floats have only one form."""
    bits = values.view(np.int64)
    return not len(bits) or (bits.min() >= 0 and bits.max() <= _INFINITY)


def _filled(series: pl.Series, dtype: Any, value: Any) -> np.ndarray:
    """The values, with this one in the empty cells; what is not needed is not asked for, as each costs a small run."""
    if series.dtype != dtype:
        series = series.cast(dtype)
    return (series.fill_null(value) if series.null_count() else series).to_numpy()


def _add_labels(state: _Hash, series: pl.Series) -> None:
    """The distinct texts in order of first appearance, then for each cell the number of its text (0: empty)."""
    if isinstance(series.dtype, pl.Enum):  # its codes are at hand
        known, given = series.dtype.categories, enum_codes(series)
        distinct = find_first(given, len(known) + 1)
        distinct = distinct[distinct < len(known)]
        texts = known.gather(distinct)
        numbers = np.zeros(len(known) + 1, np.uint32)
        numbers[distinct] = np.arange(1, len(distinct) + 1)
        codes = translate(given, numbers)
    else:
        series = series.cast(pl.String)
        texts = series.drop_nulls().unique(maintain_order=True)
        numbered = pl.Series(np.arange(1, len(texts) + 1, dtype=np.uint32))
        codes = series.replace_strict(texts, numbered, default=0, return_dtype=pl.UInt32).to_numpy()
    _add_count(state, len(texts))
    state.update(np.ascontiguousarray(texts.str.len_bytes().to_numpy(), "<u4").data)
    state.update("".join(texts.to_list()).encode())
    state.update(np.ascontiguousarray(codes, "<u4").data)


def _add_text(state: _Hash, text: str) -> None:
    data = text.encode()
    _add_count(state, len(data))
    state.update(data)


def _add_count(state: _Hash, count: int) -> None:
    state.update(count.to_bytes(8, "little"))
