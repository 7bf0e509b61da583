"""Winners and losers for a person: a table of both ends, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from walltime.cli.console import out, say
from walltime.cli.show import jobs, ratio
from walltime.core.time import format_duration

if TYPE_CHECKING:
    import polars as pl

    from walltime.analysis.winners import Balance, Winners

HOUR = 3600.0
NOTES = {
    "may be noise": "the 95 % interval of the change, made from days, holds zero",
    "few jobs": "too few jobs, or on too few days, to tell a change from chance",
}


def show_winners(found: Winners, top: int) -> None:
    """Print who waits less and who more: the `top` groups at each end, and the balance over all."""
    from rich.table import Table

    key, table = found.key, found.table
    if table[key].is_null().all():
        say(f"The jobs of these results tell no {key}.")
        return
    say(f"Who gains and who loses by {key}, {found.after} against {found.before}", style="bold")
    say()
    view = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    view.add_column(key, overflow="fold", min_width=8)
    for heading in ("jobs", "mean wait\nbefore", "\nafter", "\nchange", "slowdown\nbefore", "\nafter"):
        view.add_column(heading, justify="right", no_wrap=True)
    for heading in ("waiting\nin all", "\nshare"):
        view.add_column(heading, justify="right", no_wrap=True)
    view.add_column("", no_wrap=True)
    head, tail = _ends(table, top)
    for row in head.iter_rows(named=True):
        view.add_row(*_cells(row, key))
    if tail is not None:
        view.add_row("...")
        for row in tail.iter_rows(named=True):
            view.add_row(*_cells(row, key))
    out().print(view)
    if tail is not None:
        shown = head.height + tail.height
        say(f"{shown} of {table.height:,}: those who gain most, and the other end (--top, or --json)", style="dim")
    say()
    for line in _sum_up(found.balance, key):
        say(line)
    say("share: of all that is saved, or of all that is added.", style="dim")
    met = set(table["verdict"].to_list())
    for verdict in NOTES:
        if verdict in met:
            say(f"{verdict}: {NOTES[verdict]}.", style="dim")


def _ends(table: pl.DataFrame, top: int) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The whole table, or its two ends."""
    if table.height <= 2 * top:
        return table, None
    known = table.filter(table["effect"].is_not_null())
    return known.head(top), known.tail(min(top, max(known.height - top, 0)))


def _cells(row: dict[str, Any], key: str) -> list[Any]:
    from rich.text import Text

    style = {"gains": "green", "loses": "red"}.get(row["verdict"] or "", "")
    relative = "" if row["relative"] is None else f" ({_percent(row['relative'])})"
    change = "–" if row["difference"] is None else f"{_signed(row['difference'])}{relative}"
    return [
        "(none)" if row[key] is None else str(row[key]),
        f"{row['jobs']:,}",
        format_duration(row["wait_before"]),
        format_duration(row["wait_after"]),
        Text(change, style=style),
        ratio(row["slowdown_before"]),
        ratio(row["slowdown_after"]),
        "–" if row["effect"] is None else _hours(row["effect"]),
        "" if row["share"] is None else f"{100 * row['share']:.0f} %",
        Text(row["verdict"] or "not started in both", style=style or "dim"),
    ]


def _sum_up(balance: Balance, key: str) -> list[str]:
    """Sentences that say what the change comes to."""
    same = balance.groups - balance.gain - balance.lose
    lines = [
        f"Of {_count(balance.groups, key)}, {balance.gain:,} wait{'s' if balance.gain == 1 else ''} less "
        f"({balance.gain_clearly:,} clearly) and {balance.lose:,} more ({balance.lose_clearly:,} clearly)"
        + (f", {same:,} the same." if same else "."),
        f"Those who gain save {_plain_hours(balance.saved)}, those who lose wait {_plain_hours(balance.added)} more: "
        f"{_hours(balance.effect)} in all, over {jobs(balance.jobs)}; {balance.jobs_shorter:,} of them wait less, "
        f"{balance.jobs_longer:,} more.",
    ]
    if balance.only_before or balance.only_after:
        lines.append(
            f"Careful: {jobs(balance.only_before)} started only before and {jobs(balance.only_after)} only after; "
            "they are in no difference."
        )
    if balance.unpaired:
        lines.append(f"Careful: {jobs(balance.unpaired)} are in one of the results only, and left out.")
    return lines


def _count(number: int, key: str) -> str:
    plural = {"qos": "qualities of service"}.get(key, f"{key}s")
    return f"{number:,} {key if number == 1 else plural}"


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{format_duration(seconds)}"


def _percent(relative: float) -> str:
    """A percentage, or a factor where that would be hard to read."""
    return f"×{1 + relative:,.0f}" if relative >= 9.5 else f"{100 * relative:+.0f} %"


def _hours(seconds: float) -> str:
    """A sum of waits, with its sign."""
    hours = seconds / HOUR
    return f"{hours:+,.0f} h" if abs(hours) >= 9.5 else f"{hours:+.1f} h" if seconds else "0 h"


def _plain_hours(seconds: float) -> str:
    return _hours(seconds).lstrip("+-")
