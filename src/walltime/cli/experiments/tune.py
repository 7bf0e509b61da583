"""`walltime tune`: settings of several keys for one objective or several, with constraints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.places import STORE, AsJson, Losers, NobodyOption, Quiet, StorePlace, Workers
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, out, say

if TYPE_CHECKING:
    from walltime.experiments.answers.tune import Wish
    from walltime.experiments.answers.tuned import Tuned

_MOST_ROWS = 12  # of the trials that are printed


def tune(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.yaml", help="The scenario as it is.")],
    keys: Annotated[
        list[str],
        typer.Option(
            "--key",
            metavar="KEY=FIRST..LAST[:STEP][ log]|KEY=VALUE,...",
            help="A dotted key, and what it may be; may be given several times.",
        ),
    ],
    least: Annotated[
        list[str] | None,
        typer.Option("--minimise", metavar="'FIGURE [of KEY NAME]'", help="What is to become small; several times."),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option("--maximise", metavar="'FIGURE [of KEY NAME]'", help="What is to become large; several times."),
    ] = None,
    conditions: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="'FIGURE [of KEY NAME] < VALUE'", help="What must hold; several times."),
    ] = None,
    nobody: NobodyOption = None,
    trials: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Settings that are tried.")] = 40,
    batch: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Settings that are chosen at a time.")] = 8,
    repetitions: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Seeds that are tuned on.")] = 5,
    others: Annotated[
        int, typer.Option(metavar="N", min=2, max=10_000, help="Other seeds, on which the best is judged.")
    ] = 10,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the search itself.")] = 0,
    losers: Losers = "size",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Draw the trials: .png, .svg, .pdf or .html.")
    ] = None,
    store: StorePlace = STORE,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = None,
) -> None:
    """Search settings of several keys that make figures small or large, under constraints.

    The best is judged against the scenario as it is, on seeds (or weeks of the trace) that it was not tuned on. Runs
    are kept in the store: the same search goes on where it was stopped.
    """
    from walltime.analysis.plots import Picture, check_picture
    from walltime.cli.experiments.progress import show_sweep
    from walltime.experiments.answers.points import Points
    from walltime.experiments.answers.tune import tune as search
    from walltime.experiments.store import Store
    from walltime.experiments.sweep import check_workers

    check_workers(workers)
    wish = _read_wish(keys, least or [], most or [], conditions or [], nobody)
    target = None if output is None else check_picture(output, force=True)
    name = f"tune-{Path(scenario).stem}"
    counts = {"trials": trials, "batch": batch, "repetitions": repetitions, "others": others, "seed": seed}
    with (
        Store(store, create=True) as opened,
        show_sweep(name, hidden=quiet or as_json) as show,
        Points(opened, name, scenario, groups=[losers, *wish.groups], workers=workers, show=show) as points,
    ):
        found = search(points, wish, losers=losers, **counts)
    if target is not None:
        Picture(found.draw()).save(target)
    if as_json:
        emit(found.as_dict())
        return
    _show(found)
    if target is not None:
        say(f"Written: {target}")


def _read_wish(keys: list[str], least: list[str], most: list[str], conditions: list[str], nobody: str | None) -> Wish:
    """What the options ask for; raises InputError."""
    from walltime.experiments.answers.choices import Choice
    from walltime.experiments.answers.conditions import FigureCondition
    from walltime.experiments.answers.losers import Nobody
    from walltime.experiments.answers.tune import Objective, Wish

    objectives = [Objective.parse(text) for text in least] + [Objective.parse(text, least=False) for text in most]
    return Wish(
        [Choice.parse(text) for text in keys],
        objectives,
        [FigureCondition.parse(text) for text in conditions],
        None if nobody is None else Nobody.parse(nobody),
    )


def _show(found: Tuned) -> None:
    from rich.table import Table

    measures = [one.measure for one in found.wish.objectives]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("trial", justify="right")
    table.add_column("setting", overflow="fold")
    for measure in measures:
        table.add_column(measure.text, justify="right")
    table.add_column("constraints")
    front = {one.label for one in found.front}
    sign = 1 if found.wish.objectives[0].least else -1
    order = sorted(found.tried, key=lambda one: (one.label not in front, not one.holds, sign * one.figures[0].mean))
    rows = [found.present, *{one.label: one for one in reversed(order)}.values()]
    rows = [rows[0], *reversed(rows[1:])][: _MOST_ROWS + 1]
    for one in rows:
        values = [measure.write(figure.mean) for measure, figure in zip(measures, one.figures, strict=True)]
        held = "–" if not one.excesses else "met" if one.holds else "not met"
        style = "bold" if one.label in front else ""
        table.add_row(str(one.number or ""), one.label, *values, held, style=style)
    out().print(table)
    if len(found.tried) > _MOST_ROWS:
        say(f"The best of {len(found.tried):,} trials; --json has all.", style="dim")
    say()
    for sentence in found.sentences:
        say(sentence, style="yellow" if sentence.startswith("Careful") else "")
