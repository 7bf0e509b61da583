"""`walltime workflows`: how long the workflows of results took."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.terminal.console import emit, out, say
from walltime.core.time import format_duration

DURATIONS = ("wait", "run", "turnaround", "between")
LEGEND = (
    "Medians over workflows; turnaround = wait + run; stretch = turnaround / critical path; between: what tasks waited "
    "on the way; idle: core-hours that pilots held and did not use."
)


def workflows(
    results: Annotated[list[str], typer.Argument(metavar="RESULT...", help="Result folders, or folders of them.")],
    every: Annotated[bool, typer.Option("--all", help="Every workflow, not the medians.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Show how long workflows took, by name and way of submission.

    Example: walltime workflows pilots chained aware
    """
    from rich.table import Table

    from walltime.analysis.workflows import find_workflows, sum_up_workflows

    loaded = load_results(find_results(results))
    found: list[tuple[str, list[dict[str, Any]]]] = []
    for result in loaded:
        rows = find_workflows(result.record).to_dicts()
        found.append((result.label, rows if every else sum_up_workflows(result.record)))
    if as_json:
        emit([{"result": label, "workflows": rows} for label, rows in found])
        return
    prefix = "" if every else "median_"
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    for heading in ("result", "workflow", "as"):
        table.add_column(heading)
    for heading in ("state" if every else "number", *DURATIONS, "stretch", "idle"):
        table.add_column(heading, justify="right", no_wrap=True)
    for label, rows in found:
        for row in rows:
            stretch, idle = row[f"{prefix}stretch"], row["idle_core_hours"]
            table.add_row(
                label,
                row["workflow" if every else "name"],
                row["way"],
                row["state"] if every else f"{row['workflows']:,}",
                *(format_duration(row[f"{prefix}{name}"]) for name in DURATIONS),
                "–" if stretch is None else f"{stretch:.2f}",
                "–" if idle is None else f"{idle:,.1f} h",
            )
    out().print(table)
    if not every:
        say(LEGEND, style="dim")
