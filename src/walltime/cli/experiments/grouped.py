"""`walltime store group` and `delta`: the repetitions of cells together, and workflows of cells against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

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
from walltime.cli.terminal.console import emit, out, say
from walltime.core.time import format_duration

if TYPE_CHECKING:
    import polars as pl

_SECONDS = ("wait", "run", "turnaround", "requested")
_LARGEST = 100  # rows that are printed


def group(
    experiment: Name,
    of: Annotated[
        Literal["jobs", "workflows"], typer.Option("--of", help="What is taken together: jobs or workflows.")
    ] = "jobs",
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    cell: Cells = None,
    as_json: AsJson = False,
) -> None:
    """Take the repetitions of each cell together: percentiles over all of their jobs, or workflows by type.

    Needs the analysis `distributions`, or `workflows`, among the experiment's `analyses`.
    """
    from walltime.experiments.grouping import group_jobs, group_workflows

    with open_store(store, results) as opened:
        table = (group_jobs if of == "jobs" else group_workflows)(opened, experiment, parse_cell(cell))
    if as_json:
        emit({"experiment": experiment, "of": of, "groups": table.to_dicts()})
        return
    if of == "workflows":
        table = table.select(column for column in table.columns if "_p" not in column or column.endswith("_p50"))
        say("medians", style="dim")
    _print(table)


def delta(
    experiment: Name,
    axis: Axis,
    baseline: Baseline = None,
    figure: Annotated[
        Literal["wait", "run", "turnaround", "stretch"], typer.Option("--figure", help="Which figure of workflows.")
    ] = "turnaround",
    store: StorePlace = STORE,
    results: ResultsPlace = None,
    as_json: AsJson = False,
) -> None:
    """Compare the workflows of cells that differ in one axis alone: only those that completed in all of them.

    Needs the analysis `workflows` among the experiment's `analyses`.
    """
    from walltime.experiments.grouping import compare_workflows

    with open_store(store, results) as opened:
        table = compare_workflows(opened, experiment, axis, figure, baseline)
    if as_json:
        emit({"experiment": experiment, "axis": axis, "figure": figure, "differences": table.to_dicts()})
        return
    _print(table, seconds=("median", "baseline", "difference") if figure != "stretch" else ())
    say("ratio: the median under the baseline over that under the level; above 1 the level is quicker", style="dim")


def _print(table: pl.DataFrame, seconds: tuple[str, ...] = ()) -> None:
    from rich.table import Table

    view = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    numbers = [kind.is_numeric() for kind in table.dtypes]
    for column, is_number in zip(table.columns, numbers, strict=True):
        view.add_column(column, justify="right" if is_number else "left", no_wrap=True)
    for row in table.head(_LARGEST).iter_rows(named=True):
        lasting = row.get("variable") in ("wait", "run_time", "requested_time", "turnaround")
        view.add_row(*(_write(key, value, seconds, lasting) for key, value in row.items()))
    out().print(view)
    if table.height > _LARGEST:
        say(f"{_LARGEST} of {table.height:,} rows; --cell chooses, --json prints all", style="dim")


def _write(column: str, value: Any, seconds: tuple[str, ...], lasting: bool) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    of_time = column.startswith(_SECONDS) or column in seconds or (lasting and column.startswith("p"))
    if of_time:
        return f"-{format_duration(-value)}" if value < 0 else format_duration(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
