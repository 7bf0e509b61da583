"""Synthetic jobs from distributions: arrivals, singly or in batches, and a mix of job types.

Every variable has a stream of its own, and in it a number for each arrival or job: `synthetic.gap`, `synthetic.batch`,
`synthetic.state` (of a modulated process), `synthetic.type`, `synthetic.tasks`, `synthetic.work`, `synthetic.memory`,
`synthetic.request`.
Two workloads of one seed thus see the same draws, whatever else is different between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import MISSING, Workload
from walltime.workload.distributions import Distribution, Draws, parse_distribution

LABELS = ("user", "group", "account", "queue", "qos", "constraint", "profile")
"""What a job type may say of its jobs in words."""
_ONE = parse_distribution(1)
_MOST = 50_000_000


@dataclass(frozen=True)
class Modulated:
    """A Markov-modulated Poisson process: in each state arrivals at a rate of its own, the states in turn.

    `rates` are arrivals a second, `stays` the mean seconds (exponential) in each state.
    """

    rates: tuple[float, ...]
    stays: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.rates) != len(self.stays) or not self.rates:
            raise InputError("mmpp takes as many stays as rates", value=len(self.stays))
        if min(self.rates) < 0 or max(self.rates) <= 0:
            raise InputError("rates of mmpp must not be negative, nor all zero", value=list(self.rates))
        if min(self.stays) <= 0:
            raise InputError("stays of mmpp must be above zero", value=list(self.stays))

    @property
    def mean(self) -> float:
        """Seconds between arrivals, in the mean."""
        return sum(self.stays) / sum(rate * stay for rate, stay in zip(self.rates, self.stays, strict=True))

    def short(self) -> dict[str, Any]:
        """The form in which a file writes it."""
        return {"name": "mmpp", "rates": list(self.rates), "stays": list(self.stays)}

    def times(self, seed: int, count: int) -> np.ndarray:
        """So many arrivals in seconds: those of a Poisson process of rate one, on a clock that runs at the rate."""
        wanted = np.cumsum(-np.log1p(-Draws(seed, "synthetic.gap", np.arange(count)).uniform()))
        cycles = 16
        while True:
            stage = np.arange(cycles * len(self.rates)) % len(self.rates)
            lengths = -np.log1p(-Draws(seed, "synthetic.state", np.arange(len(stage))).uniform())
            lengths *= np.array(self.stays)[stage]
            clock = np.concatenate([[0.0], np.cumsum(lengths * np.array(self.rates)[stage])])
            if clock[-1] >= wanted[-1]:
                break
            cycles *= 2
        edges = np.concatenate([[0.0], np.cumsum(lengths)])
        moving = np.flatnonzero(np.diff(clock) > 0)  # in a state of rate zero the clock stands still
        place = moving[np.searchsorted(clock[moving + 1], wanted, side="left")]
        share = (wanted - clock[place]) / (clock[place + 1] - clock[place])
        return np.asarray(edges[place] + share * lengths[place])


def parse_arrivals(given: Any) -> Distribution | Modulated:
    """The distribution of the gaps between arrivals, or a modulated process; raises InputError."""
    if isinstance(given, Modulated):
        return given
    if isinstance(given, Mapping) and given.get("name") == "mmpp":
        if set(given) != {"name", "rates", "stays"}:
            raise InputError("mmpp takes rates and stays", value=", ".join(key for key in given if key != "name"))
        for key in ("rates", "stays"):
            values = given[key]
            if not isinstance(values, list | tuple) or not all(
                isinstance(value, int | float) and not isinstance(value, bool) for value in values
            ):
                raise InputError(f"{key} is not a list of numbers", value=values)
        return Modulated(tuple(map(float, given["rates"])), tuple(map(float, given["stays"])))
    gaps = parse_distribution(given)
    if gaps.mean <= 0:
        raise InputError("the mean gap between arrivals must be above zero", value=gaps.mean)
    return gaps


@dataclass(frozen=True)
class JobType:
    """One kind of job in a mix. `work` is the cpu time, in seconds at full speed, of each of its tasks; `request`
    how many times that its user asks for; `labels` what it says in words, by column; `memory` is in bytes."""

    name: str
    work: Distribution
    tasks: Distribution = _ONE
    weight: float = 1.0
    request: Distribution | None = None
    priority: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    memory: Distribution | None = None
    nodes: int | None = None


def synthesise(
    arrivals: Distribution | Modulated,
    types: Sequence[JobType],
    *,
    jobs: int | None = None,
    span: float | None = None,
    batch: Distribution = _ONE,
    seed: int = 0,
    begin: float = 0.0,
) -> Workload:
    """So many jobs, or those that arrive within `span` seconds; each arrival brings a batch of one job or more.

    The first arrival is one gap after `begin`. A job that draws no task has one. Raises InputError.
    """
    if (jobs is None) == (span is None):
        raise InputError("synthetic: give either jobs or span")
    if not types or sum(kind.weight for kind in types) <= 0:
        raise InputError("synthetic: no job type has a weight above zero")
    submit = _arrive(arrivals, batch, jobs, span, seed) + round(begin * SECOND)
    count = len(submit)
    number = np.arange(count)
    weights = np.cumsum([kind.weight for kind in types])
    mix = np.searchsorted(weights[:-1], Draws(seed, "synthetic.type", number).uniform() * weights[-1], side="right")
    columns: dict[str, Any] = {
        "job_id": number + 1,
        "submit": submit,
        "run_time": np.zeros(count, np.int64),
        "requested_time": np.full(count, MISSING, np.int64),
        "cores": np.ones(count, np.int64),
        "priority": np.array([kind.priority for kind in types], np.int64)[mix],
    }
    if any(kind.memory is not None for kind in types):
        columns["memory"] = np.full(count, MISSING, np.int64)
    if any(kind.nodes is not None for kind in types):
        columns["nodes"] = np.array([kind.nodes or MISSING for kind in types], np.int64)[mix]
    for index, kind in enumerate(types):
        _fill(columns, kind, np.flatnonzero(mix == index), seed)
    labels: dict[str, list[str]] = {}
    for name in LABELS:
        said = [kind.labels.get(name) or (kind.name if name == "group" else None) for kind in types]
        if any(said):
            labels[name] = list(dict.fromkeys(text for text in said if text))
            codes = [labels[name].index(text) if text else MISSING for text in said]
            columns[name] = np.array(codes, np.int32)[mix]
    missing = int(np.count_nonzero(columns["requested_time"] == MISSING))
    notes = {"lines": count, "skipped": {}, "overlong": 0, "missing_request": missing}
    return Workload(columns, labels=labels, notes=notes, source=f"synthetic: {count} jobs, seed {seed}")


def _fill(columns: dict[str, Any], kind: JobType, rows: np.ndarray, seed: int) -> None:
    """What the jobs of one type draw."""
    work = _microseconds(kind.work.draw(Draws(seed, "synthetic.work", rows)))
    columns["run_time"][rows] = work
    columns["cores"][rows] = np.maximum(1, np.rint(kind.tasks.draw(Draws(seed, "synthetic.tasks", rows))))
    if kind.memory is not None:
        columns["memory"][rows] = np.rint(np.minimum(kind.memory.draw(Draws(seed, "synthetic.memory", rows)), 1 << 53))
    if kind.request is not None:
        factor = kind.request.draw(Draws(seed, "synthetic.request", rows))
        columns["requested_time"][rows] = _microseconds(factor * work / SECOND)


def _microseconds(seconds: np.ndarray) -> np.ndarray:
    return np.asarray(np.rint(np.minimum(seconds * SECOND, LATEST // 4)), np.int64)


def _arrive(
    arrivals: Distribution | Modulated, batch: Distribution, jobs: int | None, span: float | None, seed: int
) -> np.ndarray:
    """The submissions of all jobs, in microseconds."""
    count = jobs or 1024
    while True:
        epochs = np.arange(count)
        if isinstance(arrivals, Modulated):
            times = arrivals.times(seed, count)
        else:
            times = np.cumsum(arrivals.draw(Draws(seed, "synthetic.gap", epochs)))
        sizes = np.maximum(1, np.rint(batch.draw(Draws(seed, "synthetic.batch", epochs)))).astype(np.int64)
        if span is None or times[-1] > span:
            break
        if sizes.sum() > _MOST:
            raise InputError(f"synthetic: more than {_MOST:,} jobs arrive within the span", value=span)
        count *= 2
    if times[-1] * SECOND > LATEST // 2:
        raise InputError("synthetic: these jobs span more time than fits; fewer jobs, or shorter gaps")
    submit = np.repeat(_microseconds(times), sizes)
    return submit[:jobs] if span is None else submit[submit <= span * SECOND]
