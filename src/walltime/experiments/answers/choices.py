"""The keys that a search may change, and what they may be: `KEY=0..100`, `KEY=1..1000 log`, `policy=fcfs,easy`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from walltime.core.errors import InputError
from walltime.experiments.grid import write_label

_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?(\s+log)?")
_DIGITS = 4  # of a number that is drawn from a range without a step


@dataclass(frozen=True)
class Choice:
    """One key: one of some `values`, or a number from `low` to `high`, whole where `whole`, by a `step` where given.

    A `log` range is searched by ratios: as much between 1 and 10 as between 10 and 100.
    """

    key: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    whole: bool = False
    log: bool = False

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Of `KEY=FIRST..LAST[:STEP][ log]` or `KEY=VALUE,VALUE,...`; raises InputError."""
        key, equals, rest = text.partition("=")
        key, rest = key.strip(), rest.strip()
        if not equals or not key or not rest:
            what = "a key to tune is KEY=FIRST..LAST[:STEP][ log] or KEY=VALUE,VALUE,..."
            raise InputError(what, value=text)
        found = _RANGE.fullmatch(rest)
        if found is None:
            return cls(key, tuple(_read_value(part, text) for part in _split(rest))).check()
        first, last, step, log = found.groups()
        whole = all("." not in part and "e" not in part.lower() for part in (first, last, step or "1"))
        width = None if step is None else float(step)
        return cls(key, (), float(first), float(last), width, whole, bool(log)).check()

    def check(self) -> Choice:
        """Itself; raises InputError where there is nothing to choose."""
        if self.values:
            labels = [write_label(value) for value in self.values]
            if len(labels) < 2 or len(set(labels)) < len(labels):
                raise InputError(f"{self.key}: there must be two values or more, each once", value=", ".join(labels))
            return self
        if not self.low < self.high:
            raise InputError(f"{self.key}: a range goes upwards", value=f"{self.low:g}..{self.high:g}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise InputError(f"{self.key}: a range of ratios begins above 0, and has no step", value=f"{self.low:g}")
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise InputError(f"{self.key}: the step is not between 0 and the range", value=f"{self.step:g}")
        return self

    def settle(self, drawn: Any) -> Any:
        """The value that is set for what was drawn: a number with few digits, inside the range."""
        if self.values:
            return self.values[int(drawn)]
        if self.whole:
            return int(drawn)
        return min(self.high, max(self.low, float(f"{drawn:.{_DIGITS}g}")))

    def find(self, value: Any) -> Any:
        """What would be drawn for this value; None where it is not among those to choose from."""
        if self.values:
            labels = [write_label(own) for own in self.values]
            return labels.index(write_label(value)) if write_label(value) in labels else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            return None
        steps = (value - self.low) / (self.step or 1.0)
        fits = self.settle(value) == value and (not (self.whole or self.step) or abs(steps - round(steps)) < 1e-9)
        return value if fits else None

    def spread(self) -> list[Any]:
        """Values that show what the key does: all of a few, or both ends and the middle."""
        if self.values:
            return list(self.values)
        middle = math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        if self.step is not None:
            middle = self.low + self.step * round((middle - self.low) / self.step)
        return [self.settle(value) for value in (self.low, round(middle) if self.whole else middle, self.high)]


def find_present(choices: Sequence[Choice], data: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the scenario's data has for the keys, as it would be drawn; None where one is not told or not to choose."""
    found = {}
    for choice in choices:
        value: Any = data
        for part in choice.key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        drawn = None if value is None else choice.find(value)
        if drawn is None:
            return None
        found[choice.key] = drawn
    return found


def name_setting(choices: Sequence[Choice], setting: Mapping[str, Any]) -> str:
    """A setting in few words: the last part of each key, unless two keys share it, and the value."""
    last = [choice.key.rpartition(".")[2] for choice in choices]
    names = [
        end if last.count(end) == 1 else choice.key.removeprefix("cluster.scheduler.")
        for end, choice in zip(last, choices, strict=True)
    ]
    parts = (
        f"{name}={write_label(setting[choice.key])}"
        for name, choice in zip(names, choices, strict=True)
        if choice.key in setting
    )
    return " ".join(parts)


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _read_value(text: str, whole: str) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if value is None:
        raise InputError("a value to choose from is missing or not YAML", value=whole)
    return value
