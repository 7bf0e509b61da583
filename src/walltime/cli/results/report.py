"""`walltime report`: everything about one result or several, in one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.places import STORE, StorePlace
from walltime.cli.plugins import Plugins
from walltime.cli.results.analyse import check_analyses
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.terminal.console import emit, say
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

JOBS = 50_000


def report(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT",
            help="Result folders, or folders of them; the first is the baseline. Or the name of one experiment.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="Where to. [dim](default: report.html in the first folder named; EXPERIMENT.html)[/]",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading.")] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="T", help="The schedule from this time (14d, or a date) ...")
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
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of an experiment: draw this figure too; several times.", show_default=False),
    ] = None,
    store: StorePlace = STORE,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Write a report: one HTML file with figures, plots and the schedule, which opens anywhere, also offline.

    Of an experiment: the grid as heat maps and curves, the verdicts, and who gains and who loses between two cells.
    """
    from pathlib import Path

    from walltime.analysis.charts.gantt import read_window
    from walltime.analysis.report import check_report, write_report

    if is_experiment(results, store):
        _refuse({"--from": begin, "--to": end, "--analysis": analysis})
        written = _report_experiment(store, results[0], output, title, figure or [], force=force)
        _tell(written, results, as_json=as_json)
        return
    _refuse({"--figure": figure}, "is of the report of an experiment")
    folder = Path(results[0])
    if output is None and not folder.is_dir():
        raise InputError("there is no such result folder", file=folder)
    target = check_report(output or folder / "report.html", force=force)
    check_analyses(analysis or [])
    loaded = load_results(find_results(results))
    window = read_window(loaded, begin, end)
    written = write_report(loaded, target, title=title, window=window, most=jobs, analyses=analysis or [])
    _tell(written, [one.label for one in loaded], as_json=as_json)


def is_experiment(names: list[str], store: str) -> bool:
    """Whether the arguments are the name of an experiment: no folder, and a store is there."""
    from pathlib import Path

    known = "://" in store or (Path(store) / "store.sqlite").exists()
    return len(names) == 1 and known and not Path(names[0]).is_dir()


def _refuse(options: dict[str, object], why: str = "is of the report of results") -> None:
    for option, value in options.items():
        if value:
            raise InputError(f"{option} {why}", value=value)


def _report_experiment(
    store: str, name: str, output: str | None, title: str | None, figures: list[str], *, force: bool
) -> Path:
    from walltime.experiments.reporting import report_experiment

    target = output or f"{name.replace('/', '-')}.html"
    return report_experiment(store, name, target, title=title, figures=tuple(figures), force=force)


def _tell(written: Path, labels: list[str], *, as_json: bool) -> None:
    size = written.stat().st_size
    if as_json:
        emit({"written": str(written), "bytes": size, "results": labels})
        return
    say(f"Written: {written} ({size / 1e6:.1f} MB); open it in a browser")
