"""Results for a person: one table that compares, and below it what one has to know to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from walltime.analysis.headline import FIGURES, Figure, count_jobs, find_best, find_figures
from walltime.cli.terminal.console import out, say
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from rich.table import Table

    from walltime.api import Result


WIDE = 95
"""Characters that a table of all figures needs; the makespan is left out where there are fewer."""

LISTED = 5
"""Reasons for rejections, and limits, that are told one by one; the others in one sum."""


def show_comparison(summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the headline figures of each result, the best of each column marked, and the trace's own waits."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    table.add_column("policy", overflow="fold", min_width=12)
    figures = [figure for figure in FIGURES if figure.key != "makespan" or out().width >= WIDE]
    for figure in figures:
        table.add_column("\n".join(figure.words.rsplit(" ", 1)), justify="right", no_wrap=True)
    best = {figure.key: find_best(figure, list(summaries.values())) for figure in figures}
    for name, summary in summaries.items():
        table.add_row(name, *(_cell(figure, summary, best[figure.key]) for figure in figures))
    recorded = _recorded(summaries)
    if recorded is not None:
        cells = [figure.text(recorded[figure.key]) if figure.key in recorded else "" for figure in figures]
        table.add_row("in the trace", *cells, style="dim")
    out().print(table)
    if any(value is not None for value in best.values()):
        say("* best of its column", style="dim")
    _show_resources(summaries)


def _show_resources(summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the utilization of what nodes have besides cores, a row for each result."""
    from rich.table import Table

    figures = find_figures(list(summaries.values()))[len(FIGURES) :]
    if not figures:
        return
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold", min_width=12)
    for figure in figures:
        table.add_column(figure.words, justify="right", no_wrap=True)
    for name, summary in summaries.items():
        table.add_row(name, *(figure.text(figure.value(summary)) for figure in figures))
    say()
    out().print(table)


def _cell(figure: Figure, summary: Mapping[str, Any], best: float | None) -> Any:
    from rich.text import Text

    value = figure.value(summary)
    text = figure.text(value)
    if best is None:
        return text
    if value is not None and text == figure.text(best):
        return Text(f"{text}*", style="bold green")
    return f"{text} "


def fill_quantiles(table: Table, headings: Sequence[str], forms: dict[str, Any], facts: dict[str, Any]) -> Table:
    """The table with a row for each of the facts that is known: its name, and its figures as text."""
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for key, (name, form) in forms.items():
        if facts[key]:
            table.add_row(name, *(form(value) for value in facts[key].values()))
    return table


def show_remarks(results: Sequence[Result]) -> None:
    """Print why the results cannot simply be compared, where that is so."""
    from walltime.analysis.headline import find_remarks

    for remark in find_remarks(results):
        say(f"Careful: {remark}.", style="yellow")


