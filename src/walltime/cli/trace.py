"""How a command is told what a log is: the options that all commands on traces share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.terminal.console import remark

if TYPE_CHECKING:
    from walltime.core.workload import Workload

_READ = "Reading the log"

Trace = Annotated[
    Path,
    typer.Argument(
        help="The trace: SWF (.swf, .txt), Slurm's sacct --parsable2, Torque's accounting, .parquet or .csv."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        help="swf, sacct, torque or table, where neither suffix nor contents tell.",
        rich_help_panel=_READ,
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        help="Zone of the local times in a log of sacct or a table, such as Europe/Berlin.", rich_help_panel=_READ
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="OURS=THEIRS",
        help="A column of a foreign table, with its unit where it is not seconds: run_time=elapsed:min. Repeatable.",
        rich_help_panel=_READ,
    ),
]


def read_trace(
    trace: Path, form: str | None = None, timezone: str | None = None, map_: list[str] | None = None
) -> Workload:
    """The jobs of a trace."""
    from walltime.workload.formats import read
    from walltime.workload.formats.mapped import parse_map

    return read(trace, format=form, timezone=timezone, columns=parse_map(map_) if map_ else None)


def refuse_existing(output: Path, force: bool) -> None:
    """Raises InputError where the output is there already and may not be replaced."""
    from walltime.core.errors import InputError

    if output.exists() and not force:
        raise InputError("the output exists; --force replaces it", file=output)


def tell_missing(notes: dict[str, Any], lost: list[str], *, among: str = "") -> None:
    """What of a trace is not in the file that was written from it: records that were skipped, and columns.

    Of jobs that were picked from it by more than their time it is not known which of the skipped records would have
    been among them: `among` says from what they were picked.
    """
    for reason, count in notes.get("skipped", {}).items():
        remark(f"{count:,} {'record' if count == 1 else 'records'} skipped{among}: {reason}")
    if lost:
        remark(f"This format has no place for: {', '.join(lost)}")
