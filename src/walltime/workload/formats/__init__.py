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
from walltime.workload.formats.hosts import parse_host

SWF = (".swf", ".swf.gz", ".txt", ".txt.gz")
TABLES = (".parquet", ".csv")
LOGS = (".sacct", ".sacct.gz", ".psv", ".psv.gz", ".log", ".log.gz")
DOCUMENTS = (".json", ".json.gz", ".yaml", ".yml")
FORMATS = ("swf", "sacct", "torque", "batsim", "dslab", "google", "alibaba", "table")
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
    collections: str | Path | None = None,
    host: str | None = None,
) -> Workload:
    """The workload in a file: SWF, Slurm's sacct, Torque's accounting, Batsim's JSON, DSLab's YAML or JSON, Google's or
    Alibaba's trace, Parquet or CSV.

    The format is found by the suffix and a look at the first lines; `format` says it (one of FORMATS). `timezone` is
    that of a log's local times. `columns` maps our columns to those of a table, such as `{"submit": "time_submit",
    "run_time": "elapsed:min"}`. `collections` is the file of the users of dslab and google; `host` what a machine of
    google or alibaba has, such as 96x512G.
    """
    kind = find_format(path, format)
    _check_options(path, kind, {"timezone": timezone, "columns": columns, "collections": collections, "host": host})
    _log.info("reading %s as %s", path, kind)
    if kind in installed(GROUP):
        return _read_foreign(path, kind)
    machine = None if host is None else parse_host(host)
    if kind == "swf":
        from walltime.workload.formats.swf import read_swf

        return read_swf(path)
    if kind == "sacct":
        from walltime.workload.formats.sacct.reader import read_sacct

        return read_sacct(path, timezone)
    if kind == "torque":
        from walltime.workload.formats.torque import read_torque

        return read_torque(path, timezone)
    if kind in ("batsim", "dslab"):
        from walltime.workload.formats.batsim import read_batsim
        from walltime.workload.formats.dslab import read_dslab

        return read_batsim(path) if kind == "batsim" else read_dslab(path, collections)
    if kind in ("google", "alibaba"):
        from walltime.workload.formats.alibaba import read_alibaba
        from walltime.workload.formats.google import read_google

        return read_google(path, machine, collections) if kind == "google" else read_alibaba(path, machine)
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


def read_batches(
    path: str | Path,
    rows: int,
    *,
    format: str | None = None,
    collections: str | Path | None = None,
    host: str | None = None,
) -> Iterator[Workload]:
    """The workload as a stream of workloads of about `rows` jobs; SWF, sacct, google, alibaba and Parquet in bounded
    memory."""
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    kind = find_format(path, format)
    _check_options(path, kind, {"collections": collections, "host": host})
    if kind == "swf":
        from walltime.workload.formats.swf import read_swf_batches

        return read_swf_batches(path, rows)
    if kind == "sacct":
        from walltime.workload.formats.sacct.reader import read_sacct_batches

        return read_sacct_batches(path, rows)
    if kind in ("google", "alibaba"):
        from walltime.workload.formats.alibaba import read_alibaba_batches
        from walltime.workload.formats.google import read_google_batches

        machine = None if host is None else parse_host(host)
        if kind == "google":
            return read_google_batches(path, rows, machine, collections)
        return read_alibaba_batches(path, rows, machine)
    if kind == "table" and str(path).lower().endswith(".parquet"):
        from walltime.workload.formats.parquet import read_parquet_batches

        return read_parquet_batches(path, rows)
    return read(path).batches(rows)


