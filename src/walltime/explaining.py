"""Why did a job wait? The scenario of a result is simulated again, with a watcher of the job."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from walltime import api
from walltime.analysis.explain.explanation import Explanation, Foreseen, Overtaker, QueuePosition, WaitCause
from walltime.analysis.explain.holding import tell_holds
from walltime.analysis.explain.shortage import Shortage
from walltime.analysis.explain.wording import Wording
from walltime.core.dates import read_moment
from walltime.core.errors import InputError
from walltime.core.time import SECOND, format_duration, microseconds
from walltime.pipeline import Prepared, prepare

SAMPLES = 200
"""How often the job's place and its foreseen start are noted over its wait."""
OUTLINE = ("job_id", "cluster", "submit", "start", "end", "cores", "state", "restarts")
"""What is compared of a schedule and the one that comes out again."""


def explain(
    result: api.Result | str | Path,
    job: str | int,
    *,
    at: str | float | Sequence[str | float] = (),
    observe: Callable[[Prepared], Any] | None = None,
) -> Explanation:
    """Why the job waited: simulates the result's scenario again and watches the job.

    `result` is a Result or its folder, `job` the job's name or number; `at` are moments at which its place in the order
    and every part of its priority is wanted, in seconds of the result. `observe` makes an engine's observer, which sees
    how the simulation goes on. Raises InputError for a job that the result does not have, one that did not wait then,
    or a result of another engine.
    """
    done = result if isinstance(result, api.Result) else api.load(result)
    if done.scenario is None:
        raise InputError("a result without a scenario cannot be simulated again")
    if done.scenario.engine != "native":
        raise InputError("only what the native engine simulated can be explained", value=done.scenario.engine)
    row = _find_job(done, job)
    moments = [at] if isinstance(at, str | int | float) else list(at)
    times = tuple(_read_moment(moment, done) for moment in moments)
    told = _account(done, row, _watch(done, row, times, observe), times)
    for time in times:
        _check_moment(told, time / SECOND)
    return told


def _read_moment(moment: str | float, done: api.Result) -> int:
    """Microseconds on the result's clock, of seconds, a duration or a date."""
    origin = dict(done.record.facts.get("origin") or {})
    return microseconds(read_moment(moment, origin.get("epoch"), origin.get("timezone")))


def _check_moment(told: Explanation, time: float) -> None:
    """The job has been seen waiting at that time; else InputError."""
    if any(one.time == time for one in told.asked):
        return
    spans = [(one.start, one.end) for one in told.causes if told.eligible is not None and one.start >= told.eligible]
    waits = [f"{told.when(start)} to {told.when(end)}" for start, end in spans]
    raise InputError(f"job {told.job} did not wait for the scheduler at", value=told.when(time), choices=waits)


def _find_job(done: api.Result, job: str | int) -> dict[str, Any]:
    """The row of the job in the result's table, by name or by number."""
    import polars as pl

    jobs, wanted = done.jobs, str(job).strip()
    found = jobs.filter(pl.col("name").cast(pl.String) == wanted) if "name" in jobs.columns else jobs.clear()
    number = re.fullmatch(r"(-?\d+)(\+\d+)?", wanted)  # 12+1 is a part of a heterogeneous job, which is one here
    if not found.height and number is not None:
        found = jobs.filter(pl.col("job_id") == int(number[1]))
    if found.height:
        return dict(found.row(0, named=True))
    known = [str(value) for value in jobs["job_id"].to_list()]
    known += [str(value) for value in jobs["name"].drop_nulls().to_list()] if "name" in jobs.columns else []
    near = difflib.get_close_matches(wanted, dict.fromkeys(known), n=5, cutoff=0.5) or known[:5]
    raise InputError("the result has no such job", value=wanted, choices=near)


@dataclass(frozen=True)
class _Watched:
    """What the watcher saw, the jobs that there were, the schedule as it came out again, and when it was over.

    `schedule` is the whole of it: the result's own, where it came out again as it was, as far as it was simulated."""

    watcher: Any
    workload: Any
    again: api.Result
    schedule: api.Result
    until: float


