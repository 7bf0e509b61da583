"""When would one more job start? A distribution over simulations that begin from today."""

from __future__ import annotations

import contextlib
import gc
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.dates import show_date
from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds

HORIZON = 7 * 86_400.0
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARE = 0.9
REPLAY = 8_000
"""Jobs of the log that are replayed, its newest: two weeks and more of a site with 500 a day, so that weeks can be
judged, in about as much time as the runs take."""
WARMING = 8
"""One in so many of these is not learned from where there are jobs before them: the machine is empty at first."""


@dataclass(frozen=True)
class WaitInterval:
    """The wait in which `share` of the jobs start that were planned as this one: what the requests make of it now, and
    by how much such jobs of a replay of the log started sooner or later. Seconds.

    `planned` is the wait by requests alone. `least` and `most` are None where fewer than 20 `past` jobs were planned to
    wait about as long. `coverage` is the share of jobs that started within theirs in weeks of the log that were not
    learned from, `judged` of them in `weeks`, and `width` how wide theirs were on average; None where the log is too
    short to tell.
    """

    share: float
    planned: float
    least: float | None
    most: float | None
    past: int
    coverage: float | None
    width: float | None
    judged: int
    weeks: tuple[float, ...]
    """The coverage of each week."""
    replayed: int
    """How many jobs of the log were replayed: the newest, or all."""
    logged: int
    """How many jobs the log has."""


@dataclass(frozen=True)
class Prediction:
    """When one more job would start: its wait in each run, in seconds; None where it had not started by the horizon."""

    job: dict[str, Any]
    waits: tuple[float | None, ...]
    horizon: float
    seed: int
    based_on: dict[str, Any]
    interval: WaitInterval | None = None
    """None where it was not asked for, or where the requests do not tell when the job would start."""

    @property
    def runs(self) -> int:
        return len(self.waits)

    @property
    def started(self) -> int:
        """In how many runs it started in time."""
        return sum(wait is not None for wait in self.waits)

    def quantile(self, share: float) -> float | None:
        """The wait that this share of the runs does not exceed; None where it is beyond the horizon."""
        ranked = sorted(math.inf if wait is None else wait for wait in self.waits)
        found = ranked[min(len(ranked) - 1, max(0, math.ceil(share * len(ranked)) - 1))]
        return None if math.isinf(found) else found

    def date(self, wait: float) -> str | None:
        """When it would start after that wait, as a date; None where the scenario's start is not one."""
        epoch = self.based_on.get("epoch")
        return None if epoch is None else show_date(epoch + wait, self.based_on["timezone"])

    def as_data(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "job": self.job,
            "runs": self.runs,
            "started": self.started,
            "horizon": self.horizon,
            "seed": self.seed,
            "based_on": self.based_on,
            "quantiles": {f"{share:g}": self.quantile(share) for share in QUANTILES},
            "interval": None if self.interval is None else asdict(self.interval),
            "waits": list(self.waits),
        }

    def picture(self, **look: Any) -> Any:
        """The distribution of the wait: the share of runs in which it has started by then."""
        from walltime.analysis.charts.chart import Axis, Chart, Line, Panel
        from walltime.analysis.plots import Picture

        waits = np.sort([wait for wait in self.waits if wait is not None])
        x = np.concatenate([[0.0], waits])
        y = np.concatenate([[0.0], np.arange(1, len(waits) + 1) / self.runs])
        panel = Panel(
            Axis("wait", "duration", low=0),
            Axis("share of runs", "share", low=0, high=1),
            (Line("", x, y, 0, step=True),),
        )
        title = f"When would it start? {self.runs} runs"
        return Picture(Chart("predict", title, (panel,)), **look)


