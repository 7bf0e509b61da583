"""Waiting for other jobs, and being withdrawn: the scenario's keys `dependencies`, `deadlines` and `cancellations`."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from walltime.scenario.values import Duration, Flag, Model


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a share, from 0 to 1")
    return float(value)


def _spread(value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not 0 <= value <= 10
    ):
        raise ValueError("must be a number from 0 to 10")
    return float(value)


Share = Annotated[float, BeforeValidator(_share)]
Spread = Annotated[float, BeforeValidator(_spread)]


class Dependencies(Model):
    """Jobs that wait for other jobs, as their `dependencies` say."""

    never: Literal["cancel", "stay"] = Field(
        default="cancel",
        description="What becomes of a job whose dependency can never be met: it is cancelled when that is known (as "
        "with Slurm's `kill_invalid_depend`), or stays for ever.",
    )
    unknown: Literal["refuse", "met"] = Field(
        default="refuse",
        description="A dependency on a job that is not in the workload is a mistake (`refuse`), or no hindrance "
        "(`met`), as for a log that begins in the middle.",
    )
    preceding: Flag = Field(
        default=False,
        description="Whether a job waits for SWF's preceding job (field 17) and the think time (field 18) after its "
        "end. Many logs have something else in these fields.",
    )


class Cancellations(Model):
    """Users who withdraw their jobs, drawn for each job by its number: the same ones under every policy."""

    share: Share = Field(description="The share of the jobs whose users have their patience measured.")
    after: Duration = Field(description="The patience after submission: the median, or the mean of `exponential`.")
    distribution: Literal["lognormal", "exponential", "fixed"] = Field(
        default="lognormal", description="How patience is distributed."
    )
    spread: Spread = Field(default=1.0, description="Of `lognormal`: the standard deviation of the logarithm.")
    running: Flag = Field(
        default=False,
        description="Whether a job is withdrawn when it is already running; else its user gives up waiting only.",
    )
