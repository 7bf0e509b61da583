"""A worker: a process that runs one task after another for a runner, and tells what became of each.

Started as `python -P -m walltime.experiments.worker DESCRIPTOR`, where DESCRIPTOR is its end of a socket. It touches
no store. It ends when the runner is gone, and after a run that left it with much more memory than it began with and can
give back, so that every run's memory is given back.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import os
import resource
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from walltime.core.errors import WalltimeError
from walltime.experiments.execution import execute
from walltime.experiments.tasks import MACHINE, OWN, Task, TaskOutcome

GROWTH = 256 << 20
"""Bytes by which a worker may have grown after a run and still take another."""
_PARENT_DEATH_SIGNAL = 1
_OF_MACHINES = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
"""What the system says when the machine is at fault, and not the run."""


def attempt(task: Task, memory: int | None = None) -> TaskOutcome:
    """Run one task, with so much memory beyond what this process has; never raises but for signals."""
    _forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    told: dict[str, Any]
    usual = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (_told("VmData") + memory, usual[1]))
        found = execute(json.loads(task.specification), task.seed)
        told = {"figures": found.figures, "result": found.digest, "files": found.files}
    except Exception as error:
        told = _describe(error, memory)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, usual)
    return TaskOutcome(
        task,
        wall=time.perf_counter() - wall,
        cpu=time.process_time() - cpu,
        memory=_told("VmHWM"),
        host=socket.gethostname(),
        **told,
    )


def _describe(error: Exception, memory: int | None) -> dict[str, Any]:
    """Whose fault an error is, what it says, and its trace of calls where it was not meant."""
    if isinstance(error, MemoryError):
        what = "out of memory" if memory is None else f"more memory than its limit of {memory:,} bytes"
        return {"fault": MACHINE if memory is None else OWN, "error": what, "log": traceback.format_exc()}
    if isinstance(error, WalltimeError):
        cause = error.__cause__
        machine = isinstance(cause, OSError) and cause.errno in _OF_MACHINES
        return {"fault": MACHINE if machine else OWN, "error": str(error), "log": traceback.format_exc()}
    machine = isinstance(error, OSError) and error.errno in _OF_MACHINES
    said = f"{type(error).__name__}: {error}"
    return {"fault": MACHINE if machine else OWN, "error": said, "log": traceback.format_exc()}


def serve(connection: Connection) -> None:
    """Take tasks until there are no more."""
    from walltime.core.plugins import permit

    memory, permissions = connection.recv()
    permit(permissions)
    _warm_up()
    gc.collect()
    gc.freeze()  # what is there now stays: it need not be looked at again
    began = _told("VmRSS")
    connection.send(None)  # ready
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        if os.path.isfile("/proc/self/fd/2"):
            os.ftruncate(2, 0)  # the log is of one task
        outcome = attempt(task, memory)
        if grown := _told("VmRSS") - began > GROWTH:
            _give_back()
            grown = _told("VmRSS") - began > GROWTH
        connection.send((outcome, grown))
        if grown:
            return


def _give_back() -> None:
    """Return free memory to the system, where the C library can: a worker costs more to start than that."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _warm_up() -> None:
    """Import what a run needs, by running one of a single job: the first task takes no longer than the others."""
    cluster = {"cores": 1}
    execute({"scenario": {"workload": {"generate": {"jobs": 1, "cores": 1}}, "cluster": cluster}}, 0)


def main() -> None:
    """The process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner decides when to stop
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it went before that was asked for
    connection = Connection(int(sys.argv[1]))
    with suppress(BrokenPipeError, ConnectionResetError):  # the runner has gone
        serve(connection)


def _told(name: str) -> int:
    """Bytes that the system tells of this process."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forget_peak() -> None:
    """Count the peak of memory from now on."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


if __name__ == "__main__":
    main()
