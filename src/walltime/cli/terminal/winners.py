"""Winners and losers for a person: a table of both ends, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import count_jobs, percent_change, ratio
from walltime.cli.terminal.console import out, say
from walltime.core.time import format_duration

if TYPE_CHECKING:
    import polars as pl

    from walltime.analysis.winners import Winners

HOUR = 3600.0
WIDE = 140
"""Characters that a table with means and quantiles needs."""
QUANTILES = (
    ("median\nbefore", "median_wait_before"),
    ("\nafter", "median_wait_after"),
    ("95 %\nbefore", "p95_wait_before"),
    ("\nafter", "p95_wait_after"),
)
"""Headings and columns of the quantiles of waits."""
NOTES = {
    "may be noise": "not more than chance, over weeks and corrected for the number of groups",
    "few jobs": "fewer than 30 jobs tell no change from chance",
    "few weeks": "jobs in fewer than 10 weeks tell no change from chance",
}


def show_winners(found: Winners, top: int) -> None:
    """Print which groups wait less and which more: the `top` groups at each end, and the balance over all."""
    from rich.table import Table

    key, table = found.key, found.table
    if table[key].is_null().all():
        say(f"The jobs of these results tell no {key}.")
        return
    say(f"Who gains and who loses by {key}, {found.after} against {found.before}", style="bold")
    say()
    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(key, overflow="fold", min_width=8)
    wide = out().width >= WIDE
    for heading in ("jobs", "mean wait\nbefore", "\nafter", "\nchange"):
        view.add_column(heading, justify="right", no_wrap=True)
    for heading in (*(text for text, _ in QUANTILES if wide), "slowdown\nbefore", "\nafter"):
        view.add_column(heading, justify="right", no_wrap=True)
    for heading in ("waiting\nin all", "\nshare"):
        view.add_column(heading, justify="right", no_wrap=True)
    view.add_column("", no_wrap=True)
    head, tail = _ends(table, top)
    for row in head.iter_rows(named=True):
        view.add_row(*_cells(row, key, wide))
    if tail is not None:
        view.add_row("...")
        for row in tail.iter_rows(named=True):
            view.add_row(*_cells(row, key, wide))
    out().print(view)
    if tail is not None:
        shown = head.height + tail.height
        say(f"{shown} of {table.height:,}: those who gain most, and the other end (--top, or --json)", style="dim")
    say()
    for line in _sum_up(found):
        say(line)
    if not wide:
        _show_quantiles(head if tail is None else head.vstack(tail), key)
    say("share: of all that is saved, or of all that is added.", style="dim")
    met = set(table["verdict"].to_list())
    for verdict in NOTES:
        if verdict in met:
            say(f"{verdict}: {NOTES[verdict]}.", style="dim")


def _show_quantiles(table: pl.DataFrame, key: str) -> None:
    """Print median and 95 % waits in a table of their own, where the first one has no room for them."""
    from rich.table import Table

    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(key, overflow="fold", min_width=8)
    for heading, _ in QUANTILES:
        view.add_column(heading, justify="right", no_wrap=True)
    for row in table.iter_rows(named=True):
        view.add_row(_name(row[key]), *(format_duration(row[name]) for _, name in QUANTILES))
    say()
    out().print(view)
    say()


def _name(value: str | None) -> str:
    return "(none)" if value is None else str(value)


def _ends(table: pl.DataFrame, top: int) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The whole table, or its two ends: at the second also groups of which no job can be compared."""
    if table.height <= 2 * top:
        return table, None
    known, apart = (table.filter(rows) for rows in (table["effect"].is_not_null(), table["effect"].is_null()))
    return known.head(top), known.tail(min(top, max(known.height - top, 0))).vstack(apart.head(top))


def _cells(row: dict[str, Any], key: str, wide: bool) -> list[Any]:
    from rich.text import Text

    style = {"gains": "green", "loses": "red"}.get(row["verdict"] or "", "")
    relative = "" if row["relative"] is None else f" ({percent_change(row['relative'], 0)})"
    change = "–" if row["difference"] is None else f"{_signed(row['difference'])}{relative}"
    return [
        _name(row[key]),
        f"{row['jobs']:,}",
        format_duration(row["wait_before"]),
        format_duration(row["wait_after"]),
        Text(change, style=style),
        *(format_duration(row[name]) for _, name in QUANTILES if wide),
        ratio(row["slowdown_before"]),
        ratio(row["slowdown_after"]),
        "–" if row["effect"] is None else _hours(row["effect"]),
        "" if row["share"] is None else f"{100 * row['share']:.0f} %",
        Text(_remark(row), style=style or "dim"),
    ]


def _remark(row: dict[str, Any]) -> str:
    """The verdict, and how many of the group's jobs are left waiting."""
    left = f", {row['waiting_after']:,} still wait" if row["waiting_after"] else ""
    return f"{row['verdict'] or 'not started in both'}{left}"


def _sum_up(found: Winners) -> list[str]:
    """Sentences that say what the change comes to."""
    balance, key = found.balance, found.key
    same = balance.groups - balance.gain - balance.lose - balance.apart
    rest = [f"{same:,} the same"] if same else []
    rest += [f"of {balance.apart:,} no job started in both"] if balance.apart else []
    lines = [
        f"Of {_count(balance.groups, key)}, {balance.gain:,} wait{'s' if balance.gain == 1 else ''} less "
        f"({balance.gain_clearly:,} clearly) and {balance.lose:,} more ({balance.lose_clearly:,} clearly)"
        + "".join(f", {part}" for part in rest)
        + ".",
        f"Those who gain save {_plain_hours(balance.saved)}, those who lose wait {_plain_hours(balance.added)} more: "
        f"{_hours(balance.effect)} in all, over {count_jobs(balance.jobs)}; "
        f"{balance.jobs_shorter:,} of them wait less, {balance.jobs_longer:,} more.",
    ]
    if balance.only_before or balance.only_after:
        lines.append(
            f"Careful: {count_jobs(balance.only_before)} started only before and {count_jobs(balance.only_after)} only "
            "after; they are in no difference."
        )
    if balance.waiting_groups:
        lines.append(
            f"Careful: {_count(balance.waiting_groups, key)} have jobs that still wait at the end: "
            f"{balance.waiting_before:,} before ({_plain_hours(balance.waited_before)} so far) and "
            f"{balance.waiting_after:,} after ({_plain_hours(balance.waited_after)}); they are in no difference either."
        )
    if balance.unpaired:
        lines.append(f"Careful: {count_jobs(balance.unpaired)} are in one of the results only, and left out.")
    return lines


def _count(number: int, key: str) -> str:
    plural = {"qos": "qualities of service"}.get(key, f"{key}s")
    return f"{number:,} {key if number == 1 else plural}"


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{format_duration(seconds)}"


def _hours(seconds: float) -> str:
    """A sum of waits, with its sign."""
    hours = seconds / HOUR
    return f"{hours:+,.0f} h" if abs(hours) >= 9.5 else f"{hours:+.1f} h" if seconds else "0 h"


def _plain_hours(seconds: float) -> str:
    return _hours(seconds).lstrip("+-")
