"""The simulation itself: submits the jobs of a trace, stands for every node, and ends jobs when their time has come."""

from __future__ import annotations

import heapq
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Protocol, runtime_checkable

from walltime.cluster.hostlist import expand
from walltime.core.time import NEVER, SECOND
from walltime.site.nodes import Node
from walltime.slurm.controller import Controller
from walltime.slurm.controller_log import ControllerLog
from walltime.slurm.protocol.dialect import Dialect, End, IncomingMessage, Launch, Registration
from walltime.slurm.protocol.errors import NO_RESERVATION, explain
from walltime.slurm.protocol.link import ControllerLink
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import MINUTE, Attempt, TraceJob, group_arrays, task_of
from walltime.slurm.users import Users

PATIENCE = 2 * 86_400 * SECOND
"""Simulated time without any event, with nothing running, after which waiting jobs count as waiting for ever."""
UPTIME = 86_400
"""Seconds before the trace's zero at which every node was booted: always the same, or it counts as a new start."""
STEP = 3600 * SECOND
OUTCOMES = {
    **{"COMPLETED": "completed", "TIMEOUT": "timeout", "CANCELLED": "cancelled", "PREEMPTED": "cancelled"},
    **{"DEADLINE": "cancelled", "NODE_FAIL": "failed", "FAILED": "failed", "BOOT_FAIL": "failed"},
    "OUT_OF_MEMORY": "failed",
}
"""How a result calls the controller's states."""


class Rank(IntEnum):
    """What comes first at one instant."""

    REGISTRATION = 0
    END = 1
    CANCELLATION = 2
    BACKGROUND = 3
    COMMAND = 4
    SUBMISSION = 5


class Progress(Protocol):
    """A function that wants a sign of life, about ten times a second."""

    def progress(self, now: int, submitted: int, ended: int) -> None:
        """The clock in microseconds since the trace's zero, jobs that have entered, jobs that have left."""


@runtime_checkable
class QueueProgress(Progress, Protocol):
    """One that also wants to know how many jobs wait."""

    def note_waiting(self, waiting: int) -> None:
        """Called before `progress`."""


