"""Workload files: one module a format, chosen by the file's suffix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.workload import Workload

SWF = (".swf", ".swf.gz", ".txt", ".txt.gz")
TABLES = (".parquet", ".csv")


def read(path: str | Path) -> Workload:
    """The workload in a file, by its suffix: SWF (.swf, .txt, also with .gz), Parquet or CSV (our own columns)."""
    if _is_swf(path):
        from walltime.workload.formats.swf import read_swf

        return read_swf(path)
    from walltime.workload.formats.parquet import read_table

    return read_table(path)


def read_batches(path: str | Path, rows: int) -> Iterator[Workload]:
    """The workload in a file as a stream of workloads of at most `rows` jobs; SWF is read in bounded memory."""
    if _is_swf(path):
        from walltime.workload.formats.swf import read_swf_batches

        return read_swf_batches(path, rows)
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    return read(path).batches(rows)


def write(workload: Workload, path: str | Path) -> list[str]:
    """Writes the workload in the format of the suffix, all or nothing; returns the columns that could not be kept."""
    if _is_swf(path):
        from walltime.workload.formats.swf import write_swf

        return write_swf(workload, path)
    from walltime.workload.formats.parquet import write_table

    write_table(workload, path)
    return []


def check_suffix(path: str | Path) -> None:
    """Raises InputError where no format has the file's suffix."""
    _is_swf(path)


def _is_swf(path: str | Path) -> bool:
    """Whether the suffix says SWF rather than a table; any other suffix is an InputError."""
    name = Path(path).name.lower()
    if name.endswith(SWF):
        return True
    if name.endswith(TABLES):
        return False
    if Path(path).is_dir():
        raise InputError("this is a folder, not a workload file", file=path)
    suffix = "".join(Path(name).suffixes[-1:])
    raise InputError("no workload format has this suffix", value=suffix, file=path, choices=SWF + TABLES)
