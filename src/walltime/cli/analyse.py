"""`walltime analyse`: figures that an installed package computes from results."""

from __future__ import annotations

from typing import Annotated

import typer

from walltime.cli.loading import find_results, load_results
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError


def analyse(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which analysis; --list shows them all.", show_default=False)
    ] = None,
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT", help="Result folders, or folders of them.", show_default=False),
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the analyses of installed packages.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Compute figures of results by an analysis that an installed package offers."""
    from walltime.analysis.foreign import analyse as compute
    from walltime.analysis.foreign import find_analysis

    if list_names:
        _list_names(as_json)
        return
    if name is None or not results:
        raise InputError("say which analysis, and of which results: walltime analyse NAME RESULT... (or --list)")
    find_analysis(name)
    loaded = load_results(find_results(results))
    figures = compute(name, loaded)
    if as_json:
        pairs = zip(loaded, figures, strict=True)
        emit({"analysis": name, "results": [{"label": one.label, "figures": found} for one, found in pairs]})
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column(name)
    for result in loaded:
        table.add_column(result.label, justify="right")
    for key in dict.fromkeys(key for found in figures for key in found):
        table.add_row(key, *(_write(found.get(key)) for found in figures))
    out().print(table)


def _write(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _list_names(as_json: bool) -> None:
    from walltime.analysis.foreign import GROUP
    from walltime.core.entry_points import installed

    points = installed(GROUP).values()
    if as_json:
        emit({"analyses": [{"name": one.name, "package": one.package, "target": one.target} for one in points]})
        return
    for one in points:
        say(f"{one.name}  {one.target} (of {one.package})")
    if not points:
        say("No installed package offers an analysis.")
