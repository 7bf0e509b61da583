"""How much fill and pressure make jobs wait as long as on the machine that one has in mind? Found by simulation, once.

ScSF's way (Rodrigo et al., JSSPP 2017, sections 3.4 and 4.1): on the baseline, ordinary jobs alone, the fill and the
job pressure are chosen so that the median wait of the jobs of each hour stays near a wanted one through the whole
experiment. Both are then frozen: in every other experiment, with workflows or another scheduler, waits are outcomes,
and the ordinary jobs are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.api import Result
    from walltime.core.tables import Record
    from walltime.core.workload import Workload
    from walltime.scenario import Scenario
    from walltime.workload.models.sample import JobModel
    from walltime.workload.synthesis import SynthesisPlan

HIGHEST = (1.1, 1.05, 1.02, 1.01, 1.005, 1.002)
"""Upper edges of the pressure that are tried, as multiples of the lower one: the widest that will do is taken."""
_HOUR = 3600.0
_ROUNDS = 8  # amounts of fill that are tried with each


@dataclass(frozen=True)
class TunedWorkload:
    """What was found: the plan with its fill and pressure, the baseline's jobs, and the waits that they make.

    `medians` are seconds, for each hour of the experiment; NaN where an hour has no jobs, infinite where half of them
    had not started when the run ended. `low` and `high` are what they should lie between.
    """

    plan: SynthesisPlan
    workload: Workload
    medians: np.ndarray
    low: float
    high: float
    runs: int

    @property
    def outside(self) -> int:
        """In how many hours the median is not between the two."""
        return count_outside(self.medians, self.low, self.high)

    def as_data(self) -> dict[str, Any]:
        """Everything but the jobs, for JSON."""
        return {
            "fill_hours": self.plan.fill,
            "pressure": list(self.plan.pressure or ()),
            "wanted": [self.low, self.high],
            "hours": len(self.medians),
            "outside": self.outside,
            "lowest": _finite(np.nanmin(self.medians)),
            "highest": _finite(np.nanmax(self.medians)),
            "medians": [_finite(value) for value in self.medians],
            "runs": self.runs,
        }


def tune_workload(
    model: JobModel | str | Path,
    scenario: Scenario | Mapping[str, Any] | str | Path,
    *,
    wait: float = 4 * _HOUR,
    within: float = _HOUR,
    pressure: float = 1.0,
    **plan: Any,
) -> TunedWorkload:
    """The fill and the pressure with which the hourly median wait stays at `wait` ± `within` seconds; or comes nearest.

    The scenario tells the machine and the scheduler; its own jobs are not looked at. `pressure` is the lower edge;
    `plan` are other fields of `SynthesisPlan`, such as days and seed. Raises InputError.
    """
    from walltime.core.random import read_seed
    from walltime.workload.models import PUBLISHED, load_model
    from walltime.workload.synthesis.machine import SynthesisPlan, parse_date

    if not 0 < within < wait:
        raise InputError("tune: the wait must be longer than what it may be away from it", value=within)
    published = str(model) in PUBLISHED
    base = _read(scenario)
    cluster = base.clusters[0]
    if len(base.clusters) > 1 or cluster.total_cores is None:
        raise InputError("tune: needs a scenario of one cluster, whose size it tells")
    given = {"days": 7.0, "estimates": "tsafrir" if published else "model"} | plan
    given["seed"] = read_seed(given.get("seed", 0))
    if isinstance(given.get("start"), str):
        given["start"] = parse_date(given["start"])
    given.setdefault("node_cores", 1 if cluster.nodes is None else cluster.nodes[0].cores)
    made = SynthesisPlan(cores=cluster.total_cores, **given)
    return _Search(load_model(model) if isinstance(model, str | Path) else model, base, made, wait, within).find(
        pressure
    )


@dataclass
class _Search:
    """Trials of one baseline."""

    model: JobModel
    scenario: Scenario
    plan: SynthesisPlan
    wait: float
    within: float
    runs: int = 0

    def find(self, pressure: float) -> TunedWorkload:
        """The first that is inside in every hour, from the widest band of pressure on; else the best of all."""
        best: TunedWorkload | None = None
        fill = 1.5 * self.wait / _HOUR
        for top in HIGHEST:
            found = self._fit(replace(self.plan, pressure=(pressure, pressure * top), fill=fill))
            best = found if best is None or _rank(found) < _rank(best) else best
            if not best.outside:
                break
            fill = found.plan.fill
        assert best is not None
        return replace(best, runs=self.runs)

    def _fit(self, plan: SynthesisPlan) -> TunedWorkload:
        """The best of some amounts of fill: what is missing in the middle is added, as it comes about one to one."""
        best: TunedWorkload | None = None
        for _ in range(_ROUNDS):
            found = self._try(plan)
            best = found if best is None or _rank(found) < _rank(best) else best
            known = found.medians[np.isfinite(found.medians)]
            if not found.outside or not len(known):
                break
            missing = self.wait - float(known.min() + known.max()) / 2
            fill = max(0.0, round(plan.fill + missing / _HOUR, 2))
            if fill == plan.fill or float(known.max() - known.min()) > 4 * self.within:
                break  # as far as it goes, or far too uneven for any fill
            plan = replace(plan, fill=fill)
        return best  # type: ignore[return-value]

    def _try(self, plan: SynthesisPlan) -> TunedWorkload:
        from walltime.pipeline import prepare
        from walltime.scenario.workload.source import WorkloadSpec
        from walltime.workload.synthesis import synthesize

        jobs = synthesize(self.model, plan)
        spec = WorkloadSpec(table=jobs, missing_request=self.scenario.workload.missing_request)
        record = prepare(self.scenario.model_copy(update={"workload": spec})).run()
        self.runs += 1
        medians = hourly_medians(record, *jobs.notes["phases"]["experiment"])
        return TunedWorkload(plan, jobs, medians, self.wait - self.within, self.wait + self.within, self.runs)


def hourly_medians(result: Result | Record, begin: float, end: float) -> np.ndarray:
    """The median wait of the jobs that are submitted in each hour of a span, in seconds.

    A job that has not started waits for ever; an hour without jobs is NaN. Workflows and what was inserted count too.
    """
    jobs = result.jobs
    submit, wait = jobs["submit"].to_numpy(), jobs["wait"].cast(float).fill_null(float("inf")).to_numpy()
    hour = np.floor((submit - begin) / _HOUR).astype(np.int64)
    inside = (submit >= begin) & (submit < end)
    found = np.full(max(1, int(-(-(end - begin) // _HOUR))), np.nan)
    order = np.argsort(hour[inside], kind="stable")
    hours, waits = hour[inside][order], wait[inside][order]
    for index, (first, last) in enumerate(
        zip(np.searchsorted(hours, range(len(found))), np.searchsorted(hours, range(1, len(found) + 1)), strict=True)
    ):
        if last > first:
            found[index] = np.median(waits[first:last])
    return found


def count_outside(medians: np.ndarray, low: float, high: float) -> int:
    """How many of the hours that have jobs are not between the two."""
    return int(np.count_nonzero((medians < low) | (medians > high)))


def _rank(tuned: TunedWorkload) -> tuple[int, float]:
    """Fewest hours outside first, then the nearest."""
    middle = (tuned.low + tuned.high) / 2
    return tuned.outside, float(np.nanmax(np.abs(tuned.medians - middle)))


def _read(scenario: Scenario | Mapping[str, Any] | str | Path) -> Scenario:
    from walltime.scenario import load, parse

    if isinstance(scenario, str | Path):
        return load(scenario)
    if isinstance(scenario, Mapping):
        return parse({"workload": {"generate": {"jobs": 1, "cores": 1}}} | dict(scenario), [])
    return scenario


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