def _recorded(summaries: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The waits of the original log, from the result that compares the most jobs with it."""
    found = [summary.get("recorded") or {} for summary in summaries.values()]
    known = [item for item in found if item.get("jobs") and item.get("mean_wait") is not None]
    return max(known, key=lambda item: int(item["jobs"])) if known else None


def show_notes(summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what a reader must know: jobs left out, turned away, held or killed, perfect estimates, a cut-off."""
    first = next(iter(summaries.values()))
    lines = (
        _skipped(first)
        + _rejected(summaries)
        + _common_notes(first)
        + _held(summaries)
        + _disrupted(summaries)
        + _left(summaries)
        + _programs(summaries)
        + _each(summaries)
        + _cancelled(summaries)
        + _deadlines(summaries)
        + _scheduler(summaries)
        + _adjusted(summaries)
        + _calibrated(summaries)
    )
    for line in lines:
        say(line)


def _adjusted(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Jobs that are taken to have been others under other limits."""
    told = {}
    for name, summary in summaries.items():
        if adjusted := (summary.get("facts") or {}).get("adjusted"):
            told[name] = (
                f"{count_jobs(adjusted['run_on'])} that were cut off run on to a drawn length, "
                f"{count_jobs(adjusted['moved'])} go to another queue"
            )
    return _said_once("Jobs are adjusted to other limits", told, len(summaries))


def _calibrated(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How far answers of a site can be trusted, where it was calibrated."""
    from walltime.analysis.calibration.file import tell_calibration

    told = (tell_calibration(summary.get("facts") or {}) for summary in summaries.values())
    return list(dict.fromkeys(line for line in told if line is not None))


def _scheduler(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the controller of the slurm engine did to decide, as sdiag counts it."""
    lines = []
    for name, summary in summaries.items():
        figures = summary.get("facts", {}).get("scheduler")
        if not figures:
            continue
        main, backfill = figures["main"], figures["backfill"]
        under = f" under {name}" if len(summaries) > 1 else ""
        text = f"The controller{under}: {main['cycles']:,} cycles, {main['mean_depth']:.0f} jobs deep{_length(main)}"
        if backfill["cycles"]:
            text += (
                f"; {backfill['cycles']:,} of backfilling, {backfill['mean_tried']:.0f} jobs tried of "
                f"{backfill['mean_queue']:.0f} in line{_length(backfill)}"
            )
        lines.append(f"{text}.")
    return lines


def _length(figures: Mapping[str, float]) -> str:
    """How long cycles took, where computing takes simulated time."""
    if "mean_cycle" not in figures:
        return ""
    return f", {figures['mean_cycle']:.2g} s each, {figures['longest_cycle']:.2g} s the longest"


def _skipped(summary: Mapping[str, Any]) -> list[str]:
    """Records that are no jobs and jobs of a snapshot that are left out, which are the same under every policy."""
    left_out = (summary.get("facts", {}).get("start") or {}).get("left_out", {})
    lines = []
    for where, found in (("trace", summary.get("skipped_reasons", {})), ("snapshot", left_out)):
        if found:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in found.items())
            lines.append(f"Skipped: {count_jobs(sum(found.values()))} of the {where} ({reasons}).")
    return lines


def tell_clusters(names: Sequence[str]) -> str:
    """That a log of sacct has the jobs of several clusters."""
    told = ", ".join(names)
    return f"the log has jobs of {len(names)} clusters ({told}), taken for one's; `sacct -M NAME` prints those of one"


def _common_notes(summary: Mapping[str, Any]) -> list[str]:
    """What else is the same under every policy, as it comes from the workload and the machine."""
    notes = []
    if summary.get("means_over") not in (None, "started jobs"):
        notes.append(f"Means and the observation window are over {summary['means_over'].partition(' of ')[2]} alone.")
    for what, count in summary.get("facts", {}).get("ignored", {}).items():
        notes.append(
            f"Not looked at: the {what} that {count_jobs(count)} ask for; "
            "the cluster does not tell what its nodes have."
        )
    if clusters := summary.get("facts", {}).get("log_clusters"):
        notes.append(f"Careful: {tell_clusters(clusters)}.")
    notes += [f"Names on one side only: {text}." for text in summary.get("facts", {}).get("strangers", ())]
    if count := summary.get("facts", {}).get("preceding_ignored"):
        notes.append(
            f"Not looked at: the preceding jobs that the trace has for {count_jobs(count)}; "
            "--set dependencies.preceding=true has them waited for."
        )
    if count := summary.get("facts", {}).get("by_hand"):
        notes.append(f"Beside the trace: {count_jobs(count)} submitted by hand; they held nodes, and are in no table.")
    if summary.get("facts", {}).get("oracle"):
        notes.append("Perfect estimates: the scheduler knew every job's exact run time, which no real one does.")
    elif summary.get("perfect_estimates"):
        count, total = summary["perfect_estimates"], summary["jobs"]
        which = "any job" if count == total else f"{count:,} of {total:,} jobs"
        notes.append(
            f"Perfect estimates: the trace has no requested time for {which}; the exact run time was taken instead, "
            "which no real scheduler knows (--missing-request)."
        )
    return notes


def _rejected(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The jobs that were rejected, by reason; said once where it is the same under every policy."""
    told = {}
    for name, summary in summaries.items():
        if summary.get("rejected"):
            causes = summary.get("rejected_reasons") or {"too large": summary["rejected"]}
            text = _largest(causes, "; ", lambda cause, count: f"{cause}: {count:,.0f}")
            told[name] = f"{count_jobs(summary['rejected'])} ({text})"
    return _said_once("Rejected", told, len(summaries))


def _cancelled(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The jobs that were cancelled, and why where that is known."""
    told = {}
    for name, summary in summaries.items():
        if count := summary.get("cancelled"):
            causes = summary.get("cancelled_reasons") or {}
            text = _largest(causes, "; ", lambda cause, number: f"{cause}: {number:,.0f}")
            told[name] = count_jobs(count) + (f" ({text})" if text else "")
    return _said_once("Cancelled", told, len(summaries))


def _deadlines(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How many deadlines were missed, and by how much the late jobs were late."""
    told = {}
    for name, summary in summaries.items():
        if account := summary.get("deadlines"):
            late = account["mean_lateness"]
            text = "" if late is None else f"; completed late by {format_duration(late)} in the mean"
            told[name] = f"{account['missed']:,} of {account['jobs']:,}{text}"
    return _said_once("Missed deadlines", told, len(summaries))


def _held(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How long limits kept jobs waiting: the limits that did so most."""
    told = {}
    for name, summary in summaries.items():
        held = {whose: hours for whose, hours in (summary.get("held") or {}).items() if hours > 0}
        if held:
            text = _largest(held, ", ", lambda whose, hours: f"{whose} {_together(hours)}")
            told[name] = f"{_together(sum(held.values()))}, over all jobs ({text})"
    return _said_once("Kept waiting by limits", told, len(summaries))


def _disrupted(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How often jobs were interrupted or displaced, and the work that was lost by it."""
    told = {}
    for name, summary in summaries.items():
        counts = summary.get("facts", {}).get("disruptions") or {}
        if any(counts.values()):
            words = [f"{count:,} {kind if count > 1 else kind[:-1]}" for kind, count in counts.items() if count]
            lost = (summary.get("lost_core_seconds") or 0.0) / 3600
            told[name] = ", ".join(words) + f"; {lost:,.0f} core-hours lost"
    return _said_once("Disrupted", told, len(summaries))


def _left(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which jobs were left when nothing could start or end one any more, and why."""
    told = {}
    for name, summary in summaries.items():
        left = summary.get("facts", {}).get("left") or {}
        texts = []
        for why, account in left.items():
            rest = account["jobs"] - len(account["first"])
            named = ", ".join(str(job) for job in account["first"]) + (f" and {rest:,} others" if rest else "")
            texts.append(f"{'jobs' if account['jobs'] > 1 else 'job'} {named}: {why}")
        if texts:
            told[name] = "; ".join(texts)
    return _said_once("Left when nothing could start or end a job any more", told, len(summaries))


def _programs(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which programs failed by an error of their own and what the first of them said; where others were that had to be
    stopped at their limit."""
    said = []
    for what, count, first in (
        ("Programs that failed", "failed", "first"),
        ("Programs that had not ended at their limit", "stopped", "stopped_first"),
    ):
        told = {}
        for name, summary in summaries.items():
            account = summary.get("facts", {}).get("programs") or {}
            if account.get(count):
                rest = account[count] - len(account[first])
                told[name] = "; ".join(account[first]) + (f"; and {rest:,} others" if rest else "")
        said += _said_once(what, told, len(summaries))
    return said


def _together(hours: float) -> str:
    """Waits of many jobs, added up: in hours, which is what core-hours are compared with, or less."""
    return f"{hours:,.0f} h" if hours >= 10 else format_duration(3600 * hours)


def _largest(amounts: Mapping[str, float], between: str, text: Callable[[str, float], str]) -> str:
    """The largest few, and how much the others come to."""
    ranked = sorted(amounts.items(), key=lambda item: -item[1])
    words = [text(name, amount) for name, amount in ranked[:LISTED]]
    if rest := ranked[LISTED:]:
        words.append(text(f"{len(rest)} others", sum(amount for _, amount in rest)))
    return between.join(words)


def _said_once(what: str, told: Mapping[str, str], policies: int) -> list[str]:
    """One line where all policies say the same, one for each otherwise."""
    if len(told) == policies and len(set(told.values())) == 1:
        return [f"{what}: {next(iter(told.values()))}."]
    return [f"{what} under {name}: {text}." for name, text in told.items()]


def _each(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What may differ from policy to policy; said once where it does not."""
    notes = []
    for key, text in (
        ("killed", "Killed at the requested time: {} (--overrun extend lets them run on)."),
        ("running", "Still running at the end of the simulation: {}."),
        ("waiting", "Still waiting at the end of the simulation: {}."),
    ):
        counts = {name: int(summary.get(key) or 0) for name, summary in summaries.items()}
        if not any(counts.values()):
            continue
        if len(set(counts.values())) == 1:
            whole = count_jobs(next(iter(counts.values())))
            reasons = next(iter(summaries.values())).get("facts", {}).get(f"{key}_reasons")
            why = f" ({', '.join(f'{name}: {count:,}' for name, count in reasons.items())})" if reasons else ""
            notes.append(text.format(whole + why))
        else:
            notes.append(text.format(", ".join(f"{name} {count:,}" for name, count in counts.items())))
    return notes
