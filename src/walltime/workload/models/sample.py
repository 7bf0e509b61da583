"""Jobs drawn from a model, and what every model offers to the generator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from walltime.core.time import SECOND


@dataclass
class Sample:
    """Columns of a Workload for drawn jobs, in order of submission (microseconds); and names of labels."""

    columns: dict[str, np.ndarray]
    labels: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns["submit"])

    def work(self) -> np.ndarray:
        """Core-microseconds of each job."""
        return np.asarray(self.columns["cores"] * self.columns["run_time"].astype(np.float64))

    def take(self, rows: np.ndarray) -> Sample:
        """Some of the jobs."""
        return Sample({name: values[rows] for name, values in self.columns.items()}, self.labels)

    def used(self) -> np.ndarray:
        """Seconds that each job will run: no longer than it asks."""
        run, request = self.columns["run_time"], self.columns.get("requested_time")
        kept = run if request is None else np.where(request > 0, np.minimum(run, request), run)
        return np.asarray(kept / SECOND)


def join(parts: list[Sample]) -> Sample:
    """Samples of one model as one, in order of submission."""
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    order = np.argsort(columns["submit"], kind="stable")
    return Sample({name: values[order] for name, values in columns.items()}, parts[0].labels)


def between(random: np.random.Generator, submit: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Whole seconds at random between the submissions of the given rows and the next ones."""
    following = submit[np.minimum(rows + 1, len(submit) - 1)]
    moments = submit[rows] + random.random(len(rows)) * (following - submit[rows])
    return np.asarray(np.floor(moments / SECOND).astype(np.int64) * SECOND)


class JobModel(Protocol):
    """Whatever can fill a span of time with jobs."""

    @property
    def title(self) -> str:
        """A few words for tables and file headers."""

    @property
    def jobs_per_day(self) -> float:
        """How many jobs it submits in the mean where no load is asked for."""

    def clock(self, days: int) -> np.ndarray:
        """The intensity of submissions in each hour of so many days from a Monday, mean about 1."""

    def draw(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        """About `jobs` jobs submitted in [0, span) seconds from a Monday, 0:00, none larger than `cores`.

        The same arguments give the same jobs; `name` keys the random streams.
        """


def place_on_clock(uniform: np.ndarray, hours: np.ndarray, span: float) -> np.ndarray:
    """Seconds in [0, span) from uniform numbers, with the given intensity of each hour."""
    cumulated = np.concatenate([[0.0], np.cumsum(hours)])
    end = np.interp(span / 3600, np.arange(len(cumulated)), cumulated)
    return np.asarray(np.interp(uniform * end, cumulated, np.arange(len(cumulated)) * 3600.0))
