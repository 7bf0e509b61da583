"""A run that is handed on piece by piece, as its jobs leave, has the figures of the one that keeps all rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mixtures import draw_mixture

from walltime.analysis.intervals import find_horizon
from walltime.analysis.metrics import summarise
from walltime.analysis.series import series
from walltime.core.errors import InputError
from walltime.core.plugins import allow
from walltime.core.tables import Figures
from walltime.core.workload import MISSING, Workload
from walltime.pipeline import Prepared, prepare
from walltime.scenario import parse

TOGETHER = 20
AT_ONCE = ("dependencies", "array", "preceding_job", "workflow", "phase", "started")
BY = ("user", "queue", "size", "resource", "cluster")


class Batches:
    """A workload as a stream of small ones."""

    def __init__(self, workload: Workload, rows: int) -> None:
        self.workload, self.rows = workload, rows
        self.first, self.notes, self.origin = workload, workload.notes, workload.origin

    def __iter__(self) -> Iterator[Workload]:
        return self.workload.batches(self.rows)


def is_free(workload: Workload) -> bool:
    """Whether each job can be looked at alone."""
    told = [workload.column(name) for name in AT_ONCE if workload.has(name)]
    return not any(any(value not in (MISSING, "") for value in values) for values in told)


def compare(one: Any, other: Any, place: str = "") -> None:
    """Fail at the first figure that differs by more than the rounding of a sum."""
    if isinstance(one, dict):
        assert sorted(one) == sorted(other), place
        for key in one:
            compare(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, float) and other is not None:
        assert other == pytest.approx(one, rel=1e-9, abs=1e-9), place
    else:
        assert one == other, place


def check_stream(seed: int, folder: Path, rows: int) -> bool:
    """Fail unless figures and series are the same; whether the scenario was one that may be a stream."""
    try:
        drawn = draw_mixture(seed, folder)
        allow(drawn)
        prepared = prepare(parse(drawn, []))
        if not is_free(prepared.workload) or prepared.scenario.start is not None:
            return False
        record = prepared.run()
        interval = 7.0 + (find_horizon(record) or 0) // 50e6
        wanted = prepared.scenario.record.model_copy(update={"keep": "summary", "interval": interval, "by": BY})
        scenario = prepared.scenario.model_copy(update={"record": wanted})
        figures = Prepared(scenario, prepared.workload, Batches(prepared.workload, rows)).run()
    except InputError:
        return False
    assert isinstance(figures, Figures)
    whole, found = summarise(record, digested=False), summarise(figures)
    facts = [one.pop("facts") for one in (whole, found)]
    compare(whole, found)
    compare(*[{name: one[name] for name in ("submitted", "passes", "nodes")} for one in facts])
    compare(summarise(record, warmup=5, cooldown=3)["window"], summarise(figures, warmup=5, cooldown=3)["window"])
    layouts = {cluster.name: cluster.layout() for cluster in scenario.clusters}
    order = ["series", "entity", "time"]
    expected = series(record, interval=interval, by=BY, layouts=layouts).filter(pl.col("series") != "load").sort(order)
    got = (pl.DataFrame(schema=expected.schema) if figures.series is None else figures.series).sort(order)
    assert got.select(order).equals(expected.select(order))
    assert got["value"].to_numpy() == pytest.approx(expected["value"].to_numpy(), rel=1e-9, abs=1e-7)
    return True


@pytest.mark.parametrize("first", range(0, 80, TOGETHER))
def test_streamed_mixtures(first: int, tmp_path: Path) -> None:
    ran = 0
    for seed in range(first, first + TOGETHER):
        try:
            ran += check_stream(seed, tmp_path, rows=1 + seed % 9)
        except Exception as error:
            error.add_note(f"mixture {seed}")
            raise
    assert ran
