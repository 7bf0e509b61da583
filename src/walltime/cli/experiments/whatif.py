"""`walltime whatif`: what a change does with users who react, and whose part of it is whose."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.experiments.places import AsJson
from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, out, say

if TYPE_CHECKING:
    from walltime.experiments.answers.decomposition import Parts


def whatif(
    before: Annotated[str, typer.Argument(metavar="BEFORE.yaml", help="The scenario as it is, with users who react.")],
    after: Annotated[str, typer.Argument(metavar="AFTER.yaml", help="The scenario with the change.")],
    figure: Annotated[
        list[str] | None, typer.Option(help="A figure of the summary; may be repeated.", show_default="the usual ones")
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="So many seeds, from the scenario's on.")] = 1,
    as_json: AsJson = False,
    plugins: Plugins = None,
) -> None:
    """Tell what a change does where users react, and what part of it is the scheduler's and what part the users'.

    The scheduler's part: the new system on the old one's submissions, less the old one. The users' part: the new system
    with its own submissions, less that. The other order is beside it.
    """
    from walltime.analysis.calibration.file import find_trust, tell_calibration
    from walltime.experiments.answers.decomposition import FIGURE_NAMES, decompose
    from walltime.scenario import load

    first, second = load(before), load(after)
    parts = decompose(first, second, figure or FIGURE_NAMES, range(first.seed, first.seed + seeds))
    if as_json:
        emit([asdict(one) for one in parts])
        return
    _show(parts)
    say()
    for one in parts:
        say(one.tell())
    if (line := tell_calibration({"calibration": find_trust(first)})) is not None:
        say(line)


def _show(parts: list[Parts]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("figure", "before", "after", "after, on\nbefore's jobs", "before, on\nafter's jobs"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for one in parts:
        values = (one.before, one.after, one.after_on_before, one.before_on_after)
        table.add_row(one.figure, *(one.write(value.mean) for value in values))
    out().print(table)
