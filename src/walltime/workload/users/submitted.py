"""A workload as users have submitted it in a simulation: to be replayed, or to be held against the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload, encode_labels

MOMENTS = ("begin", "cancel", "deadline")
"""Times of a job that keep their distance from its submission."""


def reshape(job: Mapping[str, Any], cores: int) -> dict[str, int]:
    """The columns of a job that are others on other cores: what it asks for as a whole goes with the cores, rounded up;
    on each of its nodes it asks for what it asked for before, on as many nodes as that takes."""
    old = job["cores"]
    found = {"cores": cores}
    for name in ("memory", "gpus"):
        if job.get(name, 0) > 0:
            found[name] = -(-job[name] * cores // old)
    nodes, each = job.get("nodes", MISSING), job.get("cores_per_node", MISSING)
    if nodes > 0:
        per_node = each if each > 0 else -(-old // nodes)
        found["nodes"] = -(-cores // per_node)
    if each > 0 and cores % each:
        found["cores_per_node"] = cores if cores < each else MISSING
    return found


def as_submitted(workload: Workload, rows: np.ndarray, submit: np.ndarray) -> Workload:
    """The rows, in this order, submitted at these times (microseconds), which do not fall."""
    later = submit - workload.column("submit")[rows]
    columns: dict[str, Any] = {}
    for name, values in {"job_id": workload.column("job_id"), **workload.columns}.items():
        if COLUMNS[name].kind == "text":
            columns[name] = [values[row] for row in rows.tolist()]
            continue
        columns[name] = values[rows]
        if name == "submit":
            columns[name] = submit
        elif name in MOMENTS:
            columns[name] = np.where(columns[name] >= 0, columns[name] + later, columns[name])
    return workload.replace(columns)


def find_origins(job_id: np.ndarray, acts: Mapping[str, Any]) -> np.ndarray:
    """The number in the log of each job: that of the job whose part it is, where users have split some."""
    parts = {part: job for job, numbers, _ in acts.get("split", ()) for part in numbers}
    return np.array([parts.get(number, number) for number in job_id.tolist()], np.int64) if parts else job_id


def as_asked(workload: Workload, rows: np.ndarray, told: Mapping[str, Any], acts: Mapping[str, Any]) -> Workload:
    """The rows, in this order, as users have asked for them instead: what a result has `told` of each (job_id, submit,
    cores, requested_time, in microseconds), and run times and queues as the `acts` of the reactions say."""
    made = as_submitted(workload, rows, told["submit"])
    columns: dict[str, Any] = dict(made.columns)
    first = np.full(len(workload), np.iinfo(np.int64).max)
    np.minimum.at(first, rows, told["submit"])
    since = told["submit"] - first[rows]  # how long after the first part of its job each was submitted
    for name in MOMENTS:
        if name in columns:
            columns[name] = np.where(columns[name] >= 0, columns[name] - since, columns[name])
    before, cores = made.column("cores"), told["cores"]
    moved = cores != before
    for name in ("memory", "gpus"):
        if name in columns:
            values = columns[name]
            columns[name] = np.where(moved & (values > 0), -(-values * cores // before), values)
    nodes, each = made.column("nodes"), made.column("cores_per_node")
    if "nodes" in columns:
        per_node = np.where(each > 0, each, -(-before // np.maximum(nodes, 1)))
        columns["nodes"] = np.where(moved & (nodes > 0), -(-cores // per_node), nodes)
    if "cores_per_node" in columns:
        uneven = moved & (each > 0) & (cores % np.maximum(each, 1) > 0)
        columns["cores_per_node"] = np.where(uneven, np.where(cores < each, cores, MISSING), each)
    times = {int(number): round(float(time) * SECOND) for number, time in acts.get("run_times", ())}
    if times:
        run = zip(told["job_id"].tolist(), made.column("run_time").tolist(), strict=True)
        columns["run_time"] = np.array([times.get(number, time) for number, time in run], np.int64)
    columns |= {"job_id": told["job_id"], "cores": cores, "requested_time": told["requested_time"]}
    labels = dict(made.labels)
    if queues := {int(number): str(name) for number, name in acts.get("queues", ())}:
        names = [*made.label_names("queue"), ""]  # the last for a job without one, which has -1
        told_in = zip(told["job_id"].tolist(), made.column("queue").tolist(), strict=True)
        columns["queue"], labels["queue"] = encode_labels([queues.get(number, names[code]) for number, code in told_in])
    return made.replace(columns, labels=labels)
