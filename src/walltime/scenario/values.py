"""The values of a scenario's keys: what they may be, and the words for those that they may not."""

from __future__ import annotations

import math
import operator
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGTPkmgtp])(?:i?[Bb])?|[Bb])?")


def _whole(value: Any) -> int:
    """A whole number and nothing that merely converts to one (true, 2.0, "3")."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError("must be a whole number") from None


def _positive(value: Any) -> int:
    number = _whole(value)
    if not 0 < number < 1 << 31:
        raise ValueError("must be at least 1" if number < 1 else "is too large")
    return number


def _seed(value: Any) -> int:
    number = _whole(value)
    if not 0 <= number < 1 << 63:
        raise ValueError("must be 0 or more" if number < 0 else "is too large")
    return number


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _duration(value: Any) -> float:
    """Seconds, from anything that parse_duration takes; never zero."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError("")
        length = seconds(parse_duration(value))
    except InputError:
        raise ValueError("is not a duration (seconds, 90s, 15m, 1.5h, 2d, 1:30:00 or 1-12:00:00)") from None
    if length <= 0:
        raise ValueError("must be longer than zero")
    return length


def _moment(value: Any) -> float:
    """Seconds, zero included."""
    if value in (0, "0", "0s") and not isinstance(value, bool):
        return 0.0
    return _duration(value)


def _ratio(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1000:
        raise ValueError("must be a number above 0")
    return float(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a name")
    return value.strip()


def _speed(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.001 <= value <= 1000:
        raise ValueError("must be a number from 0.001 to 1000")
    return float(value)


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a number")
    return float(value)


def _size(value: Any) -> int:
    """Bytes, from a whole number or `512M`, `94G`, `1.5T`; the units are powers of 1024, as Slurm's are."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        value = round(float(match[1]) * 1024 ** " KMGTP".index((match[2] or " ").upper()))
    number = _whole(value) if not isinstance(value, str) else -1
    if number < 0:
        raise ValueError("is not an amount of memory (bytes, 512M, 94G, 1.5T)")
    if number >= 1 << 60:
        raise ValueError("is too large")
    return number


def _amount(value: Any) -> int:
    number = _whole(value)
    if not 0 <= number < 1 << 40:
        raise ValueError("must be 0 or more" if number < 0 else "is too large")
    return number


def _names(value: Any) -> Any:
    """One name, or a list of names."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a name, or a list of names")
    return tuple(_name(item) for item in value)


def _shares(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e12:
        raise ValueError("must be a number from 0")
    return float(value)


Count = Annotated[int, BeforeValidator(_positive)]
Seed = Annotated[int, BeforeValidator(_seed)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Duration = Annotated[float, BeforeValidator(_duration)]
Moment = Annotated[float, BeforeValidator(_moment)]
Ratio = Annotated[float, BeforeValidator(_ratio)]
Name = Annotated[str, BeforeValidator(_name)]
Speed = Annotated[float, BeforeValidator(_speed)]
Score = Annotated[float, BeforeValidator(_score)]
Size = Annotated[int, BeforeValidator(_size)]
Amount = Annotated[int, BeforeValidator(_amount)]
Shares = Annotated[float, BeforeValidator(_shares)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Model(BaseModel):
    """What all models share: unknown keys are errors, and a scenario never changes once made."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
