"""Batches of columns, as the readers of large files make them, put together again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from walltime.core.workload import COLUMNS, MISSING


def join_columns(parts: Iterable[dict[str, Any]], most: int = 0) -> dict[str, Any]:
    """One table of all batches, each of which is let go before the next is asked for; a gap is the column's default.

    `most` is how many jobs there are at most, where that is known: memory that nothing is written to costs nothing, and
    what was written need not be moved.
    """
    columns: dict[str, Any] = {}
    size = 0
    if isinstance(parts, list):
        most = sum(len(part["submit"]) for part in parts)
    for part in parts:
        before, size = size, size + len(part["submit"])
        for name in [name for name in part if name not in columns]:
            columns[name] = _fill(name, _make(name, max(size, most)), 0, before)
        for name in columns:
            columns[name] = _append(name, columns[name], before, size, part.pop(name, None))
    for values in columns.values():
        if not isinstance(values, list):
            values.resize(size, refcheck=False)  # nothing else knows it
    return columns


def _make(name: str, size: int) -> Any:
    kind = COLUMNS[name].kind
    return [] if kind == "text" else np.empty(size, np.int32 if kind == "label" else np.int64)


def _append(name: str, column: Any, before: int, size: int, values: Any) -> Any:
    """The column with these values from `before` to `size`, or with its default where there are none."""
    if isinstance(column, np.ndarray) and len(column) < size:
        longer = _make(name, 2 * size)
        longer[:before] = column[:before]
        column = longer
    if values is None:
        return _fill(name, column, before, size)
    if isinstance(column, list):
        column += values
    else:
        column[before:size] = values
    return column


def _fill(name: str, column: Any, begin: int, end: int) -> Any:
    default = COLUMNS[name].default
    if isinstance(column, list):
        column += [""] * (end - begin)
    else:
        column[begin:end] = MISSING if default is None else default
    return column


def count_duplicates(job_ids: np.ndarray) -> int:
    """How many jobs have a number that occurred before."""
    if np.all(job_ids[1:] > job_ids[:-1]):
        return 0
    return len(job_ids) - len(np.unique(job_ids))