class Simulation:
    """One run. `base` is the trace's zero in microseconds since 1970.

    `delay` is how much longer than its script runs a job holds its nodes: launching it and telling its end take time.
    `epilog` is for how long each node is kept after that, or after the controller has ended the job. `users` say when
    the jobs come, where they react; by default each comes at its time.
    """

    def __init__(
        self,
        controller: Controller,
        site: Site,
        jobs: list[TraceJob],
        base: int,
        progress: Progress | None = None,
        link: type[ControllerLink] = ControllerLink,
        delay: int = 0,
        epilog: int = 0,
        users: Users | None = None,
    ) -> None:
        self.site = site
        self.jobs = jobs
        self.base = base
        self.dialect: Dialect = controller.installation.dialect
        self.controller = controller
        self.link = link(controller, self.dialect, self)
        self.link.tick = self._tell
        self.numbered: dict[int, TraceJob] = {}
        self.arrays: dict[tuple[int, int], TraceJob] = {}
        self.foreign: dict[int, TraceJob] = {}
        self.entered = 0
        self.left = 0
        self.given_up = 0
        self.patience = PATIENCE
        self.delay = delay
        self.epilog = epilog
        self.expects: Callable[[], bool] = lambda: False  # whether waiting jobs may yet be helped by what will happen
        self.running = 0
        self._halted: set[int] = set()
        """Jobs that the controller has stopped before it told a node to start them."""
        self._labels = {job.label: job for job in jobs}
        self._progress = progress
        self._told = 0.0
        self._agenda: list[tuple[int, Rank, int, Callable[..., None], tuple[Any, ...]]] = []
        self._entries = 0
        self._background = 0
        self._registering = False
        self.controller_log = ControllerLog(controller)
        self._records: Counter[int] = Counter()
        groups = group_arrays(jobs, site.max_array)
        self._users = users
        self._groups = {group[0].row: group for group in groups}
        self._awaited = NEVER  # when the next job of a user is planned to come
        if users is None:
            for group in groups:
                self._plan(group[0].submit, Rank.SUBMISSION, self._submit, group)
        else:
            users.begin(groups)
            self._await_users()

    # ---- time

    def run(self, until: int | None = None, stay: bool = False) -> None:
        """Go on until every job has left, or to `until` (microseconds since 1970), itself included.

        `stay` goes to `until` even where nothing is left of the trace: a user may have submitted jobs by hand.
        """
        quiet_since = None
        while True:
            if (did := self._do_due()) is not None:
                quiet_since = quiet_since if did in (Rank.BACKGROUND, Rank.REGISTRATION) else None
                continue
            if until is not None and self.link.now >= until:
                return
            if len(self._agenda) == self._background and not self.running and not stay:
                self._read_finished()
                if self.left >= len(self.jobs) + len(self.foreign):
                    return
                quiet_since = self.link.now if quiet_since is None or self.expects() else quiet_since
                if until is None and self.link.now - quiet_since >= self.patience:
                    return
            following = self._agenda[0][0] if self._agenda else self.link.now + STEP
            self.link.advance(following if until is None else min(following, until))
            self._tell()

    def plan_command(self, at: int, act: Callable[[], None], background: bool = False) -> None:
        """Something that an administrator does at an instant (microseconds since 1970).

        What is done in the background is not waited for when no job is left."""
        self._background += background
        self._plan(at, Rank.BACKGROUND if background else Rank.COMMAND, act)

    def report_nodes(self, at: int) -> None:
        """All nodes report for service at an instant, asked or not."""
        self._plan(at, Rank.REGISTRATION, self._register)

    def start(self) -> None:
        """Bring the controller up; it asks its nodes to report at once."""
        self.link.start()

    def _do_due(self) -> Rank | None:
        """Do the first thing on the agenda if its time has come: what it was."""
        if not self._agenda or self._agenda[0][0] > self.link.now:
            return None
        _, rank, _, act, arguments = heapq.heappop(self._agenda)
        self._background -= rank is Rank.BACKGROUND
        act(*arguments)
        return rank

    def _plan(self, at: int, rank: Rank, act: Callable[..., None], *arguments: Any) -> None:
        self._entries += 1
        heapq.heappush(self._agenda, (at, rank, self._entries, act, arguments))

    def _tell(self) -> None:
        if self._progress is not None and time.monotonic() - self._told > 0.1:
            self._told = time.monotonic()
            entered = self.entered + len(self.foreign)
            if isinstance(self._progress, QueueProgress):
                self._progress.note_waiting(entered - self.left - self.running)
            self._progress.progress(self.link.now - self.base, entered, self.left)

    # ---- users

    def _await_users(self) -> None:
        """Have the next job come when its user submits it."""
        if self._users is not None and self._users.next < self._awaited:
            self._awaited = self._users.next
            self._plan(self.base + self._awaited, Rank.SUBMISSION, self._come)

    def _come(self) -> None:
        """Users submit what is due; its own times keep their distance from the submission."""
        assert self._users is not None
        self._awaited = NEVER
        while self.base + self._users.next <= self.link.now:
            due = self._users.next
            row = self._users.loop.pop()
            if group := self._groups.get(row):  # of an array the first task stands for all
                come = self._users.ask(row, group, due, self.running > 0)
                self.left += come.gone
                for jobs, patience in come.jobs:
                    self._adopt_made(jobs)
                    for job in jobs:
                        job.move(self.base + due)
                    self._submit(jobs)
                    for job in jobs if patience >= 0 else ():
                        self._plan(self.base + due + patience, Rank.CANCELLATION, self._give_up, job)
        self._await_users()

    def _adopt_made(self, jobs: list[TraceJob]) -> None:
        """Jobs that users have made of others: in place of the job of that number, or beside it."""
        for job in jobs:
            if job.asked:
                old = self._labels.get(job.label)
                if old is None:
                    self.jobs.append(job)
                else:
                    self.jobs[self.jobs.index(old)] = job
                self._labels[job.label] = job

    def _give_up(self, job: TraceJob) -> None:
        """Its user cancels the job if it has not started."""
        if job.state == "waiting" and not job.attempts:
            self.given_up += 1
            self._cancel(job)

    def _gone(self, job: TraceJob) -> None:
        """The job has left: what its user waited for."""
        if self._users is not None and job.row >= 0:
            self._users.leave(job, self.link.now - self.base)
            self._await_users()

    def _submit(self, group: list[TraceJob]) -> None:
        """One job, or the tasks of an array, which are submitted as one."""
        request = dict(group[0].request)
        if group[0].dependencies:
            request["dependency"] = self._translate(group[0].dependencies)
        if len(group) > 1:
            request["array"] = ",".join(str(task_of(job)) for job in group)
            request["name"] = request["name"].rpartition("_")[0]
        answer = self.link.call(self.dialect.SUBMIT, self.dialect.job_description.pack(request))
        if answer.msg_type == self.dialect.SUBMITTED:
            number, code = self.dialect.read_submission(answer.body)
        else:
            number, code = 0, self.dialect.read_return_code(answer.body)
        self.entered += len(group)
        for job in group:
            job.submitted = self.link.now
            if number == 0:  # a job that comes too late for a reservation waits for it in vain
                job.state = "waiting" if code == NO_RESERVATION else "rejected"
                job.reason = explain(code, self._need_memory(job), max(node.memory for node in self.site.nodes))
                self.left += 1
                self._gone(job)
                continue
            job.state = "waiting"
            self._name(job, number, task_of(job) if len(group) > 1 else None)
            self._reclaim(job)
            if job.cancel is not None:
                self._plan(max(job.cancel, self.link.now), Rank.CANCELLATION, self._cancel, job)

    def _need_memory(self, job: TraceJob) -> int:
        """Megabytes that some node has to have for a job."""
        each, memory = self.dialect.MEMORY_PER_CPU, int(job.request.get("memory") or 0)
        return memory % each * int(job.request.get("tasks_per_node", 1)) if memory >= each else memory

    def _name(self, job: TraceJob, number: int, task: int | None) -> None:
        if task is None:
            job.number, job.handle = number, str(number)
            self.numbered[number] = job
        else:
            job.handle = f"{number}_{task}"
            self.arrays[number, task] = job

    def _reclaim(self, job: TraceJob) -> None:
        """A job that was started before the answer to its submission had been read was taken for a foreign one."""
        for number, other in list(self.foreign.items()):
            if other.handle == job.handle:
                del self.foreign[number]
                self.numbered[number] = job
                job.number, job.state, job.attempts = number, other.state, other.attempts
                if job.attempts and job.attempts[-1].end is None:
                    self._plan_end(job, job.attempts[-1])

    def _cancel(self, job: TraceJob) -> None:
        if job.state not in ("waiting", "running") or job.handle is None:
            return
        waiting = job.state == "waiting"
        self.link.call(self.dialect.KILL_JOB, self.dialect.pack_kill(job.handle))
        if waiting and job.state == "waiting":
            self._leave(job, "cancelled")

    def _translate(self, text: str) -> str | None:
        """Dependencies over the trace's numbers as dependencies over the controller's; others are no hindrance."""

        def replace(match: re.Match[str]) -> str:
            known = (self._labels.get(int(number)) for number in re.findall(r"\d+", match[2]))
            numbers = [job.handle for job in known if job is not None and job.handle is not None]
            return f"{match[1]}:{':'.join(numbers)}" if numbers else ""

        parts = [re.sub(r"(\w+)((?::\d+)+)", replace, part.strip()) for part in text.split(",")]
        return ",".join(part for part in parts if part) or None

    def _leave(self, job: TraceJob, state: str) -> None:
        job.state, job.end = state, self.link.now
        self.left += 1
        self._gone(job)

    # ---- nodes

    def answer(self, request: IncomingMessage) -> bytes:
        """Answers the controller in the name of all nodes that a request is meant for."""
        dialect, msg_type = self.dialect, request.msg_type
        others = expand(request.forward) if request.forward else []
        code = 0
        if msg_type == dialect.PING:
            return dialect.pack_answer(dialect.PING_ANSWER, dialect.pack_ping_answer(), others, request.version)
        if msg_type == dialect.REGISTER_YOURSELF:
            self._plan_registration()
        elif msg_type == dialect.BATCH_LAUNCH:
            self._launch(dialect.read_launch(request.body))
        elif msg_type in (dialect.TERMINATE_JOB, dialect.KILL_TIME_LIMIT, dialect.KILL_PREEMPTED, dialect.ABORT_JOB):
            end = dialect.read_end(request.body)
            self._terminate(end)
            if self.epilog and msg_type != dialect.ABORT_JOB:
                self._plan(self.link.now + self.epilog, Rank.END, self._finish_epilog, end)
            else:
                code = dialect.ALREADY_COMPLETE
        elif msg_type == dialect.SUSPEND:
            self._suspend(*dialect.read_suspension(request.body))
        body = dialect.pack_return_code(code)
        return dialect.pack_answer(dialect.RETURN_CODE, body, others, request.version)

    def _plan_registration(self) -> None:
        if not self._registering:
            self._registering = True
            self._plan(self.link.now, Rank.REGISTRATION, self._register)

    def _register(self) -> None:
        there = self._find_running()
        for node in self.site.nodes:
            jobs = tuple(there[node.name])
            body = self.dialect.pack_registration(
                _describe(node, self.link.now // SECOND, self.base // SECOND - UPTIME, jobs)
            )
            self.link.call(self.dialect.NODE_REGISTRATION, body)
        self._registering = False

    def _find_running(self) -> defaultdict[str, list[int]]:
        """The numbers of the jobs on each node, those that are stopped included."""
        there: defaultdict[str, list[int]] = defaultdict(list)
        for number, job in self.numbered.items():
            if job.attempts and job.attempts[-1].end is None:
                for name in job.attempts[-1].nodes:
                    there[name].append(number)
        return there

    def _launch(self, launch: Launch) -> None:
        job = self._find(launch)
        attempt = Attempt(self.link.now, expand(launch.nodes), launch.cpus, launch.partition)
        job.attempts.append(attempt)
        job.state = "running"
        self.running += 1
        if self._users is not None and job.row >= 0:
            self._users.start(job, self.link.now - self.base)
        self._plan_end(job, attempt)
        if launch.job in self._halted:
            self._halted.discard(launch.job)
            self._stop(attempt)

    def _plan_end(self, job: TraceJob, attempt: Attempt) -> None:
        """When the script's end is told, if it has one: after its run time and all the time for which it is stopped."""
        if job.run is not None:
            at = attempt.start + job.run + self.delay + attempt.stopped
            self._plan(at, Rank.END, self._complete, job, attempt, attempt.stopped)

    def _find(self, launch: Launch) -> TraceJob:
        """The job that is launched; one that is not in the trace is added to the foreign ones."""
        if launch.array is not None and launch.task is not None:
            job = self.arrays.get((launch.array, launch.task))
            if job is not None:
                self.numbered[launch.job] = job
                job.number = launch.job
        if launch.job not in self.numbered:
            self.numbered[launch.job] = self.foreign[launch.job] = _adopt(launch, self.link.now)
        return self.numbered[launch.job]

    def _complete(self, job: TraceJob, attempt: Attempt, stopped: int) -> None:
        """The job's script ends, unless it was ended or stopped meanwhile."""
        if attempt.end is not None or attempt.stopped != stopped or job.number is None:
            return
        self._close(job, attempt, "completed")
        self._leave(job, "completed")
        self.link.call(self.dialect.BATCH_COMPLETE, self.dialect.pack_completion(job.number, attempt.nodes[0]))

    def _close(self, job: TraceJob, attempt: Attempt, outcome: str) -> None:
        attempt.end, attempt.outcome = self.link.now, outcome
        job.state = "waiting"
        self.running -= 1

    def _terminate(self, end: End) -> None:
        """The controller ends a job: at its limit, for another job, because a node fails, at a user's request.

        A node that was away hears late of jobs that have long been put elsewhere.
        """
        job = self.numbered.get(end.job)
        if job is None or not job.attempts or job.attempts[-1].end is not None:
            return
        attempt = job.attempts[-1]
        if end.nodes and set(expand(end.nodes)).isdisjoint(attempt.nodes):
            return
        code = end.state & 0xFF
        name = self.dialect.STATES[code] if code < len(self.dialect.STATES) else "FAILED"
        again = bool(end.state & self.dialect.REQUEUE) or name in ("PENDING", "RUNNING", "SUSPENDED")
        if name == "NODE_FAIL" and not again:  # whether it comes back, the message does not say
            failed = sum(other.failed for other in job.attempts)
            again = attempt.failed = self.controller_log.count_returns(end.job) > failed
        if name == "TIMEOUT" and job.request.get("reservation") and not self._is_at_limit(job, attempt):
            name = "FAILED"  # its reservation is over
        self._close(job, attempt, "requeued" if again else "preempted" if name == "PREEMPTED" else OUTCOMES[name])
        if not again:
            self._leave(job, OUTCOMES[name])

    def _finish_epilog(self, end: End) -> None:
        """Every node of a job that has ended says that it is free."""
        for node in expand(end.nodes):
            self.link.call(self.dialect.EPILOG_COMPLETE, self.dialect.pack_epilog(end.job, node))

    def _is_at_limit(self, job: TraceJob, attempt: Attempt) -> bool:
        return self.link.now - attempt.start - attempt.stopped >= int(job.request["time_limit"]) * MINUTE

    def _suspend(self, number: int, stop: bool) -> None:
        """The controller stops a running job, or lets it go on: its end moves by the time in between.

        With gang scheduling it may stop a job that it has not yet launched; that one begins stopped.
        """
        job = self.numbered.get(number)
        if job is None or not job.attempts or job.attempts[-1].end is not None:
            (self._halted.add if stop else self._halted.discard)(number)
            return
        attempt = job.attempts[-1]
        if stop:
            self._stop(attempt)
        elif attempt.is_stopped:
            attempt.stopped += self.link.now
            attempt.pauses[-1].append(self.link.now)
            self._plan_end(job, attempt)

    def _stop(self, attempt: Attempt) -> None:
        if not attempt.is_stopped:
            attempt.stopped -= self.link.now
            attempt.pauses.append([self.link.now])

    # ---- the end

    def _read_finished(self) -> None:
        """Jobs that left without a word to a node (cancelled while they waited, say), by the controller's record.

        Of an attempt that was put back into the queue there is a record too.
        """
        for number, state in self.controller_log.read_finished():
            self._records[number] += 1
            job = self.numbered.get(number)
            if job is None or job.state != "waiting" or state not in OUTCOMES:
                continue
            if self._records[number] > sum(attempt.outcome in ("requeued", "preempted") for attempt in job.attempts):
                self._leave(job, OUTCOMES[state])

    def note_reasons(self) -> None:
        """Mark the jobs that the backfill scheduler started, and the attempts that ended for another job."""
        for number in self.controller_log.find_backfilled():
            if number in self.numbered:
                self.numbered[number].backfilled = True
        for number, at in self.controller_log.find_preempted():
            for attempt in self.numbered[number].attempts if number in self.numbered else ():
                if attempt.outcome == "requeued" and attempt.end is not None and abs(attempt.end - at) < SECOND:
                    attempt.outcome = "preempted"


def _describe(node: Node, now: int, booted: int, jobs: tuple[int, ...]) -> Registration:
    return Registration(
        name=node.name,
        time=now,
        booted=booted,
        cpus=node.cpus,
        boards=node.boards,
        sockets=node.sockets,
        cores=node.cores,
        threads=node.threads,
        memory=node.memory,
        tmp_disk=node.tmp_disk,
        features=node.features,
        gres=node.gres,
        jobs=jobs,
    )


def _adopt(launch: Launch, now: int) -> TraceJob:
    """A job that a user submitted by hand; it runs for WALLTIME_RUN_TIME seconds, or until its limit."""
    given = dict(item.partition("=")[::2] for item in launch.environment).get("WALLTIME_RUN_TIME", "")
    run = round(float(given) * SECOND) if re.fullmatch(r"\d+(\.\d+)?", given) else None
    handle = str(launch.job) if launch.array is None else f"{launch.array}_{launch.task}"
    return TraceJob(row=-1, label=launch.job, submit=now, run=run, request={}, handle=handle, number=launch.job,
               submitted=now)  # fmt: skip
