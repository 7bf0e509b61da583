"""The values of a scenario's keys: what they may be, and the words for those that they may not."""

from __future__ import annotations

import datetime
import math
import operator
import os
import re
import types
import typing
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from walltime.core.dates import Date, find_zone, is_date
from walltime.core.errors import InputError
from walltime.core.random import read_seed
from walltime.core.time import DURATIONS, parse_duration, seconds

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
    """A whole number; a text stands for one."""
    if isinstance(value, str):
        try:
            value = read_seed(value)
        except InputError as error:
            raise ValueError(error.what) from None
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
        raise ValueError(f"is not a duration ({DURATIONS})") from None
    if length <= 0:
        raise ValueError("must be longer than zero")
    return length


def _moment(value: Any) -> float:
    """Seconds, zero included."""
    if value in (0, "0", "0s") and not isinstance(value, bool):
        return 0.0
    return _duration(value)


def _instant(value: Any) -> float:
    """Seconds after the trace's zero, or a date, which is a number of seconds once the workload is read."""
    if isinstance(value, Date):
        return value
    if isinstance(value, datetime.date):  # as YAML reads it
        value = value.isoformat()
    if not is_date(value):
        return _moment(value)
    try:
        return Date(value)
    except InputError as error:
        raise ValueError(f"is {error.what}") from None


def _later(value: Any) -> float:
    """The same, but zero is too early."""
    instant = _instant(value)
    if instant == 0:
        raise ValueError("must be longer than zero")
    return instant


def _zone(value: Any) -> str:
    try:
        find_zone(_name(value))
    except InputError as error:
        raise ValueError(f"is {error.what}") from None
    return _name(value)


def _ratio(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1000:
        raise ValueError("must be a number above 0")
    return float(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a name")
    if "\0" in value:  # NumPy and C take it for the end of a text
        raise ValueError("cannot hold the character NUL")
    return value.strip()


def _speed(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.001 <= value <= 1000:
        raise ValueError("must be a number from 0.001 to 1000")
    return float(value)


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a number")
    return float(value)


def read_size(value: Any) -> int:
    """Bytes, from a whole number or `512M`, `94G`, `1.5T`; the units are powers of 1024, as Slurm's are."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        value = round(float(match[1]) * 1024 ** " KMGTP".index((match[2] or " ").upper()))
    number = _whole(value) if not isinstance(value, str) else -1
    if number < 0:
        raise ValueError("is not an amount of memory (bytes, 512M, 94G, 1.5T)")
    if number >= 1 << 60:
        raise ValueError("is too large")
    return number


class MemoryShare(NamedTuple):
    """An amount of memory with each core, or on each node."""

    size: int
    per: str


ALL = "all"
"""All memory of a job's nodes."""


def read_share(text: str) -> MemoryShare:
    """`4G/core` or `94G/node`, as it was checked before."""
    size, _, per = text.partition("/")
    return MemoryShare(read_size(int(size) if size.isdecimal() else size), per)


def _memory_share(value: Any) -> str:
    size, slash, per = (part.strip() for part in value.partition("/")) if isinstance(value, str) else ("", "", "")
    try:
        if not slash or per not in ("core", "node"):
            raise ValueError
        read_size(int(size) if size.isdecimal() else size)
    except ValueError:
        raise ValueError("is not an amount of memory with a core or on a node (4G/core, 94G/node)") from None
    return f"{size}/{per}"


def _usual_memory(value: Any) -> str:
    return ALL if value == ALL else _memory_share(value)


def _most_memory(value: Any) -> str:
    text = _memory_share(value)
    if not read_share(text).size:
        raise ValueError("must be more than nothing")
    return text


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
Instant = Annotated[float, PlainValidator(_instant)]
Later = Annotated[float, PlainValidator(_later)]
Zone = Annotated[str, BeforeValidator(_zone)]
Ratio = Annotated[float, BeforeValidator(_ratio)]
Name = Annotated[str, BeforeValidator(_name)]
Speed = Annotated[float, BeforeValidator(_speed)]
Score = Annotated[float, BeforeValidator(_score)]
Size = Annotated[int, BeforeValidator(read_size)]
UsualMemory = Annotated[str, BeforeValidator(_usual_memory)]
MostMemory = Annotated[str, BeforeValidator(_most_memory)]
Amount = Annotated[int, BeforeValidator(_amount)]
Shares = Annotated[float, BeforeValidator(_shares)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
FILE = "file"
"""In an annotation: a text there is the path of a file, and a relative one starts at the scenario file's folder."""
File = Annotated[str, BeforeValidator(_name), FILE]


class Model(BaseModel):
    """What all models share: unknown keys are errors, and a scenario never changes once made."""

    # Built when first used: a scenario is then built once, and not each of its parts before it; commands start sooner.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)
    text_is: ClassVar[str | None] = None
    """The key that is meant where a file has a plain text instead of a mapping."""
    spelt_out: ClassVar[tuple[str, ...]] = ()
    """Keys that are written even where they have their default."""

    @model_validator(mode="before")
    @classmethod
    def _from_plain_text(cls, value: Any) -> Any:
        return {cls.text_is: value} if cls.text_is is not None and isinstance(value, str) else value

    def short(self) -> Any:
        """The form in which a file writes it, whatever its folder: the keys that say something, paths in full."""
        written = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if field.exclude or value is None:
                continue
            if name in self.spelt_out or value != field.get_default(call_default_factory=True):
                written[name] = os.path.abspath(value) if is_file(field, value) else _plain(value)
        return written


def check_ranges(model: Model) -> None:
    """Raise ValueError where the least number of cores, or the shortest time, is above the most that is told."""
    for low, high in (("min_cores", "max_cores"), ("min_time", "max_time")):
        first, last = getattr(model, low), getattr(model, high)
        if first is not None and last is not None and first > last:
            raise PydanticCustomError("range", "has {low} above {high}", {"low": low, "high": high})


def is_file(field: FieldInfo, value: object) -> bool:
    """Whether what stands under the key is the path of a file, and not one of the words that it may be instead."""
    if not isinstance(value, str) or value.strip() in _words_of(field.annotation):
        return False
    return FILE in field.metadata or _names_file(field.annotation)


def _words_of(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)
    inside = typing.get_args(annotation) if typing.get_origin(annotation) in (typing.Union, types.UnionType) else ()
    return tuple(word for one in inside for word in _words_of(one))


def _names_file(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return FILE in annotation.__metadata__
    return origin in (typing.Union, types.UnionType) and any(map(_names_file, typing.get_args(annotation)))


def _plain(value: Any) -> Any:
    """The value in what YAML knows."""
    if callable(short := getattr(value, "short", None)):
        return short()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
