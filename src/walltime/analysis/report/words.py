"""What the figures say, in plain words: the first thing that a report tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from walltime.analysis.charts.chart import shorten
from walltime.analysis.charts.quantities import Shown
from walltime.analysis.charts.rivals import find_changes
from walltime.analysis.compare import compare_by, distinct_labels, find_remarks
from walltime.analysis.metrics import by
from walltime.analysis.report.tables import find_figure
from walltime.core.time import format_duration

LEAST_JOBS = 20
"""Jobs that a size class or a user must have for a sentence about it."""


def describe(results: Sequence[Shown]) -> list[str]:
    """Sentences about one result, or about several against the first; each is true of the tables as they are."""
    return _describe_one(results[0]) if len(results) == 1 else _describe_several(results)


def _describe_one(result: Shown) -> list[str]:
    summary = result.summary
    sentences = [f"{_jobs(summary['jobs'])} on {_machine(summary)}, scheduled by {shorten(result.label, 60)}."]
    if not summary.get("started"):
        return [*sentences, "No job ever started."]
    sentences += _wait_sentence(summary)
    if summary.get("utilization") is not None:
        span, use = format_duration(summary["makespan"]), _percent(summary["utilization"], 0)
        sentences.append(f"The machine was used to {use}, from first submission to last end ({span}).")
    sentences += _size_sentence(result)
    sentences += _disruption_sentence(summary)
    recorded = summary.get("recorded") or {}
    if recorded.get("jobs") and recorded.get("mean_wait") is not None:
        old, new = (format_duration(recorded[key]) for key in ("mean_wait", "simulated_mean_wait"))
        sentences.append(f"In the trace itself the same jobs waited {old} on average; simulated: {new}.")
    return sentences


def _wait_sentence(summary: Mapping[str, Any]) -> list[str]:
    median, late, longest = (summary.get(key) for key in ("median_wait", "p95_wait", "max_wait"))
    if median is None or late is None or longest is None:
        return []
    if longest == 0:
        return ["No job had to wait."]
    half = (
        "Half of the jobs started at once"
        if median == 0
        else f"Half of the jobs waited for {format_duration(median)} or less"
    )
    return [f"{half}; one in twenty for more than {format_duration(late)}, the longest for {format_duration(longest)}."]


def _disruption_sentence(summary: Mapping[str, Any]) -> list[str]:
    """How often jobs were interrupted and what it cost, and how many were left waiting."""
    ways = {"interruptions": "interrupted by failures", "preemptions": "displaced", "suspensions": "suspended"}
    counts = {words: find_figure(summary, key) for key, words in ways.items()}
    parts = [f"{_times(count)} {words}" for words, count in counts.items() if count]
    sentences = []
    if parts:
        lost = (summary.get("lost_core_seconds") or 0.0) / 3600
        cost = f"; {lost:,.0f} core-hours of their work were lost" if lost >= 1 else ""
        sentences.append(f"Jobs were {_join(parts)}{cost}.")
    if summary.get("waiting"):
        sentences.append(f"{_jobs(summary['waiting'])} never started.")
    return sentences


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _join(parts: Sequence[str]) -> str:
    """Words in a row, with "and" before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _size_sentence(result: Shown) -> list[str]:
    """Which size class waits longest on average, if it stands out."""
    table = by(result.record, "size").filter((pl.col("started") >= LEAST_JOBS) & pl.col("mean_wait").is_not_null())
    if table.height < 2:
        return []
    ordered = table.sort("mean_wait")
    least, most = ordered.row(0, named=True), ordered.row(-1, named=True)
    if most["mean_wait"] < 1.2 * max(least["mean_wait"], 1.0):
        return []
    return [
        f"Jobs of {_cores(most['size'])} waited longest on average ({format_duration(most['mean_wait'])}), "
        f"jobs of {_cores(least['size'])} least ({format_duration(least['mean_wait'])})."
    ]