def predict(
    scenario: Any,
    *,
    cores: int,
    time: str | float,
    user: str | None = None,
    account: str | None = None,
    queue: str | None = None,
    nodes: int | None = None,
    qos: str | None = None,
    gpus: int | None = None,
    gpus_per_node: int | None = None,
    memory: str | int | None = None,
    constraint: str | None = None,
    runs: int = 100,
    seed: int | None = None,
    horizon: str | float = HORIZON,
    arrivals: bool = True,
    interval: bool = True,
    replay: int = REPLAY,
    observe: Any = None,
    observe_replay: Callable[[Any], Any] | None = None,
) -> Prediction:
    """When one more job, submitted at the scenario's `start`, would start: a distribution over `runs` simulations.

    `scenario` is a file, a mapping or a Scenario.

    In each run the jobs that run and wait get run times drawn from the accuracies (run time / request) of the
    scenario's workload; a running one only from those that it has not outlived. The jobs to come are a stretch of the
    workload from a random moment on, as long as the `horizon`; none with `arrivals` false.

    With `interval` the newest `replay` jobs of the workload are replayed too, to learn how wrong plans of such jobs
    were. `observe`, if any, is told how far it is: an engine's observer with `count(done, total)`, called before each
    run; `observe_replay` makes an engine's observer of that replay.
    """
    from walltime.api import allow_parts
    from walltime.core.random import stream
    from walltime.core.time import parse_duration
    from walltime.pipeline import prepare
    from walltime.scenario import load as load_scenario
    from walltime.scenario import parse

    made = load_scenario(scenario) if isinstance(scenario, str | Path) else scenario
    made = parse(made, []) if isinstance(made, Mapping) else made
    if made.start is None:
        raise InputError("the scenario has no `start`: the running and waiting jobs to begin from")
    if runs < 1:
        raise InputError("at least one run is needed", value=runs)
    for name, amount in {"cores": cores, "nodes": nodes, "gpus": gpus, "gpus_per_node": gpus_per_node}.items():
        least = 0 if name.startswith("gpus") else 1
        if amount is not None and amount < least:
            raise InputError(f"{name} of the job must be at least {least}", value=amount)
    if replay < 1:
        raise InputError("at least one job is needed to replay", value=replay)
    allow_parts(made)
    _check_names(made, {"queue": queue, "account": account, "qos": qos})
    prepared = prepare(made)
    length, limit = parse_duration(horizon), parse_duration(time)
    history = made.model_copy(update={"start": None}).read_workload()
    standing = prepared.workload
    seed = made.seed if seed is None else seed
    job: dict[str, Any] = {"cores": cores, "requested_time": limit, "user": user, "account": account, "queue": queue}
    job |= {"nodes": nodes, "qos": qos, "gpus": gpus, "gpus_per_node": gpus_per_node, "constraint": constraint}
    job["memory"] = None if memory is None else _read_memory(memory)
    draw = _Draw(history, standing, job, length, arrivals)
    waits, bounded = [], prepared.on(standing, (draw.moment + length) / SECOND)
    with _collecting_late():
        for number in range(runs):
            if observe is not None:
                observe.count(number, runs)
            workload, row = draw.make(stream(seed, "predict", number))
            waits.append(_start_of(bounded.on(workload), row, draw.moment, observe))
            gc.collect(1)
    told = {key: value for key, value in job.items() if value is not None} | {"requested_time": limit / SECOND}
    based = dict(standing.notes["start"]) | {
        "accuracies": len(draw.accuracies),
        "arrivals": f"stretches of {len(history):,} jobs" if arrivals else "none",
        "epoch": None if standing.origin.epoch is None else standing.origin.epoch + draw.moment / SECOND,
        "timezone": standing.origin.timezone,
    }
    found = _find_interval(made, prepared, draw, replay, observe_replay) if interval else None
    return Prediction(told, tuple(waits), length / SECOND, seed, based, found)


def _check_names(scenario: Any, given: Mapping[str, str | None]) -> None:
    """Raises InputError for a name that the clusters, which tell names of its kind, do not have: a slip of the pen."""
    known: dict[str, dict[str, None]] = {name: {} for name in given}
    for cluster in scenario.clusters:
        order, preempt = cluster.scheduler.order, cluster.scheduler.preempt
        if not cluster.routes:
            known["queue"] |= dict.fromkeys(cluster.queues)
        known["account"] |= dict.fromkeys(cluster.accounts)
        known["qos"] |= dict.fromkeys(order.parameters.get("qos") or {})
        known["qos"] |= dict.fromkeys({} if preempt is None else preempt.parameters.get("ranks") or {})
    for name, value in given.items():
        wanted = [] if value is None else [one.strip() for one in value.split(",")] if name == "queue" else [value]
        for one in wanted:
            if known[name] and one not in known[name]:
                raise InputError(f"the clusters have no such {name}", value=one, choices=known[name])


