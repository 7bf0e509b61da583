"""A run that is handed on piece by piece: the jobs that have left since the last batch of the workload came.

Nothing is kept of them then. What a batch told stays while some of its jobs are still in the system, so that memory
goes with the jobs that are there at a time, and not with all that ever were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.engine.recording.recorder import ALLOCATION, JOB, PLACED, Recorder
from walltime.engine.recording.tables import Written, tabulate
from walltime.workload.joining import concatenate

Sink = Callable[[pl.DataFrame, pl.DataFrame, Workload], None]
"""Takes the tables of jobs that have left, with all their allocations, and what the workload says of these jobs."""

_SEQ, _ROW, _OF = JOB.index("seq"), JOB.index("row"), ALLOCATION.index("seq")


class JobBatch:
    """What a batch told of its jobs, of which some are still to be handed on."""

    def __init__(self, first: int, ruled: Workload, asked: Workload) -> None:
        self.rows = np.arange(first, first + len(ruled))
        self.ruled, self.asked = _without_names(ruled), _without_names(asked)
        self.there = np.ones(len(ruled), bool)

    def take(self, wanted: np.ndarray) -> tuple[Workload, Workload] | None:
        """Those of the `wanted` rows (sorted) that are of this batch: as the rules made them, and as they came."""
        low, high = np.searchsorted(wanted, (self.rows[0], self.rows[-1] + 1))
        if low == high:
            return None
        places = np.searchsorted(self.rows, wanted[low:high])
        found = self.ruled.select(places), self.asked.select(places)
        self.there[places] = False
        if 2 * np.count_nonzero(self.there) < len(self.there) and self.there.any():
            left = np.flatnonzero(self.there)
            self.rows, self.there = self.rows[left], self.there[left]
            self.ruled, self.asked = self.ruled.select(left), self.asked.select(left)
        return found


class Pieces:
    """Between a stream of batches and the engine: before each batch it hands on what the recorder has."""

    def __init__(self, sink: Sink, clusters: list[str], look: Callable[[Workload], None]) -> None:
        self.sink = sink
        self.clusters = clusters
        self.look = look
        self.simulation: Simulation | None = None
        self.arrivals: Arrivals
        self.given: list[Workload] = []
        self.came: list[JobBatch] = []
        self.arrived = 0
        self.allocations = np.empty((0, len(ALLOCATION)), np.int64)
        self.counts = np.empty(0, np.int64)
        self.ranges = np.empty(0, np.int64)

    def attach(self, simulation: Simulation, arrivals: Arrivals) -> None:
        """From now on there is something to hand on."""
        self.simulation, self.arrivals = simulation, arrivals

    def pass_on(self, batches: Iterable[Workload]) -> Iterator[Workload]:
        """The batches, as the engine asks for them."""
        for batch in batches:
            self.flush()
            if len(batch):
                self.given.append(batch)
            yield batch

    def flush(self) -> None:
        """Hand on the jobs that have left."""
        if self.simulation is None:
            return
        self._take_batches()
        jobs, *rest = self.simulation.recorder.take()
        self._take_allocations(*rest)
        if not len(jobs):
            return
        jobs = jobs[np.argsort(jobs[:, _SEQ])]
        entered = jobs[:, _SEQ].copy()
        jobs[:, _SEQ] = np.arange(len(jobs))
        ruled, asked, live = self._describe(jobs)
        written = Written(self._cut(jobs, entered), ruled, live, self._choices(entered))
        tables = tabulate(written, self.simulation, self.arrivals, self.clusters)
        self.sink(*tables, _join(asked))

    def _take_batches(self) -> None:
        """What has come since the last time."""
        for batch in self.arrivals.batches:
            self.look(batch)
            self.came.append(JobBatch(self.arrived, batch, self.given.pop(0)))
            self.arrived += len(batch)
        self.arrivals.batches.clear()

    def _take_allocations(self, rows: np.ndarray, placed: np.ndarray, ranges: np.ndarray) -> None:
        """The allocations that were written, beside those that are still here, as their jobs have not left."""
        counts = np.zeros(len(rows), np.int64)
        counts[placed[:, PLACED.index("row")]] = placed[:, PLACED.index("ranges")]
        self.allocations = np.concatenate([self.allocations, rows])
        self.counts = np.concatenate([self.counts, counts])
        self.ranges = np.concatenate([self.ranges, ranges[:, 0]])

    def _describe(self, jobs: np.ndarray) -> tuple[list[Workload], list[Workload], list[dict[str, Any]]]:
        """What the workload says of the jobs, as the rules made it and as it came; their rows are numbered in that
        order, those of jobs that came live from -1 down."""
        row = jobs[:, _ROW]
        arrived = row >= 0
        wanted = np.sort(row[arrived])
        found = [pair for batch in self.came if (pair := batch.take(wanted)) is not None]
        self.came = [batch for batch in self.came if batch.there.any()]
        live = [self.arrivals.live_jobs[-1 - number] for number in row[~arrived]]
        jobs[~arrived, _ROW] = -1 - np.arange(len(live))
        jobs[arrived, _ROW] = np.searchsorted(wanted, row[arrived])
        return [ruled for ruled, _ in found], [asked for _, asked in found], live

    def _cut(self, jobs: np.ndarray, entered: np.ndarray) -> Recorder:
        """What the recorder would have of these jobs alone; their allocations are not here any more."""
        owner = self.allocations[:, _OF]
        index = np.minimum(np.searchsorted(entered, owner), len(entered) - 1)
        mine = entered[index] == owner
        inside = np.repeat(mine, self.counts)
        rows, counts, ranges = self.allocations[mine], self.counts[mine], self.ranges[inside]
        rows[:, _OF] = index[mine]
        self.allocations, self.counts = self.allocations[~mine], self.counts[~mine]
        self.ranges = self.ranges[~inside]
        on_nodes = np.flatnonzero(counts)
        return Recorder.of(jobs, rows, np.column_stack([on_nodes, counts[on_nodes]]), ranges.reshape(-1, 1))

    def _choices(self, entered: np.ndarray) -> dict[int, int]:
        """The queues that these jobs chose, which are not needed any more."""
        assert self.simulation is not None
        chosen = self.simulation.chosen
        if not chosen:
            return {}
        return {index: chosen.pop(seq) for index, seq in enumerate(entered.tolist()) if seq in chosen}


def _without_names(batch: Workload) -> Workload:
    """The batch without the names of its jobs, of which nothing is counted: texts are slow."""
    return batch.replace({name: values for name, values in batch.columns.items() if name != "name"})


def _join(parts: list[Workload]) -> Workload:
    """The jobs of several batches, with the numbers that they have."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Workload({"submit": np.zeros(0, np.int64), "run_time": np.zeros(0, np.int64)})
    columns, labels = concatenate([(len(one), dict(one.columns), one.labels) for one in parts])
    columns["job_id"] = np.concatenate([one.column("job_id") for one in parts])
    return parts[0].replace(columns, labels=labels)
