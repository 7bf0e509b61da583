"""Nodes that were out of service, and reservations, by their dates."""

from __future__ import annotations

import re
from typing import Any

from walltime.cluster.hostlist import compress, expand, split
from walltime.core.dates import read_date
from walltime.core.errors import InputError
from walltime.site.events import NodeEvent, Window
from walltime.site.importing.findings import Findings
from walltime.site.importing.values import write_time
from walltime.site.importing.written import Said
from walltime.site.keywords import EXACTLY, NEARLY, NOT, POWER

_USUAL = {
    *("MAINT", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "ANY_NODES", "STATIC", "STATIC_ALLOC", "NO_HOLD_JOBS"),
    *("NO_HOLD_JOBS_AFTER", "NO_HOLD_JOBS_AFTER_END", "PURGE_COMP", "USER_DELETE", "USER_DEL"),
}
"""Flags of reservations that change nothing of what is written."""


_DRAINED = {"DRAIN", "DRAINED", "DRAINING"}
_OUT = _DRAINED | {"DOWN", "FAIL", "FAILING", "ERROR", "MAINT", "NOT_RESPONDING", "UNKNOWN"}
_POWER = {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "POWERING_UP", "POWER_UP", "CLOUD"}
"""Words of a node's state: out of service, or switched off until a job needs it."""


def _expand(nodes: str, cited: str) -> list[str]:
    """The names of nodes that a file lists; `cited` is its name with the line."""
    try:
        return expand(nodes)
    except InputError as error:
        file, _, line = cited.rpartition(":")
        raise InputError(error.what, value=error.value, file=file, line=int(line)) from error


def write_failures(
    events: tuple[NodeEvent, ...], there: set[str], findings: Findings, timezone: str | None = None
) -> list[Said]:
    """Outages of the same nodes' times together; a drain lets no new job start, and ends what still runs at its end."""
    alike: dict[tuple[str, str, bool], list[tuple[str, NodeEvent]]] = {}
    for event in events:
        nodes = [name for name in _expand(event.nodes, event.cited) if name in there]
        words = {*re.findall(r"[A-Z_]+", event.state)}
        if words & _POWER and not words & _OUT:
            findings.tell("Event", event.state, NOT, POWER)
            continue
        if not nodes:
            findings.tell("Event", event.nodes, NOT, "none of its nodes is there")
            continue
        if event.end is None:
            findings.tell("Event", event.nodes, NOT, "it had no end yet")
            continue
        if _measure(event.start, event.end, timezone) <= 0:
            findings.tell("Event", event.nodes, NOT, "it has no length")
            continue
        drained = bool(words & _DRAINED) and "DOWN" not in words
        for name in nodes:
            alike.setdefault((event.start, event.end, drained), []).append((name, event))
    found = []
    for (start, end, drained), members in sorted(alike.items()):
        length = _measure(start, end, timezone)
        failure: dict[str, Any] = {"nodes": split(compress(sorted({name for name, _ in members})))}
        if drained and length > 1:
            failure |= {"at": end, "length": "1s", "notice": write_time(length)}
        else:
            failure |= {"at": start, "length": write_time(length)}
        reasons = ", ".join(dict.fromkeys(event.reason for _, event in members if event.reason))
        found.append(
            Said(failure | {"known": False}, f"{members[0][1].cited} {members[0][1].state} {reasons}".rstrip())
        )
        how = "no new job starts; what runs on at its end is requeued" if drained else ""
        findings.tell("Event", members[0][1].state, *((NEARLY, how) if drained else (EXACTLY, "")))
    return found


def _measure(start: str, end: str, timezone: str | None) -> int:
    """Seconds between two dates of the site, of which one may be in summer time."""
    return round(read_date(end, timezone) - read_date(start, timezone))


def write_windows(
    windows: tuple[Window, ...], there: set[str], findings: Findings, timezone: str | None = None
) -> list[Said]:
    """Reservations and maintenance windows."""
    found, names = [], set()
    for window in windows:
        nodes = (
            [name for name in _expand(window.nodes, window.cited) if name in there]
            if window.nodes.upper() != "ALL"
            else sorted(there)
        )
        length = _measure(window.start, window.end, timezone)
        if not nodes or length <= 0:
            findings.tell(
                "Reservation", window.name, NOT, "none of its nodes is there" if not nodes else "it has no length"
            )
            continue
        name = window.name
        while name in names:
            name += "+"
        names.add(name)
        made: dict[str, Any] = {"name": name, "start": window.start, "length": write_time(length)}
        made["nodes"] = split(compress(nodes))
        users = [user for user in window.users if user != "root"]
        made |= {"users": users} if users else {}
        made |= {"accounts": list(window.accounts)} if window.accounts else {}
        found.append(Said(made, f"{window.cited} {','.join(window.flags)}".rstrip()))
        strange = [flag.lower() for flag in window.flags if re.split(r"[=+]", flag)[0] not in _USUAL]
        how = [f"{', '.join(sorted(strange))}: kept as it is written, once"] if strange else []
        how += [f"{window.others} are not looked at"] if window.others else []
        findings.tell("Reservation", window.name, *((NEARLY, "; ".join(how)) if how else (EXACTLY, "")))
    return found
