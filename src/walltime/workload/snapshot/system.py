"""A job of a system as it stands, and the system at one moment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from walltime.core.dates import EXAMPLE, is_date, read_date
from walltime.core.errors import InputError
from walltime.core.time import LATEST, SECOND

_LATEST = LATEST / SECOND


@dataclass(frozen=True)
class SystemJob:
    """One job of the system, times in seconds since 1970 or on the table's own clock; None where not known."""

    name: str
    running: bool
    cores: int
    limit: float | None
    submit: float | None
    start: float | None
    elapsed: float | None
    nodes: int | None = None
    priority: int | None = None
    user: str | None = None
    account: str | None = None
    group: str | None = None
    queue: str | None = None
    qos: str | None = None
    begin: float | None = None
    array: str | None = None
    """The array of which it is a task, where only so many run at once: `12%4`."""
    gpus: int | None = None
    """For the whole job; or on each node, below."""
    gpus_per_node: int | None = None
    memory: int | None = None
    """Bytes for the whole job; or on each node, below."""
    memory_per_node: int | None = None
    constraint: str | None = None
    nodelist: str | None = None
    """The names of the nodes on which it runs, `c[001-004],g07`; with its cores on each where these differ,
    `c[001-003]:5,g07:7`."""
    licences: str | None = None
    suspended: bool = False
    """Whether it runs, but is suspended; `elapsed` is how long it has run until then."""
    only_nodes: bool = False
    """Whether its nodes are told and its cores are not."""


@dataclass(frozen=True)
class Snapshot:
    """The jobs of a system at one moment, and what was left out, in counts by reason."""

    jobs: tuple[SystemJob, ...]
    skipped: dict[str, int]
    source: str


def read_time(value: str | float, zone: str | None = None) -> float:
    """Seconds from a number, or from a date and time such as 2026-11-15T12:00:00 (of the zone, else UTC)."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _check_time(value)
    text = str(value).strip()
    with suppress(ValueError):
        return _check_time(float(text))
    if not is_date(text):
        raise InputError(f"not a time (seconds, or {EXAMPLE})", value=value)
    return read_date(text, zone)


def _check_time(value: float) -> float:
    if not -_LATEST <= value <= _LATEST:
        raise InputError("a time out of range", value=value)
    return float(value)
