"""Slow and obvious twins of the models that share time: round robin a microsecond at a time, processor sharing in
exact fractions. They are told who started when and where, and tell who ends when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

NOISE = Fraction(1, 1000)


@dataclass(frozen=True)
class Node:
    cores: int
    speed: Fraction = Fraction(1)
    quantum: int = 1
    switch: int = 0
    sync: int = 0

    def need(self, work: int) -> int:
        return math.ceil(work / self.speed)


@dataclass
class Task:
    node: int
    want: str = "nothing"  # or "compute", "spin"
    left: int = 0
    quantum: int = 0
    over: int = 0
    running: bool = False
    finish: Fraction | None = None
    """Of processor sharing: when it left the cpu."""


@dataclass
class Job:
    start: int
    work: int
    nodes: Sequence[int]
    kind: str = "sequential"
    step: int = 1
    delay: int = 0
    spin: bool = False
    done: int = 0
    burst: int = 0
    resumes: int | None = None
    """When the meeting is over; None: no meeting."""
    opening: bool = False
    end: int | None = None
    tasks: list[Task] = field(default_factory=list)

    @property
    def alone(self) -> bool:
        return len(self.tasks) == 1

    def meeting(self, nodes: Sequence[Node]) -> int:
        if self.alone or self.kind == "sequential":
            return 0
        return self.delay + max(nodes[task.node].sync for task in self.tasks)


class Twin:
    """What both models share: bursts and meetings. A subclass plays the nodes."""

    def __init__(self, nodes: Sequence[Node], jobs: Sequence[Job]) -> None:
        self.nodes, self.jobs, self.now = nodes, jobs, 0
        self.lines: list[list[Task]] = [[] for _ in nodes]

    def begin(self, job: Job) -> None:
        job.tasks = [Task(node, quantum=self.nodes[node].quantum) for node in job.nodes]
        for task in job.tasks:
            self.lines[task.node].append(task)
        if job.kind == "master-slave" and job.meeting(self.nodes) > 0:
            job.resumes, job.opening = self.now + job.meeting(self.nodes), True
        else:
            self.proceed(job)

    def proceed(self, job: Job) -> None:
        job.burst = job.work - job.done
        if job.kind == "lock-step" and not job.alone:
            job.burst = min(job.burst, job.step)
        job.resumes, job.opening = None, False
        for task in job.tasks:
            task.want, task.left = "compute", self.nodes[task.node].need(job.burst)
            self.wants_cpu(task)

    def wants_cpu(self, task: Task) -> None:
        """The task begins a burst."""

    def look(self, job: Job) -> bool:
        """Whether something happens to the job at this instant; it is asked again until nothing does."""
        if job.end is not None or job.start > self.now or not job.tasks:
            return False
        if job.resumes is not None:
            if job.resumes > self.now:
                return False
            if not job.opening and job.done == job.work:
                job.end = self.now
                for task in job.tasks:
                    self.lines[task.node] = [other for other in self.lines[task.node] if other is not task]
                return True
            self.proceed(job)
            return True
        changed = False
        for task in job.tasks:
            if task.want == "compute" and self.has_done(task):
                task.want = "spin" if job.spin and job.kind != "sequential" and not job.alone else "nothing"
                if task.want == "nothing":
                    task.running = False
                changed = True
        if all(task.want != "compute" for task in job.tasks):
            job.done += job.burst
            job.resumes = self.now + job.meeting(self.nodes)
            return True
        return changed

    def has_done(self, task: Task) -> bool:
        return task.left == 0

    def instant(self) -> None:
        self.look_at_all()
        for job in self.jobs:
            if job.start == self.now and not job.tasks:
                self.begin(job)
        self.look_at_all()

    def look_at_all(self) -> None:
        changed = True
        while changed:
            changed = any(tuple(self.look(job) for job in self.jobs))

    def run(self) -> list[int]:
        """When each job ends."""
        while any(job.end is None for job in self.jobs):
            self.instant()
            self.play()
        return [job.end for job in self.jobs if job.end is not None]

    def play(self) -> None:
        """Let time pass to the next instant."""
        raise NotImplementedError


class RoundRobin(Twin):
    """Every microsecond the first of each line run; who has used up its quantum goes to the end."""

    def play(self) -> None:
        for node, line in zip(self.nodes, self.lines, strict=True):
            first = [task for task in line if task.want != "nothing"][: node.cores]
            for task in line:
                chosen = any(task is other for other in first)
                if chosen and not task.running:
                    task.over = node.switch
                task.running = chosen
            for task in first:
                if task.over > 0:
                    task.over -= 1
                else:
                    task.left -= task.want == "compute"
                    task.quantum -= 1
            for task in [task for task in line if task.quantum == 0]:
                task.quantum = node.quantum
                line[:] = [*(other for other in line if other is not task), task]
        self.now += 1


class Sharing(Twin):
    """All tasks at once, each at min(1, cores / tasks) of a core; in fractions, from whole microsecond to the next."""

    def __init__(self, nodes: Sequence[Node], jobs: Sequence[Job]) -> None:
        super().__init__(nodes, jobs)
        self.rest: dict[int, Fraction] = {}

    def wants_cpu(self, task: Task) -> None:
        self.rest[id(task)] = Fraction(task.left)

    def has_done(self, task: Task) -> bool:
        return self.rest[id(task)] <= 0

    def play(self) -> None:
        for node, line in zip(self.nodes, self.lines, strict=True):
            clock = Fraction(self.now)
            while True:
                spinning = sum(task.want == "spin" for task in line)
                active = [task for task in line if task.want == "compute" and self.rest[id(task)] > 0]
                if not active:
                    break
                rate = min(Fraction(1), Fraction(node.cores, len(active) + spinning))
                least = min(self.rest[id(task)] for task in active)
                passed = min(least / rate, self.now + 1 + NOISE - clock)
                if clock + least / rate > self.now + 1 + NOISE:
                    passed = self.now + 1 - clock
                for task in active:
                    self.rest[id(task)] -= passed * rate
                clock += passed
                if clock >= self.now + 1:
                    break
        self.now += 1


class Gang(Twin):
    """Every microsecond the row whose turn it is moves on, unless the slot has only just begun."""

    def __init__(self, nodes: Sequence[Node], jobs: Sequence[Job], slot: int, switch: int) -> None:
        super().__init__(nodes, jobs)
        self.slot, self.switch = slot, switch
        self.rows: list[list[Job]] = []
        self.turn = self.passed = 0
        self.needs: dict[int, int] = {}

    def need(self, job: Job) -> int:
        """What the job takes alone: burst by burst, each as long as on its slowest node, and the meetings."""
        meets = job.kind != "sequential" and len(job.nodes) > 1
        meeting = job.delay + max(self.nodes[node].sync for node in job.nodes) if meets else 0
        layers = {node: -(-list(job.nodes).count(node) // self.nodes[node].cores) for node in job.nodes}
        total, left = meeting if job.kind == "master-slave" else 0, job.work
        while True:
            burst = min(left, job.step) if job.kind == "lock-step" and meets else left
            total += max(layers[node] * self.nodes[node].need(burst) for node in job.nodes) + meeting
            left -= burst
            if not left:
                return total

    def fits(self, row: list[Job], job: Job) -> bool:
        for node in set(job.nodes):
            used = sum(list(other.nodes).count(node) for other in row)
            if used and used + list(job.nodes).count(node) > self.nodes[node].cores:
                return False
        return True

    def instant(self) -> None:
        self.let_go()
        for job in self.jobs:
            if job.start == self.now and id(job) not in self.needs:
                self.needs[id(job)] = self.need(job)
                row = next((row for row in self.rows if self.fits(row, job)), None)
                if row is None:
                    row = []
                    self.rows.append(row)
                    if len(self.rows) == 2:
                        self.turn, self.passed = 0, self.switch
                row.append(job)
        self.let_go()

    def let_go(self) -> None:
        for job in self.jobs:
            if id(job) in self.needs and job.end is None and self.needs[id(job)] <= 0:
                self.leave(job)

    def leave(self, job: Job) -> None:
        job.end = self.now
        place = next(place for place, row in enumerate(self.rows) if any(job is other for other in row))
        self.rows[place] = [other for other in self.rows[place] if other is not job]
        if not self.rows[place]:
            self.rows.pop(place)
            if place < self.turn:
                self.turn -= 1
            elif place == self.turn:
                self.passed, self.turn = 0, self.turn % max(len(self.rows), 1)

    def play(self) -> None:
        self.now += 1
        if len(self.rows) == 1:
            self.passed, self.turn = 0, 0
        if not self.rows:
            return
        if len(self.rows) == 1 or self.passed >= self.switch:
            for job in self.rows[self.turn]:
                self.needs[id(job)] -= 1
        if len(self.rows) > 1:
            self.passed += 1
            if self.passed == self.slot:
                self.passed, self.turn = 0, (self.turn + 1) % len(self.rows)
