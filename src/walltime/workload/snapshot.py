"""A system as it stands: running and waiting jobs from `squeue` or a table, and accumulated usage from `sshare`.

`squeue` is read in three shapes: its default output; any `-o`/`--format` with a header; and the same with bars between
the fields, which is the one to use, as it loses nothing:

    squeue -a -t R,PD -o "%i|%T|%u|%a|%P|%q|%C|%D|%l|%V|%S|%M|%Q|%r"

A table (.csv, .parquet) has the columns of a workload and `started`, times in seconds or as dates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from walltime.core.errors import InputError
from walltime.core.time import parse_duration

HEADINGS = {
    "JOBID": "id",
    "STATE": "state",
    "ST": "state",
    "USER": "user",
    "ACCOUNT": "account",
    "PARTITION": "queue",
    "QOS": "qos",
    "CPUS": "cores",
    "NODES": "nodes",
    "TIME_LIMIT": "limit",
    "TIMELIMIT": "limit",
    "SUBMIT_TIME": "submit",
    "START_TIME": "start",
    "TIME": "elapsed",
    "TIME_LEFT": "left",
    "PRIORITY": "priority",
    "REASON": "reason",
    "NODELIST(REASON)": "reason",
    "END_TIME": "end",
    "GROUP": "group",
    "NAME": "title",
    "NODELIST": "nodelist",
}
"""squeue's headings, and what they are here."""
RUNNING = ("R", "RUNNING", "CG", "COMPLETING", "S", "SUSPENDED")
WAITING = ("PD", "PENDING")
HELD = ("JobHeldUser", "JobHeldAdmin")
UNKNOWN = ("N/A", "NONE", "UNKNOWN", "")
_FIELDS = ("id", "state", "user", "queue")
_CLOCK = re.compile(r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+)")


@dataclass(frozen=True)
class Standing:
    """One job of the system, times in seconds since 1970 or on the table's own clock; None where not known."""

    name: str
    running: bool
    cores: int
    limit: float | None
    submit: float | None
    start: float | None
    elapsed: float | None
    nodes: int | None = None
    priority: int | None = None
    user: str | None = None
    account: str | None = None
    group: str | None = None
    queue: str | None = None
    qos: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """The jobs of a system at one moment, and what was left out, in counts by reason."""

    jobs: tuple[Standing, ...]
    skipped: dict[str, int]
    source: str


def read_time(value: str | float, zone: str | None = None) -> float:
    """Seconds from a number, or from a date and time such as 2026-11-15T12:00:00 (of the zone, else UTC)."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=ZoneInfo(zone or "UTC"))
        return moment.timestamp()
    except (ValueError, OverflowError):
        raise InputError("not a time (seconds, or a date such as 2026-11-15T12:00:00)", value=value) from None
    except ZoneInfoNotFoundError:
        raise InputError("no such time zone", value=zone) from None


def read_snapshot(path: str | Path, zone: str | None = None) -> Snapshot:
    """The jobs in a file: squeue's output, or a table by its suffix; raises InputError with file and line."""
    target = Path(path)
    if target.suffix.lower() in (".csv", ".parquet"):
        return _read_table(target, zone)
    try:
        lines = target.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=target) from None
    return _read_squeue(lines, target, zone)


# ------------------------------------------------------------------------------------------------------- squeue


def _read_squeue(lines: list[str], target: Path, zone: str | None) -> Snapshot:
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise InputError("the file is empty; it should be squeue's output with its header", file=target)
    bars = "|" in lines[first]
    names = [name.strip().upper() for name in (lines[first].split("|") if bars else lines[first].split())]
    fields = [HEADINGS.get(name) for name in names]
    missing = [name for name in _FIELDS if name not in fields]
    if "id" in missing or "state" in missing:
        raise InputError("not squeue's output: its header has no JOBID or no state", file=target, line=first + 1)
    jobs: list[Standing] = []
    skipped: dict[str, int] = {}
    for number, line in enumerate(lines[first + 1 :], first + 2):
        if not line.strip():
            continue
        values = line.split("|") if bars else line.split(None, len(fields) - 1)
        if len(values) != len(fields):
            raise InputError(f"{len(values)} fields where the header has {len(fields)}", file=target, line=number)
        row = {field: value.strip() for field, value in zip(fields, values, strict=True) if field is not None}
        try:
            found, reason = _job(row, zone)
        except InputError as error:
            raise InputError(error.what, value=error.value, file=target, line=number) from None
        if reason is not None:
            skipped[reason] = skipped.get(reason, 0) + 1
        jobs += found
    return Snapshot(tuple(jobs), skipped, str(target))


