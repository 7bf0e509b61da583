"""When usage begins at zero again: at the calendar's edges, at midnight of the site's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from walltime.core.time import SECOND
from walltime.core.workload import Origin

PERIODS = ("none", "daily", "weekly", "monthly", "quarterly", "yearly")


def next_reset(period: str, after: int, origin: Origin) -> int:
    """The first reset later than `after`, in microseconds of the simulation; weeks begin on Sunday, as Slurm's do.

    A trace that does not tell its date begins on 1 January 1970.
    """
    epoch = origin.epoch or 0.0
    zone = _zone(origin.timezone)
    moment = datetime.fromtimestamp(epoch + after / SECOND, zone)
    day = datetime(moment.year, moment.month, moment.day, tzinfo=zone)
    if period == "daily":
        edge = _midnight(day + timedelta(days=1, hours=2))
    elif period == "weekly":
        edge = _midnight(day + timedelta(days=(6 - day.weekday()) or 7, hours=2))
    elif period == "monthly":
        edge = _first(day, day.month)
    elif period == "quarterly":
        edge = _first(day, (day.month - 1) // 3 * 3 + 3)
    else:
        edge = _first(day, 12)
    return round((edge.timestamp() - epoch) * SECOND)


def _midnight(moment: datetime) -> datetime:
    return datetime(moment.year, moment.month, moment.day, tzinfo=moment.tzinfo)


def _first(day: datetime, month: int) -> datetime:
    """The first day after the month of the same year."""
    return datetime(day.year + month // 12, month % 12 + 1, 1, tzinfo=day.tzinfo)


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
