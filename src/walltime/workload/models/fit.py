"""From a log to a model: what people submit, when, and how often again.

The model has two layers. ScSF's (Rodrigo et al., JSSPP 2017): one empirical distribution for each variable, independent
of the others. And the structure that those lack: the week's rhythm of arrivals; busy users with the jobs that they
repeat (so that size, request, accuracy, memory and GPUs belong together) and the sessions in which they submit them;
all other jobs as a table of requests with run times by class of request and size.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import UNLIMITED, Workload
from walltime.workload.calendar import hour_of_week
from walltime.workload.models.clean import Removal, clean
from walltime.workload.models.distribution import Histogram, gap_quantiles
from walltime.workload.models.file import HOURS, BinnedDistribution, ModelFile, ModelSource, Rates, Rhythm
from walltime.workload.models.sessions import Sheet, fit_sessions
from walltime.workload.totals import with_totals

_DAY = 86_400
_HIGHEST_ACCURACY = 2.0


@dataclass(frozen=True)
class FitOptions:
    """How to bin and clean; the widths are ScSF's, for machines whose nodes are not known."""

    cores_bin: int = 1
    """Cores of a node, where nodes are not shared."""
    request_bin: float = 60.0
    accuracy_bin: float = 0.01
    gap_bin: float = 1.0
    longest_gap: float = 1800.0
    """Gaps between submissions that are longer are left out of the distribution of gaps."""
    session_gap: float = 1200.0
    """A user who submits nothing for this long has ended a session."""
    busy_users: int = 100
    """How many users the model knows one by one."""
    flurry: float = 5.0
    system_tests: bool = True

    def __post_init__(self) -> None:
        for name in ("cores_bin", "request_bin", "accuracy_bin", "gap_bin", "longest_gap", "session_gap"):
            if not getattr(self, name) > 0:
                raise InputError(f"fit: {name} must be above zero", value=getattr(self, name))
        if not 0 <= self.busy_users <= 10_000:
            raise InputError("fit: busy_users must be between 0 and 10,000", value=self.busy_users)


def fit(workload: Workload, options: FitOptions | None = None) -> ModelFile:
    """The model of a log; raises InputError where it has too little in it."""
    return fit_and_report(workload, options)[0]


def fit_and_report(workload: Workload, options: FitOptions | None = None) -> tuple[ModelFile, list[Removal]]:
    """The model, and what cleaning removed: the file keeps that too, but without the users' names."""
    options = options or FitOptions()
    jobs, removals = clean(workload, options.flurry, options.system_tests)
    if len(jobs) < 2 or jobs.column("submit")[-1] <= jobs.column("submit")[0]:
        raise InputError("a model needs at least two jobs at different times", file=workload.source or None)
    jobs = with_totals(jobs)
    sheet = Sheet.of(jobs, options.session_gap)
    sessions = fit_sessions(sheet, options.busy_users)
    model = ModelFile(
        source=_source(workload, jobs, removals),
        rates=_rates(jobs),
        variables=_variables(jobs, options),
        rhythm=_rhythm(jobs, sheet),
        gaps={name: _whole_seconds(values) for name, values in sheet.gaps().items() if len(values)},
        queues=list(jobs.label_names("queue")),
        groups=len(jobs.label_names("group")),
        **sessions,
    )
    return model, removals


def _source(log: Workload, jobs: Workload, removals: list[Removal]) -> ModelSource:
    submit = jobs.column("submit")
    first = None
    if log.origin.epoch is not None:
        moment = log.origin.epoch + int(submit[0]) / SECOND
        first = datetime.datetime.fromtimestamp(moment, datetime.UTC).isoformat(timespec="seconds")
    return ModelSource(
        log=log.source.replace("\\", "/").rpartition("/")[2] or "a table in memory",
        jobs=len(jobs),
        first=first,
        days=float(submit[-1] - submit[0]) / SECOND / _DAY,
        machine_cores=log.machine_cores,
        timezone=log.origin.timezone,
        removed=[
            {"what": each.what, "jobs": each.jobs, "core_hours": round(each.core_hours, 1), "detail": each.detail}
            for each in removals
        ],
    )


def _rates(jobs: Workload) -> Rates:
    submit = jobs.column("submit")
    days = float(submit[-1] - submit[0]) / SECOND / _DAY
    hours = np.dot(jobs.column("cores").astype(np.float64), jobs.column("run_time") / (3600 * SECOND))
    machine = jobs.machine_cores
    load = round(float(hours) / (machine * 24 * days), 4) if machine else None
    per_day = float(f"{len(jobs) / days:.6g}"), float(f"{float(hours) / days:.6g}")
    return Rates(jobs_per_day=per_day[0], core_hours_per_day=per_day[1], offered_load=load)


def _variable(values: np.ndarray, width: float) -> BinnedDistribution:
    return BinnedDistribution(
        width=width, bins=[(place, count) for place, count in Histogram.of(values, width).pairs()]
    )


