"""Workloads made from workloads: pure functions that choose jobs, or change their times and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import LATEST, SECOND
from walltime.core.time import microseconds as to_microseconds
from walltime.core.workload import MISSING, Origin, Workload

_OF_READING = (
    *("lines", "skipped", "problems", "steps", "missing_request", "overlong", "unsorted", "duplicate_ids"),
    *("eligible_later", "delimiters_in_text", "heterogeneous", "extra_columns", "unused_properties", "other_cores"),
)  # notes that count records of the whole trace
_UNDATED = ", submission unknown"
_SHAPE = ("nodes", "cores_per_node", "parts")
_ABSOLUTE = ("begin", "deadline", "cancel")  # times on the trace's clock that belong to a submission


def window(workload: Workload, start: float | None = None, end: float | None = None, rebase: bool = False) -> Workload:
    """The jobs submitted in [start, end), seconds on the trace's clock; `rebase`: time zero becomes `start`.

    Without a start, rebasing begins at the first job that is kept. Of the records that reading has skipped, those of
    that time are counted, and apart from them those whose submission is not known.
    """
    first = None if start is None else to_microseconds(start)
    last = None if end is None else to_microseconds(end)
    chosen = _pick(workload, _within(workload.column("submit"), first, last))
    if workload.skipped_at:
        chosen = _count_skipped(chosen, workload.skipped_at, first, last)
    if not rebase or not len(chosen):
        return chosen
    zero = int(chosen.column("submit")[0]) if first is None else first
    epoch = workload.origin.epoch
    origin = Origin(None if epoch is None else epoch + zero / SECOND, workload.origin.timezone)
    moved = {"submit": chosen.columns["submit"] - zero} | {
        name: _shift(chosen.columns[name], -zero) for name in _ABSOLUTE if chosen.has(name)
    }
    skipped_at = {reason: _shift(times, -zero) for reason, times in chosen.skipped_at.items()}
    return chosen.replace(chosen.columns | moved, origin=origin, skipped_at=skipped_at)


def keep_users(workload: Workload, names: Iterable[str]) -> Workload:
    """The jobs of the named users; an unknown name is an InputError."""
    return _keep_labels(workload, "user", names)


def keep_groups(workload: Workload, names: Iterable[str]) -> Workload:
    """The jobs of the named groups; an unknown name is an InputError."""
    return _keep_labels(workload, "group", names)


def keep_queues(workload: Workload, names: Iterable[str]) -> Workload:
    """The jobs of the named queues; an unknown name is an InputError."""
    return _keep_labels(workload, "queue", names)


def keep_sizes(workload: Workload, smallest: int | None = None, largest: int | None = None) -> Workload:
    """The jobs with at least `smallest` and at most `largest` cores."""
    cores = workload.column("cores")
    kept = np.ones(len(workload), np.bool_)
    if smallest is not None:
        kept &= cores >= smallest
    if largest is not None:
        kept &= cores <= largest
    return _pick(workload, kept)


def first(workload: Workload, jobs: int) -> Workload:
    """The first `jobs` jobs in order of submission."""
    if jobs < 0:
        raise InputError("a number of jobs cannot be negative", value=jobs)
    return _pick(workload, np.arange(len(workload)) < jobs)


def scale_load(workload: Workload, factor: float) -> Workload:
    """The same jobs arriving `factor` times as fast: every gap between submissions divided by it."""
    _check_factor(factor)
    if not len(workload):
        return workload
    submit = workload.columns["submit"]
    start = submit[0]
    return _resubmit(workload, start + _scaled(submit - start, 1 / factor))


def scale_time(workload: Workload, factor: float) -> Workload:
    """Run times and requested times multiplied by `factor`, each at least a microsecond."""
    _check_factor(factor)
    columns = dict(workload.columns)
    for name in ("run_time", "requested_time"):
        if name in columns:
            values = columns[name]
            columns[name] = np.where(values == MISSING, MISSING, np.maximum(_scaled(values, factor), 1))
    return workload.replace(columns)


def scale_cores(workload: Workload, factor: float) -> Workload:
    """Cores multiplied by `factor`, rounded, at least one; the machine stays as it is.

    A request's shape (nodes and cores on each) does not survive it.
    """
    _check_factor(factor)
    columns = {name: values for name, values in workload.columns.items() if name not in _SHAPE}
    columns["cores"] = np.maximum(_scaled(workload.column("cores"), factor), 1)
    return workload.replace(columns)


def shake(workload: Workload, seconds: float, seed: int = 0) -> Workload:
    """Every submission moved by a uniform draw in [-seconds/2, +seconds/2], never below zero, and sorted again.

    The draw depends on the seed and the job's number alone. The job's begin, deadline and cancellation move along.
    For runs that differ only by noise: a result that does not survive it is no result.
    """
    if not 0 <= seconds <= LATEST / SECOND:
        raise InputError("shake: not a number of seconds", value=seconds)
    draws = uniforms(seed, "shake", workload.column("job_id")) - 0.5
    moved = workload.columns["submit"] + np.rint(draws * seconds * SECOND).astype(np.int64)
    return _resubmit(workload, np.maximum(moved, 0))


def _resubmit(workload: Workload, submit: np.ndarray) -> Workload:
    """The jobs with other submissions; the times that belong to a submission keep their distance from it."""
    columns: dict[str, Any] = workload.columns | {"submit": submit}
    if "job_id" not in columns:
        columns["job_id"] = workload.column("job_id")
    shift = submit - workload.columns["submit"]
    for name in _ABSOLUTE:
        if workload.has(name):
            columns[name] = _shift(workload.columns[name], shift)
    return workload.replace(columns)


def _shift(times: np.ndarray, by: np.ndarray | int) -> np.ndarray:
    """Times moved, never below zero; a missing time stays missing."""
    return np.where(times == MISSING, MISSING, np.maximum(times + by, 0))


def _scaled(values: np.ndarray, factor: float) -> np.ndarray:
    scaled = np.rint(values * factor)
    if len(scaled) and scaled.max() > LATEST:
        raise InputError("a value becomes too large when scaled by", value=factor)
    return scaled.astype(np.int64)


def _check_factor(factor: float) -> None:
    if not 1e-6 <= factor <= 1e6:
        raise InputError("a factor must be between 0.000001 and 1000000", value=factor)


def _keep_labels(workload: Workload, column: str, names: Iterable[str]) -> Workload:
    known = workload.label_names(column)
    codes = []
    for name in map(str, names):
        if name not in known:
            if not known:
                raise InputError(f"this workload does not tell the {column} of a job; asked for", value=name)
            raise InputError(f"no job of this workload has the {column}", value=name, choices=_some(known))
        codes.append(known.index(name))
    return _pick(workload, np.isin(workload.column(column), codes))


def _pick(workload: Workload, kept: np.ndarray) -> Workload:
    """The jobs that are kept. What reading did to the whole trace is not told of a part of it: which of the skipped
    records would have been in it is not known."""
    if kept.all():
        return workload
    chosen = workload.select(kept)
    notes = {name: value for name, value in workload.notes.items() if name not in _OF_READING}
    return chosen.replace(chosen.columns, notes=notes | {"lines": len(chosen), "skipped": {}}, skipped_at={})


def _within(times: np.ndarray, first: int | None, last: int | None) -> np.ndarray:
    """Which of the times are in [first, last)."""
    inside = np.ones(len(times), np.bool_)
    if first is not None:
        inside &= times >= first
    if last is not None:
        inside &= times < last
    return inside


def _count_skipped(
    chosen: Workload, skipped_at: dict[str, np.ndarray], first: int | None, last: int | None
) -> Workload:
    """The chosen jobs with the skipped records of their time, and those of which the time is not known."""
    found = {}
    for reason, times in skipped_at.items():
        told = reason.startswith("submit time") or reason.endswith(_UNDATED)
        found[reason] = times[(times != MISSING) & _within(times, first, last)]
        undated = reason if told else reason + _UNDATED
        found[undated] = np.concatenate([found.get(undated, times[:0]), times[times == MISSING]])
    found = {reason: times for reason, times in found.items() if len(times)}
    counts = {reason: len(times) for reason, times in found.items()}
    notes = chosen.notes | {"lines": len(chosen) + sum(counts.values()), "skipped": counts}
    return chosen.replace(chosen.columns, notes=notes, skipped_at=found)


def _some(names: list[str]) -> list[str]:
    """Few enough names for a message."""
    return names if len(names) <= 20 else [*names[:20], f"and {len(names) - 20} more"]
