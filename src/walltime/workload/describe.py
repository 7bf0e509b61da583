"""What is in a workload, in numbers: for `walltime workload info` and for anyone who asks before simulating."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Mapping
from typing import Any

import numpy as np

from walltime.core.time import SECOND
from walltime.core.workload import MISSING, UNLIMITED, Workload

_DAY = 86_400
_QUANTILES = {"min": 0.0, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "max": 1.0}
_BUSIEST = 5
_SHOWN_PROPERTIES = 6


def describe(workload: Workload, cores: int | None = None) -> dict[str, Any]:
    """Counts, quantiles and shares as a JSON-able dictionary; times in seconds, None where nothing is known.

    `cores` is the size of the machine for the offered load; by default what the workload itself tells.
    """
    machine = cores if cores is not None else workload.machine_cores
    submit, run, width = (workload.column(name) for name in ("submit", "run_time", "cores"))
    span = float(submit[-1] - submit[0]) / SECOND if len(workload) else 0.0
    started = run > 0
    work = float(np.dot(width[started].astype(np.float64), run[started].astype(np.float64))) / SECOND
    return {
        "jobs": len(workload),
        "source": workload.source,
        "machine_cores": machine,
        "origin": {"epoch": workload.origin.epoch, "timezone": workload.origin.timezone},
        "first_submit": int(submit[0]) / SECOND if len(workload) else None,
        "last_submit": int(submit[-1]) / SECOND if len(workload) else None,
        "first_submission": _calendar(workload, 0),
        "last_submission": _calendar(workload, -1),
        "span": span,
        "jobs_per_day": len(workload) / (span / _DAY) if span else None,
        "users": _count_labels(workload, "user"),
        "groups": _count_labels(workload, "group"),
        "accounts": _count_labels(workload, "account"),
        "queues": _count_labels(workload, "queue"),
        "qos": _count_labels(workload, "qos"),
        "core_hours": work / 3600,
        "offered_load": work / (machine * span) if machine and span else None,
        "run_time": _quantiles(run[started] / SECOND),
        "requested_time": _quantiles(_known(workload, "requested_time") / SECOND),
        "cores": _quantiles(width),
        "accuracy": _quantiles(_accuracy(workload)),
        "memory": _quantiles(_positive(_total_memory(workload))),
        "gpus": _quantiles(_positive(_total_gpus(workload))),
        "requests": _count_requests(workload),
        "recorded_wait": _quantiles(workload.column("recorded_wait")[_waited(workload)] / SECOND),
        "serial_share": _share(width == 1),
        "power_of_two_share": _share((width & (width - 1)) == 0),
        "skipped": dict(workload.notes.get("skipped", {})),
        "cancelled_before_start": int(np.count_nonzero(~started)),
        "killed_at_limit": int(np.count_nonzero(_accuracy(workload) > 1)),
        "unlimited": int(np.count_nonzero(workload.column("requested_time") >= UNLIMITED)),
        "missing_requests": int(np.count_nonzero(workload.column("requested_time") == MISSING)),
        "larger_than_machine": None if machine is None else int(np.count_nonzero(width > machine)),
        "busiest_users": _busiest(workload),
        "arrivals_by_hour": _arrivals_by_hour(workload),
        "extra_columns": workload.notes.get("extra_columns", 0),
        "unused_properties": dict(workload.notes.get("unused_properties", {})),
        "log_clusters": list(workload.notes.get("log_clusters", ())),
        "heterogeneous": workload.notes.get("heterogeneous", 0),
        "steps": workload.notes.get("steps", 0),
        "eligible_later": workload.notes.get("eligible_later", 0),
        "problems": list(workload.notes.get("problems", ())),
        "unsorted": bool(workload.notes.get("unsorted", False)),
        "duplicate_ids": workload.notes.get("duplicate_ids", 0),
    }


def describe_unused(properties: Mapping[str, int]) -> str:
    """The properties that jobs ask for and that are not looked at, the most frequent first; empty for none."""
    most = sorted(properties.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{name} ({count:,})" for name, count in most[:_SHOWN_PROPERTIES])
    return named + (f" and {len(most) - _SHOWN_PROPERTIES:,} more" if len(most) > _SHOWN_PROPERTIES else "")


def _known(workload: Workload, name: str) -> np.ndarray:
    values: np.ndarray = workload.column(name)
    return np.asarray(values[values != MISSING])


def _positive(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[values > 0])


def _total_memory(workload: Workload) -> np.ndarray:
    """Bytes that each job asks for in all: per node, else per core, else as told; 0 where it does not say."""
    per_node, per_core = workload.column("memory_per_node"), workload.column("memory_per_core")
    told = np.where(per_core > 0, per_core * workload.column("cores"), workload.column("memory"))
    return np.asarray(np.where(per_node > 0, per_node * _count_nodes(workload), told))


def _total_gpus(workload: Workload) -> np.ndarray:
    """GPUs that each job asks for in all."""
    per_node = workload.column("gpus_per_node")
    return np.asarray(np.where(per_node > 0, per_node * _count_nodes(workload), workload.column("gpus")))


def _count_nodes(workload: Workload) -> np.ndarray:
    """Nodes that each job asks for, one where it does not say."""
    nodes, each = workload.column("nodes"), workload.column("cores_per_node")
    return np.where(nodes > 0, nodes, np.where(each > 0, -(-workload.column("cores") // np.maximum(each, 1)), 1))


def _count_requests(workload: Workload) -> dict[str, int]:
    """How many jobs ask for more than cores and time, by what they ask for; without what no job asks for."""
    asked = {
        "nodes": (workload.column("nodes") > 0) | (workload.column("cores_per_node") > 0),
        "memory": _total_memory(workload) > 0,
        "gpus": _total_gpus(workload) > 0,
        "exclusive": workload.column("exclusive") > 0,
        **{name: workload.column(name) >= 0 for name in ("constraint", "resources", "licences")},
    }
    counts = {name: int(np.count_nonzero(mask)) for name, mask in asked.items()}
    return {name: count for name, count in counts.items() if count}


def _accuracy(workload: Workload) -> np.ndarray:
    """Run time / requested time of the jobs that have both; above 1 where the job would be killed."""
    run, request = workload.column("run_time"), workload.column("requested_time")
    both = (run > 0) & (request > 0)
    return np.asarray(run[both] / request[both])


def _waited(workload: Workload) -> np.ndarray:
    """The jobs whose recorded wait ended with a start."""
    return np.asarray((workload.column("recorded_wait") >= 0) & (workload.column("run_time") > 0))


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    found = np.quantile(values, list(_QUANTILES.values()))
    return dict(zip(_QUANTILES, map(float, found), strict=True))


def _share(mask: np.ndarray) -> float | None:
    return float(np.mean(mask)) if len(mask) else None


def _count_labels(workload: Workload, name: str) -> int | None:
    """How many different labels the jobs have (names without a job do not count); None where none is told."""
    return len(np.unique(_known(workload, name))) if workload.has(name) else None


def _busiest(workload: Workload) -> list[dict[str, Any]]:
    """The users with the most core-hours, and how many jobs these were."""
    if not workload.has("user"):
        return []
    user, names = workload.column("user"), workload.label_names("user")
    known = user >= 0
    run = np.maximum(workload.column("run_time"), 0)
    hours = workload.column("cores") * (run / (3600 * SECOND))
    work = np.bincount(user[known], hours[known], len(names))
    jobs = np.bincount(user[known], minlength=len(names))
    order = np.argsort(-work, kind="stable")[:_BUSIEST]
    return [
        {"user": names[i], "jobs": int(jobs[i]), "core_hours": float(work[i])} for i in order.tolist() if jobs[i] > 0
    ]


def _arrivals_by_hour(workload: Workload) -> list[int]:
    """Submissions in each hour of the day: local time where the origin is known, else hours since time zero."""
    zone = _zone(workload)
    shift = 0.0
    if workload.origin.epoch is not None and len(workload):
        start = workload.origin.epoch
        try:
            offset = datetime.datetime.fromtimestamp(start, zone).utcoffset() or datetime.timedelta()
        except (ValueError, OverflowError, OSError):  # a header that names no time that a calendar knows
            offset = datetime.timedelta()
        shift = start + offset.total_seconds()  # one offset for all: a season's hour does not matter to this picture
    hour = ((workload.column("submit") / SECOND + shift) // 3600 % 24).astype(np.int64)
    return [int(count) for count in np.bincount(hour, minlength=24)]


def _zone(workload: Workload) -> datetime.tzinfo:
    """The origin's time zone; UTC where it has none, or one that this machine does not know."""
    try:
        return zoneinfo.ZoneInfo(workload.origin.timezone) if workload.origin.timezone else datetime.UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.UTC


def _calendar(workload: Workload, row: int) -> str | None:
    """A submission as a date and time (ISO 8601); None where time zero has no date."""
    if workload.origin.epoch is None or not len(workload):
        return None
    moment = workload.origin.epoch + int(workload.column("submit")[row]) / SECOND
    try:
        return datetime.datetime.fromtimestamp(moment, _zone(workload)).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
