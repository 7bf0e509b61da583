"""Which key matters, and by how much: each is varied alone around a setting, and judged against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from walltime.analysis.headline import SENSITIVITY
from walltime.analysis.verdict import LESS, MORE, Verdict, adjust
from walltime.experiments.answers.choices import Choice
from walltime.experiments.grid import write_label

_CHANGED = (LESS, MORE, SENSITIVITY)


@dataclass(frozen=True)
class KeyEffect:
    """What a key does to one figure: at each other value the verdict against the value of the setting."""

    key: str
    metric: str
    kept: Any
    verdicts: tuple[tuple[Any, Verdict], ...]

    @property
    def reach(self) -> float:
        """The largest change that was found not to be chance, as a fraction where that can be told; 0 for none.

        Where there are too few repetitions for a verdict, the largest change.
        """
        return max((_size(one) for _, one in self.verdicts if one.outcome in _CHANGED), default=0.0)

    @property
    def sentence(self) -> str:
        """What it does, for a person."""
        name = self.key.rpartition(".")[2]
        if not self.reach:
            tried = ", ".join(f"{_change(one)} at {write_label(value)}" for value, one in self.verdicts)
            return f"{name} (at {write_label(self.kept)}): no effect on {self._words} found; {tried} may be chance"
        told = ", ".join(f"{_tell(one)} at {write_label(value)}" for value, one in self.verdicts)
        few = any(one.outcome == SENSITIVITY for _, one in self.verdicts)
        doubt = f"; {self.verdicts[0][1].count} {self.verdicts[0][1].basis} give no verdict" if few else ""
        return f"{name} (at {write_label(self.kept)}) changes {self._words}: {told}{doubt}"

    @property
    def _words(self) -> str:
        return self.verdicts[0][1].figure.words if self.verdicts else self.metric

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        values = [{"value": value, **one.as_dict()} for value, one in self.verdicts]
        return {"key": self.key, "metric": self.metric, "kept": self.kept, "reach": self.reach, "values": values}


def find_effects(
    changed: Sequence[tuple[Choice, Any]], compared: Sequence[Sequence[Verdict]], kept: Mapping[str, Any]
) -> list[KeyEffect]:
    """The effect of each key on each figure, the greatest first; verdicts are corrected for their number, all together.

    `changed` tells which key was set to what, `compared` the verdicts on that against the setting that is `kept`.
    """
    corrected = iter(adjust([verdict for verdicts in compared for verdict in verdicts]))
    found: dict[tuple[str, str], list[tuple[Any, Verdict]]] = {}
    for (choice, value), verdicts in zip(changed, compared, strict=True):
        for verdict in verdicts:
            found.setdefault((choice.key, verdict.metric), []).append((value, next(corrected)))
    effects = [KeyEffect(key, metric, kept[key], tuple(values)) for (key, metric), values in found.items()]
    return sorted(effects, key=lambda one: -one.reach)


def _size(verdict: Verdict) -> float:
    return abs(verdict.relative.mean if verdict.relative is not None else verdict.difference.mean)


def _tell(verdict: Verdict) -> str:
    return _change(verdict) + ("" if verdict.outcome in _CHANGED else " (may be chance)")


def _change(verdict: Verdict) -> str:
    sign = "-" if verdict.difference.mean < 0 else "+"
    if verdict.relative is None:
        return f"{sign}{verdict.figure.text(abs(verdict.difference.mean))}"
    share = abs(verdict.relative.mean)
    return f"{sign}{100 * share:,.{0 if share >= 0.1 else 1}f} %"
