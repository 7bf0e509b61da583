"""The HTML around a report: its head, styles and scripts; and the pieces that pages are made of."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from walltime.analysis.charts.chart import Chart, clean
from walltime.analysis.charts.palette import DARK, LIGHT, Theme

SCRIPTS = (
    "ticks.js",
    "chart.js",
    "marks.js",
    "hover.js",
    "jobs.js",
    "gantt.js",
    "outages.js",
    "gantt_input.js",
    "export.js",
    "tables.js",
    "cells.js",
    "main.js",
)
"""The page's scripts, in the order in which they build upon each other."""


def fill(figures: Sequence[str]) -> str:
    """The figures in one text; two narrow ones stand beside each other, and one that is left over becomes wide."""
    found = [figure for figure in figures if figure]
    narrow = [number for number, figure in enumerate(found) if not figure.startswith("<figure class=wide")]
    if len(narrow) % 2:
        found[narrow[-1]] = found[narrow[-1]].replace("<figure", "<figure class=wide", 1)
    return "".join(found)


def write_section(anchor: str, title: str, body: str, *, fold: bool = False) -> str:
    """A section with its heading; a folded one opens by a click, and for printing. Nothing where it has no body."""
    if not body:
        return ""
    head = f"<h2>{escape(title)}</h2>"
    inner = f"<details class=fold><summary>{head}</summary>{body}</details>" if fold else f"{head}{body}"
    return f"<section id={anchor}>{inner}</section>"


def write_contents(sections: Sequence[tuple[str, str]]) -> str:
    """Links to the sections (anchor, title), which stay in view."""
    links = "".join(f"<a href=#{anchor}>{escape(title)}</a>" for anchor, title in sections)
    return f'<nav class=contents aria-label="Contents">{links}</nav>'


def write_figure(name: str, chart: Chart) -> str:
    """The place of a chart, which the page's scripts draw."""
    wide = len(chart.panels) > 1 or any(panel.x.kind == "time" for panel in chart.panels)
    notes = "".join(f"<p class=note><bdi>{escape(note)}</bdi></p>" for note in chart.notes)
    kind = " class=wide" if wide else ""
    head = f"<figcaption><h3 id=t-{name}><bdi>{escape(chart.title)}</bdi></h3></figcaption>"
    return f"<figure{kind} data-chart={name} data-kind={chart.kind}>{head}<div class=chart></div>{notes}</figure>"


def write_items(sentences: Sequence[str]) -> str:
    """Sentences as items of a list."""
    return "".join(f"<li><bdi>{escape(sentence)}</bdi></li>" for sentence in sentences)


def write_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A plain table; numbers are shortened."""
    head = "".join(f"<th scope=col><bdi>{escape(clean(text))}</bdi></th>" for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td><bdi>{escape(clean(_write(value)))}</bdi></td>' for value in row)}</tr>" for row in rows
    )
    table = f"<table class=plain><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class=scroll tabindex=0>{table}</div>"


def _write(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def shell(title: str, body: str, data: str, theme: str | None = None) -> str:
    """The HTML around it. Its policy lets nothing in from outside and runs no script but ours."""
    script, style = _scripts(), _styles()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:"
    chosen = f" data-theme={theme}" if theme else ""
    return (
        f"<!doctype html><html lang=en{chosen}><head><meta charset=utf-8>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name=viewport content="width=device-width, initial-scale=1"><meta name=referrer content=no-referrer>'
        f"<link rel=icon href=data:,><title>{escape(title)} – Walltime</title><style>{style}</style></head><body>"
        f"<a class=skip href=#main>To the report</a><header><h1><bdi>{escape(title)}</bdi></h1>"
        "<div class=tools><button type=button id=theme>Light or dark</button></div></header>"
        "<noscript><p class=note>The pictures need JavaScript; the figures do not.</p></noscript>"
        f"<main id=main>{body}</main><p id=broken class=note role=alert hidden></p>"
        f"<footer><p class=note>Made by Walltime {escape(_find_version())}. This file is complete: it loads "
        "nothing from anywhere.</p></footer>"
        "<div id=tip role=tooltip hidden></div><div id=live class=away aria-live=polite></div>"
        f'<script type="text/plain" id=data>{data}</script><script>{script}</script></body></html>\n'
    )


def _find_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("walltime")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "from a source tree"


@cache
def _scripts() -> str:
    """All scripts as one, in a scope of its own."""
    folder = files("walltime.analysis.report") / "page"
    parts = [(folder / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {"use strict";\n' + "\n".join(parts) + "\n})();"


@cache
def _styles() -> str:
    """The style sheet with the colours of both themes; paper is light."""
    sheet = (files("walltime.analysis.report") / "page" / "page.css").read_text(encoding="utf-8")
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{color-scheme:light;{light}}}}}"
        f"{sheet}"
    )


def _variables(theme: Theme) -> str:
    """The colours as CSS variables: --ink, --c0, --s0 (sequence), --d0 (diverging), --state0."""
    letters = {"categories": "c", "sequence": "s", "diverging": "d", "states": "state"}
    texts = []
    for entry in fields(theme):
        value = getattr(theme, entry.name)
        if entry.name in letters:
            more = theme.shades if entry.name == "categories" else ()
            texts += [f"--{letters[entry.name]}{number}:{colour}" for number, colour in enumerate((*value, *more))]
        elif entry.name != "name":
            texts.append(f"--{entry.name}:{value}")
    return ";".join(texts)
