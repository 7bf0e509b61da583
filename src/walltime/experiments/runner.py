"""The runner: takes runs of an experiment from the store, has them run, and writes what became of them.

It may be stopped at any moment, by whatever means: what is done is done, and the next one goes on from there.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from walltime.experiments.leases import Leases
from walltime.experiments.schema import DONE, FAILED, RUNNING, WAITING
from walltime.experiments.store import Store
from walltime.experiments.tasks import MACHINE, RunLimits, Task, TaskOutcome, Workers

ATTEMPTS = 4
"""How often a run is tried that machines fail."""
PAUSES = (1.0, 5.0, 25.0)
"""Seconds before the second attempt and those after it."""
_TICK = 0.25  # seconds between two looks at everything, while something is to be done soon
_REST = 1.0  # and while there is nothing but runs that go on
_BATCH = 0.2  # seconds that outcomes of short runs are gathered before they are written
_LOOK = 2.0  # seconds between two looks at what others have done


@dataclass
class Progress:
    """How far a sweep is; `workers` tells what each is at."""

    counts: dict[str, int]
    total: int
    finished: int = 0
    """By this runner, since it began."""
    refused: int = 0
    """Late results that were discarded."""
    retried: int = 0
    elapsed: float = 0.0
    workers: list[tuple[int, str, float]] = field(default_factory=list)
    """(number, digest of the run, seconds that it has taken)."""

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.finished / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that it will yet take at this rate; None while there is nothing to go by."""
        waiting = self.counts[WAITING] + self.counts[RUNNING]
        return waiting / self.rate if self.rate > 0 else None


class Runner:
    """One sweep of one experiment on these workers, which end with it, or, where they are to be kept, if it fails."""

    def __init__(self, store: Store, experiment: int, workers: Workers, *, keep: bool = False) -> None:
        self.store = store
        self.experiment = experiment
        self.pool = workers
        self.keep = keep
        self.leases = Leases(store)
        self.progress = Progress(counts := store.count(experiment), sum(counts.values()))
        self._ready: deque[Task] = deque()
        self._delayed: list[tuple[float, Task]] = []
        self._outcomes: list[TaskOutcome] = []
        self._gathered = 0.0
        self._looked = 0.0

    def run(self, show: Callable[[Progress], None] = lambda progress: None, *, retry: bool = False) -> Progress:
        """Run what is to be run; `retry` also takes up runs that failed by their own fault. Stops at an exception, such
        as Ctrl-C, with everything given back."""
        began = time.monotonic()
        try:
            self.leases.reap()
            self.leases.retry_failed(self.experiment, every=retry)
            self._look()
            while True:
                self._feed()
                self._gather(self.pool.collect(self._patience()))
                self._write()
                self.leases.beat()
                self._look()
                self.progress.elapsed = time.monotonic() - began
                self.progress.workers = self.pool.busy()
                show(self.progress)
                if self._is_over():
                    break
                if not self.pool.held and not self._ready:
                    time.sleep(_TICK)  # for others, or for the pause before another attempt
            self._write(force=True)
            self.progress.counts = self.store.count(self.experiment)
        except BaseException:
            self.keep = False
            raise
        finally:
            self.stop()
        return self.progress

    def stop(self) -> None:
        """End the workers at once, unless they are kept; write what they had finished, and give back the rest."""
        if not self.keep:
            self.pool.kill()
        try:
            self._write(force=True)
        finally:
            self.leases.close()

    def _patience(self) -> float:
        """Seconds to wait for an outcome: each look costs as much as a tenth of a run's note in the store."""
        if not self.pool.held:
            return 0.0
        return _TICK if self._outcomes or self._delayed or self._ready else _REST

    def _feed(self) -> None:
        """Give the workers what they can take, and take more from the store in time."""
        now = time.monotonic()
        self._ready.extend(task for due, task in self._delayed if due <= now)
        self._delayed = [(due, task) for due, task in self._delayed if due > now]
        room = self.pool.room
        if room > len(self._ready) and self.progress.counts[WAITING] > 0:
            taken = self.leases.take(self.experiment, room - len(self._ready))
            self._ready.extend(taken)
            self._move(WAITING, RUNNING, len(taken))
            if not taken:
                self._looked = 0.0  # others have them
        for _ in range(min(room, len(self._ready))):
            self.pool.give(self._ready.popleft())

    def _gather(self, outcomes: list[TaskOutcome]) -> None:
        """Keep what is to be written; what machines failed is tried again, after a pause."""
        for outcome in outcomes:
            if outcome.fault == MACHINE and outcome.task.attempt < ATTEMPTS:
                task = self.leases.again(outcome.task)
                if task is None:
                    self.progress.refused += 1
                    continue
                self.progress.retried += 1
                pause = PAUSES[min(outcome.task.attempt, len(PAUSES)) - 1]
                self._delayed.append((time.monotonic() + pause, task))
                continue
            if not self._outcomes:
                self._gathered = time.monotonic()
            self._outcomes.append(outcome)

    def _write(self, *, force: bool = False) -> None:
        """Write the outcomes: those of short runs together, because each transaction has its price."""
        if not self._outcomes or not (force or time.monotonic() - self._gathered >= _BATCH or not self.pool.held):
            return
        outcomes, self._outcomes = self._outcomes, []
        accepted = self.leases.finish(outcomes)
        for outcome, own in zip(outcomes, accepted, strict=True):
            if own:
                self._move(RUNNING, FAILED if outcome.fault else DONE, 1)
                self.progress.finished += 1
            else:
                self.progress.refused += 1

    def _look(self) -> None:
        """Count again, as others may work on the same runs, and give up those that are gone."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        if self.leases.others() or not self._looked or self.progress.counts[WAITING] == 0:
            self.leases.reap()
            self.progress.counts = self.store.count(self.experiment)
        self._looked = time.monotonic() + 20 * (time.monotonic() - now)

    def _is_over(self) -> bool:
        """Whether nothing is left, for this runner or another; what others do, `_look` counts."""
        busy = self._ready or self._delayed or self._outcomes or self.pool.held
        return not (busy or self.progress.counts[WAITING] or self.progress.counts[RUNNING])

    def _move(self, before: str, after: str, count: int) -> None:
        counts = self.progress.counts
        counts[before] = max(0, counts[before] - count)
        counts[after] += count


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_workers(count: int | None, limits: RunLimits, dask: str | None = None) -> Workers:
    """So many processes of this machine, by default one for each core; or a Dask cluster, by its address or kind.

    Raises InputError where the cluster does not answer, or what it needs is not installed.
    """
    if dask is None:
        from walltime.experiments.pool import WorkerPool

        return WorkerPool(count or count_cores(), limits)
    from walltime.experiments.distributed.cluster import DaskCluster
    from walltime.experiments.distributed.pool import DaskPool

    return DaskPool(DaskCluster(dask, count), limits)
