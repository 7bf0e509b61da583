"""How idle time is broken up: long gaps can be used, many short ones cannot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walltime.analysis.charts.chart import Axis, Chart, Line, Panel
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, find_nodes
from walltime.analysis.charts.schedule.layout import Schedule, lay_out_all
from walltime.analysis.charts.schedule.outages import RESERVED
from walltime.core.errors import InputError
from walltime.core.time import format_duration

MOST_PIECES = 4_000_000
"""Times of use of single cores that are looked at; of more, those of every k-th core."""
POINTS = 400


def gaps(results: Sequence[Shown]) -> Chart:
    """How idle time is broken up: the share of idle core-hours in gaps of at most so long, on clusters of nodes."""
    marks, notes = [], []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        plan = lay_out_all(result.record)
        find_nodes(result, plan)
        lengths = np.sort(find_gaps(plan))
        if not len(lengths):
            raise InputError(f"{result.label}: no core was ever idle")
        share = np.cumsum(lengths) / lengths.sum()
        keep = np.unique(np.searchsorted(share, np.linspace(0, 1, POINTS)).clip(0, len(share) - 1))
        marks.append(Line(label, np.maximum(lengths[keep], 1.0), share[keep], number, step=True))
        half = format_duration(float(lengths[np.searchsorted(share, 0.5)]))
        notes.append(f"{label}: half of the idle time is in gaps of {half} or longer; {len(lengths):,} gaps.")
    panel = Panel(
        Axis("length of a gap", "duration", log=True),
        Axis("share of idle core-hours", "share", low=0, high=1),
        tuple(marks),
    )
    return Chart("gaps", "Idle gaps", (panel,), find_clock(results), tuple(notes))


def find_gaps(plan: Schedule, most: int = MOST_PIECES) -> np.ndarray:
    """The lengths (seconds) of the times in which a core neither worked nor was down, in no order.

    Of more than `most` pieces, only every k-th core is looked at.
    """
    down = plan.outages.kinds != RESERVED
    pairs = ((plan.start, plan.outages.start), (plan.end, plan.outages.end), (plan.low, plan.outages.low))
    start, end, low = (np.concatenate((jobs, out[down])) for jobs, out in pairs)
    high = np.concatenate((plan.high, plan.outages.high[down]))
    every = max(1, -(-int((high - low).sum()) // most))
    first = -(-low // every)
    count = np.maximum(-(-high // every) - first, 0)
    of = np.repeat(np.arange(len(low)), count)
    row = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(of))
    rows = -(-plan.rows // every)
    # Each core is taken before and after the picture, so that what lies between is idle.
    edges = np.arange(rows)
    row = np.concatenate((row, edges, edges))
    begin = np.concatenate((start[of], np.full(rows, -np.inf), np.full(rows, plan.last)))
    stop = np.concatenate((np.minimum(end[of], plan.last), np.full(rows, plan.first), np.full(rows, np.inf)))
    order = np.lexsort((begin, row))
    between = begin[order][1:] - stop[order][:-1]
    same = row[order][1:] == row[order][:-1]
    return np.asarray(between[same & (between > 0)])
