"""The result folder on disk: it appears whole or not at all, and is read back with every doubt spelled out."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from walltime.core.digest import digest
from walltime.core.errors import InputError
from walltime.core.files import check_name, checksum, sync, write_parquet, writing
from walltime.core.log import logger
from walltime.core.reading import reader, reading
from walltime.core.spreadsheet import guard, unguard
from walltime.core.tables import ALLOCATIONS, JOBS, OUTAGES, PLANS, RESOURCES, SCHEMA, SERIES

FORMATS = ("parquet", "csv")
TABLES: dict[str, dict[str, Any]] = {
    "jobs": JOBS,
    "allocations": ALLOCATIONS,
    "series": SERIES,
    "outages": OUTAGES,
    "resources": RESOURCES,
    "plans": PLANS,
}
WORKLOAD = "workload.parquet"
"""The workload itself, where it came from memory and no file could be named in scenario.yaml."""

_OWN = {
    *("scenario.yaml", "summary.json", "provenance.json", "report.html", WORKLOAD),
    *(f"{table}.{format}" for table in TABLES for format in FORMATS),
}
_RERUN = "run the scenario again to remake this folder"
_log = logger(__name__)
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD


@dataclass
class Contents:
    """What a result folder holds. `write_workload` writes workload.parquet, for a workload that came from memory.

    There are no jobs and no allocations where the run has kept its figures alone; the summary has no digest then.
    """

    scenario: str
    summary: dict[str, Any]
    provenance: dict[str, Any] = field(default_factory=dict)
    jobs: pl.DataFrame | None = None
    allocations: pl.DataFrame | None = None
    series: pl.DataFrame | None = None
    outages: pl.DataFrame | None = None
    resources: pl.DataFrame | None = None
    plans: pl.DataFrame | None = None
    write_workload: Callable[[Path], object] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What the summary tells beside its figures."""
        return dict(_mapping(self.summary, "facts", Path("summary.json")))

    @property
    def durations(self) -> dict[str, float]:
        """Seconds that the parts of the run took, as far as they are told."""
        told = _mapping(self.provenance, "durations", Path("provenance.json"))
        return {name: time for name, time in told.items() if isinstance(time, int | float)}


def check_target(path: str | Path, *, force: bool = False, format: str = "parquet") -> Path:
    """The folder's real path, if a result may be written there; raises InputError. Changes nothing.

    Ask before a long simulation, so that a refusal costs nothing.
    """
    if format not in FORMATS:
        raise InputError("unknown format of a result", value=format, choices=FORMATS)
    check_name(path)
    target = Path(os.path.realpath(path))
    if not target.exists():
        return target
    if not target.is_dir():
        raise InputError("a result is a folder, but this is a file; choose another --output", file=path)
    present = {entry.name for entry in target.iterdir()}
    if not present:
        return target
    if not _is_result(target):
        raise InputError("the folder is not empty and not a result; it is never replaced: choose another", file=path)
    if not force:
        raise InputError("a result is already there; --force (in Python force=True) replaces it", file=path)
    if foreign := sorted(present - _OWN):
        raise InputError("not replaced, as it also holds a file that is not ours", value=foreign[0], file=path)
    return target


