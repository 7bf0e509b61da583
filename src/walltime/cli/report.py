"""`walltime report`: everything about one result or several, in one HTML file."""

from __future__ import annotations

from typing import Annotated

import typer

from walltime.cli.analyse import check_analyses
from walltime.cli.loading import find_results, load_results
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say
from walltime.core.errors import InputError

JOBS = 50_000


def report(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULT", help="Result folders, or folders of them; the first is the baseline."),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="Where to. [dim](default: report.html in the first folder named)[/]",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading.")] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="T", help="The schedule from this time of the trace ...")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="T", help="... to this one.")] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=JOBS, help="Jobs in full detail, of all results together; figures are over all."
        ),
    ] = JOBS,
    analysis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Also what this analysis finds; may be given several times.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Write a report: one HTML file with figures, plots and the schedule, which opens anywhere, also offline."""
    from pathlib import Path

    from walltime.analysis.report import check_report, write_report
    from walltime.cli.run.plan import parse_seconds

    first, last = parse_seconds("--from", begin), parse_seconds("--to", end)
    if first is not None and last is not None and first >= last:
        raise InputError("the schedule would end before it begins", value=f"--from {begin} --to {end}")
    folder = Path(results[0])
    if output is None and not folder.is_dir():
        raise InputError("there is no such result folder", file=folder)
    target = check_report(output or folder / "report.html", force=force)
    check_analyses(analysis or [])
    loaded = load_results(find_results(results))
    written = write_report(loaded, target, title=title, window=(first, last), most=jobs, analyses=analysis or [])
    if as_json:
        emit({"written": str(written), "bytes": written.stat().st_size, "results": [one.label for one in loaded]})
        return
    say(f"Written: {written} ({written.stat().st_size / 1e6:.1f} MB); open it in a browser")
