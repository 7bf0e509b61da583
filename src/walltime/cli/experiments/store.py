"""`walltime store`: what a store holds, and its care."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.grouped import delta as delta_of_workflows
from walltime.cli.experiments.grouped import group as group_repetitions
from walltime.cli.experiments.margins import Margin, parse_margins
from walltime.cli.experiments.places import (
    STORE,
    AsJson,
    Axis,
    Baseline,
    Cells,
    Name,
    ResultsPlace,
    StorePlace,
    open_store,
    parse_cell,
)
from walltime.cli.experiments.sweep import write_bytes
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.experiments.store import Store

app = typer.Typer(help="What a store of experiments holds, and its care.", no_args_is_help=True)
app.command("group")(group_repetitions)
app.command("delta")(delta_of_workflows)


@app.command("ls")
def list_experiments(store: StorePlace = STORE, as_json: AsJson = False) -> None:
    """List the experiments with the states of their runs."""
    with open_store(store) as opened:
        found = opened.experiments()
    if as_json:
        emit([{"name": one.name, "file": one.file, "runs": one.counts, "created": one.created} for one in found])
        return
    if not found:
        say(f"{store}: no experiments")
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    table.add_column("experiment", no_wrap=True)
    for head in ("runs", "done", "failed", "running", "waiting"):
        table.add_column(head, justify="right")
    table.add_column("begun")
    for one in found:
        counts = (f"{one.counts[state]:,}" for state in ("done", "failed", "running", "waiting"))
        begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.created))
        table.add_row(one.name, f"{one.runs:,}", *counts, begun)
    out().print(table)


@app.command()
def show(
    experiment: Annotated[
        str | None, typer.Argument(metavar="EXPERIMENT", help="The experiment's name.", show_default=False)
    ] = None,
    store: StorePlace = STORE,
    cell: Cells = None,
    failed: Annotated[bool, typer.Option("--failed", help="The runs that failed, with their errors.")] = False,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="DIGEST", help="One run, by the beginning of its digest.", show_default=False),
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Cells or runs that are listed.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show an experiment's cells with means over their repetitions, its failed runs, or one run with its log."""
    with open_store(store) as opened:
        if run is not None:
            _show_run(opened, run, as_json=as_json)
        elif experiment is None:
            raise InputError("name an experiment, or a run with --run; `walltime store ls` lists the experiments")
        elif failed:
            _show_failed(opened, experiment, parse_cell(cell), most, as_json=as_json)
        elif as_json:
            table = opened.table(experiment, parse_cell(cell))
            emit({"experiment": experiment, "runs": table.to_dicts()})
        else:
            show_cells(opened, experiment, parse_cell(cell), most)


def show_cells(store: Store, experiment: str, where: dict[str, str], most: int) -> None:
    """Print the cells with means of the headline's figures over their finished runs."""
    from rich.table import Table

    from walltime.analysis.headline import FIGURES
    from walltime.experiments.tables import read_means

    rows, count = read_means(store, experiment, [figure.key for figure in FIGURES], where, most)
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    axes = list(dict.fromkeys(axis for row in rows for axis in row["labels"]))
    for axis in axes:
        table.add_column(axis, no_wrap=True)
    table.add_column("runs", justify="right")
    for figure in FIGURES:
        table.add_column(figure.words, justify="right")
    for row in rows:
        values = (figure.text(row[figure.key]) if row.get(figure.key) is not None else "–" for figure in FIGURES)
        table.add_row(*(row["labels"].get(axis, "") for axis in axes), f"{row['done']:,}", *values)
    out().print(table)
    say("means over the finished runs of each cell", style="dim")
    if count > len(rows):
        say(f"{len(rows):,} of {count:,} cells; --cell chooses, --most lists more, `walltime store export` writes all")


def _show_failed(store: Store, experiment: str, where: dict[str, str], most: int, *, as_json: bool) -> None:
    import polars as pl

    table = store.table(experiment, where).filter(pl.col("state") == "failed")
    if as_json:
        emit({"experiment": experiment, "failed": table.to_dicts()})
        return
    say(f"{experiment}: {table.height:,} failed runs")
    axes = table.columns[1 : table.columns.index("run")]
    for row in table.head(most).to_dicts():
        labels = ", ".join(f"{axis}={row[axis]}" for axis in axes)
        say(f"{row['run'][:12]}  {labels}{', ' if labels else ''}seed {row['seed']}: {row['error']}")
    if table.height:
        say("walltime store show --run DIGEST prints the log of one", style="dim")


def _show_run(store: Store, digest: str, *, as_json: bool) -> None:
    found = store.run(digest)
    if as_json:
        emit(found)
        return
    say(f"run {found['digest']}: {found['state']}, seed {found['seed']}, {found['attempts']} attempts")
    if found["finished"] is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found["finished"]))
        say(
            f"ended {when} on {found['host'] or 'an unknown machine'}, walltime {found['version']}: "
            f"{found['wall']:.2f} s, {found['cpu']:.2f} s of CPU, {write_bytes(found['memory'] or 0)} of memory"
        )
    for name, size in found["files"].items():
        say(f"{store.results.folder_of(found['digest']) / name} ({write_bytes(size)})")
    if found["error"]:
        say(f"error ({found['fault']}): {found['error']}", style="red")
    if found["log"]:
        say(found["log"].rstrip())


