"""How the tasks of a job meet: not at all, at every step, or at the start and the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds, parse_duration
from walltime.workload.distributions import Distribution, Draws, parse_distribution

NAMES = ("sequential", "lock-step", "master-slave")
WAITING = ("block", "spin")
_KEYS = ("step", "delay", "spin", "block")


@dataclass(frozen=True)
class Pattern:
    """`sequential`: tasks that never meet. `lock-step`: all tasks meet after each `step` of work (SPMD).
    `master-slave`: they meet before the work and after it.

    A meeting takes `delay` seconds once the last task has come. Until it is over a task gives up the cpu, or keeps it
    and spins. The job has ended when the last meeting is over.
    """

    name: str
    step: int
    delay: Distribution
    spin: bool

    @property
    def burst(self) -> int:
        """Work between two meetings, in microseconds; 0: all of it."""
        return self.step if self.name == "lock-step" else 0

    @property
    def meets(self) -> bool:
        return self.name != "sequential"

    @property
    def opens(self) -> bool:
        """Whether the tasks meet before they begin."""
        return self.name == "master-slave"

    @property
    def fixed_delay(self) -> int:
        """What a meeting takes in microseconds; -1 where that is drawn."""
        if not self.meets:
            return 0
        return microseconds(self.delay.mean) if self.delay.constant else -1

    def draw_delay(self, seed: int, job: int, meeting: int) -> int:
        """What this meeting of this job takes, in microseconds."""
        draws = Draws(seed, f"execution.delay/{job}", np.array([meeting]))
        return round(float(self.delay.draw(draws)[0]) * SECOND)


def make_pattern(tasks: Any, step: Any, delay: Any, waiting: Any) -> Pattern:
    """The pattern of jobs that tell none, from a model's parameters; raises InputError."""
    if tasks not in NAMES:
        raise InputError("unknown model of tasks", value=tasks, choices=NAMES)
    if waiting not in WAITING:
        raise InputError("waiting is not one of its choices", value=waiting, choices=WAITING)
    return Pattern(tasks, duration("step", step), parse_delay(delay), waiting == "spin")


def parse_profile(text: str, default: Pattern) -> Pattern:
    """The pattern of a job whose profile says `lock-step`, or `lock-step step=0.5 delay=0.01 spin`.

    Raises InputError.
    """
    name, *options = text.split()
    if name not in NAMES:
        raise InputError("unknown model of tasks in a job's profile", value=name, choices=NAMES)
    made = replace(default, name=name)
    for option in options:
        key, _, value = option.partition("=")
        if key == "step" and value:
            made = replace(made, step=duration("step", value))
        elif key == "delay" and value:
            made = replace(made, delay=parse_delay(value))
        elif option in WAITING:
            made = replace(made, spin=option == "spin")
        else:
            raise InputError("unknown option in a job's profile", value=option, choices=_KEYS)
    return made


def duration(name: str, value: Any, zero: bool = False) -> int:
    """Microseconds of a parameter; raises InputError where it is not a duration, or zero where that makes no sense."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError("")
        length = parse_duration(value)
    except InputError:
        raise InputError(f"{name} is not a duration (seconds, 90s, 15m)", value=value) from None
    if length == 0 and not zero:
        raise InputError(f"{name} must be longer than zero", value=value)
    return length


def parse_delay(value: Any) -> Distribution:
    """What a meeting takes: a duration, or a distribution in seconds."""
    try:
        if isinstance(value, Mapping | Distribution):
            return parse_distribution(value)
        return parse_distribution(duration("delay", value, zero=True) / SECOND)
    except InputError as error:
        what = error.what if error.what.startswith("delay") else f"delay: {error.what}"
        raise InputError(what, value=error.value, choices=error.choices) from None
