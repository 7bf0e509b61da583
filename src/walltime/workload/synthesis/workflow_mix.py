"""Workflows in a workload: how each is submitted, and how many of them there are.

Three ways, with ScSF's names (Rodrigo et al., JSSPP 2017, sections 3.2 and 4.2):

- `single`, a pilot: one job with the cores of the widest moment for the length of the critical path;
- `multi`, chained: each task a job of its own that waits for those it needs (`afterok`);
- `manifest`, workflow-aware: the same jobs, but each is ordered as its workflow, from the workflow's submission on.

They are present once every so often, when a trigger says so, or as a share of the core-hours.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream, uniforms
from walltime.core.time import SECOND
from walltime.core.workload import Workload, sort_by_submission
from walltime.workload.joining import join_workloads
from walltime.workload.numbering import find_free
from walltime.workload.synthesis.insertion import Trigger, fire
from walltime.workload.workflow import Workflow

WAYS = ("single", "multi", "manifest")
_MOST = 1_000_000  # workflows that one mix may submit
_SIGNS = re.compile(r"[\s:,?+()%_]")


@dataclass(frozen=True)
class Mix:
    """Workflows by their weights, a way to submit them, and how many: once `every` seconds, a `share` of the work, or
    whenever a `trigger` of insertions says so.

    With a share, ordinary jobs are left out, drawn by their numbers, so that the core-hours stay what they were.
    """

    workflows: Sequence[Workflow]
    way: str = "manifest"
    every: float | None = None
    share: float | None = None
    weights: Sequence[float] | None = None
    first: float = 0.0
    columns: dict[str, Any] = field(default_factory=dict)
    """Other columns of all their jobs, such as user, account, queue and priority."""
    trigger: Trigger | None = None
    name: str = "workflows"
    """Keys its random numbers."""

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise InputError("workflows: no such way to submit", value=self.way, choices=WAYS)
        if sum(one is not None for one in (self.every, self.share, self.trigger)) != 1:
            raise InputError("workflows: give every (a period), share (of the core-hours) or a trigger, one of them")
        if self.every is not None and not self.every > 0:
            raise InputError("workflows: every must be longer than zero", value=self.every)
        if self.share is not None and not 0 < self.share <= 1:
            raise InputError("workflows: share must be above 0 and at most 1", value=self.share)
        weights = self.weights
        if not self.workflows or (weights is not None and len(weights) != len(self.workflows)):
            raise InputError("workflows: a weight for each workflow, and one workflow at least")
        if weights is not None and (min(weights) < 0 or not sum(weights) > 0):
            raise InputError("workflows: no weight below zero, and not all zero", value=list(weights))

    def choices(self, random: np.random.Generator) -> Iterator[Workflow]:
        """Workflows by their weights, without end."""
        weights = np.array(self.weights if self.weights is not None else [1.0] * len(self.workflows), np.float64)
        bounds = (weights / weights.sum()).cumsum()
        upper = (bounds / bounds[-1]).tolist()
        while True:
            yield self.workflows[bisect_right(upper, random.random())]


def add_workflows(
    workload: Workload,
    mix: Mix,
    seed: int = 0,
    name: str | None = None,
    spare: set[int] | None = None,
    cores: int | None = None,
) -> Workload:
    """The workload with the workflows of a mix among its jobs; raises InputError for a task that cannot run on a
    machine of so many `cores`, by default the workload's own.

    They come while jobs are submitted, in the experiment where jobs have phases. `notes["workflows"]` tells of each, by
    its label in the column `workflow`: its name, way, tasks, critical path (seconds) and work (core-seconds).
    `name` keys the random numbers in the place of the mix's own; with a share, only jobs with the numbers in `spare`
    are left out, where these are given.
    """
    machine = workload.machine_cores if cores is None else cores
    if machine is not None:
        for workflow in mix.workflows:
            workflow.check_machine(machine)
    random = stream(seed, "workflows", name or mix.name)
    chosen = _by_share(mix, random, workload) if mix.share is not None else _by_time(mix, random, *_find_span(workload))
    known = dict(workload.notes.get("workflows", {}))
    submitted = _Submitted(mix, find_free(workload.column("job_id")))
    for time, workflow in chosen:
        label = f"{workflow.name}-{len(known) + 1}"
        known[label] = submitted.add(workflow, time, label)
    if mix.share is not None:
        workload = _make_room(workload, submitted.work, seed, spare)
    added = submitted.table()
    if workload.has("phase"):
        codes = np.full(len(added), workload.label_names("phase").index("experiment"), np.int32)
        labels = added.labels | {"phase": workload.labels["phase"]}
        added = added.replace(dict(added.columns) | {"phase": codes}, labels=labels)
    joined = join_workloads(workload, added)
    return joined.replace(joined.columns, notes=workload.notes | {"workflows": known})


@dataclass(frozen=True)
class _Form:
    """What is the same of a workflow whenever it is submitted."""

    known: dict[str, Any]
    """What is known of it before any scheduling: seconds, and core-seconds of work."""
    columns: dict[str, list[Any]]
    names: list[str]
    """What follows the workflow's label in the names of its jobs."""
    needs: list[list[int]]
    """The places of the jobs that each of its jobs waits for."""


