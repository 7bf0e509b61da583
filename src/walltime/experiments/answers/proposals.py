"""What to try next, by Optuna through ask and tell. Its study lives in memory alone: our store is told to it again.

Trials are asked for in batches of one size, whatever the number of workers, and told in their order. So the same wish
asks for the same trials, and one that was stopped asks again for what the store has already.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.random import stream

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    from walltime.experiments.answers.choices import Choice

MOST_LISTED = 10_000
"""Where there are no more settings than this, none is tried twice while others are left."""


class Proposals:
    """Settings for the choices, so that objectives become small: `least` says which of them do, the others large."""

    def __init__(self, choices: Sequence[Choice], least: Sequence[bool], *, seed: int, batch: int) -> None:
        optuna = _find_optuna()
        self.choices, self.batch = choices, batch
        self._asked: list[Trial] = []
        self._seen: set[tuple[Any, ...]] = set()
        self._left = _list_settings(choices, seed)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parts of the sampler are called experimental
            sampler = optuna.samplers.TPESampler(
                seed=seed, n_startup_trials=max(10, batch), multivariate=True, constant_liar=True
            )
            directions = ["minimize" if one else "maximize" for one in least]
            self._study = optuna.create_study(sampler=sampler, directions=directions)
        self._distributions = {choice.key: _distribution(choice) for choice in choices}

    def begin_with(self, drawn: dict[str, Any]) -> None:
        """Have this tried first."""
        self._study.enqueue_trial(drawn)

    def ask(self) -> list[dict[str, Any]]:
        """The settings of the next batch."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._asked = [self._ask_one() for _ in range(self.batch)]
        return [
            {choice.key: choice.settle(trial.params[choice.key]) for choice in self.choices} for trial in self._asked
        ]

    def _ask_one(self) -> Trial:
        """The next trial: where one was tried before, another that was not, as long as such are left."""
        trial: Trial = self._study.ask(self._distributions)
        if self._draw_of(trial) in self._seen:
            while self._left and self._left[-1] in self._seen:
                self._left.pop()
            if self._left:
                self._study.tell(trial, state=_find_optuna().trial.TrialState.FAIL)
                keys = (choice.key for choice in self.choices)
                self._study.enqueue_trial(dict(zip(keys, self._left.pop(), strict=True)))
                trial = self._study.ask(self._distributions)
        self._seen.add(self._draw_of(trial))
        return trial

    def _draw_of(self, trial: Trial) -> tuple[Any, ...]:
        return tuple(trial.params[choice.key] for choice in self.choices)

    def tell(self, found: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
        """Of each setting of the batch the objectives, and by how much each constraint is exceeded (0: it holds)."""
        for trial, (values, excesses) in zip(self._asked, found, strict=True):
            for number, excess in enumerate(excesses):
                trial.set_constraint(f"constraint {number}", excess)
            self._study.tell(trial, list(values))


def _find_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("walltime tune needs Optuna: pip install 'walltime[tune]'") from None
    if not hasattr(optuna.trial.Trial, "set_constraint"):
        what = "walltime tune needs Optuna 5 or newer: pip install --upgrade 'walltime[tune]'"
        raise InputError(what, value=optuna.__version__)
    return optuna


def _list_settings(choices: Sequence[Choice], seed: int) -> list[tuple[Any, ...]]:
    """All settings in an order of the seed's; none where they are too many to be tried."""
    if not all(choice.values or choice.whole for choice in choices):
        return []
    drawn = [
        range(len(choice.values))
        if choice.values
        else range(int(choice.low), int(choice.high) + 1, int(choice.step or 1))
        for choice in choices
    ]
    if math.prod(len(values) for values in drawn) > MOST_LISTED:
        return []
    settings = list(itertools.product(*drawn))
    return [settings[place] for place in stream(seed, "settings to try").permutation(len(settings))]


def _distribution(choice: Choice) -> BaseDistribution:
    from optuna import distributions

    if choice.values:
        return distributions.CategoricalDistribution(range(len(choice.values)))
    if choice.whole:
        step = int(choice.step or 1)
        return distributions.IntDistribution(int(choice.low), int(choice.high), log=choice.log, step=step)
    return distributions.FloatDistribution(choice.low, choice.high, log=choice.log, step=choice.step)
