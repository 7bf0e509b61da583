"""The parameters of fair share, checked: the same for the order `fairshare` and for the factor of `multifactor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import SECOND, parse_duration
from walltime.kernel.usage import HalfLife, SteppedUsage, Usage
from walltime.policies.fairshare.people import KINDS
from walltime.policies.fairshare.resets import PERIODS
from walltime.policies.fairshare.tree import FORMULAS
from walltime.scenario import Cluster

CHARGES = ("cpu", "max", "root", "product", "dominant")
_HOUR = 3600 * SECOND
_INTERVAL = {"alea": 60 * SECOND, "classic": 300 * SECOND, "fair-tree": 300 * SECOND}
_OF_ALEA = ("decay", "decay_interval", "temporary")
_OF_SLURM = ("half_life", "reset", "dampening")


@dataclass(frozen=True)
class FairShareSettings:
    """Times in microseconds."""

    formula: str
    interval: int
    by: str = "user"
    charge: str = "cpu"
    decay: float = 0.75
    decay_interval: int = 48 * _HOUR
    temporary: bool = True
    brief: int = 0
    half_life: int = 7 * 24 * _HOUR
    reset: str = "none"
    dampening: float = 1.0
    usage: Mapping[str, float] = field(default_factory=dict)

    def make_usage(self, width: int) -> Usage:
        """The ledger that forgets as the settings say."""
        if self.formula == "alea":
            return SteppedUsage(self.decay, self.decay_interval, self.temporary, width, self.brief)
        return HalfLife(self.half_life, width)

    def amounts(self, cluster: Cluster) -> dict[str, int]:
        """What the cluster has in all of cores, memory and GPUs, where it tells; raises InputError where a charge by
        several resources has but one."""
        found = count_resources(cluster)
        if self.charge in ("max", "root", "product") and "memory" not in found:
            raise InputError("this charge needs the memory of every node in the cluster", value=self.charge)
        return found


def count_resources(cluster: Cluster) -> dict[str, int]:
    """What the cluster has in all of cores, and of memory and GPUs where every node tells."""
    layout = cluster.layout()
    found = {"cores": cluster.total_cores or 1}
    if layout is not None:
        for name in ("memory", "gpus"):
            if name in layout.resources() and all(name == "gpus" or group.memory for group in layout.groups):
                found[name] = int(layout.amounts(name).sum())
    return found


def read_settings(given: Mapping[str, Any], formula: str = "alea") -> FairShareSettings:
    """Settings from parameters as a scenario has them; what is not given has the formula's default. Raises InputError.

    >>> read_settings({"half_life": "14d"}, "classic").half_life
    1209600000000
    """
    formula = _one_of("formula", given.get("formula", formula), FORMULAS)
    known = ("formula", "interval", "by", "charge", *_OF_ALEA, *_OF_SLURM, "usage")
    others = _OF_SLURM if formula == "alea" else _OF_ALEA
    values: dict[str, Any] = {"formula": formula, "interval": _INTERVAL[formula]}
    for name, value in given.items():
        if name not in known:
            raise InputError("fair share has no such parameter", value=name, choices=known)
        if name in others:
            whose = "the formula alea" if name in _OF_ALEA else "the formulas classic and fair-tree"
            raise InputError(f"{name} belongs to {whose}, not to {formula}", value=value)
        if name == "temporary" and not isinstance(value, bool):
            values |= {"temporary": False, "brief": _positive_time(name, value)}
        elif name != "formula":
            values[name] = _READ[name](name, value)
    return FairShareSettings(**values)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InputError(f"{name} is none of the choices", value=value, choices=choices)
    return str(value)


def _time(name: str, value: Any) -> int:
    """Microseconds, zero allowed."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError("")
        return parse_duration(value)
    except InputError:
        raise InputError(f"{name} is not a duration (seconds, 90s, 15m, 1.5h, 2d)", value=value) from None


def _positive_time(name: str, value: Any) -> int:
    time = _time(name, value)
    if time <= 0:
        raise InputError(f"{name} must be longer than zero", value=value)
    return time


def read_number(name: str, value: Any, least: float = 0.0, most: float = float("inf"), above: bool = False) -> float:
    """A number within bounds; raises InputError."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
    if not good or (above and value == least) or value == float("inf"):
        bounds = f"{'above' if above else 'from'} {least:g}" + (f" to {most:g}" if most < float("inf") else "")
        raise InputError(f"{name} must be a number {bounds}", value=value)
    return float(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false", value=value)
    return value


def _usage(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is a mapping from names to core-seconds", value=value)
    return {str(who): read_number(f"{name} of {who}", amount) for who, amount in value.items()}


_READ: dict[str, Any] = {
    "interval": _time,
    "by": lambda name, value: _one_of(name, value, KINDS),
    "charge": lambda name, value: _one_of(name, value, CHARGES),
    "decay": lambda name, value: read_number(name, value, 0.0, 1.0),
    "decay_interval": _positive_time,
    "temporary": _flag,
    "half_life": _time,
    "reset": lambda name, value: _one_of(name, value, PERIODS),
    "dampening": lambda name, value: read_number(name, value, 0.0, above=True),
    "usage": _usage,
}
