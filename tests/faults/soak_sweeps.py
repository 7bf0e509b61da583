"""A thousand faults at random moments of sweeps, with the seed of the day: `python tests/faults/soak_sweeps.py`.

One sweep of four is on a Dask cluster, where Dask is installed.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dask_processes import Cluster
from injecting import Disturbed


def main() -> int:
    """Disturb sweeps until there have been so many faults; 1 where anything was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--faults", type=int, default=1000)
    options.add_argument("--seed", type=int, default=datetime.date.today().toordinal())
    given = options.parse_args()
    began, faults, sweeps, runs = time.monotonic(), collections.Counter[str](), 0, 0
    dask = importlib.util.find_spec("distributed") is not None
    with tempfile.TemporaryDirectory(prefix="soak-calm-") as folder:
        calm = Disturbed(Path(folder), 0)
        calm.settle()
        expected = calm.results()
    while sum(faults.values()) < given.faults:
        with tempfile.TemporaryDirectory(prefix="soak-sweep-") as folder:
            disk = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=False)
            cluster = Cluster(Path(tempfile.mkdtemp(prefix="soak-dask-"))) if dask and sweeps % 4 == 0 else None
            sweep = Disturbed(Path(folder), given.seed + sweeps, cluster=cluster)
            try:
                sweep.disturb(given.faults - sum(faults.values()))
                sweep.settle()
                assert sweep.results() == expected
            except AssertionError as error:
                print(f"seed {given.seed + sweeps}, after {dict(sweep.faults)}: {error}")
                return 1
            finally:
                sweep.end()
                if cluster is not None:
                    cluster.end()
                    shutil.rmtree(cluster.folder)
                if not disk.returncode:
                    subprocess.run(["umount", "-l", folder], check=True)
        faults += sweep.faults
        sweeps, runs = sweeps + 1, runs + sweep.total
        told = ", ".join(f"{count} {name}" for name, count in sorted(faults.items()))
        print(f"{sum(faults.values())} faults ({told}) in {sweeps} sweeps, {runs} runs: each there once", flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
