"""Questions about one job that take simulations to answer: why did it wait, when would it start?"""

from __future__ import annotations

import contextlib
import difflib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime import api
from walltime.analysis.explanation import Cause, Explanation, Foreseen, Overtaker, Standing
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND, format_duration, microseconds

SAMPLES = 200
"""How often the job's place and its foreseen start are noted over its wait."""


def explain(result: api.Result | str | Path, job: str | int) -> Explanation:
    """Why the job waited: simulates the result's scenario again and watches the job.

    `result` is a Result or its folder, `job` the job's name or number. Raises InputError for a job that the result does
    not have, or a result of another engine.
    """
    done = result if isinstance(result, api.Result) else api.load(result)
    if done.scenario is None:
        raise InputError("a result without a scenario cannot be simulated again")
    if done.scenario.engine != "native":
        raise InputError("only what the native engine simulated can be explained", value=done.scenario.engine)
    row = _find_job(done, job)
    witness, again = _watch(done, row)
    return _account(done, row, witness, again)


def _find_job(done: api.Result, job: str | int) -> dict[str, Any]:
    """The row of the job in the result's table, by name or by number."""
    import polars as pl

    jobs, wanted = done.jobs, str(job).strip()
    found = jobs.filter(pl.col("name").cast(pl.String) == wanted) if "name" in jobs.columns else jobs.clear()
    if not found.height and wanted.lstrip("-").isdigit():
        found = jobs.filter(pl.col("job_id") == int(wanted))
    if found.height:
        return dict(found.row(0, named=True))
    known = [str(value) for value in jobs["job_id"].to_list()]
    known += [str(value) for value in jobs["name"].drop_nulls().to_list()] if "name" in jobs.columns else []
    near = difflib.get_close_matches(wanted, dict.fromkeys(known), n=5, cutoff=0.5) or known[:5]
    raise InputError("the result has no such job", value=wanted, choices=near)


