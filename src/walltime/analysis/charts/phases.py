"""Results whose jobs have phases, as pictures of jobs see them: with the jobs of the experiment alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from walltime.analysis.charts.quantities import Shown
from walltime.analysis.metrics import in_experiment
from walltime.core.errors import InputError
from walltime.core.tables import Record

NOTE = "Jobs of the experiment phase alone."


class ExperimentPhase:
    """A result with the jobs of its experiment alone; all else is the whole result's."""

    def __init__(self, result: Shown, record: Record) -> None:
        self._result = result
        self.record = record

    @property
    def label(self) -> str:
        return self._result.label

    @property
    def summary(self) -> Mapping[str, Any]:
        return self._result.summary

    @property
    def series(self) -> pl.DataFrame:
        return self._result.series

    @property
    def scenario(self) -> Any:
        return getattr(self._result, "scenario", None)

    @property
    def provenance(self) -> Any:
        return getattr(self._result, "provenance", None)


def show_experiment(results: Sequence[Shown]) -> list[Shown]:
    """The results as pictures of jobs see them: those without phases are themselves; raises InputError."""
    shown: list[Shown] = []
    for result in results:
        record = in_experiment(result.record)
        if not record.jobs.height:
            raise InputError(f"{result.label}: the result has no jobs of the experiment phase")
        shown.append(result if record is result.record else ExperimentPhase(result, record))
    return shown
