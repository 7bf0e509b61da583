"""What gets in the way of the jobs: reservations, maintenance, failures of nodes, and how jobs survive them."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.time import microseconds
from walltime.scenario.values import Count, Duration, File, Flag, Instant, Model, Moment, Name, Names, Ratio


class Reservation(Model):
    """A part of the machine that is kept for some users, or for none: maintenance, from `start` for `length`.

    The users whom it is for bind their jobs to it by name, in the workload's column `reservation`.
    """

    name: Name = Field(description="Its name; unique.")
    start: Instant = Field(
        description="When it begins: after the trace's zero, or a date; before zero only in a scenario with `start`."
    )
    length: Duration = Field(description="For how long.")
    every: Duration | None = Field(default=None, description="It recurs in this rhythm; once where absent.")
    times: Count | None = Field(default=None, description="How often, where it recurs; for ever where absent.")
    nodes: Names | None = Field(
        default=None, description="Its nodes: names of groups, of nodes, or ranges such as `n[0-9,12]`."
    )
    count: Count | None = Field(default=None, description="So many nodes instead: those with the highest numbers.")
    cores: Count | None = Field(default=None, description="Of a plain number of cores: how many of them.")
    users: Names | None = Field(default=None, description="These users may use it.")
    groups: Names | None = Field(default=None, description="These groups may use it.")
    accounts: Names | None = Field(default=None, description="These accounts, and those below, may use it.")

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.every is not None and self.every < self.length:
            raise PydanticCustomError("reservation", "recurs before it is over: every is shorter than length")
        if self.times is not None and self.every is None:
            raise PydanticCustomError("reservation", "has times but no every")
        if sum(given is not None for given in (self.nodes, self.count, self.cores)) > 1:
            raise PydanticCustomError("reservation", "has more than one of nodes, count and cores")
        return self

    @property
    def maintenance(self) -> bool:
        """Whether it is for no user."""
        return self.users is None and self.groups is None and self.accounts is None


class Draw(Model):
    """A random length of time: `{distribution: weibull, mean: 30d, shape: 0.7}`; a duration alone is constant."""

    distribution: Literal["constant", "exponential", "weibull", "lognormal"] = Field(
        default="exponential", description="Which one."
    )
    mean: Duration = Field(description="Its mean.")
    shape: Ratio | None = Field(default=None, description="Of `weibull`: below 1, old things fail less.")
    sigma: Ratio | None = Field(default=None, description="Of `lognormal`: the deviation of the logarithm.")

    @model_validator(mode="before")
    @classmethod
    def _from_duration(cls, value: Any) -> Any:
        return value if isinstance(value, dict | Draw) else {"distribution": "constant", "mean": value}

    @model_validator(mode="after")
    def _has_its_parameter(self) -> Self:
        needed = {"weibull": "shape", "lognormal": "sigma"}.get(self.distribution)
        for name in ("shape", "sigma"):
            if (getattr(self, name) is None) == (name == needed):
                what = "needs" if name == needed else "does not take"
                raise PydanticCustomError("draw", f"{self.distribution} {what} {name}")
        return self


class Failures(Model):
    """Nodes that fail: at random (`between` and `repair`), once (`at` and `length`), or as a `file` tells."""

    nodes: Names | None = Field(default=None, description="Which nodes; all where absent.")
    cores: Count | None = Field(
        default=None, description="Of a plain number of cores: how many fail together; a sixteenth where absent."
    )
    between: Draw | None = Field(default=None, description="How long a node works, from a repair to its next failure.")
    repair: Draw | None = Field(default=None, description="How long it is down.")
    together: Count = Field(default=1, description="So many neighbouring nodes fail, and come back, as one.")
    at: Instant | None = Field(
        default=None,
        description="A single failure: when, after the trace's zero, or a date. What is over before zero is left out.",
    )
    length: Duration | None = Field(default=None, description="A single failure: for how long.")
    file: File | None = Field(default=None, description="A file of failures, as Alea's data sets have it.")
    notice: Moment = Field(default=0.0, description="For so long before a failure nothing new starts on the node.")
    known: Flag = Field(
        default=True, description="Whether the scheduler knows, while a node is down, when it will be back."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [
            kind
            for kind, names in (("between", ("between", "repair")), ("at", ("at", "length")), ("file", ("file",)))
            if any(getattr(self, name) is not None for name in names)
        ]
        if len(kinds) != 1:
            raise PydanticCustomError("failures", "needs between and repair, or at and length, or a file: one of them")
        for first, second in (("between", "repair"), ("at", "length")):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                raise PydanticCustomError("failures", f"needs both {first} and {second}")
        if self.file is not None and (self.nodes is not None or self.cores is not None or self.together != 1):
            raise PydanticCustomError("failures", "has a file, which tells the nodes itself")
        return self


class Checkpoint(Model):
    """Jobs write down where they are, and can go on from there."""

    interval: Duration = Field(description="The work between two checkpoints.")
    cost: Moment = Field(default=0.0, description="The time that each of them takes.")
    restart: Moment = Field(default=0.0, description="The time that it takes to go on from one.")

    def granted(self, requested: np.ndarray) -> np.ndarray:
        """What jobs get that ask for so many microseconds: the time for their checkpoints is on top."""
        written = np.maximum(requested - 1, 0) // microseconds(self.interval)
        return np.asarray(requested + microseconds(self.cost) * written)
