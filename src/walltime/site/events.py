"""When nodes were out of service, and what was reserved: the outputs of `sacctmgr show event` and of reservations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from walltime.core.dates import is_date
from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.site.associations import read_text
from walltime.site.scontrol import read_blocks

UNKNOWN = ("", "unknown", "none", "(null)", "n/a")


class NodeEvent(NamedTuple):
    """Nodes that were not in service, from a date to another, as the file writes them; None: they still are."""

    nodes: str
    start: str
    end: str | None
    state: str
    reason: str
    cited: str


class Window(NamedTuple):
    """A reservation of the past or the future."""

    name: str
    nodes: str
    start: str
    end: str
    users: tuple[str, ...]
    accounts: tuple[str, ...]
    flags: tuple[str, ...]
    cited: str
    others: str = ""
    """What else it is bound to: groups, those who may not use it, cores."""


@reader
def read_events(path: str | Path) -> tuple[NodeEvent, ...]:
    """The outages of `sacctmgr -P show event`, in order of time; events of the whole cluster are passed over."""
    found = []
    for number, row in _read_table(path, ("nodename", "clusternodes"), "timestart"):
        nodes = row.get("nodename") or ""
        state, start = row.get("state", "").upper(), row["timestart"]
        if not nodes or not is_date(start) or state.startswith("CLUSTER"):
            continue
        end = row.get("timeend", "")
        found.append(
            NodeEvent(
                nodes, start, end if is_date(end) else None, state, row.get("reason", ""), f"{Path(path).name}:{number}"
            )
        )
    return tuple(sorted(found, key=lambda one: (one.start, one.nodes)))


@reader
def read_windows(path: str | Path) -> tuple[Window, ...]:
    """The reservations of `scontrol show reservation`, or of `sacctmgr -P show reservation`."""
    text = read_text(path)
    if text.startswith("No reservations"):
        return ()
    if "|" in text.partition("\n")[0]:
        rows = [(number, {"name": "", **row}) for number, row in _read_table(path, ("name", "resvname"), "start")]
    else:
        rows = [(number, {key.lower(): value for key, value in block.items()}) for number, block in read_blocks(path)]
    return tuple(_make_window(row, f"{Path(path).name}:{number}", path, number) for number, row in rows)


def _make_window(row: dict[str, str], cited: str, path: str | Path, number: int) -> Window:
    name = row.get("reservationname") or row.get("resvname") or row.get("name", "")
    start, end = (row.get(f"{key}time") or row.get(key, "") for key in ("start", "end"))
    if not name or not is_date(start) or not is_date(end):
        raise InputError("a reservation needs a name, a start and an end", value=name, file=path, line=number)
    denied = [f"{key} {one}" for key in ("users", "accounts") for one in _split(row.get(key, "")) if one[0] == "-"]
    bound = [f"{key} {row[key]}" for key in ("groups", "features", "licenses") if _split(row.get(key, ""))]
    cores = [f"cores {row['coreids']}"] if row.get("coreids") else []
    users = [one for one in _split(row.get("users", "")) if not one.startswith("-")]
    accounts = [one for one in _split(row.get("accounts", "")) if not one.startswith("-")]
    flags = tuple(flag.upper() for flag in _split(row.get("flags", "")))
    nodes = row.get("nodes") or row.get("nodenames", "")
    return Window(
        name,
        "" if nodes.lower() in UNKNOWN else nodes,
        start,
        end,
        tuple(users),
        tuple(accounts),
        flags,
        cited,
        ", ".join([*denied, *bound, *cores]),
    )


def _split(text: str) -> list[str]:
    return [] if text.lower() in UNKNOWN else [part.strip() for part in text.split(",") if part.strip()]


def _read_table(path: str | Path, any_of: tuple[str, ...], needed: str) -> list[tuple[int, dict[str, str]]]:
    """Rows of columns between bars, by names in small letters, with their lines."""
    lines = [(number, line) for number, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    heads = [re.sub(r"\W", "", head).lower() for head in lines[0][1].split("|")] if lines else []
    if needed not in heads or not set(any_of) & set(heads):
        raise InputError(
            f"the first line should name the columns {any_of[0]} and {needed}, with bars between", file=path
        )
    rows = []
    for number, line in lines[1:]:
        cells = line.split("|")
        if len(cells) < len(heads):
            raise InputError(f"has {len(cells)} columns instead of {len(heads)}", value=line, file=path, line=number)
        rows.append((number, dict(zip(heads, (cell.strip() for cell in cells), strict=False))))
    return rows