def _watch(done: api.Result, row: dict[str, Any]) -> tuple[Any, api.Result]:
    """Simulate again with a witness of the job."""
    from walltime.engine import native
    from walltime.engine.witness import Witness
    from walltime.scenario import resolve

    scenario = done.scenario
    assert scenario is not None
    if problems := native.unsupported(scenario):
        raise UnsupportedError(native.NAME, problems)
    eligible = row["eligible"] if row["eligible"] is not None else row["submit"]
    last = row["start"] if row["start"] is not None else row["end"]
    wait = (float(last) - float(eligible)) if last is not None else 86_400.0
    witness = Witness(int(row["job_id"]), microseconds(max(wait, 0.0)) // SAMPLES)
    workload = scenario.read_workload()
    resolved = resolve(native.complete(scenario), workload)
    clock = _Clock()
    record = native.run(resolved, workload, clock, observers=[witness])
    witness.finish(clock.simulation.now if resolved.until is None else microseconds(resolved.until))
    return witness, api.Result(resolved, record, done.label)


class _Clock:
    """Keeps hold of the simulation, to know when it ended."""

    simulation: Any = None

    def attach(self, simulation: Any) -> None:
        self.simulation = simulation

    def progress(self, now: int, submitted: int, ended: int) -> None:
        pass


def _account(done: api.Result, row: dict[str, Any], witness: Any, again: api.Result) -> Explanation:
    names = {int(number): str(name) for number, name in _names(again)}
    causes = tuple(
        Cause(one.kind, one.start / SECOND, one.end / SECOND, _words(one, names), _facts(one))
        for one in witness.reasons
    )
    seen = [(time, start, "promised") for time, start in witness.promises]
    first = seen[0][0] if seen else None
    seen = [(time, start, "planned") for time, start in witness.plans if first is None or time < first] + seen
    facts = {
        "user": row.get("user"),
        "queue": row.get("queue"),
        "cores": row["cores"],
        "requested": format_duration(row["requested_time"]),
        "state": row["state"],
    }
    eligible = next((time for time, state in witness.moves if state == "waiting"), None)
    until = causes[-1].end if causes else None if eligible is None else eligible / SECOND
    return Explanation(
        str(row.get("name") or row["job_id"]),
        facts,
        float(row["submit"]),
        None if eligible is None else eligible / SECOND,
        row["start"],
        row["end"],
        until,
        causes,
        tuple(
            Overtaker(
                names.get(one.job_id, str(one.job_id)),
                one.time / SECOND,
                one.cores,
                one.submit / SECOND,
                one.estimate / SECOND,
                one.behind,
                one.later,
            )
            for one in witness.passed
        ),
        tuple(Foreseen(time / SECOND, start / SECOND, how) for time, start, how in seen),
        tuple(Standing(one.time / SECOND, one.ahead, one.waiting, one.parts) for one in witness.samples),
        tuple(_notes(done, again, seen, witness)),
        dict(done.record.facts.get("origin") or {}),
    )


def _names(again: api.Result) -> list[tuple[int, str]]:
    jobs = again.jobs
    if "name" not in jobs.columns:
        return []
    return [(number, name) for number, name in jobs.select("job_id", "name").iter_rows() if name is not None]


def _facts(one: Any) -> dict[str, Any]:
    facts = {name: value for name, value in one.detail.items() if name != "text"}
    if "promised" in facts:
        facts["promised"] = facts["promised"] / SECOND
    return facts


def _words(one: Any, names: dict[int, str]) -> str:
    """A cause for a person."""
    from walltime.engine.witness import KINDS

    detail = one.detail
    who = detail.get("who")
    if one.kind == "limit":
        return str(detail["text"])
    if one.kind == "resources":
        free, most, needs = detail["free"], detail["most_free"], detail["needs"]
        amount = f"{free:,}" if free == most else f"{free:,} to {most:,}"
        cores = f"{needs:,} core{'' if needs == 1 else 's'}"
        if most >= needs:
            return f"it needs {cores}; {amount} were free, but not where and as it needs them"
        return f"it needs {cores}; {amount} were free"
    if one.kind == "reservation" and who is not None:
        return f"it would have delayed job {names.get(who, who)}, which has a reservation"
    if one.kind == "priority":
        others = f" and {detail['ahead'] - 1:,} more" if detail["ahead"] > 1 else ""
        return f"it fitted, but stood behind job {names.get(who, who)}{others}, and nobody is overtaken"
    return KINDS[one.kind]


def _notes(done: api.Result, again: api.Result, seen: list[Any], witness: Any) -> list[str]:
    notes = []
    if again.digest != done.digest:
        version = done.provenance.get("version")
        notes.append(
            f"simulated again, the schedule is another one than the result's (made by version {version}, digest "
            f"{done.digest[:12]} then and {again.digest[:12]} now); this is the account of the new one"
        )
    if not seen and witness.reasons:
        notes.append("its start was not foreseen: nothing was promised, and the machine is divided into parts")
    restarts = sum(state == "running" for _, state in witness.moves) - 1
    if restarts > 0:
        notes.append(f"it was started {restarts + 1} times; this is the wait before its first start")
    return notes


# ------------------------------------------------------------------------------------------- when would it start?

HORIZON = 7 * 86_400.0
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Prediction:
    """When one more job would start: its wait in each run, in seconds; None where it had not started by the horizon."""

    job: dict[str, Any]
    waits: tuple[float | None, ...]
    horizon: float
    seed: int
    based_on: dict[str, Any]

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
    runs: int = 100,
    seed: int | None = None,
    horizon: str | float = HORIZON,
    arrivals: bool = True,
) -> Prediction:
    """When one more job, submitted at the scenario's `start`, would start: a distribution over `runs` simulations.

    In each run the jobs that run and wait get run times drawn from the accuracies (run time / request) of the
    scenario's workload; a running one only from those that it has not outlived. The jobs to come are a stretch of the
    workload from a random moment on, as long as the `horizon`; none with `arrivals` false.
    """
    from walltime.core.random import stream
    from walltime.core.time import parse_duration
    from walltime.engine import native
    from walltime.policy import registry
    from walltime.scenario import load as load_scenario
    from walltime.scenario import resolve

    made = load_scenario(scenario) if isinstance(scenario, str | Path) else scenario
    if made.start is None:
        raise InputError("the scenario has no `start`: the running and waiting jobs to begin from")
    if runs < 1:
        raise InputError("at least one run is needed", value=runs)
    registry.check(made)
    if problems := native.unsupported(made):
        raise UnsupportedError(native.NAME, problems)
    length, limit = parse_duration(horizon), parse_duration(time)
    history = made.model_copy(update={"start": None}).read_workload()
    standing = made.read_workload()
    seed = made.seed if seed is None else seed
    draw = _Draw(history, standing, length, arrivals)
    job = {"cores": cores, "requested_time": limit, "user": user, "account": account, "queue": queue, "nodes": nodes}
    waits = []
    for number in range(runs):
        workload, row = draw.make(stream(seed, "predict", number), job)
        resolved = resolve(made, workload)
        waits.append(_start_of(resolved, workload, row, draw.opening, length))
    told = {key: value for key, value in job.items() if value is not None} | {"requested_time": limit / SECOND}
    based = dict(standing.notes["start"]) | {
        "accuracies": len(draw.accuracies),
        "arrivals": f"stretches of {len(history):,} jobs" if arrivals else "none",
    }
    return Prediction(told, tuple(waits), length / SECOND, seed, based)


