"""`walltime analyse`: figures and tables that analyses find in results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.margins import Margin, parse_margins
from walltime.cli.experiments.places import STORE, StorePlace
from walltime.cli.plugins import Plugins
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.results.repeated import find_analysed, is_in_store, rename_sides, show_repeated
from walltime.cli.terminal.console import emit, out, say
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.analyses import Found
    from walltime.analysis.verdict import Verdict
    from walltime.api import Result
    from walltime.experiments.answers.sides import Side

_MOST_ROWS = 60  # of a table that are printed


def analyse(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which analysis; --list shows them all.", show_default=False)
    ] = None,
    results: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SIDE",
            help="Result folders, or folders of them; experiments of the store, or cells of theirs as "
            "EXPERIMENT:AXIS=LABEL,...",
            show_default=False,
        ),
    ] = None,
    margin: Margin = None,
    store: StorePlace = STORE,
    list_names: Annotated[bool, typer.Option("--list", help="List the analyses by their names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Compute figures or a table of results by an analysis, ours, a package's, or yours, and judge them."""
    if list_names:
        _list_names(as_json)
        return
    if name is None or not results:
        raise InputError("say which analysis, and of which results: walltime analyse NAME RESULT... (or --list)")
    check_analyses([name])
    if is_in_store(results, store):
        _show_sides([side for one in results for side in find_analysed(one, name, store)], margin, as_json=as_json)
        return
    loaded = load_results(find_results(results))
    found = [_without_name(own) for own in find_all(loaded, [name])]
    sides = _find_sides(loaded, found)
    if 1 < len(sides) < len(loaded):
        _show_sides(sides, margin, as_json=as_json)
        return
    if margin is not None:
        raise InputError("--margin is for repetitions: results with other seeds, experiments or cells")
    verdicts = _judge_weeks(loaded, name) if len(sides) > 1 else []
    if as_json:
        pairs = zip(loaded, found, strict=True)
        told = [{"label": one.label, **own.as_data()} for one, own in pairs]
        emit({"analysis": name, "results": told, "verdicts": [one.as_dict() for one in verdicts]})
        return
    show_found([result.label for result in loaded], found)
    for verdict in verdicts:
        say(f"{verdict.sentence}.")


def _show_sides(sides: list[Side], margin: str | None, *, as_json: bool) -> None:
    """The figures of sides over their repetitions, and the verdicts."""
    keys = list(dict.fromkeys(key for side in sides for own in side.repetitions.values() for key in own))
    show_repeated(rename_sides(sides), parse_margins(margin, keys), figures=keys, as_json=as_json)


def _judge_weeks(loaded: list[Result], name: str) -> list[Verdict]:
    """The figures of single results, week by week, against the first; of less than a week, as one repetition."""
    from walltime.analysis.compare import distinct_labels
    from walltime.analysis.metrics import in_experiment
    from walltime.analysis.verdict import WEEKS, judge_all
    from walltime.analysis.weeks import each_week
    from walltime.api import Result

    sides = {}
    for label, result in zip(distinct_labels(loaded), loaded, strict=True):
        parts = {week: Result(result.scenario, in_experiment(own), label) for week, own in each_week(result.record)}
        found = find_all(list(parts.values()), [name])
        sides[label] = {week: _without_name(own).numbers for week, own in zip(parts, found, strict=True)}
    keys = dict.fromkeys(key for side in sides.values() for own in side.values() for key in own)
    try:
        return judge_all(sides, list(keys), basis=WEEKS)
    except InputError:  # they have no week in common
        return []


def check_analyses(names: list[str]) -> None:
    """Raise InputError for an analysis that there is not, before results are read."""
    from walltime.analysis.analyses import find_analysis
    from walltime.scenario import Part

    for name in names:
        find_analysis(Part(name=name))


def find_all(loaded: list[Result], names: list[str]) -> list[Found]:
    """What the analyses find in each result."""
    from walltime.analysis.analyses import analyse as compute
    from walltime.scenario import Part

    return [compute(result, [Part(name=name) for name in names]) for result in loaded]


def _without_name(found: Found) -> Found:
    """The figures of one analysis by their own names."""
    from dataclasses import replace

    return replace(found, figures={key.partition(".")[2]: value for key, value in found.figures.items()})


def show_found(labels: list[str], found: list[Found]) -> None:
    """Print figures side by side, and tables one after the other."""
    from rich.table import Table

    names = list(dict.fromkeys(key for own in found for key in own.figures))
    if names:
        view = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        view.add_column("")
        for label in labels:
            view.add_column(label, justify="right")
        for key in names:
            view.add_row(key, *(_write(own.figures.get(key)) for own in found))
        out().print(view)
    for label, own in zip(labels, found, strict=True):
        for name, rows in own.tables.items():
            say(f"{label}: {name}", style="bold")
            view = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
            for column in rows.columns:
                view.add_column(column)
            for row in rows.head(_MOST_ROWS).iter_rows():
                view.add_row(*map(_write, row))
            out().print(view)
            if rows.height > _MOST_ROWS:
                say(f"{_MOST_ROWS} of {rows.height:,} rows; --json prints all", style="dim")


def _find_sides(loaded: list[Result], found: list[Found]) -> list[Side]:
    """The results as sides with repetitions, by the numbers among their figures; none where there are none."""
    from walltime.experiments.answers.sides import group_results
    from walltime.experiments.execution import find_figures

    figures = [find_figures(own.figures) for own in found]
    return group_results(loaded, figures) if all(figures) else []


def _write(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _list_names(as_json: bool) -> None:
    from walltime.analysis.analyses import BUILT_IN, GROUP
    from walltime.core.entry_points import installed

    points = installed(GROUP).values()
    if as_json:
        ours = [{"name": name, "package": "walltime", "target": None} for name in BUILT_IN]
        emit({"analyses": ours + [{"name": one.name, "package": one.package, "target": one.target} for one in points]})
        return
    for name, function in BUILT_IN.items():
        say(f"{name}  {' '.join((function.__doc__ or '').split()).partition(':')[0].partition('.')[0]}")
    for one in points:
        say(f"{one.name}  {one.target} (of {one.package})")
