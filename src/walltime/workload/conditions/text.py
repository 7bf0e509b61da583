"""Dependencies as Slurm writes them, read from their text.

A text is a list of conditions, all of which must hold (`,` between them) or one of which is enough (`?`):
`afterok:12:13,after:7+5` or `afterok:12?afternotok:13`. A condition names a job by its `job_id`, a task of an array by
its name (`12_3`) or all tasks of an array by the array (`12`). `singleton` waits for earlier jobs of that user and
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from walltime.core.errors import InputError
from walltime.core.time import SECOND

AFTER, AFTERANY, AFTEROK, AFTERNOTOK, SINGLETON = range(5)
"""The kinds of conditions, as the engine numbers them."""

KINDS = {"after": AFTER, "afterany": AFTERANY, "afterok": AFTEROK, "afternotok": AFTERNOTOK, "aftercorr": AFTEROK}
NAMES = (*KINDS, "singleton")
_PLAIN = ("after", "afterany", "afterok", "afternotok")

_TERM = re.compile(r"([a-z]+)((?::[^:]+)+)")
_TARGET = re.compile(r"(\d+)(?:_(\d+|\*))?(?:\+(\d+))?(?:\([a-z]+\))?")
_SINGLETON = re.compile(r"singleton(\([a-z]+\))?")
TASK = re.compile(r"(.+)_(\d+)")
"""The name of a task of an array."""
_LIMIT = re.compile(r"([^%]+)%(\d+)")
_MINUTE = 60 * SECOND


class Condition(NamedTuple):
    """One job, task or array that is waited for; `offset` is in microseconds, `same_task` Slurm's aftercorr."""

    kind: int
    target: str = ""
    offset: int = 0
    same_task: bool = False


@dataclass(frozen=True)
class Expression:
    """All of the conditions, or any one of them."""

    conditions: tuple[Condition, ...]
    any_of: bool = False


@lru_cache(maxsize=4096)
def parse_dependencies(text: str) -> Expression:
    """What a text of dependencies says; raises InputError for one that says nothing."""
    kind, *jobs = text.split(":")
    if kind in _PLAIN and jobs and all(job.isascii() and job.isdigit() for job in jobs):
        return Expression(tuple([Condition(KINDS[kind], job) for job in jobs]))
    compact = "".join(text.split())
    if "," in compact and "?" in compact:
        raise InputError(
            "dependencies are joined by commas (all of them) or by ? (any of them), not by both", value=text
        )
    conditions: list[Condition] = []
    for part in re.split(r"[,?]", compact):
        conditions += _parse_term(part, text)
    return Expression(tuple(conditions), "?" in compact)


def _parse_term(part: str, text: str) -> Iterator[Condition]:
    if _SINGLETON.fullmatch(part):
        yield Condition(SINGLETON)
        return
    match = _TERM.fullmatch(part)
    if not match:
        raise InputError("not a dependency (such as afterok:12:13, after:7+5 or singleton)", value=part or text)
    if match[1] not in KINDS:
        raise InputError("no such dependency", value=match[1], choices=NAMES)
    for item in match[2][1:].split(":"):
        target = _TARGET.fullmatch(item)
        if not target:
            raise InputError(f"{match[1]} takes numbers of jobs, or of tasks such as 12_3", value=item)
        if target[3] is not None and match[1] != "after":
            raise InputError("minutes can be added to after alone", value=item)
        name = target[1] if target[2] in (None, "*") else f"{target[1]}_{target[2]}"
        yield Condition(KINDS[match[1]], name, int(target[3] or 0) * _MINUTE, match[1] == "aftercorr")


def array_of(label: str) -> tuple[str, int | None]:
    """The array that a label names, and how many of its tasks may run at once: `12%4` is 12, and 4."""
    match = _LIMIT.fullmatch(label.strip())
    if match is None:
        if "%" in label:
            raise InputError("not an array with a limit (such as 12%4)", value=label)
        return label.strip(), None
    if int(match[2]) < 1:
        raise InputError("an array needs room for one task at least", value=label)
    return match[1].strip(), int(match[2])


def own_name(name: str) -> str:
    """The name that a singleton shares: that of the array for one of its tasks."""
    match = TASK.fullmatch(name)
    return match[1] if match else name