class _StartedError(Exception):
    """The job has started: nothing more needs to be simulated."""


def _start_of(scenario: Any, workload: Any, row: int, opening: int, horizon: int) -> float | None:
    """The job's wait in one run."""
    from walltime.engine import native
    from walltime.kernel.jobs import State
    from walltime.kernel.source import Observer

    class Watch(Observer):
        wait: float | None = None

        def moved(self, engine: Any, slot: int, before: int, after: int) -> None:
            if int(engine.jobs.row[slot]) == row and after == State.RUNNING:
                self.wait = (int(engine.now) - opening) / SECOND
                raise _StartedError
            if int(engine.jobs.row[slot]) == row and after == State.REJECTED:
                raise InputError("the job would be rejected: it can never run on this cluster, or a rule refuses it")

    watch = Watch()
    with contextlib.suppress(_StartedError):
        native.run(scenario.model_copy(update={"until": (opening + horizon) / SECOND}), workload, observers=[watch])
    return watch.wait


class _Draw:
    """Makes the jobs of one run: those that stand with drawn run times, the one in question, a stretch of others."""

    def __init__(self, history: Any, standing: Any, horizon: int, arrivals: bool) -> None:
        self.history, self.horizon, self.arrivals = history, horizon, arrivals
        self.opening = microseconds(standing.notes["start"]["time"])
        self.present = standing.select(
            np.flatnonzero(standing.column("submit") <= self.opening)[: self._count(standing)]
        )
        run, asked = history.column("run_time"), history.column("requested_time")
        known = (run > 0) & (asked > 0)
        self.accuracies = np.sort(np.minimum(run[known] / asked[known], 1.0))
        if not len(self.accuracies):
            raise InputError("no job of the workload has both a run time and a request to learn their relation from")

    def _count(self, standing: Any) -> int:
        told = standing.notes["start"]
        return int(told["running"]) + int(told["waiting"])

    def make(self, random: Any, job: dict[str, Any]) -> tuple[Any, int]:
        """The workload, and the row of the job in question."""
        asked, started = self.present.column("requested_time"), self.present.column("started")
        elapsed = np.where(started >= 0, self.opening - started, 0)
        least = np.searchsorted(self.accuracies, elapsed / np.maximum(asked, 1), side="right")
        picks = least + (random.random(len(asked)) * (len(self.accuracies) - least)).astype(np.int64)
        share = np.append(self.accuracies, 1.0)[np.minimum(picks, len(self.accuracies))]
        run = np.maximum((asked * share).astype(np.int64), np.where(started >= 0, elapsed + 1, 1))
        present = self.present.replace(dict(self.present.columns) | {"run_time": np.minimum(run, asked)})
        rows = [present, self._question(job), self._stretch(random)]
        table = _stack(rows, self.opening)
        return table, int(np.flatnonzero(table.column("job_id") == QUESTION)[0])

    def _question(self, job: dict[str, Any]) -> Any:
        from walltime.core.workload import Workload

        columns = {name: [value] for name, value in job.items() if value is not None and name != "requested_time"}
        time = job["requested_time"] / SECOND
        return Workload.from_columns(job_id=[QUESTION], submit=[0.0], requested_time=[time], run_time=[time], **columns)

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


def _stack(parts: list[Any], opening: int) -> Any:
    """The present as it is; the others from the opening on; in order of submission."""
    from walltime.core.workload import COLUMNS, MISSING, Workload, encode_labels, sort_by_submission

    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    columns: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    for name in names:
        kind, pieces = COLUMNS[name].kind, []
        for number, part in enumerate(parts):
            values = part.column(name)
            if name in ("submit", "begin", "cancel", "deadline") and number:
                values = np.where(values == MISSING, MISSING, values + opening)
            if kind == "label":
                people = part.label_names(name)
                pieces += [people[code] if code >= 0 else None for code in values]
            else:
                pieces += list(values)
        if kind == "label":
            columns[name], labels[name] = encode_labels(pieces)
        else:
            columns[name] = pieces if kind == "text" else np.array(pieces, np.int64)
    first = parts[0]
    return Workload(sort_by_submission(columns), labels, first.origin, notes=dict(first.notes), source=first.source)
