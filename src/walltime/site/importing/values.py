"""The settings of a site with their defaults, and Slurm's ways to write times and amounts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from walltime.core.errors import InputError
from walltime.site.conf import Conf
from walltime.site.importing.findings import SCOPES
from walltime.site.importing.written import DEFAULT, cite
from walltime.site.keywords import DEFAULTS

ENDLESS = ("INFINITE", "UNLIMITED", "NONE", "-1", "")
_UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}


@dataclass(frozen=True)
class EffectiveSettings:
    """Settings as they take effect: those of the file, and the release's defaults."""

    conf: Conf

    def given(self, name: str) -> bool:
        """Whether the file says it."""
        return name in self.conf.settings

    def get(self, name: str, default: str = "") -> str:
        """The value, as written."""
        if name in self.conf.settings:
            return self.conf.settings[name][0]
        return DEFAULTS[self.conf.words.release].get(name, default)

    def source(self, name: str) -> str:
        """What says so, for a comment."""
        return cite(self.conf.settings[name][1], name) if name in self.conf.settings else DEFAULT

    def words(self, name: str) -> dict[str, str | None]:
        """The words of a list, with their values."""
        pairs = (part.partition("=") for part in self.get(name).split(",") if part.strip())
        return {key.strip(): value.strip() if sign else None for key, sign, value in pairs}

    def number(self, name: str, default: int = 0) -> int:
        """A whole number; raises InputError with the line."""
        text = self.get(name, str(default))
        if not re.fullmatch(r"-?\d+", text):
            raise self.error(name, "is not a whole number")
        return int(text)

    def error(self, name: str, what: str) -> InputError:
        """A mistake in a setting, with its line."""
        line = self.conf.settings[name][1]
        return InputError(f"{name} {what}", value=self.get(name), file=line.file, line=line.number)


def read_time(text: str) -> int | None:
    """Seconds of `30`, `30:00`, `2:00:00`, `7-0`, `1-12:30`, which begin with minutes; None without end."""
    if text.upper() in ENDLESS:
        return None
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text.strip())
    if match is None:
        raise InputError("not a time as Slurm writes them (minutes, 2:00:00 or 1-12:00:00)", value=text)
    days, first, second, third = (int(part or 0) for part in match.groups())
    if match[1] is not None:
        return days * 86_400 + first * 3600 + second * 60 + third
    if match[4] is not None:
        return first * 3600 + second * 60 + third
    return first * 60 + second


def write_time(seconds: int) -> str:
    """A duration as a scenario has it."""
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def read_amount(text: str) -> int:
    """A number with Slurm's suffixes, of memory in megabytes: `512`, `1T`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)", text.strip().upper())
    if match is None:
        raise InputError("not an amount", value=text)
    return round(float(match[1]) * _UNITS[match[2] or "M"])


def read_number(text: str) -> int:
    """A number of things with Slurm's suffixes: `512`, `10K`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)", text.strip().upper())
    if match is None:
        raise InputError("not a number", value=text)
    return round(float(match[1]) * (1 << 10 * " KMGTP".index(match[2] or " ")))


def spell(keyword: str) -> str:
    """A keyword of a scope as Slurm spells it: `NodeName.realmemory` is `NodeName.RealMemory`."""
    scope, _, word = keyword.partition(".")
    known = {name.lower(): name for name in SCOPES[scope]}
    return f"{scope}.{known.get(word.lower(), word)}"
