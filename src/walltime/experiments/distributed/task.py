"""A task on a Dask worker: a process of its own runs it, exactly as on the runner's machine.

So limits of time and memory hold there too, and memory is given back. What comes out goes to the runner, and nothing is
written: a worker needs no file system in common with it. The files that a scenario names have to be there under the
same paths, with the same contents; a worker looks, and refuses a run that would not be the same there.
"""

from __future__ import annotations

import functools
import json
import socket
import threading
from typing import Any

from walltime.core.errors import InputError
from walltime.core.plugins import permit
from walltime.experiments.pool import WorkerPool
from walltime.experiments.tasks import MACHINE, RunLimits, Task, TaskOutcome

_LOOK = 0.25  # seconds between two looks whether the task is still wanted
_own = threading.local()


def run_task(task: Task, limits: RunLimits, permissions: dict[str, list[str]]) -> TaskOutcome:
    """What becomes of a task here; called by Dask, in a thread of its worker."""
    permit(permissions)
    refusal = find_refusal(task)
    if refusal:
        return TaskOutcome(task, fault=MACHINE, error=refusal, host=socket.gethostname())
    pool = _own_pool(limits)
    pool.give(task)
    while True:
        if found := pool.collect(_LOOK):
            return found[0]
        if not _is_wanted():
            pool.kill()
            _own.pool = None
            return TaskOutcome(task, fault=MACHINE, error="the runner does not want it any more")


def find_refusal(task: Task) -> str | None:
    """Why this machine would make another run of the task; None where it is the same."""
    from walltime.experiments.identity import digest_run

    try:
        same = digest_run(_digest(task.specification), task.seed) == task.digest
    except InputError as error:
        return f"{socket.gethostname()}: {error}"
    if same:
        return None
    return f"{socket.gethostname()}: its Walltime, libraries or files are not the runner's; install the same there"


@functools.lru_cache(maxsize=1024)
def _digest(specification: str) -> str:
    from walltime.experiments.identity import digest_specification
    from walltime.scenario import parse

    read = json.loads(specification)
    return digest_specification(read, parse(read["scenario"]))


def _own_pool(limits: RunLimits) -> WorkerPool:
    """The process of this thread, which goes on from task to task."""
    pool: WorkerPool | None = getattr(_own, "pool", None)
    if pool is None or pool.limits != limits:
        if pool is not None:
            pool.kill()
        pool = _own.pool = WorkerPool(1, limits)
    return pool


def _is_wanted() -> bool:
    """Whether the scheduler still waits for the task of this thread: its client may be gone, or have taken it back."""
    from distributed import get_worker
    from distributed.worker import thread_state

    known: Any = get_worker().state.tasks.get(thread_state.key)
    return known is not None and known.state in ("executing", "long-running")
