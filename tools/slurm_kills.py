"""Does a run that is killed leave anything behind? Runs of the example site are ended at random moments.

python tools/slurm_kills.py --kills 100     SIGKILL, SIGTERM or SIGINT, from before the controller's start to the end
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "examples" / "site"
FILES = ("--conf", "slurm.conf", "--associations", "associations.dump", "--qos", "qos.txt")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PATIENCE = 60.0
"""Real seconds within which everything has to be gone: a busy machine lets the warden wait."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--release", help="of Slurm")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as folder:  # short: sockets have short names
        whole = run_once(Path(folder), None, options.release)
        left = 0
        for turn in range(options.kills):
            number, moment = draw.choice(SIGNALS), draw.uniform(0, whole)
            run_once(Path(folder), (number, moment), options.release)
            if found := wait_until_gone(Path(folder)):
                left += 1
                print(f"{turn}: {number.name} after {moment:.2f} s left {found}", flush=True)
    print(f"{options.kills} runs of {whole:.1f} s ended at random moments: {left} left something behind")
    if left:
        raise SystemExit(1)


def run_once(folder: Path, end: tuple[signal.Signals, float] | None, release: str | None) -> float:
    """One run, ended by a signal after so many seconds, or by itself; how long it took."""
    runs = folder / "r"
    runs.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "walltime", "slurm", "run", "jobs.csv", *FILES, "--output", str(folder / "out")]
    command += ["--force", "-q", *(["--release", release] if release else [])]
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=SITE, env=os.environ | {"WALLTIME_RUNS": str(runs)},
                               stderr=subprocess.DEVNULL)  # fmt: skip
    if end is None:
        if process.wait():
            raise SystemExit("the run itself failed; `walltime slurm doctor` may say why")
    else:
        try:
            process.wait(end[1])
        except subprocess.TimeoutExpired:
            os.kill(process.pid, end[0])
            process.wait()
    return time.monotonic() - began


def wait_until_gone(folder: Path) -> list[str]:
    """What is still there of a run when patience has ended: its folder, its processes, half a result."""
    deadline = time.monotonic() + PATIENCE
    while (found := find_traces(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def find_traces(folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True).stdout
    processes = [line.strip() for line in listed.splitlines() if str(folder / "r") in line]
    odd = [name for name in os.listdir(folder) if name not in ("r", "out")]
    return [*os.listdir(folder / "r"), *processes, *odd]


if __name__ == "__main__":
    main()
