"""The same cases on this build and on another one, by turns: how CPU times compare on a machine that is never quiet.

Each checkout is measured by its own `benchmarks`, as these reach into the engine; figures are matched by their names.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.recorded import plain_name

HERE = Path(__file__).parents[1]
TIMES = {"s", "CPU s", "ms", "us"}
LIMIT = 1.05
"""Above this ratio a line is marked."""


@dataclass(frozen=True)
class Build:
    """A built checkout, or a folder with a built package alone (`build/checked/lib`)."""

    folder: Path
    package: Path

    def run(self, *arguments: str) -> str:
        """What Python prints with this build first on its path, in a folder with `benchmarks`."""
        environment = os.environ | {"PYTHONPATH": str(self.package)}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, text=True, capture_output=True, check=False
        )
        if done.returncode:
            sys.exit(f"{self.folder}: python {' '.join(arguments)} failed:\n{done.stderr}")
        return done.stdout


@dataclass(frozen=True)
class Line:
    """One figure of both builds: the medians over the rounds, and the ratio of CPU times, this over the other."""

    case: str
    what: str
    unit: str
    here: float
    there: float
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    def text(self) -> str:
        """The line of the table."""
        spread = f"{min(self.ratios):.2f} to {max(self.ratios):.2f}"
        mark = " SLOWER" if self.ratio > LIMIT else ""
        medians = f"{self.here:>11.3g}{self.there:>11.3g} {self.unit:<10}"
        return f"{self.what:<70.70}{medians}{self.ratio:>6.2f} {spread:>14}{mark}"


def find_build(path: Path) -> Build:
    """The build at a path, really imported from there; exits with a message where there is none."""
    path = path.resolve()
    build = Build(path, path / "src") if (path / "benchmarks").is_dir() else Build(HERE, path)
    imported = Path(build.run("-c", "import walltime.engine.loop as loop; print(loop.__file__)").strip())
    if not imported.is_relative_to(path) or imported.suffix == ".py":
        sys.exit(f"{path} is no built checkout: there `import walltime.engine.loop` gives {imported}")
    return build


def measure(build: Build, case: str, quick: bool) -> dict[str, Any]:
    """The figures of one case, by their names without what the schedule decides."""
    with tempfile.TemporaryDirectory(prefix="walltime-bench-") as folder:
        file = Path(folder) / "figures.json"
        build.run("-m", "benchmarks", case, *(["--quick"] if quick else []), "--json", str(file))
        figures = json.loads(file.read_text(encoding="utf-8"))["figures"]
    return {plain_name(figure["what"]): figure for figure in figures}


def compare(case: str, rounds: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> list[Line]:
    """The figures that are times or speeds, of (this build, the other) in each round."""
    lines = []
    first, other = rounds[0]
    for what, figure in first.items():
        speed = figure["unit"].endswith("/s")
        if what not in other or not (speed or figure["unit"] in TIMES):
            continue
        here, there = ([pair[side][what]["median"] for pair in rounds] for side in (0, 1))
        if min(*here, *there) <= 0:
            continue
        ratios = [b / a if speed else a / b for a, b in zip(here, there, strict=True)]
        medians = statistics.median(here), statistics.median(there)
        lines.append(Line(case, what, figure["unit"], *medians, tuple(ratios)))
    return lines


def run(other: Path, cases: Sequence[str], rounds: int, quick: bool) -> list[Line]:
    """Measure both builds in turns, the first of them changing, and print a table for each case."""
    here, there = find_build(HERE), find_build(other)
    lines: list[Line] = []
    for case in cases:
        pairs = []
        for number in range(rounds):
            turns = (here, there) if number % 2 == 0 else (there, here)
            found = {id(build): measure(build, case, quick) for build in turns}
            pairs.append((found[id(here)], found[id(there)]))
        print(f"\n{case}: {'this':>{75 - len(case)}}{'other':>13}{'':<10}{'ratio of CPU time':>20}", flush=True)
        compared = compare(case, pairs)
        for line in compared:
            print(line.text(), flush=True)
        alone = sorted(pairs[0][0].keys() ^ pairs[0][1].keys())
        print("".join(f"{what}: in one of the builds only\n" for what in alone), end="")
        lines += compared
    for case in cases:
        if ratios := [line.ratio for line in lines if line.case == case]:
            print(f"{case}: the median of {len(ratios)} ratios is {statistics.median(ratios):.3f}")
    return lines
