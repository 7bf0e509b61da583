"""Results written by hand, and results of the slow engine, for the tests of the analysis."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
from hypothesis import strategies as st

from twin.reference import simulate_cores
from walltime.core.tables import ALLOCATIONS, JOBS, OUTAGES, STATES, Record
from walltime.core.time import SECOND
from walltime.core.workload import Workload


def job(
    job_id: int, submit: float, start: float | None = None, end: float | None = None, cores: int = 1, **other: Any
) -> dict[str, Any]:
    """A row of jobs with everything else filled in as the definitions say, unless it is given."""
    ended = start is not None and end is not None
    state = "completed" if ended else "waiting" if start is None else "running"
    run = end - start if start is not None and end is not None else None
    wait = None if start is None else start - submit
    row = dict.fromkeys(JOBS) | {"cluster": "cluster", "restarts": 0, "backfilled": False, "lost_core_seconds": 0.0}
    row |= {"job_id": job_id, "submit": submit, "eligible": submit, "start": start, "end": end, "cores": cores}
    row |= {"run_time": run, "requested_time": 100.0 if run is None else run, "wait": wait, "state": state}
    return row | other


def allocation(row: dict[str, Any], **other: Any) -> dict[str, Any]:
    """The one allocation of a started job."""
    same = {name: row[name] for name in ("job_id", "cluster", "start", "end", "cores")}
    return {**same, "attempt": 0, "nodes": None, "outcome": row["state"], **other}


def record(
    *jobs: dict[str, Any], cores: int = 4, allocations: list[dict[str, Any]] | None = None, **facts: Any
) -> Record:
    """The tables of the given rows; a started job without allocations gets one."""
    if allocations is None:
        allocations = [allocation(row) for row in jobs if row["start"] is not None]
    allocations = sorted(allocations, key=lambda row: row["start"])
    rows = [dict(row) for row in jobs]
    held = _held(allocations, facts.get("until"))
    for row in rows:
        if row["held_time"] is None and row["start"] is not None:
            row["held_time"] = held[row["job_id"]]
    known = {"clusters": {"cluster": cores}, "overrun": "kill", "until": None, "skipped": {}, "perfect_estimates": 0}
    return Record(
        pl.DataFrame(rows, schema=JOBS).with_columns(pl.col("state").cast(pl.Enum(STATES))),
        pl.DataFrame(allocations, schema=ALLOCATIONS).with_columns(pl.col("outcome").cast(pl.Enum(STATES))),
        known | facts,
    )


def _held(allocations: list[dict[str, Any]], until: float | None) -> Counter[int]:
    """For how long each job held what its allocations say; one that lasts, until the cut-off."""
    held: Counter[int] = Counter()
    last = until
    if last is None:
        last = max((one["end"] or one["start"] for one in allocations), default=0.0)
    for one in allocations:
        held[one["job_id"]] += (last if one["end"] is None else one["end"]) - one["start"]
    return held


def outages(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """A table of outages from (start, end, kind, nodes, cores)."""
    given = [
        ("cluster", start, end, kind, f"{kind} at {start:g}", nodes, cores) for start, end, kind, nodes, cores in rows
    ]
    return pl.DataFrame(given, schema=OUTAGES, orient="row")


def simulated(workload: Workload, cores: int, policy: str, overrun: str = "kill", until: float | None = None) -> Record:
    """What the slow, obvious engine makes of a workload, as tables."""
    outcomes = simulate_cores(workload, cores, policy, overrun, None if until is None else round(until * SECOND))
    table = workload.to_polars()
    rows = []
    for outcome in outcomes:
        start, end = (None if time is None else time / SECOND for time in (outcome.start, outcome.end))
        submit = float(table["submit"][outcome.row])
        wait = None if start is None else start - submit
        if start is None and end is not None:
            wait = end - submit
        row = job(outcome.job_id, submit, start, end, int(table["cores"][outcome.row]), state=outcome.state, wait=wait)
        row["requested_time"] = float(table["requested_time"][outcome.row])
        row["eligible"] = None if outcome.eligible is None else outcome.eligible / SECOND
        row["backfilled"] = outcome.backfilled
        row["run_time"] = None if outcome.run is None else outcome.run / SECOND
        rows.append(row)
    return record(*rows, cores=cores, overrun=overrun, until=until)


@st.composite
def workloads(draw: st.DrawFn, cores: int = 8) -> Workload:
    """A dozen or two of jobs, crowded enough to wait, with some too large, cancelled, or beyond their request."""
    size = draw(st.integers(0, 25))
    column = lambda values: draw(st.lists(values, min_size=size, max_size=size))  # noqa: E731
    return Workload.from_columns(
        submit=column(st.integers(0, 60)),
        run_time=column(st.integers(0, 30)),
        requested_time=column(st.integers(1, 30)),
        cores=column(st.integers(1, cores + 1)),
        begin=column(st.none() | st.none() | st.integers(0, 80)),
        cancel=column(st.none() | st.none() | st.integers(0, 120)),
        user=column(st.sampled_from(["ann", "bo", "cy", None])),
    )
