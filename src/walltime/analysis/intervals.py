"""The record as intervals of whole microseconds: who held what from when to when, and where the record ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from walltime.core.tables import Record, ticks
from walltime.core.time import microseconds

ABSENT = -(1 << 62)
"""A time that a table does not give; earlier than any real one."""


@dataclass(frozen=True)
class Held:
    """The allocations, row by row: `cores` were held from `start` to `end` (microseconds)."""

    start: np.ndarray
    end: np.ndarray
    cores: np.ndarray

    def core_time(self, first: int | None = None, last: int | None = None) -> np.ndarray:
        """How long each was held, between the two times where given."""
        start = self.start if first is None else np.maximum(self.start, first)
        end = self.end if last is None else np.minimum(self.end, last)
        return np.asarray(np.maximum(end - start, 0))


def find_horizon(record: Record) -> int | None:
    """The last instant that the record knows of: the cut-off, where there was one, or the last end or event."""
    until = record.facts.get("until")
    if until is not None and _is_cut_off(record):
        return microseconds(float(until))
    columns = (record.allocations["end"], record.jobs["end"], record.allocations["start"], record.jobs["submit"])
    latest = [float(value) for column in columns if (value := column.max()) is not None]  # type: ignore[arg-type]
    return microseconds(max(latest)) if latest else None


def _is_cut_off(record: Record) -> bool:
    """Whether something was going on when the record ends."""
    return bool(record.jobs["state"].cast(pl.String).is_in(["running", "waiting"]).any())


def find_held(record: Record) -> Held:
    """The allocations as arrays; one without an end was still held at the horizon."""
    table = record.allocations
    start, end = ticks(table["start"], ABSENT), ticks(table["end"], ABSENT)
    still = end == ABSENT
    if still.any():
        horizon = find_horizon(record)
        end[still] = start[still] if horizon is None else np.maximum(start[still], horizon)
    return Held(start, end, table["cores"].to_numpy())


def find_capacity(record: Record) -> dict[str, int]:
    """Cores by cluster, as the engine was told."""
    return {str(name): int(cores) for name, cores in record.facts.get("clusters", {}).items()}
