"""A thousand faults at random moments of sweeps, with the seed of the day: `python tests/faults/soak_sweeps.py`.

One sweep of four is on a Dask cluster, and one of four has its store on a PostgreSQL server, where these are installed.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dask_processes import DaskProcesses
from injecting import Disturbed

sys.path.insert(0, str(Path(__file__).parents[1]))

from database_server import Server


def main() -> int:
    """Disturb sweeps until there have been so many faults; 1 where anything was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--faults", type=int, default=1000)
    options.add_argument("--seed", type=int, default=datetime.date.today().toordinal())
    given = options.parse_args()
    began, faults, sweeps, runs = time.monotonic(), collections.Counter[str](), 0, 0
    with tempfile.TemporaryDirectory(prefix="soak-calm-") as folder:
        calm = Disturbed(Path(folder), 0)
        calm.settle()
        expected = calm.results()
    with database() as server:
        while sum(faults.values()) < given.faults:
            dask, on_server = sweeps % 4 == 0, sweeps % 4 == 2
            with small_disk() as folder, cluster(dask) as found:
                own = server if on_server else None
                sweep = Disturbed(folder, given.seed + sweeps, cluster=found, server=own)
                try:
                    sweep.disturb(given.faults - sum(faults.values()))
                    sweep.settle()
                    assert sweep.results() == expected
                except AssertionError as error:
                    print(f"seed {given.seed + sweeps}, after {dict(sweep.faults)}: {error}")
                    return 1
                finally:
                    sweep.end()
            faults += sweep.faults
            sweeps, runs = sweeps + 1, runs + sweep.total
            told = ", ".join(f"{count} {name}" for name, count in sorted(faults.items()))
            print(
                f"{sum(faults.values())} faults ({told}) in {sweeps} sweeps, {runs} runs: each there once", flush=True
            )
    print(f"{time.monotonic() - began:.0f} s")
    return 0


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """A folder on a disk of 3 MB; on the usual disk where none may be mounted."""
    with tempfile.TemporaryDirectory(prefix="soak-sweep-") as folder:
        mounted = not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=False).returncode
        try:
            yield Path(folder)
        finally:
            if mounted:
                subprocess.run(["umount", "-l", folder], check=True)


@contextlib.contextmanager
def cluster(wanted: bool) -> Iterator[DaskProcesses | None]:
    """A Dask cluster where one is wanted and Dask is installed."""
    if not wanted or importlib.util.find_spec("distributed") is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="soak-dask-", ignore_cleanup_errors=True) as folder:
        made = DaskProcesses(Path(folder))
        try:
            yield made
        finally:
            made.end()


@contextlib.contextmanager
def database() -> Iterator[Server | None]:
    """A PostgreSQL server where one is installed."""
    server = Server.find()
    if server is None:
        yield None
        return
    server.start()
    try:
        yield server
    finally:
        server.end()


if __name__ == "__main__":
    sys.exit(main())
