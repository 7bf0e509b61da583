"""Charts and schedules as data for the page: plain JSON, and arrays packed behind it."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import (
    Axis,
    Bars,
    Boxes,
    Cells,
    Chart,
    Clock,
    Line,
    Mark,
    Panel,
    Points,
    ScheduleBlocks,
    clean,
)
from walltime.analysis.charts.schedule.colouring import choose_way, find_ways
from walltime.analysis.charts.schedule.layout import Schedule, explain_rows
from walltime.analysis.charts.schedule.outages import Outages
from walltime.core.tables import STATES

LONGEST = 200
"""Letters of a name that the page keeps."""
_EXACT = 1 << 53
"""Whole numbers up to here are exact in JavaScript; beyond, numbers of jobs are sent as texts."""
_LABELS = ("user", "group", "account", "queue", "qos", "cluster", "workflow", "phase")
_TIMES = ("submit", "start", "end", "requested_time", "wait")


class Packer:
    """Collects arrays; the page finds them by their offsets in one run of bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: np.ndarray) -> dict[str, Any]:
        """What the page has to know to find the array again: its type, offset and length."""
        kinds = {"f8": np.float64, "f4": np.float32, "u4": np.uint32, "i4": np.int32, "u2": np.uint16, "u1": np.uint8}
        kind = next(name for name, dtype in kinds.items() if values.dtype == dtype)
        data = np.ascontiguousarray(values).tobytes()
        data += bytes(-len(data) % 8)  # every array begins where a 64-bit number may
        place = {"type": kind, "offset": self._size, "length": len(values)}
        self._parts.append(data)
        self._size += len(data)
        return place

    def finish(self, header: dict[str, Any]) -> str:
        """Header and arrays as one text: gzip in base 64. The same contents give the same text."""
        text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        whole = len(text).to_bytes(8, "little") + text + b"".join(self._parts)
        return base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode()


def encode_chart(chart: Chart) -> dict[str, Any]:
    """The chart for the page's own drawing; schedules are not charts there."""
    return {
        "kind": chart.kind,
        "title": chart.title,
        "notes": list(chart.notes),
        "clock": encode_clock(chart.clock),
        "panels": [_encode_panel(panel) for panel in chart.panels],
    }


def encode_clock(clock: Clock) -> dict[str, Any]:
    """Shift and zone, and their changes."""
    return {"shift": clock.shift, "zone": clock.zone, "changes": clock.changes}


def _encode_panel(panel: Panel) -> dict[str, Any]:
    marks = [_encode_mark(mark) for mark in panel.marks if not isinstance(mark, ScheduleBlocks)]
    return {"title": panel.title, "x": _encode_axis(panel.x), "y": _encode_axis(panel.y), "marks": marks}


def _encode_axis(axis: Axis) -> dict[str, Any]:
    given = {"label": axis.label, "kind": axis.kind, "log": axis.log, "low": axis.low, "high": axis.high}
    return {**given, "categories": list(axis.categories)} if axis.kind == "category" else given


def _encode_mark(mark: Mark) -> dict[str, Any]:
    if isinstance(mark, Line):
        base = None if mark.base is None else _numbers(mark.base)
        flags = {"step": mark.step, "fill": mark.fill, "dashed": mark.dashed, "base": base}
        return {"type": "line", **_named(mark), "x": _numbers(mark.x), "y": _numbers(mark.y), **flags}
    if isinstance(mark, Points):
        return {"type": "points", **_named(mark), "x": _numbers(mark.x), "y": _numbers(mark.y), "names": mark.names}
    if isinstance(mark, Bars):
        sides = {
            name: None if side is None else _numbers(side) for name, side in (("low", mark.low), ("high", mark.high))
        }
        return {"type": "bars", **_named(mark), "values": _numbers(mark.values), **sides}
    if isinstance(mark, Boxes):
        figures = [_numbers(row) for row in mark.figures]
        counts = [int(count) for count in mark.counts]
        return {"type": "boxes", **_named(mark), "figures": figures, "means": _numbers(mark.means), "counts": counts}
    assert isinstance(mark, Cells)
    return {
        "type": "cells",
        "x": _numbers(mark.x),
        "y": _numbers(mark.y),
        "values": [_numbers(row) for row in mark.values],
        "scale": _encode_axis(mark.scale),
        "diverging": mark.diverging,
    }


def _named(mark: Line | Points | Bars | Boxes) -> dict[str, Any]:
    return {"label": mark.label, "colour": mark.colour}


def _numbers(values: np.ndarray) -> list[float | None]:
    """Seven digits are more than a screen shows; None for what is not known."""
    return [None if not np.isfinite(value) else _short(float(value)) for value in np.asarray(values, float).tolist()]


def _short(value: float) -> float:
    """A whole number as it is, another with seven digits."""
    return int(value) if value == int(value) else float(f"{value:.7g}")


