"""The tables of a report, as HTML that can be read without any script; every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from walltime.analysis import headline
from walltime.analysis.charts.chart import clean
from walltime.analysis.charts.quantities import Shown
from walltime.analysis.compare import distinct_labels
from walltime.analysis.headline import Figure, count_jobs, find_best, percent, percent_change, ratio
from walltime.analysis.metrics import DERIVED, KEYS
from walltime.analysis.metrics import by as figures_by
from walltime.core.time import format_duration

MOST_GROUPS = 5_000
"""Users (or queues, ...) that the page lists; of more, those with the most core-seconds."""


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _core_hours(value: float | None) -> str:
    return "–" if value is None else f"{value / 3600:,.0f}"


_HEADLINE = {figure.key: figure for figure in headline.FIGURES}
FIGURES = (
    *(_HEADLINE[key] for key in ("mean_wait", "median_wait", "p95_wait", "max_wait", "mean_bounded_slowdown")),
    Figure("median_bounded_slowdown", "median bounded slowdown", ratio),
    Figure("mean_response", "mean response", format_duration),
    _HEADLINE["utilization_window"],
    Figure("utilization", "utilization, first submission to last end", percent, +1),
    _HEADLINE["makespan"],
    Figure("jain_fairness", "Fairness between users (Jain)", ratio, +1),
    Figure("started", "Jobs started", _count, 0),
    Figure("completed", "… completed", _count, 0),
    Figure("killed", "… killed at their limit", _count, 0),
    Figure("failed", "… failed", _count, 0),
    Figure("cancelled", "Jobs cancelled", _count, 0),
    Figure("rejected", "Jobs rejected", _count, 0),
    Figure("running", "Jobs left running", _count, 0),
    Figure("waiting", "Jobs left waiting", _count, 0),
    Figure("backfilled", "Jobs backfilled", _count, 0),
    Figure("preemptions", "Jobs displaced by others", _count, 0),
    Figure("suspensions", "Jobs suspended for others", _count, 0),
    Figure("interruptions", "Jobs interrupted by failures", _count, 0),
    Figure("lost_core_seconds", "Core-hours lost", _core_hours, 0),
    Figure("down_core_seconds", "Core-hours down", _core_hours, 0),
    Figure("longest_queue", "Longest queue", _count, 0),
)
"""Rows of the table of figures: those of the headline, and others."""


def write_figures(results: Sequence[Shown]) -> str:
    """The figures of each result, with the change against the first; what is best is marked by a star."""
    labels = distinct_labels(results)
    heads = "".join(f"<th scope=col><bdi>{escape(label)}</bdi></th>" for label in labels)
    rows = []
    resources = headline.find_figures([result.summary for result in results])[len(headline.FIGURES) :]
    for figure in (*FIGURES, *resources):
        values = [find_figure(result.summary, figure) for result in results]
        if all(value is None or (value == 0 and not figure.better and figure.key != "started") for value in values):
            continue
        best = find_best(figure, [result.summary for result in results])
        cells = "".join(_cell(figure, value, values[0], best, number) for number, value in enumerate(values))
        rows.append(f"<tr><th scope=row>{escape(figure.words[0].upper() + figure.words[1:])}</th>{cells}</tr>")
    star = "★ best of its row. " if any("★" in row for row in rows) else ""
    note = f"<p class=note>{star}{escape(_explain(results[0].summary))}</p>"
    table = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<div class=scroll tabindex=0><table class=figures>{table}</table></div>{note}"


def _explain(summary: Mapping[str, Any]) -> str:
    """What the figures are over."""
    window = summary.get("window") or {}
    text = f"Waits and slowdowns are over {summary.get('means_over', 'started jobs')}."
    if window.get("start") is None:
        return text
    length = format_duration(window["end"] - window["start"])
    return f"{text} Utilization is over the observation window: {length}, {count_jobs(window['jobs'])} submitted in it."


def find_figure(summary: Mapping[str, Any], figure: Figure) -> Any:
    """A figure of the summary, or a count of its disruptions."""
    found = figure.value(summary)
    return count_disruptions(summary, figure.key) if found is None else found


def count_disruptions(summary: Mapping[str, Any], kind: str) -> Any:
    """How often something disturbed jobs; None where that was not counted."""
    return ((summary.get("facts") or {}).get("disruptions") or {}).get(kind)


def _cell(figure: Figure, value: Any, base: Any, best: float | None, number: int) -> str:
    text = escape(figure.text(value))
    if best is not None and value is not None and figure.text(value) == figure.text(best):
        text = f"<strong>{text}\u202f★</strong>"
    if number and value is not None and base and figure.text(value) != figure.text(base):
        words = percent_change((value - base) / abs(base))
        text += f" <small>{words.replace('-', '−')}</small>"
    return f"<td>{text}</td>"


def what_was_simulated(results: Sequence[Shown]) -> str:
    """Workload, machine, scheduler and provenance of each result."""
    labels = distinct_labels(results)
    described = [_describe(result) for result in results]
    keys = list(dict.fromkeys(key for items in described for key in items))
    rows = []
    for key in keys:
        texts = [items.get(key, "–") for items in described]
        if len(set(texts)) == 1:
            cells = f"<td colspan={len(texts)}><bdi>{escape(texts[0])}</bdi></td>"
        else:
            cells = "".join(f"<td><bdi>{escape(text)}</bdi></td>" for text in texts)
        rows.append(f"<tr><th scope=row>{escape(key)}</th>{cells}</tr>")
    heads = "".join(f"<th scope=col><bdi>{escape(label)}</bdi></th>" for label in labels)
    head = f"<thead><tr><td></td>{heads}</tr></thead>" if len(labels) > 1 else ""
    return f"<div class=scroll tabindex=0><table class=plain>{head}<tbody>{''.join(rows)}</tbody></table></div>"


def _describe(result: Shown) -> dict[str, str]:
    summary = result.summary
    facts = summary.get("facts") or {}
    items = {"Jobs": f"{summary['jobs']:,}"}
    left_out = (facts.get("start") or {}).get("left_out") or {}
    for reason, count in (*(summary.get("skipped_reasons") or {}).items(), *left_out.items()):
        items["Skipped"] = "; ".join(filter(None, (items.get("Skipped"), f"{count:,} {reason}")))
    scenario = getattr(result, "scenario", None)
    workload = getattr(scenario, "workload", None)
    if workload is not None and getattr(workload, "trace", None):
        items["Workload"] = str(workload.trace).rpartition("/")[2]
    items["Machine"] = "; ".join(
        _machine(name, cores, facts) for name, cores in (summary.get("clusters") or {}).items()
    )
    for cluster in getattr(scenario, "clusters", ()) or ():
        parts = (f"{kind} {getattr(cluster.scheduler, kind).name}" for kind in ("order", "backfill", "estimate"))
        items["Scheduler" if len(scenario.clusters) == 1 else f"Scheduler of {cluster.name}"] = ", ".join(parts)  # type: ignore[union-attr]
    if scenario is not None:
        items["Seed"] = str(scenario.seed)
    if facts.get("overrun"):
        items["Beyond the requested time"] = {"kill": "killed", "extend": "runs on"}.get(
            facts["overrun"], facts["overrun"]
        )
    if summary.get("perfect_estimates"):
        items["Perfect estimates"] = f"{summary['perfect_estimates']:,} jobs: their run times were known in advance"
    if facts.get("until") is not None:
        items["Cut off at"] = format_duration(facts["until"])
    items["Digest"] = str(summary.get("digest", ""))[:16] + "…"
    version = (getattr(result, "provenance", None) or {}).get("version")
    if version:
        items["Simulated by"] = f"Walltime {version}"
    return items


def _machine(name: str, cores: int, facts: Mapping[str, Any]) -> str:
    runs = ((facts.get("nodes") or {}).get(name) or {}).get("cores")
    if not runs:
        return f"{name}: {cores:,} cores"
    groups = " + ".join(f"{count:,} × {each}" for count, each in runs[:6]) + (" + …" if len(runs) > 6 else "")
    return f"{name}: {cores:,} cores, nodes {groups}"


def group_tables(results: Sequence[Shown]) -> list[dict[str, Any]]:
    """Figures of every size class, queue, user, ... under each result, for the page to sort and search."""
    tables = []
    for key in ("size", *(key for key in KEYS if key not in ("size", "cluster"))):
        if key not in DERIVED and not results[0].record.jobs[key].count():
            continue
        frames = [figures_by(result.record, key) for result in results]
        first = frames[0].head(MOST_GROUPS)
        names = [None if name is None else clean(str(name)[:200]) for name in first[key].to_list()]
        columns: dict[str, list[Any]] = {
            "jobs": first["jobs"].to_list(),
            "hours": [_hours(v) for v in first["core_seconds"]],
        }
        for number, frame in enumerate(frames):
            mine = first.select(key).join(frame, on=key, how="left", nulls_equal=True, maintain_order="left")
            columns[f"wait {number}"] = [_round(value) for value in mine["mean_wait"]]
            columns[f"slow {number}"] = [_round(value) for value in mine["mean_bounded_slowdown"]]
        tables.append({"key": key, "names": names, "total": frames[0].height, "columns": columns})
    return tables


def _hours(core_seconds: float) -> float:
    return float(f"{core_seconds / 3600:.6g}")


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