def write(path: str | Path, contents: Contents, *, format: str = "parquet", force: bool = False) -> Path:
    """Writes the folder and returns its path: a reader sees all of it or nothing; raises InputError.

    Everything goes into a sibling `.name.partial-<pid>`, which is renamed when it is safely on disk. What dead
    processes left behind is removed first.
    """
    _remove_stale(Path(os.path.realpath(path)))
    target = check_target(path, force=force, format=format)
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        with writing(path, "cannot write the result"):
            partial.mkdir(parents=True)
            _write_files(partial, contents, format)
            sync(partial)
            _put_in_place(partial, target, force)
            sync(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # what was replaced, or what could not be finished
        remove_empty(made)
    _log.info("wrote the result %s", target)
    return target


def remove_empty(folders: Iterable[Path]) -> None:
    """Removes those of the folders that hold nothing; the inner ones come first."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


@reader
def read(path: str | Path, *, verify: bool = True) -> Contents:
    """The contents of a result folder; raises InputError naming the file at fault and what to do about it.

    `verify` compares the files with the checksums, and the tables with the digest, that were written beside them.
    """
    folder = Path(path)
    _log.info("reading the result %s", path)
    summary, provenance, scenario = _read_texts(folder)
    if verify:
        _check_files(folder, provenance)
    read_needed = _read_optional if summary.get("digest", "") is None else _read_needed
    jobs, allocations = (read_needed(folder, name) for name in ("jobs", "allocations"))
    series, outages, resources, plans = (
        _read_optional(folder, name) for name in ("series", "outages", "resources", "plans")
    )
    made = None if jobs is None or allocations is None else digest(jobs, allocations)
    if verify and made != summary.get("digest"):
        raise InputError(f"the tables and the digest in summary.json do not belong together; {_RERUN}", file=path)
    return Contents(
        scenario=scenario,
        jobs=jobs,
        allocations=allocations,
        series=series,
        outages=outages,
        resources=resources,
        plans=plans,
        summary=summary,
        provenance=provenance,
    )


@reader
def read_summary(path: str | Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Summary, provenance and scenario of a result folder, without its tables; raises InputError."""
    return _read_texts(Path(path))


def _read_texts(folder: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    if not folder.is_dir():
        what = "is a file, not a result folder" if folder.exists() else "there is no such result folder"
        raise InputError(what, file=folder)
    if folder.name.startswith(".") and ".partial-" in folder.name:
        raise InputError("an unfinished result, left by a run that was stopped; run it again", file=folder)
    summary = _read_json(folder / "summary.json")
    if summary.get("schema") != SCHEMA:
        what = f"the result has another schema (this version reads {SCHEMA}); {_RERUN}"
        raise InputError(what, value=summary.get("schema", "none"), file=folder / "summary.json")
    provenance = _read_json(folder / "provenance.json")
    return summary, provenance, _read_text(folder / "scenario.yaml")


@reader
def is_result(path: str | Path) -> bool:
    """Whether the path looks like a result folder, of any schema."""
    return Path(path).is_dir() and _is_result(Path(path))


def _is_result(folder: Path) -> bool:
    try:
        with reading(folder / "summary.json") as file:
            summary = file.json()
    except InputError:
        return False
    return isinstance(summary, dict) and "schema" in summary and "digest" in summary


# Writing


def _write_files(folder: Path, contents: Contents, format: str) -> None:
    (folder / "scenario.yaml").write_text(contents.scenario, encoding="utf-8")
    for name in TABLES:
        table = getattr(contents, name)
        if table is None:
            continue
        file = folder / f"{name}.{format}"
        if format == "csv":
            guard(table).write_csv(file)
        else:
            write_parquet(table, file)
    if contents.write_workload is not None:
        contents.write_workload(folder / WORKLOAD)
    _write_json(folder / "summary.json", contents.summary)
    checksums = {file.name: checksum(file) for file in sorted(folder.iterdir()) if file.name != "scenario.yaml"}
    _write_json(folder / "provenance.json", contents.provenance | {"files": checksums})
    for file in folder.iterdir():
        sync(file)


def _write_json(file: Path, value: dict[str, Any]) -> None:
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def _put_in_place(partial: Path, target: Path, force: bool) -> None:
    """Gives the finished folder its name; what stood there before is at `partial` afterwards, or gone."""
    try:
        os.rename(partial, target)  # also replaces an empty folder
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    check_target(target, force=force)  # another process may have been faster than the check at the beginning
    if not _exchange(partial, target):
        aside = target.with_name(f".{target.name}.replaced-{os.getpid()}")
        os.rename(target, aside)
        os.rename(partial, target)
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swaps two names in one step, where the system can do that (Linux, on most file systems)."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _remove_stale(target: Path) -> None:
    """Removes what dead processes left beside the target; puts back a result that one had only moved aside."""
    for kind in ("replaced", "partial"):
        for left in target.parent.glob(f".{_escape(target.name)}.{kind}-*"):
            owner = left.name.rpartition("-")[2]
            if not owner.isdigit() or (int(owner) != os.getpid() and _is_alive(int(owner))):
                continue
            if kind == "replaced" and not target.exists():
                os.rename(left, target)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _escape(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


# Reading


def _read_text(file: Path) -> str:
    _check_present(file)
    with reading(file, f"; {_RERUN}") as opened:
        return opened.text()


def _read_json(file: Path) -> dict[str, Any]:
    _check_present(file)
    with reading(file, f"; {_RERUN}") as opened:
        value = opened.json("is not valid JSON")
    if not isinstance(value, dict):
        raise InputError(f"is not a JSON object; {_RERUN}", file=file)
    return value


def _check_files(folder: Path, provenance: dict[str, Any]) -> None:
    """Raises InputError for a file that is not as it was written; so no library sees a damaged table."""
    for name, told in (_mapping(provenance, "files", folder / "provenance.json")).items():
        if name not in _OWN:
            what = f"files names what is no part of a result; {_RERUN}"
            raise InputError(what, value=name, file=folder / "provenance.json")
        _check_present(folder / name)
        if checksum(folder / name) != told:
            raise InputError(f"the file was changed after the result was written; {_RERUN}", file=folder / name)


def _mapping(data: dict[str, Any], key: str, file: Path) -> dict[str, Any]:
    """The mapping at a key, empty where there is none; raises InputError for anything else."""
    found = data.get(key) or {}
    if not isinstance(found, dict):
        raise InputError(f"{key} is not a mapping; {_RERUN}", file=file)
    return found


def _check_present(file: Path) -> None:
    if not file.exists():
        raise InputError(f"missing from the result folder; {_RERUN}", file=file)


def _find_table(folder: Path, name: str) -> Path | None:
    found = (folder / f"{name}.{format}" for format in FORMATS)
    return next((file for file in found if file.exists()), None)


def _read_needed(folder: Path, name: str) -> pl.DataFrame | None:
    return _read_table(folder, name, TABLES[name])


def _read_optional(folder: Path, name: str) -> pl.DataFrame | None:
    """A table that a result may lack."""
    return _read_table(folder, name, TABLES[name]) if _find_table(folder, name) else None


def _read_table(folder: Path, name: str, schema: dict[str, Any]) -> pl.DataFrame:
    file = _find_table(folder, name)
    if file is None:
        raise InputError(f"missing from the result folder (as well as {name}.csv); {_RERUN}", file=folder / name)
    with reading(file, f"; perhaps it was cut short: {_RERUN}") as opened:
        table = opened.table(schema_overrides=schema, infer_schema=False)
        table = unguard(table) if file.suffix == ".csv" else table
    if lacking := [column for column in schema if column not in table.columns]:
        raise InputError(f"lacks a column; {_RERUN}", value=lacking[0], file=file)
    for column, kind in schema.items():
        text = table[column].dtype in (pl.String, pl.Categorical) or isinstance(table[column].dtype, pl.Enum)
        if table[column].dtype != kind and not (kind == pl.String and text):
            what = f"column {column} holds {table[column].dtype} instead of {kind}; {_RERUN}"
            raise InputError(what, file=file)
    return table.select(list(schema))
