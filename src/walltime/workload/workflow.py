"""A workflow: tasks that need one another, as one value that every file format is turned into.

What is known before any scheduling: the critical path, and the shape of the pilot job that would run it all, the most
cores in use at once for the shortest possible time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from walltime.core.errors import InputError

_MOST_CORES = 1 << 31


@dataclass(frozen=True)
class Task:
    """One step: it starts when the tasks it needs have ended. Times in seconds."""

    id: str
    cores: int
    run_time: float
    requested_time: float | None = None
    needs: tuple[str, ...] = ()
    name: str = ""
    memory: int | None = None


@dataclass(frozen=True)
class Workflow:
    """Tasks by their ids, each after those it needs; a wrong one raises InputError naming file and task.

    Treat as immutable. `file` is where it was read.
    """

    name: str
    tasks: dict[str, Task]
    file: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, tasks: Iterable[Task], file: str | None = None) -> Workflow:
        """The checked workflow of these tasks, put into an order in which they could run."""
        found: dict[str, Task] = {}
        for task in tasks:
            if task.id in found:
                raise InputError(f"workflow {name}: two tasks have the id", value=task.id, file=file)
            _check_task(name, task, file)
            found[task.id] = task
        if not found:
            raise InputError(f"workflow {name} has no tasks", file=file)
        for task in found.values():
            for needed in task.needs:
                if needed not in found:
                    raise InputError(
                        f"workflow {name}: task {task.id} needs a task that is not there",
                        value=needed,
                        file=file,
                        choices=list(found) if len(found) <= 20 else (),
                    )
        return cls(name, {key: found[key] for key in _order(name, found, file)}, file)

    def check_machine(self, cores: int) -> None:
        """Raises InputError where a task is larger than a machine of so many cores."""
        for task in self.tasks.values():
            if task.cores > cores:
                raise InputError(
                    f"workflow {self.name}: task {task.id} needs more cores than the machine's {cores}",
                    value=task.cores,
                    file=self.file,
                )

    @cached_property
    def starts(self) -> dict[str, float]:
        """When each task starts on an endless machine: as soon as what it needs has ended."""
        starts: dict[str, float] = {}
        for key, task in self.tasks.items():
            starts[key] = max((starts[needed] + self.tasks[needed].run_time for needed in task.needs), default=0.0)
        return starts

    @property
    def critical_path(self) -> float:
        """Seconds that it takes on an endless machine."""
        return max(self.starts[key] + task.run_time for key, task in self.tasks.items())

    @property
    def requested_path(self) -> float:
        """Seconds that it takes on an endless machine if every task needs all the time that it asks for."""
        ends: dict[str, float] = {}
        for key, task in self.tasks.items():
            length = task.run_time if task.requested_time is None else max(task.requested_time, task.run_time)
            ends[key] = length + max((ends[needed] for needed in task.needs), default=0.0)
        return max(ends.values())

    @property
    def widest(self) -> int:
        """The most cores in use at once on an endless machine: the size of a pilot job."""
        changes = []
        for key, task in self.tasks.items():
            changes += [(self.starts[key], 1, task.cores), (self.starts[key] + task.run_time, 0, -task.cores)]
        most = used = 0
        for _, _, change in sorted(changes):  # at one instant, ends come before starts
            used += change
            most = max(most, used)
        return most

    @cached_property
    def work(self) -> float:
        """Core-seconds of all tasks."""
        return sum(task.cores * task.run_time for task in self.tasks.values())

    @property
    def pilot_waste(self) -> float:
        """Core-seconds that a pilot job would hold and not use."""
        return self.widest * self.critical_path - self.work


def _check_task(name: str, task: Task, file: str | None) -> None:
    if not 1 <= task.cores < _MOST_CORES:
        what = "needs at least one core" if task.cores < 1 else f"needs fewer than {_MOST_CORES:,} cores"
        raise InputError(f"workflow {name}: task {task.id} {what}", value=task.cores, file=file)
    if not 0 < task.run_time < 1e9:
        raise InputError(f"workflow {name}: task {task.id} has no run time above zero", value=task.run_time, file=file)
    if task.requested_time is not None and not 0 < task.requested_time < 1e9:
        raise InputError(
            f"workflow {name}: task {task.id} requests no time above zero", value=task.requested_time, file=file
        )
    if task.id in task.needs:
        raise InputError(f"workflow {name}: a task needs itself", value=task.id, file=file)


def _order(name: str, tasks: dict[str, Task], file: str | None) -> list[str]:
    """The ids so that each comes after those it needs; a cycle is an InputError that shows it."""
    missing = {key: len(set(task.needs)) for key, task in tasks.items()}
    followers: dict[str, list[str]] = {key: [] for key in tasks}
    for key, task in tasks.items():
        for needed in dict.fromkeys(task.needs):
            followers[needed].append(key)
    ready = [key for key, count in missing.items() if not count]
    order: list[str] = []
    while ready:
        key = ready.pop(0)
        order.append(key)
        for follower in followers[key]:
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    if len(order) < len(tasks):
        raise InputError(
            f"workflow {name}: tasks need each other in a circle", value=" -> ".join(_cycle(tasks, order)), file=file
        )
    return order


def _cycle(tasks: dict[str, Task], done: list[str]) -> list[str]:
    """One circle among the tasks that could not be put in order, each before the one that it needs."""
    ordered = set(done)
    left = {key: None for key in tasks if key not in ordered}
    path = [next(iter(left))]
    while True:
        needed = next(item for item in tasks[path[-1]].needs if item in left)
        if needed in path:
            return [*path[path.index(needed) :], needed]
        path.append(needed)