def _watch(
    done: api.Result, row: dict[str, Any], times: tuple[int, ...], observe: Callable[[Prepared], Any] | None
) -> _Watched:
    """Simulate again with a watcher of the job, up to the moment at which it left: what comes then changes nothing.

    All of it is simulated where the job is not gone by then, or the schedule is another one than the result's."""
    assert done.scenario is not None
    whole = prepare(done.scenario)
    if row["end"] is not None and row["end"] >= 0:
        part = whole.on(whole.workload, until=float(row["end"]))
        watched = _look(done, row, times, part, observe)
        if watched.watcher.gone and _agrees(done, watched.again, float(row["end"])):
            return replace(watched, schedule=done)
    return _look(done, row, times, whole, observe)


def _agrees(done: api.Result, again: api.Result, until: float) -> bool:
    """Whether the jobs that had left by then are those of the result, and did the same."""
    import polars as pl

    first, second = (
        one.jobs.filter(pl.col("end") <= until).select(pl.col(OUTLINE).cast(pl.String)) for one in (done, again)
    )
    return bool(first.equals(second))


def _look(
    done: api.Result,
    row: dict[str, Any],
    times: tuple[int, ...],
    prepared: Prepared,
    observe: Callable[[Prepared], Any] | None,
) -> _Watched:
    """What the watcher sees."""
    from walltime.engine.watching.alarm import Alarm
    from walltime.engine.watching.watcher import Watcher

    wait = row["wait"] if row["wait"] is not None else 86_400.0
    watcher = Watcher(int(row["job_id"]), microseconds(max(float(wait), 0.0)) // SAMPLES, times)
    alarm = Alarm([time for time in times if time >= 0])
    clock = _Clock(alarm, None if observe is None else observe(prepared))
    record = prepared.run(clock, observers=[watcher])
    resolved = prepared.scenario
    until = clock.simulation.now if resolved.until is None else microseconds(resolved.until)
    watcher.finish(until)
    again = api.Result(resolved, record, done.label)
    return _Watched(watcher, prepared.workload, again, again, until / SECOND)


class _Clock:
    """Keeps hold of the simulation, to know when it ended, and has an instant where one is wanted."""

    def __init__(self, alarm: Any, observer: Any) -> None:
        self.alarm = alarm
        self.observer = observer
        self.simulation: Any = None

    def attach(self, simulation: Any) -> None:
        from walltime.engine.loop import Rank

        self.simulation = simulation
        if self.alarm.times:
            simulation.add_source(Rank.TIMERS, self.alarm)
        if hasattr(self.observer, "attach"):
            self.observer.attach(simulation)

    def progress(self, now: int, submitted: int, ended: int) -> None:
        if self.observer is not None:
            self.observer.progress(now, submitted, ended)


def _account(done: api.Result, row: dict[str, Any], watched: _Watched, times: tuple[int, ...]) -> Explanation:
    watcher, again = watched.watcher, watched.again
    names = {int(number): str(name) for number, name in _names(watched.schedule)}
    words = Wording(names, _node_names(again, row), dict(done.record.facts.get("origin") or {}))
    told = "backfill" if watcher.cycles else "promised"
    seen = [(time, start, told) for time, start in watcher.promises]
    first = seen[0][0] if seen else None
    seen = [(time, start, "planned") for time, start in watcher.plans if first is None or time < first] + seen
    eligible = next((time / SECOND for time, state in watcher.moves if state == "waiting"), None)
    shortage = _find_shortage(watched, row)
    causes = (
        *_holds(watched, row, eligible),
        *(_cause(one, words, shortage) for one in watcher.reasons),
    )
    runs = tuple(words.run(stay) for stay in watcher.stays)
    ends = [cause.end for cause in causes] + [run.end for run in runs if run.end is not None]
    return Explanation(
        str(row.get("name") or row["job_id"]),
        _about(row),
        float(row["submit"]),
        eligible,
        row["start"],
        row["end"],
        max(ends, default=eligible),
        causes,
        runs,
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
            for one in watcher.passed
        ),
        tuple(Foreseen(time / SECOND, start / SECOND, how) for time, start, how in seen),
        tuple(_standing(one) for one in watcher.samples),
        tuple(_standing(one) for one in watcher.samples if one.time in times),
        tuple(_notes(done, watched.schedule, seen, watcher)),
        dict(done.record.facts.get("origin") or {}),
    )


def _find_shortage(watched: _Watched, row: dict[str, Any]) -> Shortage | None:
    """What tells in words of resources why the job did not fit, where more than cores of one machine is counted."""
    record = watched.again.record
    counted = record.facts.get("resources") or record.facts.get("queues")
    return Shortage(record, row, _count_nodes(watched, row)) if counted else None


