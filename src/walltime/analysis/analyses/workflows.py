"""The workflows of a result, each with its type, way, wait, run time, turnaround and stretch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from walltime.analysis.workflows import COLUMNS, find_workflows

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown


def list_workflows(result: Shown) -> pl.DataFrame:
    """A row for each workflow, in order of submission; none where there are no workflows."""
    if not result.record.facts.get("workflows"):
        texts: dict[str, Any] = dict.fromkeys(("workflow", "name", "way", "state"), pl.String)
        return pl.DataFrame(schema={name: texts.get(name, pl.Float64) for name in COLUMNS} | {"tasks": pl.Int64})
    return find_workflows(result.record)
