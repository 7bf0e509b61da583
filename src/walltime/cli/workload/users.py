"""`walltime workload users`: what a log tells of its users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.terminal.console import emit, out, say
from walltime.cli.terminal.show import fill_quantiles
from walltime.cli.trace import Collections, Format, Host, LogOptions, Map, Timezone, Trace, refuse_existing
from walltime.cli.workload.model_options import AsJson, Force

if TYPE_CHECKING:
    from rich.table import Table

_BAR = 40


def users(
    trace: Trace,
    session_gap: Annotated[str, typer.Option(help="A user without a sign for longer has ended a session.")] = "20m",
    campaign: Annotated[str, typer.Option(help="Jobs this close to the one before are one act, of a script.")] = "10s",
    overlap: Annotated[
        str, typer.Option(help="A batch goes on until its last job has ended (last), or all have (any).")
    ] = "last",
    waits: Annotated[
        str, typer.Option(help="How long jobs waited: recorded, or none for a log that does not tell.")
    ] = "recorded",
    page: Annotated[Path | None, typer.Option("--page", help="Write the pictures: .html, .svg, .png, .pdf.")] = None,
    alea: Annotated[
        Path | None,
        typer.Option("--alea", metavar="NAME", help="Write Alea's files NAME_USER_sessions and NAME_USER_batches."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
) -> None:
    """Infer what users do: sessions, batches, what each batch waited for, think times, working hours; and how sure.

    It is what a scenario's `users: feedback` goes by.

    Example: walltime workload users site.swf.gz --session-gap 30m --page users.html
    """
    from walltime.workload.compare_page import check_page
    from walltime.workload.users.alea import write_files
    from walltime.workload.users.describe import describe_users
    from walltime.workload.users.page import write_page

    thresholds = _thresholds(session_gap, campaign, overlap, waits)
    if page is not None:
        check_page(page)
        refuse_existing(page, force)
    acts, facts = describe_users(LogOptions(input_format, timezone, map_, collections, host).read(trace), thresholds)
    if page is not None:
        write_page(acts, facts, page)
    written = [] if alea is None else write_files(acts, alea)
    if as_json:
        emit(facts)
        return
    _show(facts)
    if page is not None:
        say(f"Pictures in {page}")
    if alea is not None:
        say(f"{len(written)} files written beside {alea}")


def _thresholds(session_gap: str, campaign: str, overlap: str, waits: str) -> Any:
    from walltime.core.errors import InputError
    from walltime.core.time import parse_duration, seconds
    from walltime.workload.users.sessions import Thresholds

    for value, choices in ((overlap, ("last", "any")), (waits, ("recorded", "none"))):
        if value not in choices:
            raise InputError("no such choice", value=value, choices=choices)
    gap = seconds(parse_duration(session_gap))
    if gap <= 0:
        raise InputError("a session's gap is longer than zero", value=session_gap)
    return Thresholds(gap, seconds(parse_duration(campaign)), overlap, waits)  # type: ignore[arg-type]


def _show(facts: dict[str, Any]) -> None:
    console = out()
    console.print(facts["source"], style="bold")
    console.print(_overview(facts))
    console.print()
    console.print(_quantile_table(facts))
    console.print()
    console.print(_week(facts))
    for sentence in judge(facts):
        console.print(f"• {sentence}", style="yellow", soft_wrap=True)


def _overview(facts: dict[str, Any]) -> Table:
    from rich.table import Table

    alone = f", {facts['without_user']:,} jobs without a user" if facts["without_user"] else ""
    table = Table.grid(padding=(0, 2))
    table.add_row("users", f"{facts['users']:,}{alone}")
    table.add_row("jobs", f"{facts['jobs']:,}")
    table.add_row("batches", f"{facts['batches']:,}")
    table.add_row("sessions", f"{facts['sessions']:,}")
    table.add_row("after a completion", f"{facts['after_completion']:,} batches")
    table.add_row("after an arrival", f"{facts['after_arrival']:,} batches")
    return table


def _quantile_table(facts: dict[str, Any]) -> Table:
    from rich.table import Table

    from walltime.core.time import format_duration

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")  # 80 columns are enough
    forms: dict[str, tuple[str, Any]] = {
        "think_time": ("think time", format_duration),
        "break": ("break", format_duration),
        "session_length": ("session length", format_duration),
        "jobs_per_batch": ("jobs per batch", "{:,.3g}".format),
        "batches_per_session": ("batches per session", "{:,.3g}".format),
    }
    return fill_quantiles(table, ("5 %", "25 %", "median", "75 %", "95 %", "mean"), forms, facts)


def _week(facts: dict[str, Any]) -> Table:
    """Batches by the hour of the day, on working days and at weekends."""
    from rich.table import Table

    hours = facts["batches_by_hour_of_week"]
    days = [sum(hours[24 * day + hour] for day in range(5)) for hour in range(24)]
    ends = [sum(hours[24 * day + hour] for day in (5, 6)) for hour in range(24)]
    most = max(days[hour] + days[hour + 1] + ends[hour] + ends[hour + 1] for hour in range(0, 24, 2)) or 1
    table = Table.grid(padding=(0, 1))
    table.add_row("", "batches by hour, █ Monday to Friday, ░ at weekends", "")
    for hour in range(0, 24, 2):
        counts = days[hour] + days[hour + 1], ends[hour] + ends[hour + 1]
        bar = "█" * round(_BAR * counts[0] / most) + "░" * round(_BAR * counts[1] / most)
        table.add_row(f"{hour:02d}–{hour + 2:02d}", bar, f"{sum(counts):,}")
    return table


def judge(facts: dict[str, Any]) -> list[str]:
    """How sure the inference is, in sentences."""
    sure = facts["sure"]
    (_, half), (_, here), (_, twice) = sure["sessions_by_gap"].items()
    sentences = [f"{half:,} sessions with half the gap, {here:,} with this one, {twice:,} with twice the gap"]
    if sure["undecided"] is not None:
        sentences.append(f"{sure['undecided']:.1%} of the pauses lie between half and twice the gap")
    prompt, chance = sure["prompt"], sure["by_chance"]
    says = "users react" if prompt > 1.5 * chance else "little shows that users react"
    sentences.append(
        f"{prompt:.1%} of the submissions follow an end of their user's within the gap, "
        f"{chance:.1%} would by chance: {says}"
    )
    if sure["unknown_ends"]:
        sentences.append(f"{sure['unknown_ends']:,} jobs have no recorded end, and are taken to have started at once")
    if facts["thresholds"]["waits"] == "none":
        sentences.append("it is assumed that no job waited")
    return sentences
