"""Faults that happen to a sweep, really: processes are killed, a disk fills up, files are damaged, clocks jump."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import walltime
from walltime.experiments.maintenance import verify
from walltime.experiments.store import Store

if TYPE_CHECKING:
    from dask_processes import DaskProcesses

    from database_server import Server

SOURCE = str(Path(walltime.__file__).parents[1])
EXPERIMENT = """\
name: disturbed
scenario:
  workload: {{generate: {{jobs: {jobs}, cores: 64, load: 1.0}}}}
  cluster: {{cores: 64}}
grid:
  policy: [fcfs, easy, conservative, sjf]
repetitions: {repetitions}
keep: {{groups: [size, user]}}
"""
COMMAND = "from walltime.cli.main import main; main()"
JUMPING = (
    "import random, time; real = time.time; time.time = lambda: real() + random.choice([-1e9, -3600, 0, 60, 1e9]); "
    + COMMAND
)
"""The command with a clock that is never right."""


class Disturbed:
    """A sweep in a folder, and what is done to it; everything random comes from `seed`."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        *,
        jobs: int = 12_000,
        repetitions: int = 6,
        workers: int = 2,
        place: str = "walltime-store",
        cluster: DaskProcesses | None = None,
        server: Server | None = None,
    ) -> None:
        self.folder = folder
        place = server.new_database() if server else place
        self.place = place if "://" in place else str(folder / place)
        self.server = server
        self.random = random.Random(seed)
        self.workers = workers
        self.cluster = cluster
        self.total = 4 * repetitions
        self.runners: list[subprocess.Popen[str]] = []
        self.faults: Counter[str] = Counter()
        self.said: list[str] = []
        (folder / "e.yaml").write_text(EXPERIMENT.format(jobs=jobs, repetitions=repetitions), encoding="utf-8")

    # What is looked at

    @property
    def store(self) -> Store:
        return Store(self.place, results=self.folder / "results")

    def counts(self) -> dict[str, int]:
        with contextlib.suppress(walltime.InputError), self.store as store:
            return next((own.counts for own in store.experiments()), {})
        return {}

    def results(self) -> dict[tuple[str, int], str]:
        """The digest of each run's tables, by policy and seed."""
        with self.store as store:
            rows = store.table("disturbed").select("policy", "seed", "result").rows()
        assert len({row[:2] for row in rows}) == len(rows) == self.total
        return {(policy, seed): result for policy, seed, result in rows}

    def live(self) -> list[subprocess.Popen[str]]:
        """The runners that are running; what ended ones said is kept."""
        for runner in [one for one in self.runners if one.poll() is not None]:
            self.runners.remove(runner)
            _, err = runner.communicate()
            self.said.append(err)
            assert runner.returncode in (0, 2, 3, 130, -9), (runner.returncode, err)
            assert "Traceback" not in err, err
        return self.runners

    # What is done

    def start(self, *, jumping: bool = False) -> None:
        """One more runner."""
        arguments = ["sweep", "e.yaml", "--workers", str(self.workers), "--quiet"]
        arguments += ["--store", self.place, "--results", "results"]
        arguments += ["--dask", self.cluster.address] if self.cluster else []
        path = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH", "")]))
        self.runners.append(
            subprocess.Popen(
                [sys.executable, "-P", "-c", JUMPING if jumping else COMMAND, *arguments],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": path},
                text=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        )

    def kill_worker(self) -> bool:
        workers = [pid for runner in self.live() for pid in children(runner.pid)]
        return bool(workers) and self._signal(self.random.choice(workers), signal.SIGKILL)

    def kill_runner(self) -> bool:
        runners = self.live()
        return bool(runners) and self._signal(self.random.choice(runners).pid, signal.SIGKILL)

    def interrupt_runner(self) -> bool:
        """Ctrl-C, once the runner has begun to work: before that, Python itself may say so."""
        runners = [runner for runner in self.live() if children(runner.pid)]
        return bool(runners) and self._signal(self.random.choice(runners).pid, signal.SIGINT)

    def kill_dask_worker(self) -> bool:
        if self.cluster is None or not self.live():
            return False
        self.cluster.kill_worker(self.random)
        return True

    def kill_dask_scheduler(self) -> bool:
        if self.cluster is None or not self.live():
            return False
        self.cluster.kill_scheduler()
        return True

    def stop_the_server(self) -> bool:
        """The database goes at once, and is back after a while."""
        if self.server is None or not self.live():
            return False
        self.server.stop()
        time.sleep(self.random.uniform(0.2, 3))
        self.server.start()
        return True

    def start_another(self) -> bool:
        if len(self.live()) > 1:
            return False
        self.start()
        return True

    def let_the_clock_jump(self) -> bool:
        """Not on Dask, which takes the time of day for its own timeouts."""
        if self.cluster is not None or len(self.live()) > 1:
            return False
        self.start(jumping=True)
        return True

    def fill_the_disk(self) -> bool:
        """Leave no room for a while; only on a disk of its own."""
        free = os.statvfs(self.folder)
        if not os.path.ismount(self.folder) or free.f_bavail * free.f_frsize > 200_000_000:
            return False
        filler = self.folder / "filler"
        fill(filler)
        time.sleep(self.random.uniform(0.2, 1.5))
        filler.unlink()
        return True

    def damage_a_file(self) -> bool:
        """Change a byte of a kept file; it has to be found, and only it."""
        with contextlib.suppress(walltime.InputError), self.store as store:
            kept = sorted(store.results.folder.glob("??/[0-9a-f]*/*.parquet"))
            if not kept or self.live():
                return False
            path = self.random.choice(kept)
            data = bytearray(path.read_bytes())
            data[self.random.randrange(len(data))] ^= 0xFF
            path.write_bytes(data)
            found = [fault for fault in verify(store) if fault.run]
            assert [fault.run for fault in found] == [path.parent.name], found
            verify(store, repair=True)
            return True
        return False

    def _signal(self, pid: int, number: int) -> bool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            return True
        return False

    def disturb(self, faults: int, show: Callable[[str], Any] = lambda line: None) -> None:
        """So many faults at random moments of as many sweeps as that takes; after each sweep all is looked at."""
        kinds = (self.kill_worker, self.kill_runner, self.interrupt_runner, self.start_another)
        kinds += (self.let_the_clock_jump, self.fill_the_disk, self.damage_a_file)
        kinds += (self.kill_dask_worker, self.kill_dask_scheduler, self.stop_the_server)
        while sum(self.faults.values()) < faults:
            if not self.live():
                if self.counts().get("done") == self.total:
                    return
                if self.random.random() < 0.3 and self.damage_a_file():
                    self.faults["damage_a_file"] += 1
                self.start()
            time.sleep(self.random.expovariate(0.4))
            kind = self.random.choice(kinds)
            if kind():
                self.faults[kind.__name__] += 1
                show(f"{sum(self.faults.values())}: {kind.__name__} {self.counts()}")

    def settle(self) -> None:
        """Let it come to its end undisturbed; raises AssertionError where anything is lost or half-written."""
        while self.live():
            time.sleep(0.1)
        for _ in range(5):
            if self.counts().get("done") == self.total:
                break
            self.start()
            while self.live():
                time.sleep(0.1)
        assert self.counts() == {"waiting": 0, "running": 0, "done": self.total, "failed": 0}, self.said
        with self.store as store:
            stray = [fault for fault in verify(store, repair=True) if fault.run is not None]
            assert stray == [], stray
            assert verify(store) == []

    def end(self) -> None:
        """End the runners that this one started."""
        for runner in self.runners:
            if runner.poll() is None:
                runner.kill()
                runner.wait()


def fill(path: Path) -> None:
    """Write a file until the disk takes no more."""
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    with contextlib.suppress(OSError):
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
