"""A Dask cluster of processes on the loopback interface, whose scheduler and workers can be killed."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

from injecting import SOURCE

SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"
HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'
"""A worker that sees an empty folder in place of one."""


class DaskProcesses:
    """A scheduler and `size` workers of one thread each; `hidden` is a folder that no worker sees."""

    def __init__(self, folder: Path, size: int = 2, hidden: Path | None = None) -> None:
        self.folder = folder
        self.hidden = hidden
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in range(size)]

    def kill_worker(self, chance: random.Random) -> None:
        """kill -9 of a worker, and another one in its place."""
        place = chance.randrange(len(self.workers))
        _end(self.workers[place])
        self.workers[place] = self._start_worker()

    def kill_scheduler(self) -> None:
        """kill -9 of the scheduler; a new one under its address, and workers that know it."""
        _end(self.scheduler)
        self.scheduler = self._start_scheduler()
        for place, worker in enumerate(self.workers):
            _end(worker)  # some notice by themselves, later
            self.workers[place] = self._start_worker()

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            _end(process)

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        host, _, port = self.address.removeprefix("tcp://").partition(":")
        return self._start(["-c", SCHEDULER, "--host", host, "--port", port, "--no-dashboard"])

    def _start_worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        return self._start(["-c", WORKER, self.address, *options, "--local-directory", str(self.folder)], self.hidden)

    def _start(self, arguments: list[str], hidden: Path | None = None) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH", "")]))
        prefix = ["unshare", "-m", "sh", "-c", HIDDEN, str(hidden)] if hidden else []
        with open(self.folder / "dask.log", "ab") as log:
            return subprocess.Popen(
                [*prefix, sys.executable, "-P", *arguments],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": path},
                stdout=log,
                stderr=log,
            )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
