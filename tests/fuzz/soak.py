"""Cases without number: `python tests/fuzz/soak.py --cases 1000000 --seed 20261115`, by default the seed of the day.

Cases run in processes of their own, so that a crash of one is found and told like any other fault; a case that takes
more than a minute of CPU time, or more memory than a few gigabytes, is one too. Prints the figures, every fault with
what is needed to run it again (`--only swf --first 17 --cases 1`), and every place where the boundary of the readers
had to step in.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

CHUNK = 10_000
"""Cases of one process: enough that imports and the sites of the scenarios, made once in each, cost next to nothing."""
SLOWEST = 60  # seconds of CPU time
MEMORY = 8 << 30


class Slow(BaseException):
    """A case that takes too long."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=int(datetime.date.today().strftime("%Y%m%d")))
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", help="kinds of cases, with commas between; by default all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given.seed, int(given.work[0]), int(given.work[1]), given.only, Path(given.work[2]))
    return oversee(given)


def work(seed: int, first: int, count: int, only: str | None, told: Path) -> int:
    """Runs a chunk of cases; writes the number of each before it is run, and in the end what happened."""
    from cases import find_cases
    from harness import run_cases

    def ring(*_: object) -> None:
        raise Slow(f"more than {SLOWEST} s")

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, ring)
    cases = find_cases()
    if only:
        cases = {name: cases[name] for name in only.split(",")}
    number = first
    outcomes = None
    with told.open("w") as file:
        running = run_cases(cases, seed, first, count)
        while True:
            signal.setitimer(signal.ITIMER_PROF, SLOWEST)
            file.seek(0)
            file.write(f"{number}\n")
            file.flush()
            if (outcomes := next(running, outcomes)) is not None and number == first + count:
                break
            number += 1
    signal.setitimer(signal.ITIMER_PROF, 0)
    assert outcomes is not None
    report = {"understood": outcomes.understood, "refused": outcomes.refused, "faults": outcomes.faults,
              "boundary": outcomes.at_boundary, "kinds": outcomes.of_kind}  # fmt: skip
    told.write_text(json.dumps(report))
    return 0


def oversee(given: argparse.Namespace) -> int:
    """Shares the cases out among processes, and prints what they found."""
    began = time.monotonic()
    total: Counter[str] = Counter()
    boundary: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    faults: dict[str, str] = {}
    chunks = [(first, min(CHUNK, given.first + given.cases - first))
              for first in range(given.first, given.first + given.cases, CHUNK)]  # fmt: skip
    running: dict[subprocess.Popen[bytes], tuple[int, int, Path]] = {}
    print(f"{given.cases:,} cases, seed {given.seed}")
    with tempfile.TemporaryDirectory(prefix="walltime-soak-") as folder:
        while chunks or running:
            while chunks and len(running) < given.processes:
                first, count = chunks.pop(0)
                told = Path(folder) / f"{first}"
                running[_start(given, first, count, told)] = (first, count, told)
            time.sleep(0.2)
            for process in [one for one in running if one.poll() is not None]:
                first, count, told = running.pop(process)
                report, left = _collect(process, first, count, told)
                total.update(report["counts"])
                boundary.update(report["boundary"])
                kinds.update(report["kinds"])
                for place in report["faults"].keys() - faults.keys():
                    print(f"a fault at {place}, from case {first}", flush=True)
                faults |= report["faults"]
                chunks[:0] = left
                _show(total, faults, began)
    _show(total, faults, began, given.seed)
    print("Of each kind: " + ", ".join(f"{name} {count:,}" for name, count in sorted(kinds.items())))
    print("\nWhere the boundary stepped in (kind, place, first cause):")
    for place, count in boundary.most_common():
        print(f"  {count:8,}  {place}")
    for place, story in faults.items():
        print(f"\nFAULT at {place}\n{story}")
    return 1 if faults else 0


def _show(total: Counter[str], faults: dict[str, str], began: float, seed: int | None = None) -> None:
    """The figures so far; with the seed, in the end."""
    if seed is None and total["cases"] // 10_000 == total["shown"]:
        return
    total["shown"] = total["cases"] // 10_000
    head = "so far" if seed is None else f"with seed {seed}"
    kinds = f"{len(faults)} kinds of faults" if faults else "no fault"
    figures = f"{total['understood']:,} understood, {total['refused']:,} refused, {kinds}"
    print(f"{total['cases']:,} cases {head}, {time.monotonic() - began:.0f} s: {figures}", flush=True)


def _start(given: argparse.Namespace, first: int, count: int, told: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--seed", str(given.seed), "--work", str(first), str(count), str(told)]
    return subprocess.Popen(
        command + (["--only", given.only] if given.only else []),
        stdout=subprocess.DEVNULL,
        stderr=told.with_suffix(".err").open("wb"),
        env=os.environ | {"RUST_BACKTRACE": "0"},
    )


def _collect(process: Any, first: int, count: int, told: Path) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    """What a process found, and the chunks that are still to be run: when it crashed, those around the case it ran."""
    if process.returncode == 0:
        report = json.loads(told.read_text())
        counts = {"cases": count, "understood": report["understood"], "refused": report["refused"]}
        return {"counts": counts, "boundary": report["boundary"], "kinds": report["kinds"],
                "faults": report["faults"]}, []  # fmt: skip
    words = told.read_text().split() if told.exists() else []
    number = int(words[0]) if words and words[0].isdigit() else first
    last = told.with_suffix(".err").read_text(errors="replace").strip().splitlines()[-3:]
    place = f"process ended with {process.returncode}: {last[-1] if last else ''}"
    fault = {place: f"case {number}\n" + "\n".join(last)}
    around = [(first, number - first), (number + 1, first + count - number - 1)]
    return {"counts": {"cases": 1}, "boundary": {}, "kinds": {}, "faults": fault}, [one for one in around if one[1]]


if __name__ == "__main__":
    sys.exit(main())
