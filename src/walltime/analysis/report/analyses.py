"""What analyses found, as tables of the report: figures side by side, then each result's tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from walltime.analysis.analyses import analyse
from walltime.analysis.compare import distinct_labels
from walltime.scenario import Part

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown

MOST_ROWS = 200
"""Rows of a table that a report shows."""


def write_analyses(results: Sequence[Shown], names: Sequence[str]) -> str:
    """The section; nothing where no analysis is asked for. Raises InputError for one that there is not."""
    if not names:
        return ""
    parts = [Part(name=name) for name in names]
    labels, found = distinct_labels(results), [analyse(result, parts) for result in results]
    keys = list(dict.fromkeys(key for own in found for key in own.figures))
    body = _table(["", *labels], [[key, *(own.figures.get(key) for own in found)] for key in keys]) if keys else ""
    for label, own in zip(labels, found, strict=True):
        for name, table in own.tables.items():
            rows = [list(row) for row in table.head(MOST_ROWS).iter_rows()]
            left = f"<p class=note>{MOST_ROWS} of {table.height:,} rows.</p>" if table.height > MOST_ROWS else ""
            body += f"<h3><bdi>{escape(f'{name}: {label}')}</bdi></h3>{_table(table.columns, rows)}{left}"
    return f"<section id=analyses><h2>Analyses</h2>{body}</section>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th scope=col><bdi>{escape(text)}</bdi></th>" for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td><bdi>{escape(_write(value))}</bdi></td>' for value in row)}</tr>" for row in rows
    )
    table = f"<table class=plain><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class=scroll tabindex=0>{table}</div>"


def _write(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
