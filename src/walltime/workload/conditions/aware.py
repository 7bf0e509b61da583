"""Workflow-aware tasks: what their workflow would ask for as one job. All tasks of it have that job's priority.

After ScSF (G. Rodrigo et al., JSSPP 2017, section 4.2), where a workflow is submitted as a pilot job and its tasks keep
that job's priority. Its shape follows from what the tasks ask for, never from how long they really run: the cores of
the widest moment, and the length of the longest path, if every task begins as soon as those it needs have ended and
takes all the time that it asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from walltime.core.workload import MISSING, Workload

PEAKS = ("cores", "nodes", "memory", "gpus")
"""What a workflow asks for at its widest moment."""
FIRST = ("submit", "user", "group", "account", "qos", "priority", "deadline")
"""What it has from the first of its tasks."""
_NEEDED = re.compile(r":(\d+)")


@dataclass(frozen=True)
class Flows:
    """The number of each row's workflow (-1: none that counts), and by that number what it asks for; microseconds."""

    of: np.ndarray
    columns: dict[str, np.ndarray]


def find_flows(workload: Workload) -> Flows | None:
    """The workflows whose tasks are ordered as one; None where there are none."""
    if not workload.has("aware") or not workload.has("workflow"):
        return None
    label = workload.column("workflow")
    chosen = (workload.column("aware") > 0) & (label >= 0)
    if not chosen.any():
        return None
    labels, number = np.unique(label[chosen], return_inverse=True)
    of = np.full(len(workload), -1, np.int64)
    of[chosen] = number
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(labels) + 1))
    describe = _Describer(workload)
    found = [describe(order[first:last]) for first, last in pairwise(bounds)]
    columns = {name: np.array([one[name] for one in found], np.int64) for name in found[0]}
    return Flows(of, columns)


class _Describer:
    """What the tasks in some rows ask for as one job; tasks that are the same but for their numbers are seen once."""

    def __init__(self, workload: Workload) -> None:
        self.texts = workload.column("dependencies")
        self.job_id = workload.column("job_id")
        self.requested = np.maximum(workload.column("requested_time"), 0)
        run = workload.column("run_time")
        self.run = np.where(run >= 0, run, self.requested)
        self.first = {name: workload.column(name) for name in FIRST}
        self.peaks = {name: workload.column(name) for name in PEAKS}
        self.known: dict[tuple[object, ...], dict[str, int]] = {}

    def __call__(self, rows: np.ndarray) -> dict[str, int]:
        place = {job: number for number, job in enumerate(self.job_id[rows].tolist())}
        needs = tuple(
            tuple({place[int(job)] for job in _NEEDED.findall(self.texts[row]) if int(job) in place})
            for row in rows.tolist()
        )
        length, run = self.requested[rows], self.run[rows]
        asked = {name: amounts[rows] for name, amounts in self.peaks.items()}
        key = (needs, length.tobytes(), run.tobytes(), *(amounts.tobytes() for amounts in asked.values()))
        if key not in self.known:
            begins = _begin(needs, length)
            self.known[key] = {
                **{name: _peak(begins, length, amounts) for name, amounts in asked.items()},
                "requested": int((begins + length).max()),
                "run_time": int((_begin(needs, run) + run).max()),
            }
        return {**{name: int(values[rows[0]]) for name, values in self.first.items()}, **self.known[key]}


def _begin(needs: tuple[tuple[int, ...], ...], length: np.ndarray) -> np.ndarray:
    """When each task begins on an endless machine; tasks that need one another in a circle begin at once."""
    begins = np.zeros(len(needs), np.int64)
    left = [len(needed) for needed in needs]
    after: list[list[int]] = [[] for _ in needs]
    for task, needed in enumerate(needs):
        for one in needed:
            after[one].append(task)
    ready = [task for task, count in enumerate(left) if not count]
    while ready:
        task = ready.pop()
        for follower in after[task]:
            begins[follower] = max(begins[follower], begins[task] + length[task])
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    return begins


def _peak(begins: np.ndarray, length: np.ndarray, amounts: np.ndarray) -> int:
    """The most that is asked for at once; MISSING where no task asks for it."""
    if not (amounts > 0).any():
        return int(amounts.max(initial=MISSING))
    given = np.maximum(amounts, 0)
    times = np.concatenate((begins + length, begins))
    order = np.lexsort((np.repeat([0, 1], len(begins)), times))  # at one instant, ends come before starts
    used = np.cumsum(np.concatenate((-given, given))[order])
    return int(max(used.max(), given.max()))
