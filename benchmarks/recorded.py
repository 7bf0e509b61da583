"""The figures of the last release, kept in `recorded.json` with the machine on which they were measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

FILE = Path(__file__).with_name("recorded.json")


@dataclass(frozen=True)
class Recorded:
    """Medians by case and name; those of full size, as `--quick` measures something else."""

    machine: str
    figures: dict[str, dict[str, dict[str, Any]]]

    @classmethod
    def load(cls, file: Path = FILE) -> Recorded | None:
        """None where nothing was recorded."""
        if not file.exists():
            return None
        data = json.loads(file.read_text(encoding="utf-8"))
        return cls(data["machine"], data["figures"])

    def ratio(self, figure: Figure) -> float | None:
        """Today's cost over the recorded one, of times, memory and speeds; None where it was not recorded."""
        old = self.figures.get(figure.case, {}).get(plain_name(figure.what))
        if old is None or old["unit"] != figure.unit or min(old["median"], figure.median) <= 0:
            return None
        ratio = figure.median / float(old["median"])
        return 1 / ratio if figure.unit.endswith("/s") else ratio


def record(figures: Iterable[Figure], machine: str, file: Path = FILE) -> None:
    """Keep the figures; those of cases that were not measured now stay."""
    before = Recorded.load(file)
    kept = {} if before is None else dict(before.figures)
    fresh: dict[str, dict[str, dict[str, Any]]] = {}
    for figure in figures:
        fresh.setdefault(figure.case, {})[plain_name(figure.what)] = {"median": figure.median, "unit": figure.unit}
    data = {"machine": machine, "figures": kept | fresh}
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def plain_name(what: str) -> str:
    """The name of a figure without what the schedule decides."""
    return re.sub(r" \(queue to [\d,]+\)", "", what)