def _job(row: dict[str, str], zone: str | None) -> tuple[list[Standing], str | None]:
    """The jobs that one line stands for (a pending array is many), or why it is left out."""
    state = row["state"].upper()
    if state not in RUNNING + WAITING:
        return [], f"state {state.lower()}"
    running = state in RUNNING
    reason = row.get("reason", "").strip("()")
    if not running and reason in HELD:
        return [], "held"
    if not running and reason.startswith("Dependency"):
        return [], "waiting for other jobs"
    nodes = _number(row.get("nodes"))
    cores = _number(row.get("cores")) or nodes or 1
    one = Standing(
        row["id"],
        running,
        cores,
        _duration(row.get("limit")),
        _moment(row.get("submit"), zone),
        _moment(row.get("start"), zone) if running else None,
        _duration(row.get("elapsed")) if running else None,
        nodes,
        _number(row.get("priority")),
        *(row.get(name) or None for name in ("user", "account", "group", "queue", "qos")),
    )
    return _spread(one), None


def _spread(one: Standing) -> list[Standing]:
    """A pending array `12_[3-5,7%2]` as its tasks."""
    match = re.fullmatch(r"(\d+)_\[([^\]]*)\]", one.name)
    if match is None:
        return [one]
    tasks: list[int] = []
    for part in match[2].partition("%")[0].split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        if ends is None:
            raise InputError("not a list of tasks", value=one.name)
        tasks += range(int(ends[1]), int(ends[2] or ends[1]) + 1, int(ends[3] or 1))
    return [Standing(**(one.__dict__ | {"name": f"{match[1]}_{task}"})) for task in tasks]


def _number(text: str | None) -> int | None:
    """A count; of a range such as 2-4 the lower end, and 1K is 1024."""
    match = re.match(r"(\d+)(K?)", text or "")
    return None if match is None else int(match[1]) * (1024 if match[2] else 1)


def _duration(text: str | None) -> float | None:
    """Seconds of [days-][hours:]minutes:seconds; None for UNLIMITED and the like."""
    value = (text or "").strip().upper()
    if value in (*UNKNOWN, "UNLIMITED", "INVALID", "PARTITION_LIMIT", "NOT_SET"):
        return None
    match = _CLOCK.fullmatch(value)
    if match is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return float(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
    return parse_duration(value) / 1e6


def _moment(text: str | None, zone: str | None) -> float | None:
    value = (text or "").strip()
    return None if value.upper() in UNKNOWN else read_time(value, zone)


# -------------------------------------------------------------------------------------------------------- tables


def _read_table(target: Path, zone: str | None) -> Snapshot:
    import polars as pl

    try:
        table = pl.read_csv(target) if target.suffix.lower() == ".csv" else pl.read_parquet(target)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", file=target) from None
    needed = [name for name in ("cores", "requested_time", "submit") if name not in table.columns]
    if needed:
        raise InputError(f"the table has no column {needed[0]}", file=target, choices=table.columns)
    jobs = []
    for number, row in enumerate(table.iter_rows(named=True), 2):
        try:
            jobs.append(_table_job(row, number, zone))
        except InputError as error:
            raise InputError(error.what, value=error.value, file=target, line=number) from None
    return Snapshot(tuple(jobs), {}, str(target))


def _table_job(row: dict[str, Any], number: int, zone: str | None) -> Standing:
    start = row.get("started")
    start = None if start is None or start == "" else read_time(start, zone)
    limit = row["requested_time"]
    if row["cores"] is None or row["submit"] is None:
        raise InputError("a job without cores or without its submission")
    return Standing(
        str(row.get("name") or row.get("job_id") or number - 1),
        start is not None,
        int(row["cores"]),
        None if limit is None else parse_duration(limit) / 1e6,
        read_time(row["submit"], zone),
        start,
        None,
        None if row.get("nodes") is None else int(row["nodes"]),
        None if row.get("priority") is None else int(row["priority"]),
        *(None if row.get(name) is None else str(row[name]) for name in ("user", "account", "group", "queue", "qos")),
    )


# -------------------------------------------------------------------------------------------------------- sshare


def read_usage(path: str | Path) -> dict[str, float]:
    """Raw usage (core-seconds) by `account/user`, from `sshare -a -l -P` or any sshare with -P and the columns Account,
    User and RawUsage; the rows of accounts alone are left out, as their users' rows add up to them."""
    target = Path(path)
    try:
        lines = [line for line in target.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=target) from None
    names = [name.strip() for name in lines[0].split("|")] if lines else []
    for wanted in ("Account", "User", "RawUsage"):
        if wanted not in names:
            raise InputError(f"not the output of sshare -P: no column {wanted}", file=target, line=1, choices=names)
    usage: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        row = dict(zip(names, (value.strip() for value in line.split("|")), strict=False))
        if not row.get("User"):
            continue
        try:
            amount = float(row.get("RawUsage") or 0)
        except ValueError:
            raise InputError("raw usage is not a number", value=row["RawUsage"], file=target, line=number) from None
        key = f"{row['Account']}/{row['User']}"
        usage[key] = usage.get(key, 0.0) + amount
    return usage