@contextlib.contextmanager
def _collecting_late() -> Iterator[None]:
    """Within it no garbage is collected unless it is asked for: a simulation is a ring of objects, which is all gone
    once its run is over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _find_interval(
    scenario: Any, prepared: Any, draw: _Draw, count: int, observe: Callable[[Any], Any] | None
) -> WaitInterval | None:
    """What the requests make of the job's wait, with how wrong that was for such jobs among the newest of the log."""
    from walltime.analysis.predictions import cover_weeks, find_interval

    planned = _planned_wait(prepared.on(draw.as_requested(), draw.moment / SECOND), draw.moment)
    if planned is None:
        return None
    past = _replay(scenario, draw.history, count, observe)
    weeks, level = cover_weeks(past, SHARE)
    learned = find_interval(past, planned, level)
    known, sooner, later = (0, None, None) if learned is None else learned
    judged = sum(week.jobs for week in weeks)
    return WaitInterval(
        share=SHARE,
        planned=planned,
        least=None if sooner is None else max(planned + sooner, 0.0),
        most=None if later is None else max(planned + later, 0.0),
        past=known,
        coverage=sum(week.jobs * week.coverage for week in weeks) / judged if judged else None,
        width=sum(week.jobs * week.width for week in weeks) / judged if judged else None,
        judged=judged,
        weeks=tuple(week.coverage for week in weeks),
        replayed=min(count, len(draw.history)),
        logged=len(draw.history),
    )


