"""What a tuning found: the trials, the front, the best on other repetitions, who loses, and which key matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from walltime.analysis.noise import Interval
from walltime.analysis.verdict import Verdict
from walltime.experiments.answers.losers import REPLAY, tell_losers

if TYPE_CHECKING:
    from walltime.analysis.charts.chart import Chart
    from walltime.experiments.answers.sensitivity import KeyEffect
    from walltime.experiments.answers.tune import Wish


@dataclass(frozen=True)
class Tried:
    """One trial: the setting, its objectives over the repetitions that are tuned on, and what it exceeds."""

    number: int
    label: str
    setting: dict[str, Any]
    figures: tuple[Interval, ...]
    excesses: tuple[float, ...]

    @property
    def holds(self) -> bool:
        """Whether every constraint holds."""
        return all(excess <= 0 for excess in self.excesses)


@dataclass(frozen=True)
class Candidate:
    """A setting that was run on other repetitions: its objectives against the present ones there, by how much it
    exceeds each constraint there, and the groups that lose."""

    tried: Tried
    verdicts: tuple[Verdict, ...]
    excesses: tuple[tuple[float, str], ...]
    losers: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Whether every constraint holds on the other repetitions too."""
        return all(excess <= 0 for excess, _ in self.excesses)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            **{"setting": self.tried.setting, "holds": self.holds},
            "verdicts": [one.as_dict() for one in self.verdicts],
            "constraints": [{"text": text, "excess": excess} for excess, text in self.excesses],
            "losers": [one.as_dict() for one in self.losers],
        }


@dataclass(frozen=True)
class Tuned:
    """The outcome of a search. `front` are the settings that no other beats, of one objective the best alone;
    `candidates` those of them that were judged; `counts` how many repetitions were tuned on, and judged on."""

    wish: Wish
    tried: Sequence[Tried]
    present: Tried
    front: Sequence[Tried]
    candidates: Sequence[Candidate]
    effects: Sequence[KeyEffect]
    basis: str
    counts: tuple[int, int]
    group: str
    closed: bool = False
    """Whether users react in it."""

    @property
    def best(self) -> Candidate | None:
        """The best setting, of several objectives that of the first; None where no trial holds."""
        return self.candidates[0] if self.candidates else None

    @property
    def sentences(self) -> list[str]:
        """What was found, for a person."""
        if self.best is None:
            least = min(self.tried, key=lambda one: max(one.excesses, default=0.0))
            over = 100 * max(least.excesses, default=0.0)
            first = (
                f"No setting of {len(self.tried)} meets the constraints; {least.label} is nearest, {over:.2g} % off."
            )
            return [first, REPLAY]
        told = [self._tell_first()]
        for one in self.candidates:
            told += [f"{verdict.sentence}." for verdict in one.verdicts]
            told += [
                f"Careful: {one.tried.label} does not meet {text} on the other {self.basis}."
                for excess, text in one.excesses
                if excess > 0
            ]
            told += [f"{one.tried.label}: {text}" for text in tell_losers(one.losers, self.group)]
        return [*told, *(f"{effect.sentence}." for effect in self.effects), *self._replay]

    @property
    def _replay(self) -> list[str]:
        return [] if self.closed else [REPLAY]

    def _tell_first(self) -> str:
        tuned, others = self.counts
        where = f"tuned on {tuned} {self.basis}; what follows is on {others} other {self.basis}"
        if len(self.wish.objectives) == 1:
            assert self.best is not None
            measure, figure = self.wish.objectives[0].measure, self.best.tried.figures[0]
            now = measure.write(self.present.figures[0].mean)
            found = f"{measure.text} {measure.write(figure.mean)}, at present {now}"
            return f"The best of {len(self.tried)} trials is {self.best.tried.label}: {found} ({where})."
        judged = f", of which {len(self.candidates)} were judged" if len(self.candidates) < len(self.front) else ""
        return f"{len(self.front)} of {len(self.tried)} trials are on the Pareto front{judged} ({where})."

    def draw(self) -> Chart:
        """The trials: two objectives against each other, or one over the trials."""
        from walltime.analysis.charts.trials import draw_front, draw_progress

        figures = [one.measure.text for one in self.wish.objectives]
        held = [one.holds for one in self.tried]
        values = [[one.figures[index].mean for one in self.tried] for index in range(len(figures))]
        now = [figure.mean for figure in self.present.figures]
        if len(figures) == 1:
            return draw_progress(figures[0], values[0], held, now[0], least=self.wish.objectives[0].least)
        front = [(one.label, one.figures[0].mean, one.figures[1].mean) for one in self.front]
        return draw_front((figures[0], figures[1]), (values[0], values[1]), held, front, (now[0], now[1]))

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            **{"objectives": [one.measure.text for one in self.wish.objectives], "basis": self.basis},
            **{"tuned_on": self.counts[0], "judged_on": self.counts[1]},
            "present": [asdict(figure) for figure in self.present.figures],
            "trials": [asdict(one) | {"holds": one.holds} for one in self.tried],
            "front": [one.number for one in self.front],
            "candidates": [one.as_dict() for one in self.candidates],
            "sensitivity": [one.as_dict() for one in self.effects],
            "sentences": self.sentences,
        }
