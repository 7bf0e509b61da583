"""`walltime plot`: a picture of one result or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.experiments.places import STORE, StorePlace
from walltime.cli.plugins import Plugins
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.results.report import is_experiment
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

WHAT = "What is shown"
LOOK = "How it looks"


def plot(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Which picture; --list shows them all.", show_default=False)
    ] = None,
    results: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RESULT",
            help="Result folders, or folders of them; or the name of one experiment (heat-map, curves, cdf, ...).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to: .png, .svg, .pdf, or .html to zoom and hover. [dim](default: KIND.png)[/]",
        ),
    ] = None,
    list_kinds: Annotated[bool, typer.Option("--list", help="List the kinds of picture and their options.")] = False,
    of: Annotated[
        str | None, typer.Option(metavar="QUANTITY", help="wait, slowdown, ...", rich_help_panel=WHAT)
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="KEY", help="user, queue, size, ...", rich_help_panel=WHAT)] = None,
    x: Annotated[str | None, typer.Option("--x", metavar="QUANTITY", help="Across.", rich_help_panel=WHAT)] = None,
    y: Annotated[str | None, typer.Option("--y", metavar="QUANTITY", help="Up.", rich_help_panel=WHAT)] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="T", help="From this time: 14d, or a date.", rich_help_panel=WHAT)
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="T", help="To this time.", rich_help_panel=WHAT)] = None,
    most: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most so many jobs or groups.", rich_help_panel=WHAT)
    ] = None,
    bins: Annotated[int | None, typer.Option(metavar="N", help="Bins of a histogram.", rich_help_panel=WHAT)] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Length of an interval.", rich_help_panel=WHAT)
    ] = None,
    repeated: Annotated[
        bool,
        typer.Option(
            "--repeated",
            help="Results are repetitions also where their traces differ, not only their seeds.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    theme: Annotated[str, typer.Option(metavar="light|dark", rich_help_panel=LOOK, help="The ground.")] = "light",
    width: Annotated[float | None, typer.Option(metavar="INCHES", rich_help_panel=LOOK, help="Its width.")] = None,
    height: Annotated[float | None, typer.Option(metavar="INCHES", rich_help_panel=LOOK, help="Its height.")] = None,
    dpi: Annotated[
        int, typer.Option(metavar="N", min=20, max=1200, rich_help_panel=LOOK, help="Dots an inch, of a PNG.")
    ] = 150,
    store: StorePlace = STORE,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Draw a picture of one result or several; the first is the baseline where there is one."""
    from walltime.analysis.charts import find_kind
    from walltime.analysis.plots import check_picture
    from walltime.analysis.plots import plot as make
    from walltime.experiments.reporting import GRIDS, SPREADS, plot_experiment

    if list_kinds:
        _list_kinds(as_json)
        return
    if kind is None:
        raise InputError("say which picture: walltime plot KIND RESULT... (--list shows the kinds)")
    name = kind.replace("_", "-")
    if name in GRIDS or (name in SPREADS and is_experiment(results or [], store)):
        target = check_picture(output or f"{name}.png", force=force)
        if results is None or len(results) != 1:
            raise InputError(f"the plot {name} needs the name of one experiment")
        given: dict[str, Any] = {"of": of, "x": x, "by": by, "theme": theme, "width": width, "height": height}
        drawn = plot_experiment(store, results[0], name, **{key: value for key, value in given.items() if value})
        _tell(drawn.save(target, dpi=dpi), name, results, as_json=as_json)
        return
    found = find_kind(kind)
    if not results:
        raise InputError(f"the plot {found.name} needs a result folder")
    target = check_picture(output or f"{found.name}.png", force=force)
    given = {"of": of, "by": by, "x": x, "y": y, "begin": begin, "end": end, "most": most}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    options |= {name: value for name, value in (("bins", bins), ("minutes", minutes)) if value is not None}
    options |= {"repeated": True} if repeated else {}
    _check_options(found.name, found.options, options)
    loaded = load_results(find_results(results))
    picture = make(found.name, *loaded, theme=theme, width=width, height=height, **options)
    _tell(picture.save(target, dpi=dpi), found.name, [one.label for one in loaded], as_json=as_json)


def _tell(written: Path, kind: str, labels: list[str], *, as_json: bool) -> None:
    if as_json:
        emit({"written": str(written), "kind": kind, "results": labels})
        return
    say(f"Written: {written}")


def _check_options(kind: str, known: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse an option that this kind of picture has not, by the name it has on the command line."""
    words = {"begin": "--from", "end": "--to"}
    for name in given:
        if name not in known:
            choices = [words.get(option, f"--{option}") for option in known]
            raise InputError(f"the plot {kind} has no such option", value=words.get(name, f"--{name}"), choices=choices)


def _list_kinds(as_json: bool) -> None:
    from rich.table import Table

    from walltime.analysis.charts import kinds

    if as_json:
        emit({"kinds": [{"name": one.name, "about": one.about, "options": [*one.options]} for one in kinds().values()]})
        return
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    for heading in ("kind", "what it shows", "options"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "kind")
    words = {"begin": "--from", "end": "--to"}
    for kind in kinds().values():
        table.add_row(kind.name, kind.about, " ".join(words.get(name, f"--{name}") for name in kind.options))
    out().print(table)
