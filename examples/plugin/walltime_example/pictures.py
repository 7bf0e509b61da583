"""A picture: what is shown, as data."""

from __future__ import annotations

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Chart, Line, Panel


def waits_by_cores(results, most: int = 50) -> Chart:
    """The mean wait of jobs by their cores, up to `most` sizes."""
    marks = []
    for number, result in enumerate(results):
        jobs = result.jobs.drop_nulls("wait").group_by("cores").agg(pl.col("wait").mean()).sort("cores")
        x = np.array(jobs["cores"].to_list()[:most], float)
        marks.append(Line(result.label, x, np.array(jobs["wait"].to_list()[:most], float), number))
    panel = Panel(Axis("cores", "count"), Axis("mean wait", "duration", low=0), tuple(marks))
    return Chart("waits-by-cores", "Mean wait by cores", (panel,))
