"""How much faster a computation is on several cores: work / speed / speed-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from walltime.core.errors import InputError

NAMES = ("linear", "amdahl")
SpeedUp = Callable[[int], float]
"""How many times faster than on one core, by the number of cores."""


def linear(cores: int) -> float:
    """Every core adds its whole speed."""
    return float(cores)


class Amdahl:
    """The share `serial` of the work runs on one core, the rest on all: 1 / (f + (1 - f) / n).

    Amdahl, "Validity of the single processor approach", AFIPS, 1967.
    """

    def __init__(self, serial: float) -> None:
        if isinstance(serial, bool) or not isinstance(serial, int | float) or not 0 <= serial <= 1:
            raise InputError("Amdahl's serial share is a number from 0 to 1", value=serial)
        self.serial = float(serial)

    def __call__(self, cores: int) -> float:
        return 1 / (self.serial + (1 - self.serial) / cores)


def read_speedup(value: Any) -> SpeedUp:
    """The law that `linear`, `{amdahl: 0.05}`, a list of speed-ups for 1, 2, 3 ... cores, or a function stands for.

    Raises InputError. More cores than a list has are no faster than its last.
    """
    if value is None or value == "linear":
        return linear
    if callable(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, dict) and list(value) == ["amdahl"]:
        return Amdahl(value["amdahl"])
    if isinstance(value, list | tuple) and value:
        factors = [check_factor(factor) for factor in value]
        return lambda cores: factors[min(cores, len(factors)) - 1]
    raise InputError("a speed-up is linear, {amdahl: F}, or a list of numbers for 1, 2, 3 ... cores", value=value)


def check_factor(value: Any) -> float:
    """A speed-up as a number above 0; raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e100:
        raise InputError("a speed-up is a number above 0", value=value)
    return float(value)