class _Submitted:
    """The jobs of workflows, numbered from `number` on; times in seconds."""

    def __init__(self, mix: Mix, number: int) -> None:
        self.mix, self.number = mix, number
        self.times: list[float] = []
        self.labels: list[str] = []
        self.chosen: list[int] = []  # the place of each workflow in the mix
        self.work = 0.0
        self.forms = [_find_form(workflow, mix) for workflow in mix.workflows]
        self.places = {id(workflow): index for index, workflow in enumerate(mix.workflows)}

    def add(self, workflow: Workflow, submit: float, label: str) -> dict[str, Any]:
        """Submit it once; what is known of it."""
        place = self.places[id(workflow)]
        self.times.append(submit)
        self.labels.append(label)
        self.chosen.append(place)
        self.work += self.forms[place].known["work"]
        return dict(self.forms[place].known)

    def table(self) -> Workload:
        """Their jobs, one workflow after another: the rows of its form each time that it is submitted."""
        if not self.chosen:
            return Workload.from_columns(submit=[], run_time=[])
        sizes = np.array([len(form.names) for form in self.forms], np.int64)
        counts = sizes[self.chosen]
        firsts = np.cumsum(counts) - counts  # of each workflow the first of its jobs
        names = self.forms[0].columns  # as all others have
        forms = Workload.from_columns(
            submit=[0] * int(sizes.sum()),
            **{name: [value for form in self.forms for value in form.columns[name]] for name in names},
        )
        index = np.repeat((np.cumsum(sizes) - sizes)[self.chosen] - firsts, counts) + np.arange(counts.sum())
        columns: dict[str, Any] = {name: values[index] for name, values in forms.columns.items()}
        columns["submit"] = np.repeat(np.rint(np.array(self.times, np.float64) * SECOND).astype(np.int64), counts)
        columns["job_id"] = np.arange(self.number, self.number + len(index))
        columns["workflow"] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        columns["name"] = [
            label + name
            for label, chosen in zip(self.labels, self.chosen, strict=True)
            for name in self.forms[chosen].names
        ]
        if self.mix.way != "single":
            columns["dependencies"] = self._write_dependencies((self.number + firsts).tolist())
        return Workload(sort_by_submission(columns), forms.labels | {"workflow": self.labels})

    def _write_dependencies(self, firsts: list[int]) -> list[str]:
        """What each job waits for; `firsts` has the number of the first job of each workflow."""
        found: list[str] = []
        for first, chosen in zip(firsts, self.chosen, strict=True):
            form = self.forms[chosen]
            numbers = [str(number) for number in range(first, first + len(form.names))]
            found += [
                "afterok:" + ":".join([numbers[place] for place in needed]) if needed else "" for needed in form.needs
            ]
        return found


