"""Workload files: one module a format, chosen by the file's contents and its suffix, or by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from walltime.core.entry_points import installed
from walltime.core.errors import InputError
from walltime.core.log import logger
from walltime.core.reading import reader, reading
from walltime.core.workload import Workload

SWF = (".swf", ".swf.gz", ".txt", ".txt.gz")
TABLES = (".parquet", ".csv")
LOGS = (".sacct", ".sacct.gz", ".psv", ".psv.gz", ".log", ".log.gz")
FORMATS = ("swf", "sacct", "torque", "table")
GROUP = "walltime.formats"
"""The entry points' group of packages that read other formats."""
_PEEK = 1 << 16
_log = logger(__name__)


@reader
def read(
    path: str | Path,
    *,
    format: str | None = None,
    timezone: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Workload:
    """The workload in a file: SWF, Slurm's sacct, Torque's accounting, Parquet or CSV.

    The format is found by the suffix and a look at the first lines; `format` says it (swf, sacct, torque, table).
    `timezone` is that of a log's local times. `columns` maps our columns to those of a table, such as
    `{"submit": "time_submit", "run_time": "elapsed:min"}`.
    """
    kind = find_format(path, format)
    _check_options(path, kind, timezone, columns)
    _log.info("reading %s as %s", path, kind)
    if kind in installed(GROUP):
        return _read_foreign(path, kind)
    if kind == "swf":
        from walltime.workload.formats.swf import read_swf

        return read_swf(path)
    if kind == "sacct":
        from walltime.workload.formats.sacct import read_sacct

        return read_sacct(path, timezone)
    if kind == "torque":
        from walltime.workload.formats.torque import read_torque

        return read_torque(path, timezone)
    if columns is not None:
        from walltime.workload.formats.mapped import read_mapped

        return read_mapped(path, columns, timezone)
    from walltime.workload.formats.parquet import read_table

    return read_table(path)


def _read_foreign(path: str | Path, kind: str) -> Workload:
    """What an installed package's function makes of the file."""
    found = installed(GROUP)[kind]
    jobs = found.load()(Path(path))
    if not isinstance(jobs, Workload):
        what = f"the package {found.package}: {found.target} gave no Workload"
        raise InputError(what, value=type(jobs).__name__, file=path)
    return jobs


def read_batches(path: str | Path, rows: int) -> Iterator[Workload]:
    """The workload as a stream of workloads of at most `rows` jobs; SWF and sacct are read in bounded memory."""
    kind = find_format(path)
    if kind == "swf":
        from walltime.workload.formats.swf import read_swf_batches

        return read_swf_batches(path, rows)
    if kind == "sacct":
        from walltime.workload.formats.sacct import read_sacct_batches

        return read_sacct_batches(path, rows)
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    return read(path).batches(rows)


def write(workload: Workload, path: str | Path) -> list[str]:
    """Writes the workload in the format of the suffix, all or nothing; returns the columns that could not be kept."""
    check_suffix(path)
    if Path(path).name.lower().endswith(SWF):
        from walltime.workload.formats.swf import write_swf

        return write_swf(workload, path)
    from walltime.workload.formats.parquet import write_table

    write_table(workload, path)
    return []


def check_suffix(path: str | Path) -> None:
    """Raises InputError where no format that can be written has the file's suffix."""
    name = Path(path).name.lower()
    if not name.endswith(SWF + TABLES):
        raise _no_format(path, SWF + TABLES)


@reader
def find_format(path: str | Path, format: str | None = None) -> str:
    """One of FORMATS, or the name of a package's format; InputError where neither name, suffix nor contents tell."""
    if format is not None:
        if format not in (*FORMATS, *installed(GROUP)):
            raise InputError("unknown workload format", value=format, choices=[*FORMATS, *installed(GROUP)])
        return format
    name = Path(path).name.lower()
    for foreign in installed(GROUP):
        if name.endswith((f".{foreign}", f".{foreign}.gz")):
            return foreign
    if name.endswith(".parquet"):
        return "table"
    from walltime.workload.formats.torque import is_accounting_folder

    if is_accounting_folder(path):
        return "torque"
    if Path(path).is_dir():
        raise InputError("this is a folder, not a workload file", file=path)
    if (seen := _look(path, name)) is not None:
        return seen
    if name.endswith(SWF):
        return "swf"
    if name.endswith(".csv"):
        return "table"
    if name.endswith((".sacct", ".sacct.gz", ".psv", ".psv.gz")):
        return "sacct"
    raise _no_format(path, SWF + TABLES + LOGS)


def _look(path: str | Path, name: str) -> str | None:
    """What the first lines say; None where they say nothing, or the file cannot be read (its reader will tell)."""
    from walltime.workload.formats.sacct import looks_like_sacct
    from walltime.workload.formats.torque import RECORD

    try:
        with reading(path) as stream:
            lines = stream.read(_PEEK).decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    except InputError:
        return None
    first = next((line for line in lines if line.strip()), "")
    if RECORD.match(first):
        return "torque"
    return "sacct" if looks_like_sacct(first) else None


def _check_options(path: str | Path, kind: str, timezone: str | None, columns: Mapping[str, Any] | None) -> None:
    if timezone is not None and kind == "swf":
        raise InputError("an SWF file tells its own time zone; a time zone is for sacct, torque and tables", file=path)
    if timezone is not None and kind == "table" and columns is None:
        raise InputError("a table with our own columns has no local times; a time zone is for logs and maps", file=path)
    if columns is not None and kind != "table":
        raise InputError(f"a map of columns is for tables (CSV, Parquet); this is {kind}", file=path)


def _no_format(path: str | Path, suffixes: tuple[str, ...]) -> InputError:
    if Path(path).is_dir():
        return InputError("this is a folder, not a workload file", file=path)
    suffix = "".join(Path(Path(path).name.lower()).suffixes[-1:])
    return InputError("no workload format has this suffix", value=suffix, file=path, choices=suffixes)
