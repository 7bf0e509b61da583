"""One case after the other: what comes out is a value, or an error that Walltime raises on purpose; nothing else."""

from __future__ import annotations

import random
import re
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from walltime.core.errors import EngineError, WalltimeError

LONGEST = 7000  # letters of a message
Case = Callable[[random.Random, Path], None]
"""Draws one case and runs it, in a folder of its own that the next one uses too."""


@dataclass
class Outcomes:
    """What happened in many cases: how many were understood, refused, or ended in a fault of ours."""

    understood: int = 0
    refused: int = 0
    of_kind: Counter[str] = field(default_factory=Counter)
    """How many cases of each kind were run."""
    at_boundary: Counter[str] = field(default_factory=Counter)
    """The first causes that no reader had thought of, and the boundary turned into a message."""
    faults: dict[str, str] = field(default_factory=dict)
    """Case and trace of calls, by the place of the fault."""

    @property
    def cases(self) -> int:
        return self.understood + self.refused + len(self.faults)


def run_case(name: str, case: Case, seed: int, number: int, folder: Path, outcomes: Outcomes) -> None:
    """One case, by its seed and number; a fault is kept with what is needed to run it again."""
    dice = random.Random(f"{seed} {name} {number}")
    outcomes.of_kind[name] += 1
    try:
        case(dice, folder)
        outcomes.understood += 1
    except EngineError as error:
        _keep(outcomes, error, f"{name}, seed {seed}, case {number}")
    except WalltimeError as error:
        if len(str(error)) > LONGEST or not str(error).strip():
            _keep(
                outcomes,
                AssertionError(f"a message of {len(str(error))} letters"),
                f"{name}, seed {seed}, case {number}",
            )
            return
        outcomes.refused += 1
        if error.__cause__ is not None and not isinstance(error.__cause__, WalltimeError | OSError):
            outcomes.at_boundary[f"{name}: {_place(error.__cause__)}"] += 1
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        _keep(outcomes, error, f"{name}, seed {seed}, case {number}")


def run_cases(cases: dict[str, tuple[Case, int]], seed: int, first: int, count: int) -> Iterator[Outcomes]:
    """So many cases of all kinds, by their weights, from the number `first` on; outcomes as they grow."""
    outcomes = Outcomes()
    wheel = [name for name, (_, weight) in cases.items() for _ in range(weight)]
    with tempfile.TemporaryDirectory(prefix="walltime-fuzz-") as folder:
        for number in range(first, first + count):
            name = random.Random(f"{seed} {number}").choice(wheel)
            run_case(name, cases[name][0], seed, number, Path(folder), outcomes)
            yield outcomes


def _keep(outcomes: Outcomes, error: BaseException, case: str) -> None:
    told = "".join(traceback.format_exception(error, limit=-6))
    outcomes.faults.setdefault(_place(error), f"{case}\n{told}"[:4000])


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "walltime" in frame.filename] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    said = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'", "…", (str(error).splitlines() or [""])[0])
    return f"{where} {type(error).__name__}: {said[:80]}"
