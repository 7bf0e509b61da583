"""Worker processes on this machine: tasks go in, outcomes come out, and a worker that dies takes one task with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socketpair

from walltime.core.errors import WalltimeError
from walltime.core.plugins import permissions
from walltime.core.time import format_duration
from walltime.experiments.tasks import MACHINE, OWN, RunLimits, Task, TaskOutcome, depth

_LOG = 1 << 16  # bytes of a worker's output that are kept
_MOST_STILLBORN = 3


@dataclass
class Worker:
    """One process, its tasks in their order, and since when it has been at the first."""

    number: int
    process: subprocess.Popen[bytes]
    connection: Connection
    log: Path
    tasks: deque[Task] = field(default_factory=deque)
    ready: bool = False
    since: float = 0.0
    done: int = 0


class WorkerPool:
    """Up to `size` workers, started when there is work. Every task that goes in comes out as one outcome."""

    def __init__(self, size: int, limits: RunLimits | None = None) -> None:
        self.size = size
        self.limits = limits or RunLimits()
        self.workers: list[Worker] = []
        self._folder = tempfile.TemporaryDirectory(prefix="walltime-sweep-")
        self._started = 0
        self._stillborn = 0
        self._pace: float | None = None

    @property
    def held(self) -> list[Task]:
        """The tasks that have not come out."""
        return [task for worker in self.workers for task in worker.tasks]

    @property
    def room(self) -> int:
        """How many tasks it takes at once without making any wait for long."""
        return max(0, self.size * depth(self._pace) - len(self.held))

    def give(self, task: Task) -> None:
        """Hand a task to the worker that has the least to do; starts one where there may be more."""
        worker = min(self.workers, key=lambda one: len(one.tasks), default=None)
        if worker is None or (worker.tasks and len(self.workers) < self.size):
            worker = self._start()
        if not worker.tasks:
            worker.since = time.monotonic()
        worker.tasks.append(task)
        with suppress(OSError):  # it is gone, which `collect` finds out
            worker.connection.send(task)

    def collect(self, timeout: float) -> list[TaskOutcome]:
        """What has come out, after waiting for so many seconds at most."""
        found: list[TaskOutcome] = []
        by_connection = {worker.connection: worker for worker in self.workers}
        for connection in wait(list(by_connection), self._until_limit(timeout)):
            found += self._receive(by_connection[connection])  # type: ignore[index]
        return found + self._end_overdue()

    def busy(self) -> list[tuple[int, str, float]]:
        """What each worker is at: its number, the digest of the run, and the seconds that it has taken."""
        now = time.monotonic()
        return [(one.number, one.tasks[0].digest, now - one.since) for one in self.workers if one.tasks and one.ready]

    def kill(self) -> None:
        """End every worker now; their tasks are lost to this pool."""
        for worker in self.workers:
            _end(worker)
        self.workers.clear()
        self._folder.cleanup()

    def _start(self) -> Worker:
        ours, theirs = socketpair()
        self._started += 1
        log = Path(self._folder.name) / f"worker-{self._started}"
        settings = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with open(log, "ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "walltime.experiments.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env=os.environ | settings,
                start_new_session=True,  # Ctrl-C is for the runner
            )
        theirs.close()
        number = next(index for index in range(1, self.size + 2) if index not in {one.number for one in self.workers})
        worker = Worker(number, process, Connection(ours.detach()), log)
        with suppress(OSError):
            worker.connection.send((self.limits.memory, permissions()))
        self.workers.append(worker)
        return worker

    def _receive(self, worker: Worker) -> list[TaskOutcome]:
        try:
            told = worker.connection.recv()
        except (EOFError, OSError):
            return self._lose(worker)
        if told is None:
            worker.ready, worker.since, self._stillborn = True, time.monotonic(), 0
            return []
        outcome, grown = told
        worker.tasks.popleft()
        worker.since = time.monotonic()
        worker.done += 1
        self._pace = outcome.wall if self._pace is None else 0.8 * self._pace + 0.2 * outcome.wall
        if outcome.fault:
            outcome = replace(outcome, log=_join(outcome.log, _tail(worker.log)))
        if grown:  # it has ended itself; its other tasks go to the next
            left = list(worker.tasks)
            self._remove(worker)
            for task in left:
                self.give(task)
        return [outcome]

    def _lose(self, worker: Worker) -> list[TaskOutcome]:
        """A worker is gone: the task that it was at bears that, the others go to another worker."""
        code = worker.process.wait()
        log, tasks = _tail(worker.log), list(worker.tasks)
        self._remove(worker)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= _MOST_STILLBORN:
                raise WalltimeError(f"workers cannot be started; the last one said:\n{log.strip()[-2000:]}")
            for task in tasks:
                self.give(task)
            return []
        for task in tasks[1:]:
            self.give(task)
        return [_lost(tasks[0], code, log, self.limits.memory, worker.since)] if tasks else []

    def _end_overdue(self) -> list[TaskOutcome]:
        """End the workers whose task takes longer than it may."""
        if self.limits.time is None:
            return []
        found = []
        for worker in [one for one in self.workers if one.ready and one.tasks]:
            taken = time.monotonic() - worker.since
            if taken > self.limits.time:
                said = f"longer than its limit of {format_duration(self.limits.time)}"
                tasks, log = list(worker.tasks), _tail(worker.log)
                self._remove(worker)
                found.append(TaskOutcome(tasks[0], fault=OWN, error=said, log=log, wall=taken))
                for task in tasks[1:]:
                    self.give(task)
        return found

    def _until_limit(self, timeout: float) -> float:
        if self.limits.time is None:
            return timeout
        ends = [one.since + self.limits.time - time.monotonic() for one in self.workers if one.ready and one.tasks]
        return max(0.0, min([timeout, *ends]))

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        _end(worker)


def _end(worker: Worker) -> None:
    worker.process.kill()
    worker.process.wait()
    worker.connection.close()
    with suppress(OSError):
        worker.log.unlink()


def _lost(task: Task, code: int, log: str, memory: int | None, since: float) -> TaskOutcome:
    """The outcome of a task whose worker ended by itself, or was ended from outside."""
    wall = time.monotonic() - since
    if memory is not None and "memory allocation of" in log:
        said = f"more memory than its limit of {memory:,} bytes"
        return TaskOutcome(task, fault=OWN, error=said, log=log, wall=wall)
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
    return TaskOutcome(task, fault=MACHINE, error=f"its worker ended {how}", log=log, wall=wall)


def _tail(log: Path) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - _LOG))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _join(*texts: str | None) -> str:
    return "\n".join(text.rstrip() for text in texts if text and text.strip())
