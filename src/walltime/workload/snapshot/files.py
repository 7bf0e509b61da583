"""A system as it stands: running and waiting jobs from `squeue` or a table, and accumulated usage from `sshare`.

A table (.csv, .parquet) has the columns of a workload and `started`, times in seconds or as dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.reading import Reading, reader, reading
from walltime.core.time import parse_duration
from walltime.workload.snapshot.squeue import read_json, read_squeue
from walltime.workload.snapshot.system import Snapshot, SystemJob, read_time

if TYPE_CHECKING:
    import polars as pl


@reader
def read_snapshot(path: str | Path, zone: str | None = None) -> Snapshot:
    """The jobs in a file: squeue's output, or a table by its suffix; raises InputError with file and line."""
    target = Path(path)
    if target.suffix.lower() in (".csv", ".parquet"):
        return _read_table(target, zone)
    with reading(target) as file:
        text = file.text(errors="replace")
    if text.lstrip().startswith("{"):
        with reading(target) as file:
            return read_json(file.json("not the output of squeue --json"), target, zone)
    return read_squeue(text.splitlines(), target, zone)


# -------------------------------------------------------------------------------------------------------- tables


def _read_table(target: Path, zone: str | None) -> Snapshot:
    with reading(target) as file:
        table = file.table()
        return Snapshot(tuple(_table_jobs(file, table, zone)), {}, str(target))


def _table_jobs(file: Reading, table: pl.DataFrame, zone: str | None) -> Iterator[SystemJob]:
    needed = [name for name in ("cores", "requested_time", "submit") if name not in table.columns]
    if needed:
        raise InputError(f"the table has no column {needed[0]}", choices=table.columns)
    for file.line, row in enumerate(table.iter_rows(named=True), 2):
        yield _table_job(row, file.line, zone)


_AMOUNTS = ("gpus", "gpus_per_node", "memory", "memory_per_node")


def _table_job(row: dict[str, Any], number: int, zone: str | None) -> SystemJob:
    start = row.get("started")
    start = None if start is None or start == "" else read_time(start, zone)
    limit = row["requested_time"]
    halt = row.get("suspended")
    halt = None if halt is None or halt == "" else read_time(halt, zone)
    if halt is not None and (start is None or halt < start):
        raise InputError("suspended: a job that has not started by then", value=row["suspended"])
    amounts: dict[str, Any] = {name: int(row[name]) for name in _AMOUNTS if row.get(name) is not None}
    if row["cores"] is None or row["submit"] is None:
        raise InputError("a job without cores or without its submission")
    return SystemJob(
        str(row.get("name") or row.get("job_id") or number - 1),
        start is not None,
        int(row["cores"]),
        None if limit is None else parse_duration(limit) / 1e6,
        read_time(row["submit"], zone),
        start,
        None if halt is None or start is None else halt - start,
        None if row.get("nodes") is None else int(row["nodes"]),
        None if row.get("priority") is None else int(row["priority"]),
        user=_label(row, "user"),
        account=_label(row, "account"),
        group=_label(row, "group"),
        queue=_label(row, "queue"),
        qos=_label(row, "qos"),
        constraint=_label(row, "constraint"),
        licences=_label(row, "licences"),
        nodelist=_label(row, "nodelist"),
        suspended=halt is not None,
        **amounts,
    )


def _label(row: dict[str, Any], name: str) -> str | None:
    return None if row.get(name) is None else str(row[name])


# -------------------------------------------------------------------------------------------------------- sshare


@reader
def read_usage(path: str | Path) -> dict[str, float]:
    """Raw usage (core-seconds) by `account/user`, from `sshare -a -l -P`, or any sshare, with -P or without, that has
    the columns Account, User and RawUsage; the rows of accounts alone are left out, as their users' rows add up to
    them."""
    target = Path(path)
    with reading(target) as file:
        lines = [line for _, line in file.lines() if line.strip()]
    lines = lines if lines and "|" in lines[0] else _with_bars(lines, target)
    names = [name.strip() for name in lines[0].split("|")] if lines else []
    for wanted in ("Account", "User", "RawUsage"):
        if wanted not in names:
            raise InputError(f"not the output of sshare -a: no column {wanted}", file=target, line=1, choices=names)
    usage: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        row = dict(zip(names, (value.strip() for value in line.split("|")), strict=False))
        if not row.get("User"):
            continue
        try:
            amount = float(row.get("RawUsage") or 0)
        except ValueError:
            raise InputError("raw usage is not a number", value=row["RawUsage"], file=target, line=number) from None
        for name in (row["Account"], row["User"]):
            if name.endswith("+"):
                raise InputError("sshare has cut off a name; ask with -P", value=name, file=target, line=number)
        key = f"{row['Account']}/{row['User']}"
        usage[key] = usage.get(key, 0.0) + amount
    return usage


def _with_bars(lines: list[str], target: Path) -> list[str]:
    """sshare's columns, which the dashes below the header measure, with bars between them."""
    if len(lines) < 2 or not re.fullmatch(r"[- ]+", lines[1]):
        raise InputError(
            "not the output of sshare -a: no header with bars, or with dashes below it", file=target, line=1
        )
    spans = [match.span() for match in re.finditer(r"-+", lines[1])]
    return ["|".join(line[begin:end].strip() for begin, end in spans) for line in [lines[0], *lines[2:]]]
