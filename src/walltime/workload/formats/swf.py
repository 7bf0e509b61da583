"""The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, a header of comments.

How untidy records are read: cores are the requested ones, else the allocated ones; partial records (status 2 to 4) are
left out beside their total; status 5 without a start is a cancellation at submission + wait, left out where it has no
requested time; any other job whose run time or cores are unknown or zero is left out. All are counted in
`Workload.notes`:

- `lines`: lines that hold a record, kept or not; `skipped`: records left out, by reason;
- `missing_request`: kept jobs without a requested time; `overlong`: kept jobs that ran longer than they asked;
- `extra_columns`: columns after the 18th, which are ignored unless they are Alea's three (`alea.py` has their notes);
  `unusable_memory`: memory requests too large to be true;
- `unsorted`: whether the file was not in order of submission; `duplicate_ids`: jobs whose number occurred before.
"""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.files import replacing
from walltime.core.reading import reader, reading
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Origin, Workload, sort_by_submission
from walltime.workload.formats import alea
from walltime.workload.formats.alea_files import read_names
from walltime.workload.formats.batches import count_duplicates, join_columns
from walltime.workload.formats.swf_scan import REASONS, Scanner

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 1 << 18  # bytes read at once: few enough to stay in the cache, and to be read to the same place again
_LONGEST_LINE = 1 << 20
_SHORTEST_LINE = 36  # bytes: 18 digits, each with what ends it
_ROWS = 1 << 16  # jobs a batch, where the whole file is wanted
_KEY = re.compile(r"\s*;+\s*([A-Za-z][\w /.()-]{0,40}?)\s*:(?:\s+(.*)|\s*)$", re.DOTALL)
_WHOLE = re.compile(r"\s*0*(\d{1,15})(?![\d.,]*\d)")

Batch = tuple[dict[str, Any], dict[str, Any]]
Taken = tuple[dict[str, Any], dict[str, Any], list[alea.Extra]]


