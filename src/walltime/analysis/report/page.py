"""The page of results: sections in their order, and the data behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from walltime.analysis.charts import make_chart
from walltime.analysis.charts.chart import Chart, ScheduleBlocks, shorten
from walltime.analysis.charts.quantities import Shown, find_clock
from walltime.analysis.charts.schedule.colouring import describe_classes
from walltime.analysis.charts.schedule.layout import Schedule, lay_out, lay_out_all
from walltime.analysis.compare import distinct_labels
from walltime.analysis.metrics import PEOPLE, core_seconds
from walltime.analysis.report import MOST_JOBS, MOST_RESULTS
from walltime.analysis.report.analyses import write_analyses
from walltime.analysis.report.encode import Packer, encode_chart, encode_clock, encode_schedule
from walltime.analysis.report.groups import write_topics
from walltime.analysis.report.shell import fill, shell, write_contents, write_figure, write_items, write_section
from walltime.analysis.report.tables import group_tables, what_was_simulated, write_figures
from walltime.analysis.report.words import describe
from walltime.core.errors import InputError
from walltime.core.tables import STATES

_Wish = tuple[str, dict[str, Any]]
_Section = tuple[str, str, str]
"""Its anchor on the page, its title, and its HTML."""
_WAITS = "Waits and slowdowns"
_ALWAYS: dict[str, tuple[_Wish, ...]] = {
    "Over time": (
        ("utilization", {}),
        ("cores", {}),
        ("jobs", {}),
        ("queue", {}),
        ("median-wait", {}),
        ("cumulative-wait", {}),
        ("free", {}),
        ("gaps", {}),
        ("usage", {"by": "user"}),
        ("load", {}),
        ("nodes", {}),
        ("node-load", {}),
        ("fairshare", {}),
        ("shares", {}),
        ("loads", {}),
        ("failures", {}),
    ),
    _WAITS: (
        ("cdf", {}),
        ("cdf", {"of": "slowdown"}),
        ("histogram", {}),
        ("scatter", {}),
        ("boxes", {"by": "size"}),
        ("boxes", {"by": "size", "of": "slowdown"}),
        ("boxes", {"by": "queue"}),
        ("boxes", {"by": "queue", "of": "slowdown"}),
        ("boxes", {"by": "user"}),
        ("boxes", {"by": "user", "of": "slowdown"}),
        ("slowdown-map", {}),
    ),
    "Workflows": (("workflows", {}),),
    "Users": (("fairness", {"by": "user"}), ("users", {"by": "user"})),
    "When people submit": (("arrivals", {}),),
    "The trace and the simulation": (("recorded", {}),),
}
_WHOLE = ("nodes", "node-load", "gaps")
"""Pictures of the whole schedule, with every job."""
_SHARED: tuple[_Wish, ...] = (("cdf", {"of": "response"}), ("boxes", {"by": "size", "of": "response"}))
"""Where tasks share the time of cores jobs hardly wait, and take longer instead."""
_OF_ONE = ("usage", "arrivals", "nodes", "fairshare", "shares", "loads", "failures")
"""Pictures of one result."""
_EACH = ("fairshare", "failures")
"""Those that a report of several results shows for each of them."""


def make_report(
    results: Sequence[Shown],
    *,
    title: str | None = None,
    window: tuple[float | None, float | None] = (None, None),
    most: int = MOST_JOBS,
    analyses: Sequence[str] = (),
) -> str:
    """The report as the text of an HTML file."""
    _check(results, most)
    labels = distinct_labels(results)
    charts: dict[str, dict[str, Any]] = {}
    lacking: list[str] = []
    plain = _first_sections(results, charts, lacking)
    folded = _folded_sections(results, charts, lacking, analyses)
    packer = Packer()
    header = {
        "labels": labels,
        "states": STATES,
        "classes": describe_classes(),
        "clock": encode_clock(find_clock(results)),
        "charts": charts,
        "groups": group_tables(results),
        "schedules": [encode_schedule(plan, packer) for plan in _lay_out(results, window, most)],
    }
    first, second, *others = [write_section(*section) for section in plain]
    rest = [write_section(*section, fold=True) for section in folded]
    nav = write_contents([(anchor, title) for anchor, title, found in (*plain, *folded) if found])
    beside = " class=beside" if len(results) <= 2 else ""  # more of them need the whole width
    body = f"{nav}<div{beside}>{first}{second}</div>{''.join(others)}{''.join(rest)}"
    return shell(title or " · ".join(labels), body, packer.finish(header))


def _check(results: Sequence[Shown], most: int) -> None:
    """Raise InputError where there is nothing to report, or too much."""
    if not results:
        raise InputError("a report needs a result")
    if len(results) > MOST_RESULTS:
        raise InputError(f"a report shows at most {MOST_RESULTS} results", value=len(results))
    if not 1 <= most <= MOST_JOBS:
        raise InputError(f"a report has 1 to {MOST_JOBS:,} jobs in full detail", value=most)
    if not any(result.record.jobs.height for result in results):
        raise InputError("there is nothing to report: no result has a job")


def _first_sections(results: Sequence[Shown], charts: dict[str, Any], lacking: list[str]) -> list[_Section]:
    """What is seen at first sight."""
    rivals = _compare_section(results, charts, lacking) if len(results) > 1 else ""
    waits = _pictures((("waits", {}),), results, charts, lacking)
    return [
        ("summary", "In short", f"<ul class=words>{write_items(describe(results))}</ul>"),
        ("figures", "Figures", write_figures(results)),
        ("differences", "Who wins and who loses", rivals),
        ("time", "Waits over time", waits),
        *write_topics(results, lambda kind, options: _try(kind, options, results, charts, lacking)),
        ("schedule", "The schedule", "<div id=gantt class=gantt></div>"),
    ]


def _folded_sections(
    results: Sequence[Shown], charts: dict[str, Any], lacking: list[str], analyses: Sequence[str]
) -> list[_Section]:
    """The rest, which a click opens."""
    wanted = dict(_ALWAYS)
    if any(result.record.facts.get("shared_time") for result in results):
        wanted[_WAITS] = (*_SHARED, *wanted[_WAITS])
    pictures = [(_place(name), name, _pictures(wishes, results, charts, lacking)) for name, wishes in wanted.items()]
    return [
        *pictures,
        ("analyses", "Analyses", write_analyses(results, analyses)),
        ("groups", "Who waits", "<div id=tables></div>"),
        ("about", "What was simulated", f"{what_was_simulated(results)}{_lacking(lacking)}"),
    ]


def make_picture_page(chart: Chart, theme: str = "light") -> str:
    """One picture as an HTML file that can be zoomed and hovered; `theme` is only what it begins with."""
    packer = Packer()
    plans = [mark for mark in chart.marks if isinstance(mark, ScheduleBlocks)]
    header: dict[str, Any] = {
        "labels": [panel.title or chart.title for panel in chart.panels],
        "states": STATES,
        "classes": describe_classes(),
        "clock": encode_clock(chart.clock),
        "charts": {} if plans else {"c0": encode_chart(chart)},
        "groups": [],
        "schedules": [encode_schedule(mark.schedule, packer) for mark in plans],
    }
    body = f"<section><h2>{escape(chart.title)}</h2><div id=gantt class=gantt></div></section>"
    if not plans:
        body = f"<section>{write_figure('c0', chart)}</section>"
    return shell(chart.title, body, packer.finish(header), theme)


def _lay_out(results: Sequence[Shown], window: tuple[float | None, float | None], most: int) -> list[Schedule]:
    """The schedules; of several results the same jobs, so that each can be found in all of them."""
    if len(results) == 1:
        return [lay_out(results[0].record, most, window=window, tight=True)]
    each = most // len(results)
    first = results[0].record
    if first.jobs.height <= each:
        return [lay_out(result.record, each, window=window, tight=True) for result in results]
    order = np.argsort(-core_seconds(first), kind="stable")[:each]
    only = first.jobs["job_id"].to_numpy()[order]
    return [lay_out(result.record, each, window=window, only=only, tight=True) for result in results]


def _lay_out_all(results: Sequence[Shown]) -> list[Schedule]:
    """The whole schedules of clusters of nodes, to be held while pictures are drawn that share them."""
    return [lay_out_all(result.record) for result in results if result.record.facts.get("nodes")]


def _place(name: str) -> str:
    """The identity of a section on the page."""
    return name.split()[0].lower()


def _pictures(wishes: Sequence[_Wish], results: Sequence[Shown], charts: dict[str, Any], lacking: list[str]) -> str:
    """Those of the pictures that the results have; nothing where they have none of them."""
    figures = []
    people = _find_people(results)
    whole = _lay_out_all(results) if any(kind in _WHOLE for kind, _ in wishes) else []
    for kind, wished in wishes:
        options = wished | {"by": people} if wished.get("by") == "user" else wished
        if kind in _OF_ONE and len(results) > 1:
            figures += _one_by_one(kind, options, results, charts)
        else:
            figures.append(_try(kind, options, results, charts, lacking))
    del whole  # a million jobs are large
    found = fill(figures)
    return f"<div class=grid>{found}</div>" if found else ""


def _one_by_one(kind: str, options: dict[str, Any], results: Sequence[Shown], charts: dict[str, Any]) -> list[str]:
    """A picture of one result for each of several, where it differs and there is room; else the first one's or none."""
    if kind == "arrivals":
        return [_try(kind, options, results[:1], charts, [])]
    if kind not in _EACH:
        return []
    first, *others = [result.record.outages for result in results]
    same = kind == "failures" and all(
        first is not None and table is not None and table.equals(first) for table in others
    )
    return [_try(kind, options, [result], charts, [], result.label) for result in (results[:1] if same else results)]