def write(workload: Workload, path: str | Path) -> list[str]:
    """Writes the workload in the format of the suffix, all or nothing; returns what could not be kept: columns, and of
    a .csv the dates, which has nowhere to tell when its time zero was."""
    check_suffix(path)
    if Path(path).name.lower().endswith(SWF):
        from walltime.workload.formats.swf import write_swf

        return write_swf(workload, path)
    from walltime.workload.formats.parquet import write_table

    write_table(workload, path)
    return ["dates"] if str(path).lower().endswith(".csv") and workload.origin.epoch is not None else []


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
    if Path(path).is_dir():
        return _look_into_folder(path)
    if (seen := _look(path, name)) is not None:
        return seen
    if name.endswith(SWF):
        return "swf"
    if name.endswith(".csv"):
        return "table"
    if name.endswith((".sacct", ".sacct.gz", ".psv", ".psv.gz")):
        return "sacct"
    if name.endswith(DOCUMENTS) and Path(path).exists():
        what = "neither Batsim's jobs (which begin with {) nor DSLab's executions (a list); an empty file is none"
        raise InputError(what, file=path)
    raise _no_format(path, SWF + TABLES + LOGS + DOCUMENTS)


def takes_zone(kind: str, columns: Mapping[str, Any] | None) -> bool:
    """Whether a file of this format has local times, whose zone has to be told."""
    return kind in ("sacct", "torque") or (kind == "table" and bool(columns))


def _look_into_folder(path: str | Path) -> str:
    """The format of a folder of files: Torque's daily ones, or the shards of Google's trace."""
    from walltime.workload.formats.google import FILES
    from walltime.workload.formats.torque import is_accounting_folder

    if is_accounting_folder(path):
        return "torque"
    if any(entry.name.startswith(FILES) for entry in Path(path).iterdir()):
        return "google"
    raise InputError("this is a folder, not a workload file", file=path)


def _look(path: str | Path, name: str) -> str | None:
    """What the first lines say; None where they say nothing, or the file cannot be read (its reader will tell)."""
    from walltime.workload.formats.alibaba import find_table
    from walltime.workload.formats.google import NEEDED, is_google
    from walltime.workload.formats.sacct.reader import looks_like_sacct
    from walltime.workload.formats.torque import RECORD

    try:
        with reading(path) as stream:
            lines = stream.read(_PEEK).decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    except InputError:
        return None
    first = next((line for line in lines if line.strip()), "")
    if RECORD.match(first):
        return "torque"
    if looks_like_sacct(first):
        return "sacct"
    start = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith(("#", "---"))), "")
    if start.startswith("{") and all(f'"{word}"' in start for word in NEEDED):
        return "google"
    if name.endswith(DOCUMENTS):
        return "dslab" if start.startswith(("-", "[")) else "batsim" if start.startswith("{") else None
    if is_google({cell.strip().strip('"') for cell in first.split(",")}):
        return "google"
    return "alibaba" if name.endswith((".csv", ".csv.gz")) and find_table(path, first) is not None else None


_TAKE = {
    "timezone": ("sacct", "torque", "table"),
    "columns": ("table",),
    "collections": ("dslab", "google"),
    "host": ("google", "alibaba"),
}
"""The formats that an option of reading is for."""


def _check_options(path: str | Path, kind: str, given: Mapping[str, Any]) -> None:
    if given.get("timezone") is not None and kind == "swf":
        raise InputError("an SWF file tells its own time zone; a time zone is for sacct, torque and tables", file=path)
    if given.get("timezone") is not None and kind == "table" and given.get("columns") is None:
        raise InputError("a table with our own columns has no local times; a time zone is for logs and maps", file=path)
    if given.get("columns") is not None and kind != "table":
        raise InputError(f"a map of columns is for tables (CSV, Parquet); this is {kind}", file=path)
    for name, value in given.items():
        if value is not None and kind not in _TAKE[name]:
            raise InputError(f"{name} is for {' and '.join(_TAKE[name])}; this is {kind}", file=path)


def _no_format(path: str | Path, suffixes: tuple[str, ...]) -> InputError:
    if Path(path).is_dir():
        return InputError("this is a folder, not a workload file", file=path)
    suffix = "".join(Path(Path(path).name.lower()).suffixes[-1:])
    return InputError("no workload format has this suffix", value=suffix, file=path, choices=suffixes)
