"""How the slurm engine is to run: a site's own configuration, and what an experiment changes in it."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.values import Duration, File, Flag, Model, Moment, Name

LEAST_LEAD = 5
FLAT = "flat"
"""In place of a file of associations: every user is known, with equal shares."""


def _cost(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError("must be a number of 0 or more")
    return float(value)


def _release(value: Any) -> str:
    """Two numbers, of which YAML makes one."""
    text = f"{value:05.2f}" if isinstance(value, float) else str(value)
    if not re.fullmatch(r"\d\d\.\d\d", text):
        raise ValueError("must be a release of Slurm, as 24.11")
    return text


def _settings(value: Any) -> dict[str, str]:
    """Values as slurm.conf writes them; YAML makes numbers and booleans of some. A mapping sets words of a list."""
    if not isinstance(value, dict):
        raise ValueError("must be a mapping of settings")
    flat: dict[str, Any] = {}
    for key, item in value.items():
        flat |= {f"{key}.{word}": one for word, one in item.items()} if isinstance(item, dict) else {str(key): item}
    return {key: "yes" if item is True else "no" if item is False else str(item) for key, item in flat.items()}


class Controller(Model):
    """What the real Slurm controller is told, where the engine is `slurm`."""

    release: Annotated[str, BeforeValidator(_release)] | None = Field(
        default=None,
        description="The release of Slurm to run, as `24.11`; without it the system's, or the one that was fetched "
        "first.",
    )
    slurmctld: File | None = Field(
        default=None, description="A site's own build: the path of its controller, of a release that is spoken here."
    )
    conf: File | None = Field(
        default=None,
        description="A site's slurm.conf, used as it is but for what cannot hold in a simulation; it says what the "
        "machine is and how it schedules. A relative path starts at the scenario file's folder.",
    )
    associations: Literal["flat"] | File | None = Field(
        default=None,
        description="Accounts, users, shares and limits: the output of `sacctmgr dump CLUSTER`; or `flat`: every user "
        "in the trace is known, with equal shares.",
    )
    usage: File | None = Field(
        default=None,
        description="What users have used before, with which fair share begins: the output of `sshare -a -l -P`; with "
        "`associations`.",
    )
    cloud: Flag = Field(
        default=False, description="Take CLOUD nodes for nodes that are always there, and not for absent ones."
    )
    qos: File | None = Field(
        default=None, description="Qualities of service: the output of `sacctmgr -P show qos`; with `associations`."
    )
    settings: Annotated[dict[str, str], BeforeValidator(_settings)] = Field(
        default_factory=dict,
        description="Settings of slurm.conf that replace the file's own, by name. Of a setting that is a list of "
        "words, `SchedulerParameters.bf_interval: 60` sets one word and leaves the others; `true` is the word alone, "
        "`false` takes it out.",
    )
    partitions: dict[str, Name] = Field(
        default_factory=dict, description="The partition for each queue of the trace that is none; `*` for all others."
    )
    events: File | None = Field(
        default=None,
        description="What an administrator does meanwhile: lines of a time, or a date on the trace's clock, and a "
        "Slurm command, such as "
        "`2h scontrol update nodename=n[1-4] state=down reason=failed`.",
    )
    drop_unknown: Flag = Field(default=False, description="Go on without options that this Slurm does not know.")
    lead: Duration = Field(
        default=120.5,
        description="From the controller's start to the first job. It says where the controller's beats fall: another "
        "one is another day with the same jobs, and shows how much of a difference is chance.",
    )
    launch: Moment = Field(
        default=0.02, description="From a job's start to the first line of its script; a job holds its nodes meanwhile."
    )
    completion: Moment = Field(
        default=0.005,
        description="From the end of a job's script until the controller hears of it; a job holds its nodes meanwhile.",
    )
    epilog: Moment = Field(
        default=0.0,
        description="How long every node of a job that has ended is kept from other jobs, as a site's epilog keeps it.",
    )
    cost: Annotated[float, BeforeValidator(_cost)] = Field(
        default=0.0,
        description="Simulated seconds that a second of the controller's own computing takes; 0: none, and the same "
        "result every time.",
    )

    @field_validator("lead")
    @classmethod
    def _time_to_report(cls, value: float) -> float:
        if value < LEAST_LEAD:
            raise ValueError(f"must be at least {LEAST_LEAD} s: the nodes have to report first")
        return value

    @model_validator(mode="after")
    def _needs_conf(self) -> Controller:
        for name in ("qos", "usage"):
            if getattr(self, name) is not None and self.associations is None:
                raise PydanticCustomError(name, f"has {name} without associations")
        if self.conf is None and (self.associations or self.partitions):
            raise PydanticCustomError("conf", "has associations or partitions but no conf")
        return self