def _describe_several(results: Sequence[Shown]) -> list[str]:
    labels, base = distinct_labels(results), results[0]
    first = base.summary
    names = [shorten(label, 40) for label in labels]
    sentences = [f"{_jobs(first['jobs'])} on {_machine(first)}; {', '.join(names[1:])} against {names[0]}."]
    for name, result in zip(names[1:], results[1:], strict=True):
        parts = [_difference(names[0], first, name, result.summary), *_shifts(base, result), *_sides(base, result)]
        sentences.append(" ".join(parts))
    sentences += _winner(names, [result.summary for result in results])
    sentences += [f"Careful: {remark}." for remark in find_remarks(results)]
    return sentences


def _difference(base: str, old: Mapping[str, Any], name: str, new: Mapping[str, Any]) -> str:
    parts = []
    before, after = old.get("mean_wait"), new.get("mean_wait")
    if before is not None and after is not None:
        words = f"{format_duration(after)} instead of {format_duration(before)}"
        if before == after:
            parts.append(f"jobs wait exactly as long on average ({format_duration(after)})")
        elif before > 0:
            change = abs(after - before) / before
            if change > 9:
                parts.append(f"jobs wait {change + 1:,.0f} times as long on average ({words})")
            else:
                side = "less" if after < before else "more"
                parts.append(f"jobs wait {_percent(change)} {side} on average ({words})")
        else:
            parts.append(f"jobs wait {words} on average")
    use, other = old.get("utilization_window"), new.get("utilization_window")
    if use is not None and other is not None:
        same = _percent(use) == _percent(other)
        parts.append(f"utilization is {'the same' if same else f'{_percent(other)} instead of {_percent(use)}'}")
    return f"{name}: {', '.join(parts)}." if parts else f"{name} and {base} have no figures in common."


def _shifts(base: Shown, result: Shown) -> list[str]:
    changes = find_changes(base, result)
    if not len(changes):
        return []
    better, worse = int((changes < 0).sum()), int((changes > 0).sum())
    if not better and not worse:
        return ["Every job waits exactly as long as before."]
    same = len(changes) - better - worse
    return [f"Of {_jobs(len(changes))}, {better:,} wait less, {worse:,} wait longer, {same:,} just as long."]


def _sides(base: Shown, result: Shown) -> list[str]:
    """The size class and the user who lose most, where anybody of some weight does."""
    sentences = []
    for key, words in (("size", "Jobs of {} cores lose most"), ("user", "User {} loses most")):
        if key != "size" and not base.record.jobs[key].count():
            continue
        table = compare_by([base, result], key)
        change = next(column for column in table.columns if column.endswith(" difference"))
        table = table.filter((pl.col("jobs") >= LEAST_JOBS) & (pl.col(change) > 60) & pl.col(key).is_not_null())
        if table.height:
            row = table.sort(change).row(-1, named=True)
            who = words.format(shorten(row[key], 40))
            others = (
                f" ({table.height:,} {'size classes' if key == 'size' else 'users'} lose)" if table.height > 1 else ""
            )
            sentences.append(f"{who}: {format_duration(row[change])} more on average{others}.")
    return sentences


def _winner(names: Sequence[str], summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    if len(names) < 3 or len({summary.get("started") for summary in summaries}) > 1:
        return []
    found = []
    for key, words in (("mean_wait", "mean wait"), ("p95_wait", "95 % wait"), ("mean_bounded_slowdown", "slowdown")):
        values = {name: summary.get(key) for name, summary in zip(names, summaries, strict=True)}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(names) and len(set(known.values())) > 1:
            found.append(f"{words}: {min(known, key=lambda name: known[name])}")
    return [f"Best of all — {'; '.join(found)}."] if found else []


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}"


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _cores(size: str) -> str:
    return "1 core" if size == "1" else f"{size} cores"


def _machine(summary: Mapping[str, Any]) -> str:
    clusters = summary.get("clusters") or {}
    total = sum(clusters.values())
    unit = "place" if (summary.get("facts") or {}).get("shared_time") else "core"
    return f"{total:,} {unit}{'' if total == 1 else 's'}" + (
        f" in {len(clusters)} clusters" if len(clusters) > 1 else ""
    )
