"""Jobs of a log as they might have been under other time limits: simple rules, where users do not react.

A job that was cut off at its limit, where its queue now gives more, asks for all that its queue gives and runs on to a
drawn length: that of another job of the log that ran longer than the limit, of the same user where that user has some;
where no job did, up to four times the limit, logarithmically uniform. Draws depend on seed and job alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from walltime.core.random import uniforms
from walltime.core.workload import Workload, encode_labels

ENOUGH = 5
"""Longer jobs that a user must have for draws from these alone."""
LONGEST = 4.0
"""Times the limit, where no job of the log ran longer than it."""
SLACK = 60_000_000
"""Microseconds before its limit from which on a job counts as cut off: limits are looked at now and then."""


def make_alike(workload: Workload) -> Workload:
    """The workload in which the nodes of every job are alike: cores and the rest are what they were in all."""
    return workload.replace({name: column for name, column in workload.columns.items() if name != "parts"})


def run_on(workload: Workload, limits: Mapping[str, int | None], seed: int) -> tuple[Workload, int]:
    """The workload in which jobs that were cut off run on; `limits` are the queues' in microseconds, None for none."""
    run, request = workload.column("run_time"), workload.column("requested_time")
    names = workload.label_names("queue")
    default = next(iter(limits.values())) if len(limits) == 1 else 0
    by_code = [limits.get(name, 0) for name in names] + [default]  # a queue that is not ours gives nothing more
    most = np.array([np.iinfo(np.int64).max if limit is None else limit for limit in by_code])[workload.column("queue")]
    cut = (request > 0) & (run >= request - SLACK) & (most > request)
    rows = np.flatnonzero(cut)
    if not len(rows):
        return workload, 0
    drawn = _draw_lengths(workload, rows, ~cut & (run > 0), seed)
    longer_run, longer_request = run.copy(), request.copy()
    longer_run[rows] = np.maximum(drawn, run[rows])
    longer_request[rows] = np.where(most[rows] < np.iinfo(np.int64).max, most[rows], np.maximum(drawn, request[rows]))
    columns = dict(workload.columns) | {"run_time": longer_run, "requested_time": longer_request}
    return workload.replace(columns), len(rows)


def _draw_lengths(workload: Workload, rows: np.ndarray, whole: np.ndarray, seed: int) -> np.ndarray:
    """A length for each of the rows, from jobs that were not cut off and ran longer than the row's limit."""
    run, request, user = (workload.column(name) for name in ("run_time", "requested_time", "user"))
    draws = uniforms(seed, "reaction.run_on", workload.column("job_id")[rows])
    lengths = np.empty(len(rows), np.int64)
    for index, row in enumerate(rows.tolist()):
        longer = np.flatnonzero(whole & (run > request[row]))
        own = longer[user[longer] == user[row]]
        pool = np.sort(run[own if len(own) >= ENOUGH else longer])
        if len(pool):
            lengths[index] = pool[int(draws[index] * len(pool))]
        else:
            lengths[index] = round(float(request[row]) * LONGEST ** draws[index])
    return lengths


def move(workload: Workload, rules: list[dict[str, Any]]) -> tuple[Workload, int]:
    """The workload in which jobs go to another queue; of each rule `sources`, `to`, and bounds of `cores` and `time`
    (microseconds) as pairs, None for none. The first rule that fits counts."""
    names = workload.label_names("queue")
    labels = [names[code] if code >= 0 else None for code in workload.column("queue").tolist()]
    cores, time = workload.column("cores"), workload.column("requested_time")
    moved = np.zeros(len(workload), bool)
    for rule in rules:
        fits = np.array([label in rule["sources"] for label in labels], bool) & ~moved
        for values, (low, high) in ((cores, rule["cores"]), (time, rule["time"])):
            fits &= (values >= (low or 0)) & (high is None or values <= high)
        for row in np.flatnonzero(fits).tolist():
            labels[row] = rule["to"]
        moved |= fits
    if not moved.any():
        return workload, 0
    codes, known = encode_labels(labels)
    return workload.replace(
        dict(workload.columns) | {"queue": codes}, labels=dict(workload.labels) | {"queue": known}
    ), int(moved.sum())