def _whole_seconds(gaps: np.ndarray) -> BinnedDistribution:
    """A bin for each whole second: logs know no other, and a gap of none is not a gap of one."""
    seconds, counts = np.unique(np.floor(gaps).astype(np.int64), return_counts=True)
    return BinnedDistribution(width=1.0, bins=list(zip(seconds.tolist(), counts.tolist(), strict=True)))


def _variables(jobs: Workload, options: FitOptions) -> dict[str, BinnedDistribution]:
    """ScSF's distributions; the run time's in the place of request and accuracy where no job has a request."""
    gaps = np.diff(jobs.column("submit")) / SECOND
    kept = gaps[gaps <= options.longest_gap]
    request, run = jobs.column("requested_time"), jobs.column("run_time")
    asked = (request > 0) & (request < UNLIMITED)
    found = {
        "interarrival": _variable(kept if len(kept) else gaps, options.gap_bin),
        "cores": _variable(jobs.column("cores"), options.cores_bin),
    }
    if asked.any():
        accuracy = np.minimum(run[asked] / request[asked], _HIGHEST_ACCURACY)
        found["requested_time"] = _variable(request[asked] / SECOND, options.request_bin)
        found["accuracy"] = _variable(accuracy, options.accuracy_bin)
    else:
        found["run_time"] = _variable(run / SECOND, options.request_bin)
    return found


def _rhythm(jobs: Workload, sheet: Sheet) -> Rhythm:
    """Weights of the hours of a week from the starts of sessions, steadied by the product of day and hour.

    A log of few weeks says little of each single hour; the more weeks, the more the hour's own count weighs.
    """
    hour = hour_of_week(jobs, sheet.session_start)
    counts = np.bincount(hour, minlength=HOURS).astype(np.float64).reshape(7, 24)
    days, hours = counts.sum(1) + 0.5, counts.sum(0) + 0.5
    product = np.outer(days, hours) / days.sum()
    weeks = max(float(sheet.session_start.max() - sheet.session_start.min()) / SECOND / _DAY / 7, 0.1)
    weights = (weeks * counts + 4 * product) / (weeks + 4)
    weights = _visits(jobs, weights) if weeks < 4 else weights
    scaled = np.maximum(weights.ravel() / weights.mean(), 0.001)
    gaps = _steady_gaps(sheet, scaled, jobs)
    return Rhythm(
        hours=[round(float(value), 4) for value in scaled],
        day_spread=_day_spread(sheet, scaled, gaps, jobs),
        gaps=[float(f"{value:.4g}") for value in np.quantile(gaps, gap_quantiles())],
    )


def _steady_gaps(sheet: Sheet, hours: np.ndarray, jobs: Workload) -> np.ndarray:
    """Gaps between starts of sessions on the clock that runs as fast as sessions usually come; their mean is 1."""
    starts = np.sort(sheet.session_start)
    if len(starts) < 3:
        return np.ones(2)
    first = int(starts[0]) // (3600 * SECOND)
    elapsed = starts // (3600 * SECOND) - first
    slots = np.arange(int(elapsed[-1]) + 2)
    pace = hours[hour_of_week(jobs, (slots + first) * 3600 * SECOND)]
    cumulated = np.concatenate([[0.0], np.cumsum(pace)])
    inside = (starts - (elapsed + first) * 3600 * SECOND) / (3600 * SECOND)
    gaps = np.diff(cumulated[elapsed] + inside * pace[elapsed])
    return np.asarray(gaps / gaps.mean())


def _visits(jobs: Workload, counts: np.ndarray) -> np.ndarray:
    """Counts over how often each hour of the week occurred in a short log; one that never did gets its hour's mean."""
    submit = jobs.column("submit")
    moments = np.arange(int(submit[0]), int(submit[-1]) + 1, 3600 * SECOND)
    seen = np.bincount(hour_of_week(jobs, moments), minlength=HOURS).reshape(7, 24)
    rate = np.where(seen > 0, counts / np.maximum(seen, 1), np.nan)
    hours = np.nanmean(rate, axis=0) if np.isfinite(rate).any(axis=0).all() else np.full(24, np.nanmean(rate))
    return np.where(np.isfinite(rate), rate, hours)


def _day_spread(sheet: Sheet, hours: np.ndarray, gaps: np.ndarray, jobs: Workload) -> float:
    """The standard deviation of days' rates around the rhythm, beyond what uneven gaps alone make."""
    day = sheet.session_start // (_DAY * SECOND)
    first, last = int(day.min()) + 1, int(day.max())
    if last - first < 7:
        return 0.0
    counts = np.bincount(day[(day >= first) & (day < last)] - first, minlength=last - first)
    starts = np.arange(first, last) * _DAY * SECOND
    expected = hours.reshape(7, 24).sum(1)[hour_of_week(jobs, starts) // 24]
    expected = expected * counts.sum() / expected.sum()
    dispersion = max(float(gaps.var()), 1.0)  # of counts in a renewal process
    beyond = np.mean((counts - expected) ** 2 - dispersion * expected) / np.mean(expected**2)
    return round(float(np.sqrt(min(max(beyond, 0.0), 4.0))), 4)