@app.command()
def compare(
    experiment: Name,
    axis: Axis,
    baseline: Baseline = None,
    figure: Annotated[str, typer.Option("--figure", metavar="NAME", help="Which figure.")] = "mean_wait",
    margin: Margin = None,
    store: StorePlace = STORE,
    as_json: AsJson = False,
) -> None:
    """Compare cells that differ in one axis alone, seed by seed, and say what may be noise."""
    from dataclasses import asdict

    from walltime.experiments.comparison import compare_cells

    with open_store(store) as opened:
        groups = compare_cells(opened, experiment, axis, figure, baseline, parse_margins(margin, [figure]))
    if as_json:
        told = [asdict(group) | {"verdicts": [verdict.as_dict() for verdict in group.verdicts]} for group in groups]
        emit({"experiment": experiment, "axis": axis, "figure": figure, "groups": told})
        return
    if not groups:
        say(f"{experiment}: no seed is done in all cells that differ in {axis}")
    for group in groups:
        shared = ", ".join(f"{other}={label}" for other, label in group.shared.items())
        say(f"{shared or experiment} ({group.seeds} seed{'s' * (group.seeds != 1)})", style="bold")
        for verdict in group.verdicts:
            say(f"  {verdict.sentence}")


@app.command("rm")
def remove(
    experiment: Name,
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    force: Annotated[bool, typer.Option("--force", help="Also where runs are done.")] = False,
) -> None:
    """Remove an experiment, and those of its runs that no other experiment has."""
    with open_store(store, results) as opened:
        done = opened.find(experiment).counts["done"]
        if done and not force:
            raise InputError(f"{done:,} of its runs are done and would be lost; --force removes them", value=experiment)
        say(f"{experiment}: removed, with {opened.remove(experiment):,} runs")


@app.command()
def export(
    experiment: Name,
    target: Annotated[str, typer.Argument(metavar="FILE", help="The table to write: .csv or .parquet.")],
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    cell: Cells = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="NAME", help="A table that the runs have kept, all in one.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write a table with a row for each run: its labels, seed, state, what it took, and every figure.

    With --table the kept tables of all runs, with the labels and the seed of each.
    """
    from walltime.core.files import check_file, replacing, write_parquet
    from walltime.core.spreadsheet import guard

    path = Path(target)
    if path.suffix not in (".csv", ".parquet"):
        raise InputError("the table is a .csv or a .parquet file", value=target)
    check_file(path, force=force)
    with open_store(store, results) as opened:
        if table is None:
            made = opened.table(experiment, parse_cell(cell))
        else:
            from walltime.experiments.grouping import read_kept

            made = read_kept(opened, experiment, table, parse_cell(cell))
    with replacing(path) as draft:
        guard(made).write_csv(draft) if path.suffix == ".csv" else write_parquet(made, draft)
    say(f"{path}: {made.height:,} {'runs' if table is None else 'rows'}, {made.width} columns")


@app.command()
def verify(
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Let runs with a fault wait again, and remove files of no run.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look whether everything is there as it was written; exit code 3 where it is not."""
    from walltime.experiments.maintenance import find_abandoned
    from walltime.experiments.maintenance import verify as look

    with open_store(store, results) as opened:
        faults = look(opened, repair=repair)
        done = sum(one.counts["done"] for one in opened.experiments())
        abandoned = find_abandoned(opened)
    if as_json:
        emit({"faults": [{"what": fault.what, "run": fault.run} for fault in faults], "repaired": repair})
    else:
        for fault in faults:
            say(str(fault), style="red")
        told = "clean" if not faults else f"{len(faults):,} faults{', repaired' if repair else ''}"
        say(f"{store}: {told}; {done:,} runs are done")
        if abandoned:
            say(f"{abandoned:,} runs were left by a sweep that was ended; the next one takes them up")
    if faults and not repair:
        raise typer.Exit(3)


@app.command()
def backup(
    target: Annotated[str, typer.Argument(metavar="FOLDER", help="The copy, which is a store itself.")],
    store: StorePlace = STORE,
    results: ResultsPlace = None,
) -> None:
    """Copy the store as it is at one moment, also while a sweep is running; put the copy on another disk."""
    from walltime.experiments.maintenance import back_up

    began = time.monotonic()
    with open_store(store, results) as opened:
        made, faults = back_up(opened, target)
    say(f"{made}: written in {format_duration(time.monotonic() - began)}")
    for fault in faults:
        say(str(fault), style="red")
    if faults:
        raise typer.Exit(3)


@app.command()
def restore(
    source: Annotated[str, typer.Argument(metavar="BACKUP", help="The folder that `backup` wrote.")],
    store: StorePlace = STORE,
    results: ResultsPlace = None,
) -> None:
    """Put a backup into a new store."""
    from walltime.experiments.maintenance import restore as put_back

    open_store(source).close()  # what is no backup is told before anything is made
    with open_store(store, results, create=True) as opened:
        put_back(source, opened)
        count = len(opened.experiments())
    say(f"{store}: restored, {count} experiment{'s' * (count != 1)}")