def _find_form(workflow: Workflow, mix: Mix) -> _Form:
    known = {
        "name": workflow.name,
        "way": mix.way,
        "tasks": len(workflow.tasks),
        "critical_path": workflow.critical_path,
        "work": workflow.work,
    }
    tasks = list(workflow.tasks.values())
    count = 1 if mix.way == "single" else len(tasks)
    common: dict[str, list[Any]] = {name: [value] * count for name, value in mix.columns.items()}
    if mix.way == "single":
        pilot: dict[str, list[Any]] = {
            "cores": [workflow.widest],
            "run_time": [workflow.critical_path],
            "requested_time": [workflow.requested_path],
        }
        return _Form(known, common | pilot, [""], [[]])
    places = {key: index for index, key in enumerate(workflow.tasks)}
    own: dict[str, list[Any]] = {
        "cores": [task.cores for task in tasks],
        "run_time": [task.run_time for task in tasks],
        "requested_time": [task.requested_time or task.run_time for task in tasks],
        "memory": [task.memory for task in tasks],
        "aware": [int(mix.way == "manifest")] * count,
    }
    needs = [[places[needed] for needed in dict.fromkeys(task.needs)] for task in tasks]
    return _Form(known, common | own, ["/" + _SIGNS.sub("-", key) for key in workflow.tasks], needs)


def _find_span(workload: Workload) -> tuple[float, float]:
    """From when to when workflows are submitted, in seconds."""
    if "experiment" in workload.notes.get("phases", {}):
        begin, end = workload.notes["phases"]["experiment"]
        return float(begin), float(end)
    submit = workload.column("submit") / SECOND
    if workload.has("phase") and "experiment" in workload.label_names("phase"):
        submit = submit[workload.column("phase") == workload.label_names("phase").index("experiment")]
    return (float(submit.min()), float(submit.max())) if len(submit) else (0.0, 0.0)


def _by_time(mix: Mix, random: np.random.Generator, begin: float, end: float) -> list[tuple[float, Workflow]]:
    if mix.trigger is not None:
        times = fire(mix.trigger, begin, end, random, mix.name)
    else:
        times = np.arange(begin + mix.first, max(end, begin + mix.first) + 1e-9, mix.every or 1.0).tolist()
    if len(times) > _MOST:
        raise InputError(f"workflows: more than {_MOST:,} of them; a longer period", value=mix.every)
    return list(zip(times, mix.choices(random), strict=False))


def _by_share(mix: Mix, random: np.random.Generator, workload: Workload) -> list[tuple[float, Workflow]]:
    """As many as come nearest to the share of the work of the jobs that are submitted while they come."""
    begin, end = _find_span(workload)
    target = (mix.share or 0.0) * float(_work(workload, begin, end).sum())
    chosen: list[Workflow] = []
    done = 0.0
    for workflow in mix.choices(random):
        if done + workflow.work / 2 > target:
            break
        chosen.append(workflow)
        done += workflow.work
        if len(chosen) > _MOST:
            raise InputError(f"workflows: more than {_MOST:,} of them; a smaller share", value=mix.share)
    if not chosen:
        raise InputError("workflows: the share is less than half a workflow's work", value=mix.share)
    times = np.sort(begin + random.random(len(chosen)) * (end - begin))
    return list(zip(times.tolist(), chosen, strict=True))


def _work(workload: Workload, begin: float, end: float) -> np.ndarray:
    """Core-seconds of each job that is submitted in the span; of others none."""
    submit = workload.column("submit") / SECOND
    run = np.maximum(workload.column("run_time"), 0) / SECOND
    return np.asarray(np.where((submit >= begin) & (submit <= end), workload.column("cores") * run, 0.0))


def _make_room(workload: Workload, work: float, seed: int, spare: set[int] | None) -> Workload:
    """The workload without as many jobs as have that much work, to a hundredth; which, is drawn by their numbers. Tasks
    of other workflows stay."""
    mine = np.where(workload.column("workflow") >= 0, 0.0, _work(workload, *_find_span(workload)))
    if spare is not None:
        mine = np.where(np.isin(workload.column("job_id"), list(spare)), mine, 0.0)
    order = np.argsort(uniforms(seed, "room for workflows", workload.column("job_id")), kind="stable")
    kept = np.ones(len(workload), np.bool_)
    left = work
    for row in order[mine[order] > 0].tolist():
        if left < work / 100:
            break
        if mine[row] <= left:  # a larger one would make too much room
            kept[row] = False
            left -= mine[row]
    return workload.select(kept)
