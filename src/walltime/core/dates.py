"""Moments on the calendar: dates such as `2026-10-14T08:00`, in a time zone or with one of their own."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d|-)")
EXAMPLE = "a date such as 2026-10-14T08:00"


class Date(float):
    """A date of a scenario whose place on the workload's clock is not known yet.

    The number is seconds since 1970, with the date taken as one of UTC where it has no zone of its own: good enough to
    compare two dates of a file. `since` gives the true number once the clock is known.
    """

    text: str

    def __new__(cls, value: float | str) -> Self:
        date = super().__new__(cls, read_date(value, None) if isinstance(value, str) else value)
        date.text = value.strip() if isinstance(value, str) else ""
        return date

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)

    def since(self, epoch: float | None, zone: str | None) -> float:
        """Seconds after a clock's zero, which is so many seconds after 1970; raises InputError."""
        if epoch is None:
            raise InputError("a date, but the workload does not say when its time zero was", value=self.text)
        offset = read_date(self.text, zone) - epoch
        if offset < 0:
            zero = show_date(epoch, zone)
            raise InputError(f"a date before the workload's time zero, which is {zero}", value=self.text)
        return offset

    def short(self) -> str:
        """As a file writes it."""
        return self.text


def is_date(text: object) -> bool:
    """Whether a text begins as a date does."""
    return isinstance(text, str) and _DATE.match(text.strip()) is not None


def read_moment(moment: str | float, epoch: float | None = None, zone: str | None = None) -> float:
    """Seconds on a clock whose zero is so many seconds after 1970, of seconds, a duration or a date; raises
    InputError."""
    return Date(str(moment)).since(epoch, zone) if is_date(moment) else seconds(parse_duration(moment))


def read_date(text: str, zone: str | None) -> float:
    """Seconds since 1970 of a date, in the zone (else UTC) where it has none of its own; raises InputError.

    Of an hour that comes twice, at the end of summer time, the first is meant; one that is left out is refused.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is not None:
            return moment.timestamp()
        there = moment.replace(tzinfo=find_zone(zone))
        found = there.timestamp()
    except (ValueError, OverflowError):
        raise InputError(f"not a date and time ({EXAMPLE})", value=text) from None
    if datetime.fromtimestamp(found, there.tzinfo).replace(tzinfo=None) != moment:
        raise InputError(f"no such hour in {zone}: clocks are put forward then", value=text)
    return found


def show_date(seconds: float, zone: str | None, *, whole: bool = True) -> str:
    """A date for a person, in the zone, else UTC: `2026-10-14 08:00:00`, without fractions unless `whole` is false.

    In an hour that comes twice the offset says which it is: `2026-10-25 02:30:00+01:00`.
    """
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=round(seconds) if whole else seconds)
    local = moment.astimezone(find_zone(zone))
    text = local.strftime("%Y-%m-%d %H:%M:%S" if whole else "%Y-%m-%d %H:%M:%S.%f")
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return text + (local.isoformat()[-6:] if twice else "")


def find_zone(name: str | None) -> tzinfo:
    """The zone of that name; UTC for none. Raises InputError."""
    if name is None or name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError("no such time zone (such as Europe/Berlin or UTC)", value=name) from None
