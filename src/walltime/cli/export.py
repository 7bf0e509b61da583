"""`walltime export`: the jobs of a result for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say
from walltime.cli.trace import refuse_existing


def export(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="A result folder.")],
    output: Annotated[Path, typer.Argument(help="The file to write: .csv for Batsim's, .owf for evalys.")],
    format: Annotated[str | None, typer.Option(metavar="batsim|owf", help="Where the suffix does not tell.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Write the jobs of a result as another program's table: Batsim's jobs.csv, or the .owf that evalys reads."""
    from walltime.analysis.exports import export as write
    from walltime.analysis.exports import find_export
    from walltime.api import load

    kind = find_export(output, format)
    refuse_existing(output, force)
    count = write(load(result), output, kind)
    if as_json:
        emit({"written": str(output), "format": kind, "jobs": count})
        return
    say(f"{count} jobs written to {output}")