def _count_nodes(watched: _Watched, row: dict[str, Any]) -> int:
    """On how many nodes the job is divided evenly; 0 where it may have its cores anywhere, or its nodes differ."""
    import numpy as np

    from walltime.analysis.audit.requests import Requests
    from walltime.analysis.audit.rules import find_rows

    assert watched.again.scenario is not None
    clusters = {cluster.name: cluster for cluster in watched.again.scenario.clusters}
    places = find_rows(np.array([row["job_id"]]), watched.workload)
    if places[0] < 0:
        return 0
    requests = Requests(watched.workload, places, clusters.get(row.get("cluster") or "", next(iter(clusters.values()))))
    if requests.parted[0]:
        return 0
    return int(requests.told[0]) or (int(row["nodes"] or 0) if requests.bound[0] else 0)


def _cause(one: Any, words: Wording, shortage: Shortage | None) -> WaitCause:
    start, end, facts = one.start / SECOND, one.end / SECOND, _facts(one)
    if one.kind != "resources" or shortage is None or "room_by" in facts or end <= start:
        return WaitCause(one.kind, start, end, words.cause(one), facts)
    text, told = shortage.tell(start, end, words.when)
    return WaitCause(one.kind, start, end, text, facts | told)


def _standing(sample: Any) -> QueuePosition:
    return QueuePosition(sample.time / SECOND, sample.ahead, sample.waiting, sample.parts)


def _about(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "user": row.get("user"),
        "account": row.get("account"),
        "queue": row.get("queue"),
        "qos": row.get("qos"),
        "cores": row["cores"],
        "GPUs": row.get("gpus") or None,
        "requested": format_duration(row["requested_time"]),
        "state": row["state"],
    }


def _holds(watched: _Watched, row: dict[str, Any], eligible: float | None) -> tuple[WaitCause, ...]:
    """What the job waited for before it could wait for the scheduler."""
    submit = float(row["submit"])
    end = eligible if eligible is not None else row["end"] if row["end"] is not None else watched.until
    workload, jobs, scenario = watched.workload, watched.schedule.jobs, watched.again.scenario
    assert scenario is not None
    if end <= submit or row["state"] == "rejected":
        return ()
    names = workload.column("name") if workload.has("name") else None
    same = (workload.column("job_id") == row["job_id"]).nonzero()[0].tolist()
    found = [number for number in same if names is None or not row.get("name") or names[number] == row["name"]]
    if not found:
        return (WaitCause("held", submit, end, "it was held"),)
    return tell_holds(workload, jobs, found[0], (submit, end), scenario.dependencies)


def _names(schedule: api.Result) -> list[tuple[int, str]]:
    jobs = schedule.jobs
    if "name" not in jobs.columns:
        return []
    return [(number, name) for number, name in jobs.select("job_id", "name").iter_rows() if name]


def _node_names(again: api.Result, row: dict[str, Any]) -> list[str]:
    """The names of the nodes of the job's cluster; none where it has only cores."""
    scenario = again.scenario
    assert scenario is not None
    several = len(scenario.clusters) > 1
    cluster = next((one for one in scenario.clusters if several and one.name == row["cluster"]), scenario.clusters[0])
    layout = cluster.layout()
    return [] if layout is None else layout.names()


def _facts(one: Any) -> dict[str, Any]:
    facts = {name: value for name, value in one.detail.items() if name != "text"}
    for name in ("promised", "begins", "ends", "room_by"):
        if name in facts:
            facts[name] = facts[name] / SECOND
    return facts


def _notes(done: api.Result, again: api.Result, seen: list[Any], watcher: Any) -> list[str]:
    notes = []
    if again is not done and again.digest != done.digest and not again.jobs.equals(done.jobs):
        version = done.provenance.get("version")
        notes.append(
            f"simulated again, the schedule is another one than the result's (made by version {version}, digest "
            f"{done.digest[:12]} then and {again.digest[:12]} now); this is the account of the new one"
        )
    if not seen and any(one.kind not in ("suspended", "paused") for one in watcher.reasons):
        notes.append("its start was not foreseen: nothing was promised, and the machine is divided into parts")
    if watcher.asked < watcher.cycles:
        notes.append(
            f"its place was asked of {watcher.asked:,} of {watcher.cycles:,} backfill cycles, at most once in "
            f"{format_duration(watcher.step / SECOND)}; which job was in its way then, and when that one had left"
        )
    return notes
