"""What an administrator has happen in the course of a run: a file of times and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from walltime.core.dates import Date, is_date
from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.time import SECOND, microseconds, parse_duration, seconds

VERBS = {
    "scontrol": ("update", "create", "delete", "hold", "uhold", "release", "requeue", "requeuehold", "suspend",
                 "resume", "top", "reconfigure", "show"),
    "sacctmgr": ("show", "list"),
    **dict.fromkeys(("scancel", "squeue", "sinfo", "sprio", "sshare", "sdiag", "sacct"), ()),
}  # fmt: skip
"""What a file of events may have done, by the second word: nothing that runs a program here, or writes a file."""
ANY = "sh"
"""What begins any other command, which only the person at the keyboard can allow."""
_FLAGS = re.compile(r"-[adonpPQ]+")
"""Options that take no word after them."""
REFUSED = "any other command needs --allow-commands"


class TimedCommand(NamedTuple):
    """A command, its time in microseconds after the trace's zero, and its line."""

    at: int
    command: str
    line: int


def find_reservations(events: Iterable[TimedCommand]) -> dict[str, str]:
    """The reservations that are made in the course of events: jobs of the trace that name one are bound to it."""
    pattern = re.compile(r"\bcreate\b.*\breservation(?:name)?=(\S+)", re.IGNORECASE)
    made = (pattern.search(event.command) for event in events)
    return {match[1]: match[1] for match in made if match}


@reader
def read_events(path: str | Path, base: int = 0, zone: str = "UTC", any_command: bool = False) -> list[TimedCommand]:
    """The events of lines such as `2h scontrol update ...`, or `2024-01-01T14:00:00 squeue`, in a zone's time.

    `base` is the trace's zero in microseconds since 1970; `any_command` allows `sh`. Raises InputError with the line.
    """
    events = []
    with reading(path) as file:
        for number, line in file.lines():
            text = re.sub(r"(^|\s)#.*", "", line).strip()
            if not text:
                continue
            when, _, command = text.partition(" ")
            where: dict[str, Any] = {"file": path, "line": number}
            _check(command, any_command, where)
            events.append(TimedCommand(_read_time(when, base, zone, where), command.strip(), number))
    return events


def _read_time(text: str, base: int, zone: str, where: dict[str, Any]) -> int:
    try:
        if is_date(text):
            return microseconds(Date(text).since(base / SECOND, zone))
        return microseconds(seconds(parse_duration(text)))
    except InputError as error:
        raise InputError(error.what, value=text, **where) from None


def _check(command: str, any_command: bool, where: dict[str, Any]) -> None:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"not a command ({error})", value=command, **where) from None
    if words and words[0] == ANY:
        if not any_command:
            raise InputError(REFUSED, value=command, choices=VERBS, **where)
        if len(words) < 2:
            raise InputError("sh needs a command", value=command, **where)
        return
    if not words or words[0] not in VERBS:
        what = f"an event is a time and a command of an administrator, or sh and any command ({REFUSED})"
        raise InputError(what, value=command, choices=VERBS, **where)
    verbs, rest = VERBS[words[0]], [word for word in words[1:] if not _FLAGS.fullmatch(word)]
    if verbs and (not rest or rest[0].lower() not in verbs):
        raise InputError(f"not what {words[0]} may be told by a file", value=" ".join(rest[:1]), choices=verbs, **where)
