"""`walltime compare`: results side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.analysis.headline import FIGURES, percent, ratio
from walltime.cli.experiments.margins import Margin, parse_margins
from walltime.cli.experiments.places import STORE, StorePlace
from walltime.cli.plugins import Plugins
from walltime.cli.results.analyse import check_analyses, find_all, show_found
from walltime.cli.results.loading import find_results, load_results
from walltime.cli.results.repeated import find_cautions_of, find_repeated, judge_groups, show_repeated
from walltime.cli.terminal.console import emit, out, say
from walltime.cli.terminal.show import show_comparison, show_notes, show_remarks
from walltime.cli.terminal.winners import show_winners
from walltime.core.errors import InputError
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.analysis.winners import Winners
    from walltime.api import Result

KEYS = ("user", "group", "account", "queue", "qos", "size", "resource", "cluster")
TOP = 10
REPETITIONS = 10


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="SIDE",
            help="Result folders, or folders of them; scenarios and experiments (.yaml), which are run; experiments of "
            "the store, or cells of theirs as EXPERIMENT:AXIS=LABEL,...; the first is the baseline.",
        ),
    ],
    by: Annotated[
        str | None, typer.Option(metavar="|".join(KEYS), help="Also show who gains and who loses, by this.")
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", help="With --by: the N who gain most and the N who lose most.")
    ] = TOP,
    analysis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Also what this analysis finds; may be given several times.", show_default=False
        ),
    ] = None,
    margin: Margin = None,
    repetitions: Annotated[
        int, typer.Option(metavar="N", help="Of scenarios that are run: with so many seeds.")
    ] = REPETITIONS,
    store: StorePlace = STORE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Compare results, scenarios or experiments: what differs, by how much, and whether that may be chance."""
    from walltime.analysis.compare import compare as compare_results
    from walltime.analysis.compare import distinct_labels
    from walltime.analysis.headline import LEGEND, compare_headlines, find_remarks
    from walltime.experiments.answers.trust import find_trust

    if by is not None and by not in KEYS:
        raise InputError("--by", value=by, choices=KEYS)
    if top < 1:
        raise InputError("--top must be at least 1", value=top)
    check_analyses(analysis or [])
    paths = find_results(results)
    whole = all(path.is_dir() for path in paths)
    if not analysis and not (by and whole) and (repeated := find_repeated(results, paths, store, repetitions)):
        groups = judge_groups(repeated, by, store) if by is not None else []
        margins = parse_margins(margin, [figure.key for figure in FIGURES])
        trust = find_trust(store, repeated)
        show_repeated(repeated, margins, groups=groups, top=top, trust=trust, as_json=as_json)
        for told in [] if as_json else find_cautions_of(results, store):
            say(told)
        return
    if margin is not None:
        raise InputError("--margin is for repetitions: results with other seeds, experiments or scenarios")
    loaded = load_results(paths)
    labels = distinct_labels(loaded)
    compared = compare_headlines(loaded)
    analysed = find_all(loaded, analysis or [])
    if as_json:
        emit(
            {
                "results": [
                    {"label": label, "path": str(path), "summary": item.summary, "analyses": own.as_data()}
                    for label, path, item, own in zip(labels, paths, loaded, analysed, strict=True)
                ],
                "comparison": compare_results(loaded).to_dicts(),
                "by": None if by is None else _by_as_data(loaded, labels, by),
                "headline": [one.as_dict() for one in compared],
                "remarks": find_remarks(loaded),
            }
        )
        return
    summaries = {label: item.summary for label, item in zip(labels, loaded, strict=True)}
    show_comparison(summaries)
    say()
    for one in compared:
        for line in (one.tell_changes(), one.tell_verdicts(), one.tell_jobs()):
            if line is not None:
                say(line)
    show_remarks(loaded)
    show_notes(summaries)
    say(LEGEND, style="dim")
    if analysis:
        say()
        show_found(labels, analysed)
    if by is None:
        return
    if len(loaded) == 1:
        say()
        _print_groups(loaded[0], by, top)
    for found in _winners(loaded, labels, by):
        say()
        show_winners(found, top)
    _print_use(loaded, labels, by, top)


def _winners(loaded: list[Result], labels: list[str], by: str) -> list[Winners]:
    """The baseline against each of the others, under the labels that the tables have."""
    from dataclasses import replace

    from walltime.analysis.winners import find_winners

    first, *others = loaded
    return [
        replace(find_winners(first, other, by), before=labels[0], after=label)
        for label, other in zip(labels[1:], others, strict=True)
    ]


def _by_as_data(loaded: list[Result], labels: list[str], by: str) -> dict[str, Any]:
    changes = [
        {
            "before": found.before,
            "after": found.after,
            "balance": found.balance.as_dict(),
            "groups": found.table.to_dicts(),
        }
        for found in _winners(loaded, labels, by)
    ]
    return {
        "key": by,
        "groups": loaded[0].by(by).to_dicts(),
        "use": [{"label": label, "groups": one.use(by).to_dicts()} for label, one in zip(labels, loaded, strict=True)],
        "changes": changes,
    }


def _print_groups(result: Result, key: str, top: int) -> None:
    """Print the waits of one result by group, the heaviest users of the machine first."""
    from rich.table import Table

    table = result.by(key)
    if table[key].is_null().all():
        say(f"The jobs of this result tell no {key}.")
        return
    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(key, no_wrap=True)
    for heading in ("jobs", "core hours", "mean wait", "median", "95 %", "slowdown"):
        view.add_column(heading, justify="right", no_wrap=True)
    for row in table.head(2 * top).iter_rows(named=True):
        waits = [format_duration(row[name]) for name in ("mean_wait", "median_wait", "p95_wait")]
        hours, slowdown = f"{row['core_seconds'] / 3600:,.0f}", ratio(row["mean_bounded_slowdown"])
        view.add_row(_name(row[key]), f"{row['jobs']:,}", hours, *waits, slowdown)
    out().print(view)
    if table.height > 2 * top:
        say(f"{2 * top} of {table.height:,} (--top, or --json)", style="dim")


def _print_use(loaded: list[Result], labels: list[str], key: str, top: int) -> None:
    """Print what groups use of each resource under each result, where jobs hold more than cores."""
    from rich.table import Table

    from walltime.analysis.resources import name_resource

    tables = [result.use(key) for result in loaded]
    resources = list(dict.fromkeys(row[1] for table in tables for row in table.rows() if row[3]))
    if resources == ["cores"] or not resources:
        return
    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(key, no_wrap=True)
    for label in labels:
        for resource in resources:
            heading = f"{label if resource == resources[0] and len(labels) > 1 else ''}\n{name_resource(resource)}"
            view.add_column(heading, justify="right")
    found = [{(row[0], row[1]): row[5] for row in table.rows()} for table in tables]
    names = list(dict.fromkeys(row[0] for table in tables for row in table.rows()))
    for name in names[: 2 * top]:
        view.add_row(_name(name), *(percent(own.get((name, resource))) for own in found for resource in resources))
    say()
    where = "its own nodes" if key == "queue" else "all nodes"
    say(f"What each {key} uses of {where}", style="bold")
    out().print(view)


def _name(value: str | None) -> str:
    return "(none)" if value is None else str(value)
