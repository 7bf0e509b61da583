"""`walltime explain`: why did a job wait?"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say


def explain(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="A result folder.")],
    job: Annotated[str, typer.Option("--job", metavar="ID", help="The job's name or number.")],
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Tell its place and every part of its priority at this time (seconds, 2h, or a date). Repeatable.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    picture: Annotated[
        str | None,
        typer.Option("--picture", metavar="FILE", help="Draw it too: .png, .svg, .pdf or .html.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
    plugins: Plugins = None,
) -> None:
    """Tell why a job waited: what blocked it and for how long, which jobs overtook it, when its start was foreseen.

    Simulates the result's scenario again and watches the job, so it takes as long as the run did. Causes and runs
    cover the job's life from its submission to its end without a gap.
    """
    from walltime.analysis.plots import check_picture
    from walltime.cli.run.forewarning import Forewarning, explain_again
    from walltime.explaining import explain as explain_job

    if picture is not None:
        check_picture(picture, force=force)
    warn = partial(Forewarning, "explain", explain=explain_again)
    told = explain_job(result, job, at=at or (), observe=None if as_json else warn)
    if as_json:
        emit(told.as_data())
    else:
        say(str(told))
    if picture is not None:
        path = told.picture().save(picture, force=force)
        if not as_json:
            say(f"\nPicture: {path}")
