"""Batches of columns, as the readers of large files make them, put together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.workload import COLUMNS, MISSING


def join_columns(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One table of all batches, column by column so that little is held twice; a gap is the column's default."""
    if len(parts) == 1:  # a short view would keep a whole batch
        return {name: values if isinstance(values, list) else values.copy() for name, values in parts[0].items()}
    sizes = [len(part["submit"]) for part in parts]
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: _join(name, parts, sizes) for name in names}


def _join(name: str, parts: list[dict[str, Any]], sizes: list[int]) -> Any:
    column = COLUMNS[name]
    if column.kind == "text":
        return [text for part, size in zip(parts, sizes, strict=True) for text in part.pop(name, None) or [""] * size]
    dtype = np.int32 if column.kind == "label" else np.int64
    empty = MISSING if column.default is None else column.default
    return np.concatenate(
        [
            part.pop(name) if name in part else np.full(size, empty, dtype)
            for part, size in zip(parts, sizes, strict=True)
        ]
    )


def count_duplicates(job_ids: np.ndarray) -> int:
    """How many jobs have a number that occurred before."""
    if np.all(job_ids[1:] > job_ids[:-1]):
        return 0
    return len(job_ids) - len(np.unique(job_ids))
