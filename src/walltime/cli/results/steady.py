"""`walltime steady`: means in steady state, with intervals over samples and not over jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.terminal.console import emit, say
from walltime.core.errors import InputError
from walltime.core.time import format_duration, parse_duration
from walltime.core.time import seconds as in_seconds

MEASURES = ("response", "wait", "run", "slowdown")


def steady(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULT", help="A result folder; several are runs of one scenario with other seeds."),
    ],
    measure: Annotated[str, typer.Option(metavar="|".join(MEASURES), help="Of which figure of the jobs.")] = "response",
    settle: Annotated[
        str | None, typer.Option(metavar="TIME", help="Sample nothing before this time; found by a rule where absent.")
    ] = None,
    sample: Annotated[
        str | None, typer.Option(metavar="TIME", help="Sample in windows of this length, separated by others.")
    ] = None,
    separate: Annotated[
        str | None, typer.Option(metavar="TIME", help="The time between windows; as long as --settle where absent.")
    ] = None,
    batches: Annotated[
        int, typer.Option(metavar="N", help="Of one run without windows: so many batches of jobs.")
    ] = 20,
    confidence: Annotated[float, typer.Option(metavar="PERCENT", help="Of the interval.")] = 95.0,
    within: Annotated[
        str | None, typer.Option(metavar="TIME", help="Also tell what was finished in so much time after settling.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Estimate the mean in steady state, and say when the run was too short for that."""
    if not 0 < confidence < 100:
        raise InputError("--confidence must be between 0 and 100 %", value=confidence)
    loaded = load_results(find_results(results))
    found = loaded[0].steady(
        *loaded[1:],
        measure=measure,
        settle=_time(settle),
        sample=_time(sample),
        separate=_time(separate),
        batches=batches,
        confidence=confidence / 100,
    )
    length = _time(within)
    done = [result.throughput(found.settled, length) for result in loaded] if length is not None else []
    if as_json:
        emit({"steady": asdict(found), "throughput": [asdict(item) for item in done]})
        return
    unit = "" if measure == "slowdown" else " s"
    share = f"{100 * found.half_width / abs(found.mean):.1f} %" if found.mean else "–"
    say(
        f"mean {measure}: {_figure(found.mean)}{unit} ± {_figure(found.half_width)}{unit} "
        f"({share} of it, at {confidence:g} % confidence)"
    )
    say(
        f"from {found.jobs:,} jobs in {found.samples} samples ({found.method}), "
        f"settled after {format_duration(found.settled)}"
    )
    for result, item in zip(loaded, done, strict=False):  # none where nothing is to be told
        label = f"{result.label}: " if len(loaded) > 1 else ""
        say(
            f"{label}in {format_duration(item.length)}: {item.jobs:,} jobs finished "
            f"({item.jobs_per_hour:,.1f} an hour), "
            f"{item.core_seconds / 3600:,.1f} core-hours of work ({item.cores:.2f} cores busy)"
        )
    for warning in found.warnings:
        say(f"Warning: {warning}", style="yellow")


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _time(text: str | None) -> float | None:
    return None if text is None else in_seconds(parse_duration(text))
