"""The workers of a Dask cluster, as the runner sees them: tasks go in, outcomes come out.

Dask gives a task whose worker is gone to another one. A scheduler that goes away is waited for; what it had been given
is given to it again. That is safe: only what a future of this pool says is taken, and of each task one outcome.
"""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from walltime.core.errors import InputError
from walltime.core.plugins import permissions
from walltime.core.time import format_duration
from walltime.experiments.distributed.cluster import DaskCluster
from walltime.experiments.distributed.task import run_task
from walltime.experiments.tasks import MACHINE, RunLimits, Task, TaskOutcome, depth

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 600.0
"""Seconds that a scheduler may be away."""
_POLL = 0.02  # seconds between two looks at the futures
_LOOK = 2.0  # seconds between two questions about the workers
_TRIES = 50  # errors in a row of a client that is connected, before one of them counts

Answer = TypeVar("Answer")


class DaskPool:
    """Every worker of a Dask cluster, however many there are at a time."""

    def __init__(self, cluster: DaskCluster, limits: RunLimits) -> None:
        self.cluster = cluster
        self.limits = limits
        self._client: Client = cluster.connect()
        self._name = uuid.uuid4().hex[:8]
        self._numbers = itertools.count()
        self._held: dict[str, tuple[Task, Future | None]] = {}
        self._pace: float | None = None
        self._away: float | None = None
        self._errors = 0
        self._looked = 0.0
        self._threads = 0
        self._at: dict[str, tuple[str, float]] = {}

    @property
    def held(self) -> list[Task]:
        """The tasks that have not come out."""
        return [task for task, _ in self._held.values()]

    @property
    def room(self) -> int:
        """How many tasks it takes at once without making any wait for long; one where there are no workers yet."""
        self._look()
        return max(0, max(1, self._threads) * depth(self._pace) - len(self._held))

    def give(self, task: Task) -> None:
        """Hand a task to the cluster."""
        key = f"walltime-{self._name}-{next(self._numbers)}-{task.digest[:12]}"
        self._held[key] = task, self._submit(key, task)

    def collect(self, timeout: float) -> list[TaskOutcome]:
        """What has come out, after waiting for so many seconds at most."""
        end = time.monotonic() + timeout
        while True:
            self._watch()
            ended = {key: own.status for key, (_, own) in self._held.items() if own is not None and own.done()}
            found = self._gather([key for key, status in ended.items() if status == "finished"])
            found += self._fail([key for key, status in ended.items() if status == "error"])
            if found or time.monotonic() >= end:
                return found
            time.sleep(_POLL)

    def kill(self) -> None:
        """Take everything back, and leave. Workers end what they were at when they hear of it."""
        with suppress(Exception):  # a scheduler that is gone holds nothing any more
            if self._client.status == "running":
                self._client.cancel([own for _, own in self._held.values() if own is not None], force=True)
        self._held.clear()
        with suppress(Exception):
            self._client.close(timeout=5)
        self.cluster.close()

    def busy(self) -> list[tuple[int, str, float]]:
        """What each worker is at: its number, the digest of the run, and seconds since that was first seen."""
        now = time.monotonic()
        return [(number, digest, now - since) for number, (digest, since) in enumerate(self._at.values(), 1)]

    def _ask(self, question: Callable[[], Answer]) -> Answer | None:
        """What Dask answers; None where that is lost with a worker, the scheduler or the connection.

        Dask raises errors of many kinds then, some before its client knows of the loss and some after it has connected
        again. So an error counts when the next questions meet one too.
        """
        try:
            answer = question()
        except (Exception, asyncio.CancelledError):  # the latter is no Exception
            self._errors += self._client.status == "running"
            if self._errors > _TRIES:
                raise
            return None
        self._errors = 0
        return answer

    def _submit(self, key: str, task: Task) -> Future | None:
        """The future of a task; None while the scheduler is away."""
        arguments = run_task, task, self.limits, permissions()
        return self._ask(lambda: self._client.submit(*arguments, key=key, pure=False, retries=0))

    def _gather(self, keys: list[str]) -> list[TaskOutcome]:
        """The outcomes of finished futures; those that get lost on the way stay held."""
        futures = {key: self._held[key][1] for key in keys}
        made = self._ask(lambda: self._client.gather(futures, errors="skip")) if keys else None
        kept = {key: outcome for key, outcome in (made or {}).items() if outcome is not None}  # None: lost on the way
        for key, outcome in kept.items():
            del self._held[key]
            self._pace = outcome.wall if self._pace is None else 0.8 * self._pace + 0.2 * outcome.wall
        return list(kept.values())

    def _fail(self, keys: list[str]) -> list[TaskOutcome]:
        """The outcomes of tasks that Dask gave up, or that could not even be begun there; lost ones stay held."""
        found = []
        for key in keys:
            task, future = self._held[key]
            error = self._ask(partial(future.exception, timeout=5)) if future is not None else None
            if error is not None and not isinstance(error, CancelledError):
                del self._held[key]
                said = f"{type(error).__name__}: {error}".splitlines()[0]
                found.append(TaskOutcome(task, fault=MACHINE, error=f"the Dask cluster could not run it ({said})"))
        return found

    def _watch(self) -> None:
        """Find the scheduler again where it is gone, and give it again what it has lost."""
        status = self._client.status
        if status != "running":
            now = time.monotonic()
            self._away = now if self._away is None else self._away
            if now - self._away > PATIENCE:
                raise InputError(
                    f"the Dask scheduler has been away for {format_duration(PATIENCE)}", value=self.cluster.place
                )
            if status in ("connecting", "newly-created") or not self._reconnect():
                return
        self._away = None
        for key in [key for key, (_, own) in self._held.items() if own is None or own.status in ("cancelled", "lost")]:
            self.give(self._held.pop(key)[0])

    def _reconnect(self) -> bool:
        try:
            self._client = self.cluster.connect(timeout=2.0)
        except (Exception, asyncio.CancelledError):  # of whatever kind: it is tried again while patience lasts
            return False
        self._held = {key: (task, None) for key, (task, _) in self._held.items()}
        return True

    def _look(self) -> None:
        """Ask how many workers there are, and what they are at."""
        now = time.monotonic()
        if now - self._looked < _LOOK or self._client.status != "running":
            return
        threads = self._ask(self._client.nthreads)
        told = self._ask(self._client.processing)
        if threads is not None and told is not None:
            self._threads = sum(threads.values())
            self._at = {
                worker: self._seen(worker, self._held[keys[0]][0].digest, now)
                for worker, keys in sorted(told.items())
                if keys and keys[0] in self._held
            }
        self._looked = time.monotonic()

    def _seen(self, worker: str, digest: str, now: float) -> tuple[str, float]:
        known = self._at.get(worker)
        return known if known is not None and known[0] == digest else (digest, now)
