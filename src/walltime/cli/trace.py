"""How a command is told what a log is: the options that all commands on traces share."""

from __future__ import annotations

from dataclasses import dataclass
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
        help="The trace: SWF (.swf, .txt), Slurm's sacct --parsable2, Torque's accounting, Batsim's or DSLab's .json "
        "or .yaml, Google's or Alibaba's .csv, .parquet or .csv."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        help="swf, sacct, torque, batsim, dslab, google, alibaba or table, where neither suffix nor contents tell.",
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
Collections = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Of dslab and google: the file that tells the users of collections.", rich_help_panel=_READ
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        metavar="CORESxMEMORY",
        help="Of google and alibaba, whose requests are shares of a machine: what that has, such as 96x512G.",
        rich_help_panel=_READ,
    ),
]


@dataclass(frozen=True)
class LogOptions:
    """How a log is to be read, as it was typed: its format, the zone of its local times, the columns of a foreign
    table, the file of collections, and what a machine has."""

    format: str | None = None
    timezone: str | None = None
    columns: list[str] | None = None
    collections: str | None = None
    host: str | None = None

    def settings(self) -> list[tuple[str, Any]]:
        """The keys of a scenario that say so."""
        from walltime.workload.formats.mapped import parse_map

        given = [
            ("workload.format", self.format),
            ("timezone", self.timezone),
            ("workload.collections", self.collections),
            ("workload.host", self.host),
        ]
        columns = [("workload.columns", dict(parse_map(self.columns)))] if self.columns else []
        return [(key, value) for key, value in given if value is not None] + columns

    def read(self, trace: Path | str) -> Workload:
        """The jobs of a trace."""
        from walltime.workload.formats import read
        from walltime.workload.formats.mapped import parse_map

        return read(
            trace,
            format=self.format,
            timezone=self.timezone,
            columns=parse_map(self.columns) if self.columns else None,
            collections=self.collections,
            host=self.host,
        )


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
