"""`walltime workload`: look into a trace, and make other traces from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.terminal.console import emit, out, say
from walltime.cli.terminal.show import fill_quantiles, tell_clusters
from walltime.cli.trace import (
    Collections,
    Format,
    Host,
    LogOptions,
    Map,
    Timezone,
    Trace,
    refuse_existing,
    tell_missing,
)

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(no_args_is_help=True, help="Look into a trace, make another one from it, model it, generate one.")

_PICK = "Which jobs"
_CHANGE = "Changes"
_BAR = 40  # characters of the longest bar


@app.command()
def info(
    trace: Trace,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Size of the machine, where the trace does not tell it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")] = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
) -> None:
    """Tell what is in a trace: how many jobs, how large, how long, how well estimated, and what is wrong with it."""
    from walltime.workload.describe import describe

    facts = describe(LogOptions(input_format, timezone, map_, collections, host).read(trace), cores)
    if as_json:
        emit(facts)
    else:
        _show(facts)


@app.command()
def convert(
    trace: Trace,
    output: Annotated[Path, typer.Argument(help="The file to write; its suffix chooses the format.")],
    start: Annotated[
        str | None,
        typer.Option(
            "--from", help="Submitted at or after this time: seconds, 12h, 3d, or a date.", rich_help_panel=_PICK
        ),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Submitted before this time.", rich_help_panel=_PICK)] = None,
    user: Annotated[
        list[str] | None, typer.Option(help="Of this user; may be repeated.", rich_help_panel=_PICK)
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="Of this group; may be repeated.", rich_help_panel=_PICK)
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option(help="In this queue; may be repeated.", rich_help_panel=_PICK)
    ] = None,
    min_cores: Annotated[int | None, typer.Option(help="With at least N cores.", rich_help_panel=_PICK)] = None,
    max_cores: Annotated[int | None, typer.Option(help="With at most N cores.", rich_help_panel=_PICK)] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="The first N of the jobs picked.", rich_help_panel=_PICK)
    ] = None,
    scale_load: Annotated[
        float | None, typer.Option(help="Make jobs arrive X times as fast.", rich_help_panel=_CHANGE)
    ] = None,
    scale_time: Annotated[
        float | None, typer.Option(help="Multiply run times and requested times by X.", rich_help_panel=_CHANGE)
    ] = None,
    scale_cores: Annotated[
        float | None, typer.Option(help="Multiply cores by X (rounded, at least 1).", rich_help_panel=_CHANGE)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")] = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
) -> None:
    """Write a trace in another format, some of its jobs, or a changed version of it.

    Jobs are picked first, then changed. Times are on the trace's own clock, as its submissions are. Nothing is written
    unless all of it can be.

    Example: walltime workload convert site.swf.gz quarter.parquet --to 90d --max-cores 64
    """
    from walltime.core.dates import read_moment
    from walltime.core.errors import InputError
    from walltime.workload import transform
    from walltime.workload.formats import check_suffix, write

    check_suffix(output)
    refuse_existing(output, force)
    source = jobs = LogOptions(input_format, timezone, map_, collections, host).read(trace)
    whole = " in the whole trace"
    if start is not None or end is not None:
        clock = jobs.origin.epoch, jobs.origin.timezone
        edges = [None if text is None else read_moment(text, *clock) for text in (start, end)]
        source = jobs = transform.window(jobs, edges[0], edges[1])
        whole = " in all of that time"
    for names, keep in ((user, transform.keep_users), (group, transform.keep_groups), (queue, transform.keep_queues)):
        if names:
            jobs = keep(jobs, names)
    jobs = transform.keep_sizes(jobs, min_cores, max_cores)
    if first is not None:
        jobs = transform.first(jobs, first)
    if not len(jobs):
        raise InputError("no job of the trace is left by these options", file=trace)
    for factor, change in (
        (scale_load, transform.scale_load),
        (scale_time, transform.scale_time),
        (scale_cores, transform.scale_cores),
    ):
        if factor is not None:
            jobs = change(jobs, factor)
    lost = write(jobs, output)
    if as_json:
        emit({"written": str(output), "jobs": len(jobs), "left_out": lost})
        return
    say(f"{len(jobs)} jobs written to {output}")
    tell_missing(source.notes, lost, among=whole if len(jobs) < len(source) else "")


def _show(facts: dict[str, Any]) -> None:
    """The facts on the screen, for a person."""
    console = out()
    console.print(facts["source"], style="bold")
    console.print(_overview(facts))
    console.print(_quantile_table(facts))
    if facts["busiest_users"]:
        console.print(_user_table(facts))
    console.print(_histogram(facts))
    for sentence in _remarks(facts):
        console.print(f"• {sentence}", style="yellow", soft_wrap=True)


def _overview(facts: dict[str, Any]) -> Table:
    from rich.table import Table

    from walltime.core.time import format_duration

    load, per_day = facts["offered_load"], facts["jobs_per_day"]
    rows = {
        "jobs": f"{facts['jobs']:,}" + (f" ({per_day:,.1f} a day)" if per_day else ""),
        "submitted over": format_duration(facts["span"]),
        "from": facts["first_submission"] or f"{facts['first_submit']:,.0f} s of the trace's clock",
        "to": facts["last_submission"] or f"{facts['last_submit']:,.0f} s",
        "machine": f"{facts['machine_cores']:,} cores" if facts["machine_cores"] else "not told (--cores N)",
        "work": f"{facts['core_hours']:,.1f} core-hours",
        "offered load": None if load is None else f"{load:.1%} of the machine",
        "users": facts["users"],
        "groups": facts["groups"],
        "accounts": facts["accounts"],
        "queues": facts["queues"],
        "qualities of service": facts["qos"],
        "serial jobs": f"{facts['serial_share']:.1%}",
        "powers of two": f"{facts['power_of_two_share']:.1%} of the jobs",
        "jobs that ask for": _requests(facts),
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, str(value))
    return table


def _requests(facts: dict[str, Any]) -> str | None:
    """What is asked for besides cores and time: `memory 1,234, GPUs 56`."""
    words = {
        "gpus": "GPUs",
        "exclusive": "nodes of their own",
        "constraint": "properties",
        "resources": "named resources",
    }
    asked = facts["requests"].items()
    return ", ".join(f"{words.get(name, name)} {count:,}" for name, count in asked) or None


def _bytes(value: float) -> str:
    """`512 MiB`, `1.5 GiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:,.3g} TiB"


def _quantile_table(facts: dict[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    from walltime.core.time import format_duration

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    forms: dict[str, tuple[str, Any]] = {
        "run_time": ("run time", format_duration),
        "requested_time": ("requested time", format_duration),
        "accuracy": ("run / requested", "{:.2f}".format),
        "cores": ("cores", "{:,.0f}".format),
        "memory": ("memory", _bytes),
        "gpus": ("GPUs", "{:,.0f}".format),
        "recorded_wait": ("wait in the trace", format_duration),
    }
    return fill_quantiles(table, ("min", "25 %", "median", "75 %", "95 %", "max"), forms, facts)


def _user_table(facts: dict[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("busiest users")
    for heading in ("jobs", "core-hours", "share"):
        table.add_column(heading, justify="right")
    total = facts["core_hours"] or 1.0
    for row in facts["busiest_users"]:
        share = f"{row['core_hours'] / total:.1%}"
        table.add_row(row["user"], f"{row['jobs']:,}", f"{row['core_hours']:,.1f}", share)
    return table


def _histogram(facts: dict[str, Any]) -> Table:
    """Arrivals by the hour of the day as bars of text."""
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    counts = facts["arrivals_by_hour"]
    most = max(counts) or 1
    clock = "hour" if facts["origin"]["epoch"] is not None else "hour of the trace's clock"
    table.add_row("", f"submissions by {clock}", "")
    for hour in range(0, 24, 2):
        count = counts[hour] + counts[hour + 1]
        bar = "█" * round(_BAR * count / (2 * most)) or ("▏" if count else "")
        table.add_row(f"{hour:02d}–{hour + 2:02d}", bar, f"{count:,}")
    return table


def _remarks(facts: dict[str, Any]) -> list[str]:
    """What a reader should know before trusting a simulation of this trace."""
    remarks = [f"{count:,} records skipped: {reason}" for reason, count in facts["skipped"].items()]
    counted = {
        "cancelled_before_start": "jobs were cancelled before they started",
        "killed_at_limit": "jobs ran longer than they asked: killed at their limit, unless --overrun extend",
        "unlimited": "jobs have no time limit: planned with a year, and never killed at it",
        "heterogeneous": "jobs were put together from their parts: they start together",
        "missing_requests": "jobs have no requested time: --missing-request says what is taken",
        "larger_than_machine": "jobs are larger than the machine and would be rejected",
        "duplicate_ids": "jobs have a number that occurred before",
        "extra_columns": "columns beyond the format's own were ignored",
    }
    remarks += [f"{facts[key]:,} {sentence}" for key, sentence in counted.items() if facts[key]]
    if facts["unused_properties"]:
        from walltime.workload.describe import describe_unused

        unused = describe_unused(facts["unused_properties"])
        remarks.append(f"properties of nodes that jobs ask for are not looked at: {unused}")
    if facts["steps"]:
        remarks.append(f"{facts['steps']:,} lines of job steps were passed over")
    if facts["eligible_later"]:
        remarks.append(f"{facts['eligible_later']:,} jobs became eligible after their submission: that is their begin")
    if facts["log_clusters"]:
        remarks.append(tell_clusters(facts["log_clusters"]))
    remarks += facts["problems"]
    if facts["unsorted"]:
        remarks.append("the file is not in order of submission; it was sorted")
    return remarks
