"""`walltime calibrate`: how true is a scenario to its site's own log?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, out, say
from walltime.cli.trace import Collections, Format, Host, Map, Timezone
from walltime.core.time import format_duration

if TYPE_CHECKING:
    import polars as pl

    from walltime.calibration import Calibration

NEAR = 60.0
SHOWN = ("queue", "size", "hour")
TOP = 12
MEANING = (
    "Waits of the tables are since eligibility. Trust: of all that jobs of the same queue, size class and hour wait in "
    "the log or in the replay, the part that is in both. reproduced: the mean wait is within a fifth, or a minute, of "
    "the log's; fewer than 20 jobs are not judged."
)


def calibrate(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario of the site (.yaml).")],
    log: Annotated[
        str | None, typer.Argument(metavar="LOG", help="The log; by default the scenario's own.", show_default=False)
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep/--no-keep", help="Keep the figure of trust beside the scenario, where later answers find it."
        ),
    ] = True,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Replay a log and compare it with its own waits: what is reproduced, what is not and why, and how far to trust it.

    The figure of trust is written to SCENARIO's name with .calibration.json; every later run of this site tells it.
    """
    from walltime.analysis.calibration.file import place_of, write_calibration
    from walltime.calibration import calibrate as replay
    from walltime.cli.run.forewarning import Forewarning
    from walltime.workload.formats.mapped import parse_map

    how: dict[str, Any] = {"format": input_format, "timezone": timezone, "collections": collections, "host": host}
    how["columns"] = dict(parse_map(map_)) if map_ else None
    warn = None if as_json else partial(Forewarning, "calibrate")
    told = replay(scenario, log, warn, **how)
    kept = write_calibration(place_of(scenario), told.as_data()) if keep else None
    if as_json:
        emit(told.as_data() | {"kept": None if kept is None else str(kept)})
        return
    _show(told, Path(scenario).name)
    if kept is not None:
        say(f"Written: {kept}")


def _show(told: Calibration, name: str) -> None:
    left = f"; {told.left_out:,} others have no wait to compare" if told.left_out else ""
    say(f"{name} against {told.log}: {told.waits.height:,} jobs compared{left}")
    say()
    _show_overall(told)
    for key in SHOWN:
        if key in told.groups:
            say()
            _show_groups(told.groups[key], key)
    say()
    for line in _sum_up(told):
        say(line)
    if told.reasons:
        say()
        say("Likely reasons", style="bold")
        for reason in told.reasons:
            share = "" if reason.share is None else f" ({100 * reason.share:.0f} % of what the replay lacks)"
            say(f"  {reason.text}{share}.")
    say()
    low, high = (100 * bound for bound in told.trust_bounds)
    text = f"Trust: {100 * told.trust:.0f} % ({low:.0f} to {high:.0f} %; job by job {100 * told.trust_by_job:.0f} %)."
    say(text, style="bold")
    say(MEANING, style="dim")


def _show_overall(told: Calibration) -> None:
    view = _table("wait", ("mean", "median", "95 %"))
    overall = told.overall()
    for words, name in (
        ("in the log, since submission", "recorded_all"),
        ("in the replay", "replayed_all"),
        ("in the log, since eligibility", "recorded"),
        ("in the replay", "replayed"),
    ):
        view.add_row(words, *(format_duration(overall[name][figure]) for figure in ("mean", "median", "p95")))
    out().print(view)


def _show_groups(table: pl.DataFrame, key: str) -> None:
    view = _table(key, ("jobs", "mean wait\nlog", "\nreplay", "95 % wait\nlog", "\nreplay", "\ntrust"))
    view.add_column("", no_wrap=True)
    shown = table if key != "hour" else table.filter(table["verdict"].is_in(["too short", "too long"]))
    for row in shown.head(TOP).iter_rows(named=True):
        waits = ("mean_recorded", "mean_replayed", "p95_recorded", "p95_replayed")
        label = "(none)" if row[key] is None else f"{row[key]:02d}:00" if key == "hour" else str(row[key])
        cells = (format_duration(row[name]) for name in waits)
        idle = max(row["mean_recorded"], row["mean_replayed"]) < NEAR  # a share of hardly any waiting tells nothing
        trust = "–" if idle else f"{100 * row['trust']:.0f} %"
        view.add_row(label, f"{row['jobs']:,}", *cells, trust, row["verdict"])
    out().print(view)
    if (left := shown.height - TOP) > 0:
        say(f"and {left:,} more (--json)", style="dim")
    if key == "hour" and shown.height < table.height:
        say(f"{table.height - shown.height} other hours are reproduced, or have few jobs (--json)", style="dim")


def _table(first: str, headings: tuple[str, ...]) -> Any:
    from rich.table import Table

    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(first, overflow="fold", min_width=8)
    for heading in headings:
        view.add_column(heading, justify="right", no_wrap=True)
    return view


def _sum_up(told: Calibration) -> list[str]:
    """What is reproduced and where it is off, in words."""
    lines = []
    for verdict, words in (("reproduced", "Reproduced"), ("too short", "Too short"), ("too long", "Too long")):
        groups = []
        for key in SHOWN:
            if key not in told.groups:
                continue
            names = told.groups[key].filter(told.groups[key]["verdict"] == verdict)[key].to_list()
            if names:
                listed = ", ".join("(none)" if name is None else str(name) for name in names)
                groups.append(f"{key} {listed}" if key != "hour" else f"{len(names)} hours of the day ({listed})")
        if groups:
            lines.append(f"{words}: {'; '.join(groups)}.")
    return lines
