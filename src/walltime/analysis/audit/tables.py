"""The two tables of a result as the audit sees them, and what it says of a broken rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.intervals import ABSENT
from walltime.core.errors import InputError
from walltime.core.tables import OUTCOMES, STATES, find_whole, ticks
from walltime.core.time import SECOND
from walltime.scenario import Scenario
from walltime.scenario.execution import PROGRAMS

REPORTED = 100
"""Violations of one rule and message that are listed; a broken table would otherwise fill the memory with them."""


@dataclass(frozen=True)
class Violation:
    """A broken rule: which, by which job (None: none in particular), when (seconds, where a time is to blame), how."""

    rule: str
    job_id: int | None
    time: float | None
    message: str

    def __str__(self) -> str:
        job = "" if self.job_id is None else f"job {self.job_id}"
        time = "" if self.time is None else f"at {self.time:g} s"
        place = " ".join(part for part in (job, time) if part)
        return f"{self.rule}: {place}: {self.message}" if place else f"{self.rule}: {self.message}"


class Tables:
    """Both tables as arrays of microseconds, with the allocations joined to their jobs."""

    def __init__(self, given: Any, clusters: Mapping[str, int] | None, overrun: str | None) -> None:
        given = getattr(given, "record", given)
        pair = given if isinstance(given, tuple) else (given.jobs, given.allocations)
        facts: Mapping[str, Any] = {} if isinstance(given, tuple) else given.facts
        self.clusters = dict(facts.get("clusters", {}) if clusters is None else clusters)
        if not self.clusters:
            raise InputError("an audit needs the clusters' cores: {name: cores}")
        self.kill = _choose_overrun(overrun or facts.get("overrun") or "kill") == "kill"
        self.slack = round(float(facts.get("limit_slack") or 0) * SECOND)
        self.early = SECOND if self.slack else 0  # such an engine counts the seconds from the one in which a job starts
        self.until = facts.get("until")
        self.acts: Mapping[str, Any] = (facts.get("users") or {}).get("acts") or {}  # what users did besides
        over = facts.get("over")  # when nothing could start or end a job any more
        self.over = None if over is None else round(float(over) * SECOND)
        self.conditions: Mapping[str, Any] = facts.get("conditions") or {}
        self.nodes: Mapping[str, Any] = facts.get("nodes") or {}
        speeds = [speed for one in self.nodes.values() for speed in one.get("speeds", [1.0])]
        self.speeds = min([1.0, *speeds]), max([1.0, *speeds])
        self.shared = bool(facts.get("shared_time"))
        self.programs = "programs" in facts  # how long jobs with a profile run is not the workload's to say
        self.foreign = bool(facts.get("own_places"))  # the engine divides jobs over nodes by rules of its own
        rounded = bool(facts.get("rounded_cores"))  # jobs may get more cores than they ask for
        whole = [rounded or (self.nodes.get(name) or {}).get("sharing") == "whole" for name in self.clusters]
        self.is_whole = np.array([*whole, False])  # the last for an allocation on no known cluster, which has -1
        jobs, allocations = pair
        self.outages = None if isinstance(given, tuple) else given.outages
        self.job_id, self.cores = (numbers_of(jobs[name], -1) for name in ("job_id", "cores"))
        names = ("submit", "eligible", "start", "end", "requested_time", "run_time", "held_time", "wait")
        self.time = {name: ticks(jobs[name], ABSENT) for name in names}
        self.jobs = jobs
        self.alone = np.zeros(jobs.height, np.bool_)  # jobs that have asked for nodes of their own
        self.restarts = numbers_of(jobs["restarts"], 0)
        self.lost = jobs["lost_core_seconds"].cast(pl.Float64).fill_null(0.0).to_numpy()
        self.state = codes_of(jobs["state"], list(STATES))
        self.cluster = codes_of(jobs["cluster"], list(self.clusters))
        self.placed = jobs["cluster"].is_not_null().to_numpy()
        self.owner, self.attempt, self.taken = (
            numbers_of(allocations[name], -1) for name in ("job_id", "attempt", "cores")
        )
        self.begin, self.stop = (ticks(allocations[name], ABSENT) for name in ("start", "end"))
        self.still = self.stop == ABSENT  # running at the cut-off
        self.horizon = self._find_horizon()
        self.stop[self.still] = np.maximum(self.begin[self.still], self.horizon)
        self.texts = allocations["nodes"]
        self.allowed = self.time["requested_time"].copy()  # how long a job may run, of all that counts,
        self.overhead = np.zeros(jobs.height, np.int64)  # at most so much of it was for checkpoints
        self.restart = np.zeros(jobs.height, np.int64)  # and how much of it is for going on from a checkpoint
        self.where = codes_of(allocations["cluster"], list(self.clusters))
        self.outcome = codes_of(allocations["outcome"], list(OUTCOMES))
        self._join()
        first = find_whole(*(values[self.order] for values in (self.row, self.attempt, self.is_outcome("resized"))))
        self.whole = np.empty_like(self.order)  # of each allocation that which tells all that the job was given
        self.whole[self.order] = self.order[first]

    def _find_horizon(self) -> int:
        if self.until is not None:
            return round(float(self.until) * SECOND)
        if self.over is not None:
            return self.over
        known = (self.time["submit"], self.time["start"], self.time["end"], self.begin, self.stop)
        return int(max(np.max(times, initial=0) for times in known))

    def _join(self) -> None:
        """`row` is each allocation's job row (-1: unknown); `order` sorts allocations by job and start."""
        by_id = np.argsort(self.job_id, kind="stable")
        if len(by_id) and len(self.owner):
            index = np.minimum(np.searchsorted(self.job_id, self.owner, sorter=by_id), len(by_id) - 1)
            self.row = np.where(self.job_id[by_id[index]] == self.owner, by_id[index], -1)
        else:
            self.row = np.full(len(self.owner), -1)
        self.order = np.lexsort((self.stop, self.attempt, self.begin, self.row))

    def is_outcome(self, *names: str) -> np.ndarray:
        return np.isin(self.outcome, [OUTCOMES.index(name) for name in names])

    def is_state(self, *names: str) -> np.ndarray:
        return np.isin(self.state, [STATES.index(name) for name in names])


