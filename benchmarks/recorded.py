"""The figures of the last release, kept in `recorded.json` case by case: of which version, when, and on which machine.

Those of `--quick`, which measures less, are kept apart from those of full size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

FILE = Path(__file__).with_name("recorded.json")
FULL, QUICK = "full", "quick"


@dataclass(frozen=True)
class Origin:
    """Where figures come from. `load` is the load average when they were begun."""

    version: str
    date: str
    machine: str
    load: str

    def __str__(self) -> str:
        return f"{self.version} of {self.date}, on {self.machine}, load average {self.load}"


@dataclass(frozen=True)
class Recorded:
    """Medians by case and name, with their origin by case; all of one size."""

    cases: dict[str, dict[str, Any]]

    @classmethod
    def load(cls, size: str, file: Path = FILE) -> Recorded | None:
        """None where nothing of this size was recorded."""
        cases = _read(file).get(size)
        return cls(cases) if cases else None

    def origins(self, names: Iterable[str]) -> list[Origin]:
        """Where the figures of these cases come from, each origin once."""
        found = [Origin(**self.cases[name]["origin"]) for name in names if name in self.cases]
        return list(dict.fromkeys(found))

    def ratio(self, figure: Figure) -> float | None:
        """Today's cost over the recorded one, of times, memory and speeds; None where it was not recorded."""
        old = self.cases.get(figure.case, {}).get("figures", {}).get(plain_name(figure.what))
        if old is None or old["unit"] != figure.unit or min(old["median"], figure.median) <= 0:
            return None
        ratio = figure.median / float(old["median"])
        return 1 / ratio if figure.unit.endswith("/s") else ratio


def record(figures: Iterable[Figure], origin: Origin, size: str, file: Path = FILE) -> None:
    """Keep the figures; those of cases that were not measured now stay, with the origin that they have."""
    fresh: dict[str, dict[str, Any]] = {}
    for figure in figures:
        case = fresh.setdefault(figure.case, {"origin": vars(origin), "figures": {}})
        case["figures"][plain_name(figure.what)] = {"median": figure.median, "unit": figure.unit}
    data = _read(file)
    data[size] = data.get(size, {}) | fresh
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def plain_name(what: str) -> str:
    """The name of a figure without what the schedule decides."""
    return re.sub(r" \(queue to [\d,]+\)", "", what)


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}