def _compare_section(results: Sequence[Shown], charts: dict[str, Any], lacking: list[str]) -> str:
    """Who wins and who loses: figures with intervals, job by job, by size class and by user."""
    figures = [_try(kind, {}, results, charts, lacking) for kind in ("compare", "change")]
    for other in results[1:]:
        figures.append(_try("difference", {"of": "waiting_jobs"}, [results[0], other], charts, lacking))
        for key in ("size", _find_people(results)):
            figures.append(_try("winners", {"by": key}, [results[0], other], charts, lacking))
    pair = fill(figures[:2])
    found = fill(figures[2:])
    more = f"<details class=fold><summary>By size class and user</summary><div class=grid>{found}</div></details>"
    return f"<div class=grid>{pair}</div>{more if found else ''}" if pair or found else ""


def _find_people(results: Sequence[Shown]) -> str:
    """By what people are told apart in all of the results."""
    known = [key for key in PEOPLE if all(result.record.jobs[key].count() for result in results)]
    return known[0] if known else "user"


def _try(
    kind: str,
    options: dict[str, Any],
    results: Sequence[Shown],
    charts: dict[str, Any],
    lacking: list[str],
    label: str = "",
) -> str:
    """A figure of the chart, or nothing and a line about why not; `label` is whose it is, where it is not all's."""
    try:
        chart = make_chart(kind, results, **options)
    except InputError as error:
        words = " ".join([kind, *(f"{key} {value}" for key, value in options.items())])
        lacking.append(f"{words}: {error.what}")
        return ""
    if label:
        chart = replace(chart, title=f"{chart.title} – {shorten(label, 40)}")
    name = f"c{len(charts)}"
    charts[name] = encode_chart(chart)
    return write_figure(name, chart)


def _lacking(reasons: Sequence[str]) -> str:
    if not reasons:
        return ""
    words = "Pictures that these results have nothing for"
    return f"<details><summary>{words}</summary><ul>{write_items(reasons)}</ul></details>"
