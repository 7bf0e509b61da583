"""What the figures say, in plain words: the first thing that a report tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from walltime.analysis.calibration.file import tell_calibration
from walltime.analysis.charts.chart import shorten
from walltime.analysis.charts.quantities import Shown
from walltime.analysis.compare import distinct_labels
from walltime.analysis.headline import (
    FIGURES,
    Comparison,
    FigureChange,
    compare_headlines,
    count_jobs,
    find_best,
    find_remarks,
    percent,
)
from walltime.analysis.metrics import PEOPLE, by, in_experiment
from walltime.analysis.report.tables import count_disruptions
from walltime.analysis.winners import find_winners
from walltime.core.time import format_duration

LEAST_JOBS = 20
"""Jobs that a size class must have for a sentence about its waits."""
LEAST_CHANGE = 60.0
"""Seconds of change on average that are worth a sentence."""
BEST = ("mean_wait", "p95_wait", "mean_bounded_slowdown")
"""Of which figures the best of several results is told."""


def describe(results: Sequence[Shown]) -> list[str]:
    """Sentences about one result, or about several against the first; each is true of the tables as they are."""
    return _describe_one(results[0]) if len(results) == 1 else _describe_several(results)


def _describe_one(result: Shown) -> list[str]:
    summary = result.summary
    sentences = [f"{_setting(result)}, scheduled by {shorten(result.label, 60)}."]
    if not summary.get("started"):
        return [*sentences, "No job ever started."]
    sentences += _wait_sentence(summary)
    if summary.get("utilization_window") is not None:
        sentences.append(f"The machine was used to {percent(summary['utilization_window'])} in the observation window.")
    sentences += _size_sentence(result)
    sentences += _disruption_sentence(summary)
    if (trust := tell_calibration(summary.get("facts") or {})) is not None:
        sentences.append(trust)
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
    counts = {words: count_disruptions(summary, key) for key, words in ways.items()}
    parts = [f"{_times(count)} {words}" for words, count in counts.items() if count]
    sentences = []
    if parts:
        lost = (summary.get("lost_core_seconds") or 0.0) / 3600
        cost = f"; {lost:,.0f} core-hours of their work were lost" if lost >= 1 else ""
        sentences.append(f"Jobs were {_join(parts)}{cost}.")
    if summary.get("waiting"):
        sentences.append(f"{count_jobs(summary['waiting'])} still waited at the end.")
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
    base = results[0]
    names = [shorten(label, 40) for label in distinct_labels(results)]
    sentences = [f"{_setting(base)}; {', '.join(names[1:])} against {names[0]}."]
    for name, result, found in zip(names[1:], results[1:], compare_headlines(results), strict=True):
        parts = [_difference(names[0], name, found), found.tell_verdicts(), found.tell_jobs()]
        parts += _sides(base, result) if found.judged else []
        sentences.append(" ".join(part for part in parts if part))
    told = (tell_calibration(result.summary.get("facts") or {}) for result in results)
    sentences += list(dict.fromkeys(trust for trust in told if trust is not None))
    sentences += _winner(names, [result.summary for result in results])
    sentences += [f"Careful: {remark}." for remark in find_remarks(results)]
    return sentences


def _difference(base: str, name: str, found: Comparison) -> str:
    """The mean wait and the utilization in words; the other figures are in the table."""
    told = {"mean_wait": _tell_wait, "utilization_window": _tell_use}
    parts = [told[change.figure.key](change) for change in found.changes if change.figure.key in told]
    return f"{name}: {', '.join(parts)}." if parts else f"{name}: mean wait and utilization are those of {base}."


def _tell_wait(change: FigureChange) -> str:
    words = f"{format_duration(change.after)} instead of {format_duration(change.before)}"
    if change.relative is None:
        return f"jobs wait {words} on average"
    if change.relative > 9:
        return f"jobs wait {change.relative + 1:,.0f} times as long on average ({words})"
    side = "less" if change.relative < 0 else "more"
    return f"jobs wait {percent(abs(change.relative))} {side} on average ({words})"


def _tell_use(change: FigureChange) -> str:
    return f"utilization is {percent(change.after)} instead of {percent(change.before)}"


def _sides(base: Shown, result: Shown) -> list[str]:
    """The size class and the user that lose most in all, by the same figures as `walltime compare --by`."""
    sentences = []
    people = next((key for key in PEOPLE if base.record.jobs[key].count()), None)
    for key in ("size", *([people] if people else ())):
        found = find_winners(base, result, key)
        losers = found.table.filter((pl.col("effect") > 0) & pl.col(key).is_not_null()).sort("effect", key)
        if not losers.height or losers["difference"][-1] < LEAST_CHANGE:
            continue
        row = losers.row(-1, named=True)
        who = (
            f"Jobs of {_cores(row['size'])} lose"
            if key == "size"
            else f"{key.capitalize()} {shorten(row[key], 40)} loses"
        )
        judged = "" if row["verdict"] == "loses" else f", {row['verdict']}"
        others = f"{found.balance.lose:,} of {found.balance.groups:,} {'size classes' if key == 'size' else f'{key}s'}"
        sentences.append(f"{who} most ({format_duration(row['difference'])} more on average{judged}); {others} lose.")
    return sentences


def _winner(names: Sequence[str], summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    if len(names) < 3:
        return []
    found = []
    for figure in (figure for figure in FIGURES if figure.key in BEST):
        best = find_best(figure, summaries)
        if best is not None:
            winner = next(name for name, one in zip(names, summaries, strict=True) if one.get(figure.key) == best)
            found.append(f"{figure.words}: {winner}")
    return [f"Best of all — {'; '.join(found)}."] if found else []


def _cores(size: str) -> str:
    return "1 core" if size == "1" else f"{size} cores"


def _setting(result: Shown) -> str:
    """How many jobs on which machine; where jobs have phases, how many count."""
    summary = result.summary
    text = f"{count_jobs(summary['jobs'])} on {_machine(summary)}"
    seen = in_experiment(result.record)
    if seen is result.record:
        return text
    return f"{text}, {seen.jobs.height:,} of them in the experiment, which the figures are over"


def _machine(summary: Mapping[str, Any]) -> str:
    clusters = summary.get("clusters") or {}
    total = sum(clusters.values())
    unit = "place" if (summary.get("facts") or {}).get("shared_time") else "core"
    return f"{total:,} {unit}{'' if total == 1 else 's'}" + (
        f" in {len(clusters)} clusters" if len(clusters) > 1 else ""
    )
