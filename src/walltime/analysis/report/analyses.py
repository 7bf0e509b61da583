"""What analyses found, as tables of the report: figures side by side, then each result's tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from walltime.analysis.analyses import analyse
from walltime.analysis.compare import distinct_labels
from walltime.analysis.report.shell import write_table
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
    body = write_table(["", *labels], [[key, *(own.figures.get(key) for own in found)] for key in keys]) if keys else ""
    for label, own in zip(labels, found, strict=True):
        for name, table in own.tables.items():
            rows = [list(row) for row in table.head(MOST_ROWS).iter_rows()]
            left = f"<p class=note>{MOST_ROWS} of {table.height:,} rows.</p>" if table.height > MOST_ROWS else ""
            body += f"<h3><bdi>{escape(f'{name}: {label}')}</bdi></h3>{write_table(table.columns, rows)}{left}"
    return body