def encode_schedule(plan: Schedule, packer: Packer) -> dict[str, Any]:
    """The schedule with its jobs; labels are codes into lists of names."""
    jobs = plan.jobs
    labels = {name: _encode_label(jobs[name], packer) for name in _LABELS if jobs[name].count()}
    columns = {name: packer.add(jobs[name].cast(pl.Float64).to_numpy().astype(np.float64)) for name in _TIMES}
    states = {state: number for number, state in enumerate(STATES)}
    codes = jobs["state"].cast(pl.String).replace_strict(states, return_dtype=pl.UInt8)
    names = jobs["name"]
    asked = [name for name in ("nodes", "memory", "gpus") if jobs[name].fill_null(0).sum()]
    columns |= {name: packer.add(jobs[name].cast(pl.Float64).to_numpy().astype(np.float64)) for name in asked}
    return {
        "rule": plan.rule,
        "vague": explain_rows([plan]),
        "first": plan.first,
        "last": plan.last,
        "rows": plan.rows,
        "bands": [{"name": band.name[:LONGEST], "low": band.low, "high": band.high} for band in plan.bands],
        "nodes": packer.add(plan.nodes.astype(np.uint32)),
        "names": [clean(name[:LONGEST]) for name in plan.names],
        "parts": [{"name": part.name[:LONGEST], "low": part.low, "high": part.high} for part in plan.parts],
        "ways": find_ways(jobs),
        "way": choose_way(jobs),
        "jobs": {
            "count": jobs.height,
            "id": packer.add(jobs["job_id"].cast(pl.Float64).to_numpy().astype(np.float64)),
            "ids": [str(number) for number in jobs["job_id"]] if int(jobs["job_id"].max() or 0) > _EXACT else None,  # type: ignore[arg-type]
            "names": [clean(str(name or "")[:LONGEST]) for name in names] if names.count() else None,
            "cores": packer.add(jobs["cores"].to_numpy().astype(np.uint32)),
            "work": packer.add(jobs["core_seconds"].to_numpy().astype(np.float32)),
            "state": packer.add(codes.to_numpy().astype(np.uint8)),
            "backfilled": packer.add(jobs["backfilled"].fill_null(False).to_numpy().astype(np.uint8)),
            "labels": labels,
            **columns,
        },
        "blocks": {
            "of": packer.add(plan.of.astype(np.uint32)),
            "start": packer.add(plan.start.astype(np.float64)),
            "end": packer.add(plan.end.astype(np.float64)),
            "low": packer.add(plan.low.astype(np.uint32)),
            "high": packer.add(plan.high.astype(np.uint32)),
            **_encode_pieces(plan, packer),
        },
        "outages": _encode_outages(plan.outages, packer) if plan.outages.table.height else None,
        "hidden": None if plan.veil is None else _encode_hidden(plan.veil, packer),
    }


def _encode_pieces(plan: Schedule, packer: Packer) -> dict[str, Any]:
    """How each time of running ended, where some job ran more than once; otherwise the job's state says it."""
    if not plan.cut.any():
        return {}
    return {"cut": packer.add(plan.cut.astype(np.uint8)), "outcome": _encode_label(plan.outcome, packer)}


def _encode_outages(outages: Outages, packer: Packer) -> dict[str, Any]:
    """What was down or reserved: a table, and its rectangles."""
    table = outages.table
    return {
        **{name: packer.add(table[name].to_numpy().astype(np.float64)) for name in ("start", "end", "cores")},
        **{name: _encode_label(table[name], packer) for name in ("kind", "name")},
        "nodes": [clean(str(nodes or "")[:LONGEST]) for nodes in table["nodes"]],
        "blocks": {
            "of": packer.add(outages.of.astype(np.uint32)),
            "start": packer.add(outages.start),
            "end": packer.add(outages.end),
            "low": packer.add(outages.low.astype(np.uint32)),
            "high": packer.add(outages.high.astype(np.uint32)),
        },
    }


def _encode_label(column: pl.Series, packer: Packer) -> dict[str, Any]:
    """Names in order of appearance, and the code of each job; -1 for none."""
    texts = column.cast(pl.String)
    names = texts.drop_nulls().unique(maintain_order=True)
    numbers = pl.Series(range(len(names)), dtype=pl.Int32)
    codes = texts.replace_strict(names, numbers, default=-1, return_dtype=pl.Int32).to_numpy()
    return {"names": [clean(name[:LONGEST]) for name in names.to_list()], "codes": packer.add(codes.astype(np.int32))}


def _encode_hidden(hidden: np.ndarray, packer: Packer) -> dict[str, Any]:
    levels = np.clip(np.rint(hidden * 255), 0, 255).astype(np.uint8)
    return {"rows": hidden.shape[0], "columns": hidden.shape[1], "levels": packer.add(levels.flatten())}
