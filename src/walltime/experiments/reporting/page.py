"""The page of an experiment: the grid, the verdicts, any two cells against each other, and its runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from walltime.analysis.charts.chart import Chart, Clock, clean, shorten
from walltime.analysis.charts.grids import draw_curves, draw_map
from walltime.analysis.charts.quantities import find_clock
from walltime.analysis.charts.schedule.colouring import describe_classes
from walltime.analysis.charts.schedule.layout import lay_out
from walltime.analysis.headline import BRIEF, FIGURES
from walltime.analysis.noise import estimate
from walltime.analysis.report import MOST_JOBS
from walltime.analysis.report.encode import LONGEST, Packer, encode_chart, encode_clock, encode_schedule
from walltime.analysis.report.shell import fill, shell, write_figure, write_items, write_table
from walltime.core.errors import InputError
from walltime.core.tables import STATES
from walltime.experiments.answers.cautions import find_cautions
from walltime.experiments.answers.losers import REPLAY
from walltime.experiments.comparison import compare_cells
from walltime.experiments.reporting.contents import CellRuns, ReportContents
from walltime.experiments.reporting.pairs import MOST_PAIRS, find_pairs

if TYPE_CHECKING:
    from walltime.api import Result
    from walltime.experiments.store import Store

MOST_SENTENCES = 24
"""Verdicts that are in sight; the others unfold."""
MOST_CELLS = 200
"""Cells that the table of figures lists."""
MOST_RUNS = 2_000
"""Runs that are listed."""
MOST_SCHEDULES = 24
"""Schedules in one file."""
_SCHEDULE = (
    "<section id=schedule><h2>The schedule</h2><h3><bdi id=chosen></bdi></h3><div id=gantt class=gantt></div></section>"
)


def make_page(store: Store, name: str, *, title: str | None = None, more: Sequence[str] = ()) -> str:
    """The report of an experiment as the text of an HTML file; raises InputError."""
    contents = ReportContents(store, name)
    figures = list(dict.fromkeys([*(key for key in BRIEF if key in contents.figures), *more]))
    charts: dict[str, Any] = {}
    drawn = _draw(contents, figures, charts)
    pairs, total = find_pairs(contents)
    packer = Packer()
    runs, shown = _find_runs(contents, figures)
    header = {
        **{"labels": [clean(label)[:LONGEST] for label, _ in shown], "states": STATES, "classes": describe_classes()},
        **{
            "clock": encode_clock(find_clock([result for _, result in shown]) if shown else Clock()),
            "charts": charts,
            "groups": [],
        },
        "schedules": [
            encode_schedule(lay_out(result.record, MOST_JOBS // len(shown), tight=True), packer) for _, result in shown
        ],
        "cells": [clean(cell.name)[:LONGEST] for cell in contents.cells],
        **{"pairs": pairs, "runs": runs},
    }
    body = (
        f"<section id=summary><h2>In short</h2>{_describe(contents)}</section>"
        f"<section id=figures><h2>Figures of the cells</h2>{_write_cells(contents, figures)}</section>"
        f"{drawn}"
        f"<section id=verdicts><h2>Verdicts</h2>{_write_verdicts(contents, figures)}{_write_cautions(contents)}"
        "</section>"
        f"<section id=differences><h2>Who gains and who loses</h2>{_write_pairs(contents, len(pairs), total)}</section>"
        f"<section id=runs><h2>Runs</h2><div id=run-list></div>"
        f"{_note_runs(contents, len(runs['rows']), len(shown))}</section>{_SCHEDULE if shown else ''}"
    )
    return shell(title or name, body, packer.finish(header))


def _describe(contents: ReportContents) -> str:
    counts = contents.registered.counts
    seeds = {seed for cell in contents.cells for seed in cell.runs}
    axes = [f"{axis} ({len(labels)})" for axis, labels in contents.labels.items()]
    told = [
        f"{len(contents.cells):,} cells with finished runs, over {', '.join(axes) or 'no axis'}; {len(seeds):,} seeds.",
        f"{counts['done']:,} of {sum(counts.values()):,} runs are done"
        + (f", {counts['failed']:,} failed." if counts["failed"] else "."),
    ]
    for figure in (one for one in FIGURES if one.key in BRIEF and one.better):
        known = [(estimate(values), cell) for cell in contents.cells if (values := _values(cell, figure.key))]
        if len(known) > 1:
            best, cell = (max if figure.better > 0 else min)(known, key=lambda one: one[0].mean)
            told.append(f"The best {figure.words} is that of {shorten(cell.name, 60)}: {figure.text(best.mean)}.")
    return f"<ul class=words>{write_items([*told, REPLAY])}</ul>"


def _draw(contents: ReportContents, figures: Sequence[str], charts: dict[str, Any]) -> str:
    """The sections with heat maps and curves, of the figures that have them."""
    sections = []
    for heading, name, draw in (("Heat maps", "maps", draw_map), ("Curves", "curves", draw_curves)):
        found = []
        for figure in figures:
            try:
                found.append(_place(draw(contents.grid(figure)), charts))
            except InputError as error:
                if figure not in BRIEF and draw is draw_curves:
                    raise
                del error  # a grid of one axis has no map
        if found:
            sections.append(f"<section id={name}><h2>{heading}</h2><div class=grid>{fill(found)}</div></section>")
    return "".join(sections)


def _place(chart: Chart, charts: dict[str, Any]) -> str:
    name = f"c{len(charts)}"
    charts[name] = encode_chart(chart)
    return write_figure(name, chart)


def _values(cell: CellRuns, figure: str) -> list[float]:
    return [row[figure] for row in cell.runs.values() if row.get(figure) is not None]


def _words(figure: str) -> str:
    return next((one.words for one in FIGURES if one.key == figure), figure)


def _text(figure: str, value: float | None) -> str:
    if value is None:
        return "–"
    known = next((one for one in FIGURES if one.key == figure), None)
    return known.text(value) if known is not None else f"{value:,.6g}"


def _write_cells(contents: ReportContents, figures: Sequence[str]) -> str:
    """Means with intervals of each cell."""
    heads = [*contents.axes, "seeds", *(_words(figure) for figure in figures)]
    rows = []
    for cell in contents.cells[:MOST_CELLS]:
        texts = []
        for figure in figures:
            values = _values(cell, figure)
            found = estimate(values) if values else None
            half = None if found is None or found.high is None else found.high - found.mean
            texts.append(
                _text(figure, None if found is None else found.mean) + (f" ± {_text(figure, half)}" if half else "")
            )
        rows.append([*(shorten(label, 40) for label in cell.labels.values()), f"{len(cell.runs):,}", *texts])
    left = len(contents.cells) - MOST_CELLS
    note = f"<p class=note>{left:,} more cells.</p>" if left > 0 else ""
    return f"{write_table(heads, rows)}<p class=note>Means ± half of the 95 % interval over the seeds.</p>{note}"


def _write_verdicts(contents: ReportContents, figures: Sequence[str]) -> str:
    """Along each axis the levels against the first, in words; corrected for all comparisons of a figure and axis."""
    told = []
    for axis in (axis for axis in contents.axes if len(contents.labels[axis]) > 1):
        for figure in figures:
            for group in compare_cells(contents.store, contents.name, axis, figure):
                where = ", ".join(f"{key} {shorten(label, 40)}" for key, label in group.shared.items())
                told += [f"{where}: {one.sentence}." if where else f"{one.sentence}." for one in group.verdicts]
    if not told:
        return "<p>There is nothing to compare: one cell, or no two with a seed in common.</p>"
    rest = told[MOST_SENTENCES:]
    more = f"<details><summary>{len(rest):,} more</summary><ul>{write_items(rest)}</ul></details>" if rest else ""
    return f"<ul class=words>{write_items(told[:MOST_SENTENCES])}</ul>{more}"


def _write_cautions(contents: ReportContents) -> str:
    lines = find_cautions(contents.store, contents.name)
    return "".join(f"<p class=note>{escape(line)}</p>" for line in lines)


def _write_pairs(contents: ReportContents, pairs: int, total: int) -> str:
    if not pairs:
        return "<p>There are no two cells with a seed in common.</p>"
    notes = []
    if total > MOST_PAIRS:
        notes.append(f"{pairs:,} of {total:,} pairs: those that differ in the fewest axes.")
    if not contents.keys:
        notes.append("Groups are told where the experiment keeps them: keep: {groups: [user, size]}.")
    notes.append(
        "Groups by their 95 % wait, paired by seed, corrected for their number; those with few jobs are left out."
    )
    texts = "".join(f"<p class=note>{escape(note)}</p>" for note in notes)
    return f"<div id=pairs></div>{texts}"


def _find_runs(contents: ReportContents, figures: Sequence[str]) -> tuple[dict[str, Any], list[tuple[str, Result]]]:
    """The runs for the page's list, and the results whose schedules are in it: one of each cell first."""
    from walltime.api import load

    order = sorted(
        ((index, seed, row) for index, cell in enumerate(contents.cells) for seed, row in sorted(cell.runs.items())),
        key=lambda one: (sorted(contents.cells[one[0]].runs).index(one[1]), one[0]),
    )
    chosen = [row["run"] for _, _, row in order if row["run"] in contents.kept][:MOST_SCHEDULES]
    shown: list[tuple[str, Result]] = []
    places: dict[str, int] = {}
    rows = []
    for cell_place, cell in enumerate(contents.cells):
        for seed, row in sorted(cell.runs.items()):
            if row["run"] in chosen:
                result = load(contents.store.results.folder_of(row["run"]) / "result")
                if result.record.allocations.height:
                    places[row["run"]] = len(shown)
                    shown.append((f"{cell.name}, seed {seed}", result))
            values = [_text(figure, row.get(figure)) for figure in figures]
            rows.append([cell_place, str(seed), row["run"][:12], *values, places.get(row["run"], -1)])
    return {"heads": [_words(figure) for figure in figures], "rows": rows[:MOST_RUNS]}, shown


def _note_runs(contents: ReportContents, listed: int, shown: int) -> str:
    done = sum(len(cell.runs) for cell in contents.cells)
    notes = [] if listed == done else [f"{listed:,} of {done:,} runs."]
    if not contents.kept:
        notes.append("No run was kept whole, so there is no schedule to see; keep: tables keeps them.")
    elif shown < done:
        notes.append(f"The schedules of {shown:,} runs are in this file; walltime report shows any result folder.")
    return "".join(f"<p class=note>{escape(note)}</p>" for note in notes)
