"""A format of workload files: a line a job, `submit run_time requested_time cores`, in seconds."""

from __future__ import annotations

from pathlib import Path

from walltime import InputError, Workload

COLUMNS = ("submit", "run_time", "requested_time", "cores")


def read_joblines(path: Path) -> Workload:
    """The jobs of a file `NAME.joblines`; raises InputError with the line that is at fault."""
    columns: dict[str, list[int]] = {name: [] for name in COLUMNS}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as text: {error}", file=path) from None
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != len(COLUMNS) or not all(field.isdecimal() for field in fields):
            raise InputError(f"a line has {', '.join(COLUMNS)}, whole numbers", value=line[:60], file=path, line=number)
        for name, field in zip(COLUMNS, fields, strict=True):
            columns[name].append(int(field))
    if not lines:
        raise InputError("the file has no jobs", file=path)
    return Workload.from_columns(**columns)
