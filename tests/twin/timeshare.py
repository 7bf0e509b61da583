"""Tasks that share the time of their nodes, in the slow twin: round robin a microsecond at a time, processor sharing in
exact fractions, and rows that take turns. As long as a job runs, the clock stops at every microsecond.

No job is interrupted here, and what a meeting takes is never drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from twin.courses import Execution
from twin.jobs import Job
from walltime.cluster.nodes import FULL_SPEED, Layout
from walltime.core.time import microseconds

if TYPE_CHECKING:
    from twin.site import Site

NOISE = Fraction(1, 1000)


@dataclass(frozen=True)
class Node:
    cores: int
    speed: Fraction
    quantum: int
    switch: int
    sync: int

    def need(self, work: int) -> int:
        return math.ceil(work / self.speed)


@dataclass(eq=False)
class Task:
    node: int
    quantum: int
    want: str = "nothing"  # or "compute", "spin"
    left: Fraction = Fraction(0)
    over: int = 0
    running: bool = False


class Team:
    """The tasks of a running job, and how far they are. `given` are the parameters of the model: how the tasks of jobs
    meet whose profile tells nothing else."""

    def __init__(self, job: Job, nodes: list[Node], given: Mapping[str, Any]) -> None:
        assert job.run_time is not None
        kind, *options = (job.profile or str(given.get("tasks", "sequential"))).split()
        said = dict(given) | dict(option.split("=") for option in options if "=" in option)
        waiting = next((option for option in options if "=" not in option), said.get("waiting"))
        self.job = job
        self.places = [node for node, cores in job.shares for _ in range(cores)]
        self.tasks = [Task(node, nodes[node].quantum) for node in self.places]
        self.meets = kind != "sequential" and len(self.tasks) > 1
        self.opens = self.meets and kind == "master-slave"
        self.step = microseconds(float(said.get("step", 1))) if self.meets and kind == "lock-step" else job.run_time
        self.spins = self.meets and waiting == "spin"
        self.meeting = 0
        if self.meets:
            self.meeting = microseconds(float(said.get("delay", 0))) + max(nodes[node].sync for node in self.places)
        self.left = job.run_time
        self.burst = 0
        self.resumes: int | None = None
        """When the meeting is over; None: no meeting."""
        self.over = False


class Shared(Execution):
    """What the models have in common. A subclass lets a microsecond pass."""

    def __init__(self, site: Site, layout: Layout, given: Mapping[str, Any]) -> None:
        super().__init__(site)
        self.given = given
        durations = (("quantum", 0.1), ("switch_cost", 0), ("sync_delay", 0))
        columns = [layout.durations(name, given.get(name, usual)).tolist() for name, usual in durations]
        speeds = [Fraction(pace, FULL_SPEED) for pace in layout.pace().tolist()]
        self.nodes = [Node(*one) for one in zip(layout.processors().tolist(), speeds, *columns, strict=True)]
        self.teams: list[Team] = []
        self.now = 0  # it has been played so far

    def times(self) -> list[int]:
        return [self.now + 1] if self.teams else []

    def begin(self, job: Job) -> None:
        team = Team(job, self.nodes, self.given)
        self.teams.append(team)
        self.enter(team)
        self.look_at_all()

    def drop(self, job: Job) -> None:
        for team in [team for team in self.teams if team.job is job]:
            self.teams.remove(team)
            self.forget(team)

    def advance(self) -> None:
        if self.teams and self.now < self.site.now:
            self.play()
        self.now = self.site.now
        self.look_at_all()

    def look_at_all(self) -> None:
        while any([self.look(team) for team in self.teams if team.job.own_end is None]):  # noqa: C419 each is looked at
            pass

    def enter(self, team: Team) -> None:
        """The job starts."""
        raise NotImplementedError

    def forget(self, team: Team) -> None:
        """The job has ended."""
        raise NotImplementedError

    def look(self, team: Team) -> bool:
        """Whether something happens to the job at this instant; it is asked again until nothing does."""
        raise NotImplementedError

    def play(self) -> None:
        """Let a microsecond pass."""
        raise NotImplementedError


class Lines(Shared):
    """Tasks go from burst to meeting; those of a node stand in line."""

    def __init__(self, site: Site, layout: Layout, given: Mapping[str, Any]) -> None:
        super().__init__(site, layout, given)
        self.lines: list[list[Task]] = [[] for _ in self.nodes]

    def enter(self, team: Team) -> None:
        for task in team.tasks:
            self.lines[task.node].append(task)
        if team.opens and team.meeting > 0:
            team.resumes = self.site.now + team.meeting
        else:
            self.proceed(team)

    def forget(self, team: Team) -> None:
        for task in team.tasks:
            self.lines[task.node].remove(task)

    def proceed(self, team: Team) -> None:
        team.burst = min(team.left, team.step)
        team.resumes = None
        for task in team.tasks:
            task.want, task.left = "compute", Fraction(self.nodes[task.node].need(team.burst))

    def look(self, team: Team) -> bool:
        if team.resumes is not None:
            if team.resumes > self.site.now:
                return False
            if team.over:
                team.job.own_end = self.site.now
            else:
                self.proceed(team)
            return True
        changed = False
        for task in team.tasks:
            if task.want == "compute" and task.left <= 0:
                task.want = "spin" if team.spins else "nothing"
                task.running = task.running and team.spins
                changed = True
        if all(task.want != "compute" for task in team.tasks):
            team.left -= team.burst
            team.over = team.left == 0
            team.resumes = self.site.now + team.meeting
            return True
        return changed


class RoundRobin(Lines):
    """Every microsecond the first of each line run; a task that has used up its quantum goes to the end."""

    def play(self) -> None:
        for node, line in zip(self.nodes, self.lines, strict=True):
            first = [task for task in line if task.want != "nothing"][: node.cores]
            for task in line:
                if task in first and not task.running:
                    task.over = node.switch
                task.running = task in first
            for task in first:
                if task.over > 0:
                    task.over -= 1
                else:
                    task.left -= task.want == "compute"
                    task.quantum -= 1
            for task in [task for task in line if task.quantum == 0]:
                task.quantum = node.quantum
                line.remove(task)
                line.append(task)


class Sharing(Lines):
    """All tasks at once, each at min(1, cores / tasks) of a core; in fractions, from whole microsecond to the next."""

    def play(self) -> None:
        for node, line in zip(self.nodes, self.lines, strict=True):
            passed = Fraction(0)
            while passed < 1:
                spinning = sum(task.want == "spin" for task in line)
                active = [task for task in line if task.want == "compute" and task.left > 0]
                if not active:
                    break
                rate = min(Fraction(1), Fraction(node.cores, len(active) + spinning))
                length = min(task.left for task in active) / rate
                if passed + length > 1 + NOISE:
                    length = 1 - passed
                for task in active:
                    task.left -= length * rate
                passed += length


class Gang(Shared):
    """Every microsecond the row whose turn it is moves on, unless the slot has only just begun."""

    def __init__(self, site: Site, layout: Layout, given: Mapping[str, Any]) -> None:
        super().__init__(site, layout, given)
        self.slot, self.switch = microseconds(given.get("slot", 1)), microseconds(given.get("switch_cost", 0))
        self.rows: list[list[Team]] = []
        self.turn = self.passed = 0
        self.needs: dict[Team, int] = {}

    def need(self, team: Team) -> int:
        """What the job takes alone: burst by burst, each as long as on its slowest node, and the meetings."""
        layers = {node: -(-team.places.count(node) // self.nodes[node].cores) for node in team.places}
        total, left = team.meeting if team.opens else 0, team.left
        while True:
            burst = min(left, team.step)
            total += max(layers[node] * self.nodes[node].need(burst) for node in team.places) + team.meeting
            left -= burst
            if not left:
                return total

    def fits(self, row: list[Team], team: Team) -> bool:
        for node in set(team.places):
            used = sum(other.places.count(node) for other in row)
            if used and used + team.places.count(node) > self.nodes[node].cores:
                return False
        return True

    def enter(self, team: Team) -> None:
        self.needs[team] = self.need(team)
        row = next((row for row in self.rows if self.fits(row, team)), None)
        if row is None:
            row = []
            self.rows.append(row)
            if len(self.rows) == 2:
                self.turn, self.passed = 0, self.switch
        row.append(team)

    def look(self, team: Team) -> bool:
        if self.needs[team] <= 0:
            team.job.own_end = self.site.now
        return False

    def forget(self, team: Team) -> None:
        place = next(place for place, row in enumerate(self.rows) if team in row)
        self.rows[place].remove(team)
        if not self.rows[place]:
            self.rows.pop(place)
            if place < self.turn:
                self.turn -= 1
            elif place == self.turn:
                self.passed, self.turn = 0, self.turn % max(len(self.rows), 1)

    def play(self) -> None:
        if len(self.rows) == 1:
            self.passed, self.turn = 0, 0
        if len(self.rows) == 1 or self.passed >= self.switch:
            for team in self.rows[self.turn]:
                self.needs[team] -= 1
        if len(self.rows) > 1:
            self.passed += 1
            if self.passed == self.slot:
                self.passed, self.turn = 0, (self.turn + 1) % len(self.rows)
