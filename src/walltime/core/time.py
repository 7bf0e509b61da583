"""Time: an integer number of microseconds inside, seconds at the surface."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from walltime.core.errors import InputError

SECOND = 1_000_000
"""Microseconds in a second."""

NEVER = 1 << 62
"""A time that does not come; larger than any real one, and NEVER + NEVER still fits 64 bits."""

LATEST = 1 << 53
"""The latest time accepted from outside (285 years in microseconds): exact in a float, far from NEVER."""

DURATIONS = "seconds, 90s, 15m, 1.5h, 10d1h, 1:30:00 or 1-12:00:00"
"""What a duration may look like, for messages."""
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d{2})(?::(\d{2}))?")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_PARTS = re.compile(r"(?:\d+(?:\.\d+)?\s*[a-z]+\s*){2,}")


def microseconds(seconds: float) -> int:
    """The nearest whole number of microseconds."""
    return round(seconds * SECOND)


def seconds(microseconds: int) -> float:
    """Seconds as a float; exact for whole seconds."""
    return microseconds / SECOND


def parse_duration(text: str | float) -> int:
    """Microseconds from `90`, `"90s"`, `"1.5h"`, `"10d1h"`, `"1:30:00"` or `"1-12:00:00"`; raises InputError."""
    try:
        number = isinstance(text, int | float) and not isinstance(text, bool)
        value = float(text) if number else _parse_text(str(text).strip().lower())
    except (ValueError, OverflowError):  # hundreds of digits
        value = math.inf
    if not math.isfinite(value) or value < 0 or value * SECOND > LATEST:
        raise InputError(f"not a duration ({DURATIONS})", value=text)
    return microseconds(value)


def _parse_text(text: str) -> float:
    if clock := _CLOCK.fullmatch(text):
        days, first, second, third = (int(part or 0) for part in clock.groups())
        if clock[4] is None and clock[1] is None:  # M:SS
            return first * 60 + second
        return days * 86_400 + first * 3600 + second * 60 + third
    quantity = _QUANTITY.fullmatch(text)
    if quantity and (quantity[2] or "s") in _UNITS:
        return float(quantity[1]) * _UNITS[quantity[2] or "s"]
    return _add_parts(text) if _PARTS.fullmatch(text) else math.nan


def _add_parts(text: str) -> float:
    """Seconds of `10d1h` or `1d 12h 30m`: each unit once, the larger first."""
    parts = _QUANTITY.findall(text)
    sizes = [_UNITS.get(unit, 0) for _, unit in parts]
    if 0 in sizes or any(first <= second for first, second in pairwise(sizes)):
        return math.nan
    return sum(float(number) * size for (number, _), size in zip(parts, sizes, strict=True))


def format_duration(seconds: float | None) -> str:
    """A short text for a person: `0.5 s`, `45 s`, `12:30 min`, `3:05 h`, `2.1 d`; a dash for nothing."""
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    if seconds < 3599.5:
        whole = round(seconds)
        return f"{whole // 60}:{whole % 60:02d} min"
    if seconds < 172_800:
        whole = round(seconds / 60)
        return f"{whole // 60}:{whole % 60:02d} h"
    return f"{seconds / 86_400:.1f} d"
