"""The numbers of `SchedulerParameters`, checked alike for every rhythm that takes them."""

from __future__ import annotations

from typing import Any

from walltime.core.errors import InputError

MOST = 1_000_000_000
NO_PASS = "sched_interval: -1 (no main pass), and backfill: none; no job would ever start"


def check_number(name: str, value: Any, least: int, unit: str) -> None:
    """Raise InputError where it is no whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise InputError(f"{name} must be a whole number from {least} ({unit})", value=value)


def check_main_interval(value: Any) -> None:
    """Raise InputError where `sched_interval` is neither a number of seconds nor -1."""
    if value != -1:
        check_number("sched_interval", value, 1, "seconds, or -1 for no main pass")


def check_flag(name: str, value: Any) -> None:
    """Raise InputError where it is neither true nor false."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is true or false", value=value)
