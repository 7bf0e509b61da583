"""`walltime solve`: the smallest or largest value of a key for which a condition holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.margins import parse_percent
from walltime.cli.experiments.places import STORE, AsJson, Losers, NobodyOption, Quiet, StorePlace, Workers
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, out, say

if TYPE_CHECKING:
    from walltime.experiments.answers.solve import Answer


def solve(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.yaml", help="The scenario as it is.")],
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="The dotted key to be chosen.")],
    first: Annotated[str, typer.Option("--from", metavar="VALUE", help="The smallest value.")],
    last: Annotated[str, typer.Option("--to", metavar="VALUE", help="The largest value.")],
    condition: Annotated[
        str, typer.Option("--with", metavar="'FIGURE [of KEY NAME] < VALUE'", help="What is to hold; or > VALUE.")
    ],
    step: Annotated[
        str | None, typer.Option(metavar="VALUE", help="From one value to the next.", show_default="1")
    ] = None,
    largest: Annotated[bool, typer.Option("--largest", help="The largest value instead of the smallest.")] = False,
    zone: Annotated[str, typer.Option(metavar="PERCENT", help="So near to the bound, either answer will do.")] = "5%",
    error: Annotated[str, typer.Option(metavar="PERCENT", help="The chance of a wrong answer.")] = "1%",
    most: Annotated[int, typer.Option(metavar="N", min=5, max=100_000, help="Repetitions of one value at most.")] = 100,
    losers: Losers = "size",
    nobody: NobodyOption = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Draw the curve: .png, .svg, .pdf or .html.")
    ] = None,
    store: StorePlace = STORE,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = None,
) -> None:
    """Find the smallest or largest value of a key for which a condition on a figure holds, noise included.

    Values are tried by halving, each with more repetitions only where the first do not decide. Runs are kept in the
    store: the same question goes on where it was stopped.
    """
    from walltime.analysis.calibration.file import find_trust, tell_calibration
    from walltime.analysis.plots import check_picture
    from walltime.cli.experiments.progress import show_sweep
    from walltime.experiments.answers.conditions import FigureCondition
    from walltime.experiments.answers.losers import Nobody
    from walltime.experiments.answers.points import Points
    from walltime.experiments.answers.solve import make_values
    from walltime.experiments.answers.solve import solve as find
    from walltime.experiments.store import Store
    from walltime.experiments.sweep import check_workers

    check_workers(workers)
    wanted = FigureCondition.parse(condition)
    values = make_values(first, last, step)
    target = None if output is None else check_picture(output, force=True)
    name = f"solve-{Path(scenario).stem}"
    rule = None if nobody is None else Nobody.parse(nobody)
    chance = {"zone": parse_percent("--zone", zone), "error": parse_percent("--error", error)}
    groups = [losers, *([wanted.group[0]] if wanted.group else []), *([rule.key] if rule else [])]
    with (
        Store(store, create=True) as opened,
        show_sweep(name, hidden=quiet or as_json) as show,
        Points(opened, name, scenario, groups=groups, workers=workers, show=show) as points,
    ):
        asked = {"smallest": not largest, "most": most, "losers": losers, "nobody": rule}
        answer = find(points, key, values, wanted, **asked, **chance)  # type: ignore[arg-type]
    if target is not None:
        from walltime.analysis.plots import Picture

        Picture(answer.draw()).save(target)
    trust = find_trust(scenario)
    if as_json:
        emit(answer.as_dict() | {"trust": trust})
        return
    _show(answer)
    if (line := tell_calibration({"calibration": trust})) is not None:
        say(line)
    if target is not None:
        say(f"Written: {target}")


def _show(answer: Answer) -> None:
    from rich.table import Table

    from walltime.experiments.grid import write_label

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in (answer.key, answer.condition.figure, "95 % interval", answer.basis, "holds"):
        table.add_column(heading, justify="right" if heading != "holds" else "left")
    for trial in answer.solution.trials:
        found, write = trial.figure, answer.write
        ends = "–" if found.low is None or found.high is None else f"{write(found.low)} to {write(found.high)}"
        held = ("yes" if trial.holds else "no") + (", within the zone" if trial.inside else "")
        table.add_row(write_label(answer.values[trial.place]), write(found.mean), ends, str(found.count), held)
    out().print(table)
    say()
    for sentence in answer.sentences:
        say(sentence, style="yellow" if sentence.startswith("Careful") else "")