def _replay(scenario: Any, history: Any, count: int, observe: Callable[[Any], Any] | None) -> Any:
    """The errors of the plans of the newest jobs; of a log that is longer, without the first of these."""
    from walltime.analysis.predictions import find_errors
    from walltime.engine.watching.forecasts import ForecastRecorder
    from walltime.pipeline import prepare

    changes: dict[str, Any] = {"start": None, "until": None}
    older = max(len(history) - count, 0)
    if older:  # jobs that some of the newest depend on are over, most of them
        changes["dependencies"] = scenario.dependencies.model_copy(update={"unknown": "met"})
        history = history.select(np.arange(older, len(history)))
    recorder = ForecastRecorder()
    replay = prepare(scenario.model_copy(update=changes), history)
    record = replay.run(None if observe is None else observe(replay), observers=[recorder])
    learned = float(history.column("submit")[count // WARMING if older else 0]) / SECOND if len(history) else 0.0
    errors = find_errors(record.jobs, recorder.table())
    return errors.filter(errors["submit"] >= learned)


def _planned_wait(prepared: Any, moment: int) -> float | None:
    """What is foreseen for the job in question when it comes."""
    from walltime.engine.watching.forecasts import ForecastRecorder

    recorder = ForecastRecorder()
    prepared.run(observers=[recorder])
    start = recorder.planned.get(QUESTION)
    return None if start is None else (start - moment) / SECOND


def _read_memory(memory: str | int) -> int:
    """Bytes for the whole job; raises InputError."""
    from walltime.scenario.values import read_size

    try:
        return read_size(memory)
    except ValueError as error:
        raise InputError(f"memory {error}", value=memory) from None


class _StartedError(Exception):
    """The job has started: nothing more needs to be simulated."""


def _start_of(prepared: Any, row: int, moment: int, observe: Any) -> float | None:
    """The job's wait in one run."""
    from walltime.kernel.jobs import State
    from walltime.kernel.source import Observer

    looked_at = (int(State.RUNNING), int(State.REJECTED))

    class StartWatcher(Observer):
        wait: float | None = None

        def __init__(self) -> None:
            self.deaf = True
            self.reasons: dict[str, int] = {}  # of the jobs rejected so far

        def moved(self, engine: Any, slot: int, before: int, after: int) -> None:
            if after not in looked_at:
                return
            if engine.jobs.row[slot] == row and after == State.RUNNING:
                self.wait = (int(engine.now) - moment) / SECOND
                raise _StartedError
            if after == State.REJECTED:
                known, self.reasons = self.reasons, dict(engine.reasons)
                if engine.jobs.row[slot] == row:
                    why = [reason for reason, count in self.reasons.items() if count > known.get(reason, 0)]
                    raise InputError(f"the job would be rejected: {why[0] if why else 'a rule refuses it'}")

    watch = StartWatcher()
    with contextlib.suppress(_StartedError):
        prepared.run(observe, observers=[watch])
    return watch.wait


class _Draw:
    """Makes the jobs of one run: those that stand with drawn run times, the one in question, a stretch of others."""

    def __init__(self, history: Any, standing: Any, job: dict[str, Any], horizon: int, arrivals: bool) -> None:
        self.history, self.horizon, self.arrivals = history, horizon, arrivals
        self.moment = microseconds(standing.notes["start"]["time"])
        self.present = standing.select(
            np.flatnonzero(standing.column("submit") <= self.moment)[: self._count(standing)]
        )
        run, asked = history.column("run_time"), history.column("requested_time")
        known = (run > 0) & (asked > 0)
        self.accuracies = np.sort(np.minimum(run[known] / asked[known], 1.0))
        if not len(self.accuracies):
            raise InputError("no job of the workload has both a run time and a request to learn their relation from")
        self.question = _make_question(job)
        self.asked, started = self.present.column("requested_time"), self.present.column("started")
        suspended = self.present.column("suspended")
        until = np.where(suspended >= 0, suspended, self.moment)
        elapsed = np.where(started >= 0, until - started, 0)
        self.least_run = np.where(started >= 0, elapsed + 1, 1)
        self.first = np.searchsorted(self.accuracies, elapsed / np.maximum(self.asked, 1), side="right")
        self.shares = np.append(self.accuracies, 1.0)

    def _count(self, standing: Any) -> int:
        told = standing.notes["start"]
        return int(told["running"]) + int(told["waiting"])

    def make(self, random: Any) -> tuple[Any, int]:
        """The workload, and the row of the job in question."""
        count, asked = len(self.accuracies), self.asked
        picks = self.first + (random.random(len(asked)) * (count - self.first)).astype(np.int64)
        share = self.shares[np.minimum(picks, count)]
        run = np.maximum((asked * share).astype(np.int64), self.least_run)
        present = self.present.replace(dict(self.present.columns) | {"run_time": np.minimum(run, asked)})
        rows = [present, self.question, self._stretch(random)]
        table = _stack(rows, self.moment)
        return table, int(np.flatnonzero(table.column("job_id") == QUESTION)[0])

    def as_requested(self) -> Any:
        """The jobs that stand and the one in question, all as long as they ask for."""
        present = self.present.replace(dict(self.present.columns) | {"run_time": self.present.column("requested_time")})
        return _stack([present, self.question], self.moment)

    def _stretch(self, random: Any) -> Any:
        """Jobs of the workload from a random moment on, wrapped around its end."""
        submit = self.history.column("submit")
        if not self.arrivals or not len(submit):
            return self.history.select(np.zeros(0, np.int64))
        first, span = int(submit[0]), max(int(submit[-1] - submit[0]), 1)
        begin = int(random.integers(0, span))
        after = (submit - first - begin) % span
        rows = np.flatnonzero(after <= self.horizon)
        rows = rows[np.argsort(after[rows], kind="stable")]
        columns = {name: values for name, values in self.history.select(rows).columns.items() if name not in TIED}
        moved = after[rows] - submit[rows]
        for name in ("begin", "cancel", "deadline"):
            if name in columns:
                columns[name] = np.where(columns[name] < 0, columns[name], columns[name] + moved)
        return self.history.replace(columns | {"submit": after[rows]})


TIED = ("job_id", "dependencies", "preceding_job", "think_time")
"""What ties jobs of a log to each other, and means nothing once a stretch of it is cut out."""

QUESTION = (1 << 62) - 1
"""The number of the job in question."""


def _make_question(job: dict[str, Any]) -> Any:
    """The job in question, by itself."""
    from walltime.core.workload import Workload

    columns = {name: [value] for name, value in job.items() if value is not None and name != "requested_time"}
    time = job["requested_time"] / SECOND
    return Workload.from_columns(job_id=[QUESTION], submit=[0.0], requested_time=[time], run_time=[time], **columns)


def _stack(parts: list[Any], moment: int) -> Any:
    """The present as it is; the others from the moment on; in order of submission."""
    from walltime.core.workload import COLUMNS, MISSING, Workload, join_labels, sort_by_submission

    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    columns: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    for name in names:
        kind, pieces = COLUMNS[name].kind, [part.column(name) for part in parts]
        if name in ("submit", "begin", "cancel", "deadline"):
            pieces[1:] = [np.where(values == MISSING, MISSING, values + moment) for values in pieces[1:]]
        if kind == "label":
            told = [part.label_names(name) for part in parts]
            columns[name], labels[name] = join_labels(zip(pieces, told, strict=True))
        else:
            columns[name] = [text for piece in pieces for text in piece] if kind == "text" else np.concatenate(pieces)
    first = parts[0]
    return Workload(sort_by_submission(columns), labels, first.origin, notes=dict(first.notes), source=first.source)
