"""`walltime sweep`: run an experiment, or go on with one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.experiments.places import STORE, ResultsPlace, StorePlace
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.experiments.definition import Experiment
    from walltime.experiments.planning import ExperimentPlan
    from walltime.experiments.runner import Progress
    from walltime.experiments.store import Store
    from walltime.experiments.sweep import SweepEstimate
    from walltime.experiments.tasks import Workers


def sweep(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT.yaml", help="The experiment's file.")],
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="So many processes, or jobs of Slurm or PBS; one for each core.", show_default=False
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local|slurm|pbs",
            help="Run on a Dask cluster: its scheduler's address, or one that is started for this.",
            show_default=False,
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what has failed by its own fault.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, try a few runs, and tell what all would take.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    plugins: Plugins = None,
) -> None:
    """Run all simulations of an experiment that the store does not have yet.

    Stop it with Ctrl-C and run it again: it goes on. An edited experiment runs only what is new.
    """
    from walltime.experiments.definition import load_experiment
    from walltime.experiments.runner import count_cores
    from walltime.experiments.sweep import check_workers, hire, plan_experiment

    check_workers(workers)
    read = load_experiment(experiment)
    plan = plan_experiment(read)
    if dry_run:
        _tell_estimate(read, _estimate(plan, store, results, workers or count_cores()), as_json=as_json, quiet=quiet)
        return
    from walltime.experiments.store import Store

    with ExitStack() as closing:
        hired = hire(read, workers, dask)
        closing.callback(hired.kill)
        opened = closing.enter_context(Store(store, results=results, create=True))
        progress = _run(opened, plan, hired, retry=retry, hidden=quiet or as_json)
        if as_json:
            emit({"experiment": read.name, "store": opened.place, "runs": progress.counts, "new": progress.finished})
        elif not quiet:
            _tell(opened, read, progress)
    if progress.counts["failed"]:
        raise typer.Exit(3)


def _run(store: Store, plan: ExperimentPlan, workers: Workers, *, retry: bool, hidden: bool) -> Progress:
    """Run it, with a live picture on a terminal; Ctrl-C ends it at once, and a second one without a word."""
    from walltime.cli.experiments.progress import show_sweep
    from walltime.experiments.sweep import run_plan

    with show_sweep(plan.experiment.name, hidden=hidden) as show:
        return run_plan(store, plan, workers, show, retry=retry)


def _estimate(plan: ExperimentPlan, place: str, results: str | None, workers: int) -> SweepEstimate:
    from pathlib import Path

    from walltime.experiments.store import Store
    from walltime.experiments.sweep import estimate

    if "://" not in place and not (Path(place) / "store.sqlite").exists():
        return estimate(plan, workers=workers)
    with Store(place, results=results) as opened:
        return estimate(plan, opened, workers=workers)


def _tell_estimate(read: Experiment, found: SweepEstimate, *, as_json: bool, quiet: bool) -> None:
    shortest, mean, longest = found.seconds
    if as_json:
        emit(
            {
                **{"experiment": read.name, "cells": found.cells, "runs": found.runs, "done": found.known},
                **{"workers": found.workers, "tried": found.tried, "unfinished": found.unfinished},
                **{"seconds": mean, "seconds_low": shortest, "seconds_high": longest},
                **{"bytes": found.bytes * (found.runs - found.known), "errors": list(found.failed)},
            }
        )
        return
    if quiet:
        return
    left = found.runs - found.known
    say(f"{read.name}: {found.cells:,} cells, {found.runs:,} runs; {found.known:,} are done, {left:,} to be run")
    if not left:
        return
    bound = "at least " if found.unfinished else ""
    say(f"A trial of {found.tried} took {found.shortest:.2g} to {found.longest:.2g} s each.")
    say(
        f"All on {found.workers} processes: {bound}about {format_duration(mean)} ({format_duration(shortest)} to "
        f"{format_duration(longest)}), {bound}about {write_bytes(found.bytes * left)} of disk."
    )
    if found.unfinished:
        say(f"{found.unfinished} of the trial did not end in its time.")
    for error in found.failed:
        say(f"A run of the trial failed: {error}", style="yellow")


def _tell(store: Store, read: Experiment, progress: Progress) -> None:
    counts = progress.counts
    known = counts["done"] - max(0, progress.finished - counts["failed"])
    fresh = f", {known:,} of them already before" if known > 0 else ""
    say(f"{read.name}: {counts['done']:,} of {sum(counts.values()):,} runs are done{fresh}; in {store.place}")
    if counts["failed"]:
        say(f"{counts['failed']:,} runs failed; walltime store show {read.name} --failed tells why", style="yellow")
    if progress.refused:
        say(f"{progress.refused} late results were discarded")
    say()
    from walltime.cli.experiments.store import show_cells
    from walltime.experiments.answers.cautions import tell_cautions

    show_cells(store, read.name, {}, most=30)
    for line in tell_cautions(read, {}):
        say(line)


def write_bytes(count: float) -> str:
    """A number of bytes for a person."""
    units: Any = ("bytes", "kB", "MB", "GB", "TB")
    place = 0
    while count >= 1000 and place < len(units) - 1:
        count, place = count / 1000, place + 1
    return f"{count:.0f} {units[place]}" if count >= 10 or not place else f"{count:.1f} {units[place]}"