def goes_on(scenario: Scenario) -> bool:
    """Whether interrupted jobs may go on from checkpoints: the scenario's, or those that programs write."""
    if scenario.execution.model.name != PROGRAMS:
        return scenario.execution.checkpoint is not None
    preempt = [cluster.scheduler.preempt for cluster in scenario.clusters]
    modes = {part.parameters.get("mode") for part in preempt if part is not None}
    return "checkpoint" in modes | {cluster.interrupted for cluster in scenario.clusters}


def _choose_overrun(overrun: str) -> str:
    if overrun not in ("kill", "extend"):
        raise InputError("unknown overrun", value=overrun, choices=("kill", "extend"))
    return overrun


def numbers_of(series: pl.Series, empty: int) -> np.ndarray:
    """Whole numbers, and this one for an empty cell."""
    whole = series.cast(pl.Int64)
    return (whole.fill_null(empty) if whole.null_count() else whole).to_numpy()


def codes_of(series: pl.Series, names: list[str]) -> np.ndarray:
    """The number of each text among the names; -1 for an unknown one and for an empty cell."""
    if isinstance(series.dtype, pl.Enum):
        place = {name: number for number, name in enumerate(names)}
        known = np.array([*(place.get(name, -1) for name in series.dtype.categories), -1])
        codes: np.ndarray = known[numbers_of(series.to_physical(), -1)]
        return codes
    numbers = pl.Series(range(len(names)), dtype=pl.Int64)
    texts = series.cast(pl.String)
    return texts.replace_strict(pl.Series(names), numbers, default=-1, return_dtype=pl.Int64).to_numpy()


def report(
    found: list[Violation], rule: str, bad: np.ndarray, jobs: np.ndarray, times: np.ndarray, message: str
) -> None:
    """A violation for each row that is bad, the first hundred of them."""
    for row in np.flatnonzero(bad)[:REPORTED].tolist():
        time = int(times[row])
        found.append(Violation(rule, int(jobs[row]), None if time == ABSENT else time / SECOND, message))
