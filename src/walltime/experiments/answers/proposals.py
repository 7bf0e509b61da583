"""What to try next, by Optuna through ask and tell. Its study lives in memory alone: our store is told to it again.

Trials are asked for in batches of one size, whatever the number of workers, and told in their order. So the same wish
asks for the same trials, and one that was stopped asks again for what the store has already.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    from walltime.experiments.answers.choices import Choice


class Proposals:
    """Settings for the choices, so that objectives become small: `least` says which of them do, the others large."""

    def __init__(self, choices: Sequence[Choice], least: Sequence[bool], *, seed: int, batch: int) -> None:
        optuna = _find_optuna()
        self.choices, self.batch = choices, batch
        self._asked: list[Trial] = []
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
            self._asked = [self._study.ask(self._distributions) for _ in range(self.batch)]
        return [
            {choice.key: choice.settle(trial.params[choice.key]) for choice in self.choices} for trial in self._asked
        ]

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


def _distribution(choice: Choice) -> BaseDistribution:
    from optuna import distributions

    if choice.values:
        return distributions.CategoricalDistribution(range(len(choice.values)))
    if choice.whole:
        step = int(choice.step or 1)
        return distributions.IntDistribution(int(choice.low), int(choice.high), log=choice.log, step=step)
    return distributions.FloatDistribution(choice.low, choice.high, log=choice.log, step=choice.step)