@reader
def read_swf(path: str | Path) -> Workload:
    """The whole trace, sorted by submission; raises InputError (with the line) for what is not SWF."""
    scanner = Scanner(str(path), _ROWS)
    extra = alea.Columns(str(path), read_names(path))
    totals: dict[str, Any] = {}

    def scan() -> Iterator[dict[str, Any]]:
        nonlocal totals
        for columns, notes in _scan(path, scanner, extra):
            totals = _add_notes(totals, notes)
            yield columns

    columns = join_columns(scan(), os.path.getsize(path) // _SHORTEST_LINE + 1)
    totals["unsorted"] = not scanner.in_order
    totals["duplicate_ids"] = count_duplicates(columns["job_id"])
    return _workload(scanner, extra, sort_by_submission(columns), totals)


def read_swf_batches(path: str | Path, rows: int) -> Iterator[Workload]:
    """The trace as a stream of workloads of at most `rows` jobs, in bounded memory.

    Codes of labels mean the same in every batch; `notes` count what happened since the batch before. Submissions out
    of order raise InputError, since nothing can be put back into a batch that has left.
    """
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    scanner = Scanner(str(path), rows, ordered_only=True)
    extra = alea.Columns(str(path), read_names(path))
    for columns, notes in _scan(path, scanner, extra):
        yield _workload(scanner, extra, columns, notes | {"unsorted": False})


def parse_header(comments: list[bytes]) -> dict[str, str]:
    """The fields `; Key: value` in their order; a repeated key's values are joined with "; "."""
    header: dict[str, str] = {}
    for comment in comments:
        try:
            text = comment.decode("utf-8")
        except UnicodeDecodeError:
            text = comment.decode("latin-1")
        if field := _KEY.match(text.rstrip()):
            key, value = field[1], (field[2] or "").strip()
            header[key] = f"{header[key]}; {value}" if key in header else value
    return header


def machine_cores(header: dict[str, str]) -> int | None:
    """The size of the machine according to a header: MaxProcs, else MaxNodes."""
    for key in ("MaxProcs", "MaxNodes"):
        if (number := _WHOLE.match(header.get(key, ""))) and int(number[1]) > 0:
            return int(number[1])
    return None


def origin(header: dict[str, str]) -> Origin:
    """What time zero means according to a header: UnixStartTime and TimeZoneString."""
    start = _WHOLE.match(header.get("UnixStartTime", ""))
    return Origin(float(start[1]) if start else None, header.get("TimeZoneString") or None)


def _scan(path: str | Path, scanner: Scanner, extra: alea.Columns) -> Iterator[Batch]:
    """Batches as they fill up, with what their extra columns say."""
    for columns, notes, extras in _scan_file(path, scanner):
        extra.add(columns, notes, extras)
        yield columns, notes


def _scan_file(path: str | Path, scanner: Scanner) -> Iterator[Taken]:
    """Batches as they fill up; the last one is yielded with the counts of all that followed it."""
    with reading(path) as stream:
        rest = b""
        empty = True
        while block := stream.read(_BLOCK):
            if empty:
                empty = False
                block = block.removeprefix(b"\xef\xbb\xbf")
            data = rest + block
            end = data.rfind(b"\n") + 1
            yield from _scan_lines(scanner, data, end)
            rest = data[end:]
            if len(rest) > _LONGEST_LINE:
                raise InputError("this does not look like an SWF file (endless line)", file=path, line=scanner.line)
        if rest:
            yield from _scan_lines(scanner, rest + b"\n", len(rest) + 1)
    last = scanner.take()
    if not len(last[0]["submit"]):  # a batch leaves only when a further job is waiting: so there was no job at all
        raise _no_jobs(path, scanner, last[1], empty)
    yield last


def _scan_lines(scanner: Scanner, data: bytes, end: int) -> Iterator[Taken]:
    at = scanner.scan(data, 0, end)
    while at < end:
        yield scanner.take()
        at = scanner.scan(data, at, end)


def _no_jobs(path: str | Path, scanner: Scanner, notes: dict[str, Any], empty: bool) -> InputError:
    if empty:
        return InputError("the file is empty", file=path)
    if not scanner.records:
        return InputError("there are no jobs in this file", file=path)
    reasons = ", ".join(f"{count} × {reason}" for reason, count in notes["skipped"].items())
    return InputError(f"none of the {scanner.records} records is a job that can be simulated: {reasons}", file=path)


def _workload(scanner: Scanner, extra: alea.Columns, columns: dict[str, Any], notes: dict[str, Any]) -> Workload:
    header = parse_header(scanner.comments)
    labels = extra.name(scanner.labels())
    return Workload(
        columns,
        labels={name: names for name, names in labels.items() if name in columns},
        origin=origin(header) if not extra.epochs or "UnixStartTime" in header else Origin(0.0),
        machine_cores=machine_cores(header),
        header=header,
        notes=notes,
        skipped_at={
            reason: np.array(times, np.int64)
            for reason, times in zip(REASONS, scanner.skipped_at, strict=True)
            if len(times)
        },
        source=scanner.file,
    )


def _add_notes(total: dict[str, Any], notes: dict[str, Any]) -> dict[str, Any]:
    """The notes of two stretches of a file as those of both."""
    counters = [key for key, value in notes.items() if isinstance(value, dict)]
    both = {key: total.get(key, 0) + count for key, count in notes.items() if key not in (*counters, "extra_columns")}
    both |= {key: dict(Counter(total.get(key, {})) + Counter(notes[key])) for key in counters}
    both["extra_columns"] = max(total.get("extra_columns", 0), notes["extra_columns"])
    return both


def write_swf(workload: Workload, path: str | Path) -> list[str]:
    """Writes the trace as SWF (packed where the name ends in .gz), all or nothing; returns the columns left behind.

    SWF has no place for dependencies, accounts, GPUs and the like. Labels that are not numbers are numbered from 1, and
    the header tells the names. Memory is rounded up to whole KB per processor.
    """
    table, renamed = _table(workload)
    lines = [f"; {key}: {value}" for key, value in _header(workload).items()]
    lines += [f"; {name.capitalize()}: {number} {label}" for name, number, label in renamed]
    text = "".join(f"{' '.join(line.split())}\n" for line in lines).encode()
    with replacing(path) as draft, open(draft, "wb") as raw:
        if str(path).endswith(".gz"):
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:  # no name, no time: same jobs, same bytes
                _write(packed, text, table)
        else:
            _write(raw, text, table)
    return _left_behind(workload)


def _write(stream: Any, header: bytes, table: pl.DataFrame) -> None:
    stream.write(header)
    table.write_csv(stream, include_header=False, separator=" ")


def _table(workload: Workload) -> tuple[pl.DataFrame, list[tuple[str, int, str]]]:
    """The 18 columns, and (column, number, name) for each label that had to be given a number."""
    import polars as pl

    size = len(workload)
    run, submit, cores = (workload.column(name) for name in ("run_time", "submit", "cores"))
    wait, cancel, memory = (workload.column(name) for name in ("recorded_wait", "cancel", "memory"))
    cancelled = (run == MISSING) & (cancel != MISSING)
    endless = (run == MISSING) & ~cancelled
    if endless.any():
        job = int(workload.column("job_id")[int(np.argmax(endless))])
        raise InputError("SWF cannot hold a job without a run time that is not cancelled; job", value=job)
    wait = np.where(cancelled, cancel - submit, wait)
    memory = np.where(memory > 0, -(-memory // (1024 * cores)), MISSING)
    numbers, renamed = zip(*(_label_numbers(workload, name) for name in ("user", "group", "queue")), strict=True)
    status = np.where(cancelled, 5, 1)
    none = pl.repeat(MISSING, size, dtype=pl.Int8, eager=True)
    columns = [
        *(workload.column("job_id"), _seconds(submit), _seconds(wait), _seconds(run), cores, none, none, cores),
        *(_seconds(workload.column("requested_time")), memory, status, numbers[0], numbers[1], none, numbers[2], none),
        *(workload.column("preceding_job"), _seconds(workload.column("think_time"))),
    ]
    table = pl.DataFrame([pl.Series(f"{i}", values) for i, values in enumerate(columns)])
    return table, [row for rows in renamed for row in rows]


def _seconds(microseconds: np.ndarray) -> pl.Series:
    """Times as SWF writes them: whole seconds where all are whole, else decimals, exact to the microsecond."""
    import polars as pl

    whole, fraction = np.divmod(microseconds, SECOND)
    missing = microseconds < 0
    whole[missing], fraction[missing] = MISSING, 0
    if not fraction.any():
        return pl.Series(whole)
    digits = pl.Series(fraction).cast(pl.String).str.zfill(6).str.strip_chars_end("0")
    return pl.Series(whole).cast(pl.String) + pl.Series(digits != "").replace_strict({True: ".", False: ""}) + digits


def _label_numbers(workload: Workload, name: str) -> tuple[np.ndarray, list[tuple[str, int, str]]]:
    """A number for each job's label: the label itself where all are numbers, else its place from 1."""
    labels = workload.label_names(name)
    if all(re.fullmatch("0|[1-9][0-9]{0,16}", label) for label in labels):
        numbers = np.array([int(label) for label in labels] + [MISSING], np.int64)
        return numbers[workload.column(name)], []  # the code -1 finds the last
    numbers = np.array([*range(1, len(labels) + 1), MISSING], np.int64)
    return numbers[workload.column(name)], [(name, i + 1, label) for i, label in enumerate(labels)]


def _header(workload: Workload) -> dict[str, str]:
    """The header that came with the jobs, with what it says of size, machine and origin brought up to date."""
    header = {"Version": "2.2"} | {key: value for key, value in workload.header.items() if _KEY.match(f"; {key}:")}
    for key in ("MaxJobs", "MaxRecords"):
        header[key] = str(len(workload))
    if workload.machine_cores is not None and machine_cores(header) != workload.machine_cores:
        header["MaxProcs"] = str(workload.machine_cores)
    known = origin(header)
    if workload.origin.epoch is not None and known.epoch != workload.origin.epoch:
        header["UnixStartTime"] = f"{workload.origin.epoch:.0f}"
    if workload.origin.timezone and known.timezone != workload.origin.timezone:
        header["TimeZoneString"] = workload.origin.timezone
    return header


def _left_behind(workload: Workload) -> list[str]:
    """The columns that hold something which SWF cannot say."""
    kept = {"job_id", "submit", "run_time", "requested_time", "cores", "memory", "user", "group", "queue"}
    kept |= {"recorded_wait", "preceding_job", "think_time"}
    left = [name for name in workload.columns if name not in kept and name != "cancel"]
    if np.any((workload.column("cancel") != MISSING) & (workload.column("run_time") != MISSING)):
        left.append("cancel")
    return left
