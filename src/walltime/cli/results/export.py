"""`walltime export`: a result for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say
from walltime.cli.trace import refuse_existing


def export(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="A result folder.")],
    output: Annotated[
        Path, typer.Argument(help="The file to write: .csv for Batsim's, .owf for evalys; DSLab's, a folder.")
    ],
    format: Annotated[
        str | None, typer.Option(metavar="batsim|owf|dslab", help="Where the suffix does not tell.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Write a result as another program's tables: the jobs as Batsim's jobs.csv, or as the .owf that evalys reads; or
    loads, queues and shares over time as DSLab's monitor."""
    from walltime.analysis.exports import DSLAB, find_export
    from walltime.analysis.exports import export as write
    from walltime.api import load

    kind = find_export(output, format)
    refuse_existing(output, force)
    count = write(load(result), output, kind)
    what = "tables" if kind == DSLAB else "jobs"
    if as_json:
        emit({"written": str(output), "format": kind, what: count})
        return
    say(f"{count} {what} written to {output}")
