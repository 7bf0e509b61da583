"""What users do besides, by the parts of kind `users`: asked at each submission, told of each job that leaves.

The same for every engine. A job that users change is submitted by its columns (a description: labels as names, times in
microseconds); of one job several may become, or of several one. An engine tells which job of the log has started or
left, and is told what is to be submitted and which jobs of the log have left by that.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.errors import InputError, PolicyError, WalltimeError
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload
from walltime.policy import registry
from walltime.policy.users import Coming, Departure, Reaction, Submission
from walltime.scenario import Scenario
from walltime.workload.users.plan import UserPlan
from walltime.workload.users.submitted import MOMENTS, reshape

RECENT = 20
"""The last starts of a kind, by which its wait is expected."""
CHANCES = 1000
"""So often in a row a job is put off while no other comes or leaves; then, if none runs, it never will come."""
ALIKE = ("group", "account", "queue", "qos", "reservation", "constraint", "licences", "resources", "profile")
"""What jobs have to have in common that are merged."""
Description = dict[str, Any]


def build_reactions(scenario: Scenario) -> Reactions | None:
    """The scenario's reactions; None where there are none. Raises InputError for one that needs what there is not."""
    if scenario.users is None or not scenario.users.reactions:
        return None
    queues = tuple(dict.fromkeys(name for cluster in scenario.clusters for name in cluster.queues))
    clusters = tuple(cluster.name for cluster in scenario.clusters) if len(scenario.clusters) > 1 else ()
    parts = []
    for index, part in enumerate(scenario.users.reactions):
        made: Reaction = registry.build("users", part)
        if made.needs and len({"queues": queues, "clusters": clusters}[made.needs]) < 2:
            where = scenario.place(f"users.reactions.{index}")
            raise InputError(f"users.reactions.{index}: there are not several {made.needs}", value=part.name, **where)
        parts.append(made)
    return Reactions(parts, queues, clusters, scenario.dependencies.preceding)


@dataclass
class Reply:
    """What becomes of a job that is due: it comes again so much `later` (microseconds), or `jobs` are submitted, each
    by its columns (None: as in the log) with its user's patience in microseconds (-1: no end); none of them, if the job
    was dropped (`gone`) or is in another one. With `vain` it was put off so often for nothing that it does not come
    again unless some job runs. `merged` are the rows that are in the job from now on, `again` those that are to be
    asked about now.
    """

    later: int = 0
    vain: bool = False
    gone: bool = False
    merged: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    jobs: list[tuple[Description | None, int]] = field(default_factory=list)


class SeenWaits:
    """How long the last jobs waited: of all, by queue, by cluster, by the power of two of their cores, and together."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str | None, str | None, int | None], deque[float]] = {}

    def add(self, queue: str | None, cluster: str | None, cores: int, wait: float) -> None:
        for one in {queue, None}:
            for other in {cluster, None}:
                for size in (cores.bit_length(), None):
                    self.seen.setdefault((one, other, size), deque(maxlen=RECENT)).append(wait)

    def expect(self, queue: str | None, cluster: str | None, cores: int | None) -> float | None:
        found = self.seen.get((queue, cluster, None if cores is None else cores.bit_length()))
        return sum(found) / len(found) if found else None


class Reactions:
    """The parts in their order, with what users can know. `counts` are jobs that were put off, changed and so on;
    `acts` say which."""

    def __init__(
        self,
        parts: Sequence[Reaction],
        queues: tuple[str, ...] = (),
        clusters: tuple[str, ...] = (),
        preceding: bool = False,
    ) -> None:
        self.parts, self.queues, self.clusters, self.preceding = parts, queues, clusters, preceding
        self.counts: Counter[str] = Counter()
        self.acts: dict[str, list[Any]] = {}
        self.present: Counter[str] = Counter()
        self.again: Counter[int] = Counter()
        self.waits = SeenWaits()
        self.lines: dict[str, deque[int]] = {}  # by user: rows that were put off in turn
        self.lined: set[int] = set()  # all of these
        self.events = 0  # jobs that have come or left
        self.quiet: dict[int, tuple[int, int]] = {}  # by row: the events when it was put off last, and how often since
        self.carried: dict[int, list[int]] = {}  # rows that are in the job of another one
        self.inside: set[int] = set()  # all of these
        self.left_of: Counter[int] = Counter()  # parts of a row's job that are in the system
        self.chains: dict[int, list[Description]] = {}  # parts that come one after the other

    def attach(
        self, workload: Workload, plan: UserPlan, together: Iterable[int] = (), sent: Workload | None = None
    ) -> None:
        """Called once, with the jobs that users may submit; rows that are submitted `together` cannot be changed.
        `sent` are the jobs in the queues to which routes send those that name none."""
        self.workload = workload
        self.sent = sent or workload
        self.batch = np.empty(len(plan.rows), np.int64)
        self.batch[plan.rows] = np.repeat(np.arange(len(plan.user)), np.diff(plan.first))
        self.plan = plan
        self.fixed = find_fixed(workload, self.preceding)
        self.fixed[list(together)] = True
        self.number = int(workload.column("job_id").max(initial=0))

    def tell(self) -> dict[str, Any]:
        """What has happened, for the facts of a result."""
        counts = {name: count for name, count in self.counts.items() if count}
        return counts | ({"acts": self.acts} if self.acts else {})

    # ---- asked

    def ask(self, row: int, now: int, clusters: tuple[str, ...] | None = None, tasks: int = 1) -> Reply:
        """What becomes of a job that is due; with it come the other `tasks` of an array."""
        if row in self.inside:
            return Reply()
        if row in self.chains:
            return self._go_on(row)
        told = self._describe(row, now)
        queue = told.get("queue") or self._find_queue(row)
        job = Submission(
            job_id=told["job_id"],
            user=told.get("user") or "",
            now=now / SECOND,
            cores=told["cores"],
            requested_time=told["requested_time"] / SECOND,
            queue=queue,
            present=self.present[told.get("user") or ""],
            put_off_before=self.again[row],
            before=self._count_before(row),
            queues=self.queues,
            clusters=self.clusters if clusters is None else clusters,
            fixed=bool(self.fixed[row]),
            patience=told["patience"] / SECOND if told.get("patience", MISSING) >= 0 else None,
            waits=self.waits.expect,
            rest=lambda count: self._coming(row, count),
        )
        for part in self.parts:
            self._call(part.submit, job)
        if job.later > 0:
            self._note("put_off", job.job_id, not self.again[row])
            self.again[row] += 1
            return self._put_off(row, job)
        again = self._let_next(row)
        if job.dropped:
            self._refuse_fixed(job, "drop")
            self.counts["abandoned"] += tasks
            self.acts.setdefault("abandoned", []).append([job.job_id, now / SECOND])
            return Reply(gone=True, again=again)
        if job.queue == queue:
            job.queue = told.get("queue")  # the routes may send it elsewhere
        answer = self._submit(row, job, told, now, tasks)
        answer.again = again
        return answer

    def _put_off(self, row: int, job: Submission) -> Reply:
        """The job comes later; in turn, when it is the first of its user's."""
        line = self.lines.setdefault(job.user, deque())
        if job.queues_up and row not in self.lined:
            line.append(row)
            self.lined.add(row)
        if row in self.lined and line[0] != row:
            return Reply()
        return Reply(later=max(1, round(job.later * SECOND)), vain=self._is_vain(row))

    def _count_before(self, row: int) -> int:
        line = self.lines.get(self._user(row))
        return 0 if not line or line[0] == row else len(line)

    def _let_next(self, row: int) -> list[int]:
        """The job comes, or never will: the next one that was put off in turn is thought about."""
        if row not in self.lined:
            return []
        self.lined.discard(row)
        line = self.lines[self._user(row)]
        line.remove(row)
        return [line[0]] if line else []

    def _is_vain(self, row: int) -> bool:
        """Whether the job has been put off very often since a job last came or left."""
        since, count = self.quiet.get(row, (-1, 0))
        self.quiet[row] = (self.events, count + 1 if since == self.events else 0)
        return self.quiet[row][1] >= CHANCES

    def _submit(self, row: int, job: Submission, told: Description, now: int, tasks: int) -> Reply:
        patience = -1 if job.patience is None else round(job.patience * SECOND)
        told.pop("patience", None)
        new = self._change(job, told)
        changed = new != told or job.cluster is not None
        if changed or job.parts > 1 or job.taken:
            self._refuse_fixed(job, "change")
        self.counts["changed"] += changed
        if job.taken:
            new = self._take_along(row, job, new, now)
        jobs = self._split(job, new, told) if job.parts > 1 else [new]
        if patience >= 0:
            jobs = [one | {"patience": patience} for one in jobs]
        if job.parts > 1 and job.parts_by == "time":
            self.chains[row] = jobs[1:]
            jobs = jobs[:1]
        self.events += 1
        self.present[job.user] += len(jobs) * tasks
        self.left_of[row] = len(jobs)
        same = not changed and job.parts == 1 and not job.taken
        every = [*jobs, *self.chains.get(row, ())]
        if job.queue != told.get("queue"):
            self.acts.setdefault("queues", []).extend([one["job_id"], job.queue or ""] for one in every)
        others = [one for one in every if one.get("run_time") != told.get("run_time")]
        if others:
            self.acts.setdefault("run_times", []).extend([one["job_id"], one["run_time"] / SECOND] for one in others)
        merged = self.carried.get(row, []) if job.taken else []
        return Reply(merged=merged, jobs=[(None if same else one, patience) for one in jobs])

    def _change(self, job: Submission, told: Description) -> Description:
        """The columns of the job as it is asked for now."""
        asked = round(job.requested_time * SECOND)
        if not job.cores >= 1 or (not asked > 0 and asked != told["requested_time"]):
            raise PolicyError(f"a reaction asks for {job.cores} cores and {job.requested_time} s for job {job.job_id}")
        if job.cluster is not None and job.cluster not in job.clusters:
            raise PolicyError(f"a reaction sends job {job.job_id} to {job.cluster}, not one of {list(job.clusters)}")
        new = told | {"queue": job.queue} if "queue" in told or job.queue is not None else dict(told)
        if int(job.cores) != told["cores"]:
            if not 0 <= job.serial <= 1:
                raise PolicyError(f"a reaction says that {job.serial} of job {job.job_id} is serial, not from 0 to 1")
            factor = _time_on(int(job.cores), job.serial) / _time_on(told["cores"], job.serial)
            new |= reshape(told, int(job.cores))
            if "run_time" in told:
                new["run_time"] = round(told["run_time"] * factor)
            if asked == told["requested_time"]:
                asked = round(asked * factor)
        if job.cluster is not None:
            new["cluster"] = job.cluster
        return new | {"requested_time": asked}

    def _take_along(self, row: int, job: Submission, new: Description, now: int) -> Description:
        """The job with the next ones of its batch in it."""
        rows = self._next_rows(row, job.taken)
        others = [self._describe(other, now) for other in rows]
        self.carried[row] = rows
        self.inside.update(rows)
        self.counts["merged"] += len(rows)
        self.acts.setdefault("merged", []).append([job.job_id, [other["job_id"] for other in others]])
        widest = max([new, *others], key=lambda one: one["cores"])
        sums = {
            name: sum(one.get(name, 0) for one in (new, *others))
            for name in ("run_time", "requested_time")
            if name in new
        }
        return new | reshape(new, widest["cores"]) | sums

    def _split(self, job: Submission, new: Description, told: Description) -> list[Description]:
        """The parts of the job; the first keeps its number."""
        count = job.parts
        numbers = [job.job_id, *range(self.number + 1, self.number + count)]
        self.number += count - 1
        self.counts["split"] += 1
        self.acts.setdefault("split", []).append([job.job_id, numbers[1:], job.parts_by])
        name = new.get("name") or str(job.job_id)
        found = []
        for index, number in enumerate(numbers):
            part = new | {"job_id": number, "name": f"{name}.{index + 1}"}
            if job.parts_by == "cores":
                part |= reshape(told, _share(new["cores"], count, index))
            else:
                part["requested_time"] = -(-new["requested_time"] // count)
                if "run_time" in new:
                    part["run_time"] = _share(new["run_time"], count, index)
            found.append(part)
        return found

    def _go_on(self, row: int) -> Reply:
        """The next part of a job that was split by time."""
        chain = self.chains[row]
        part = chain.pop(0)
        if not chain:
            del self.chains[row]
        self.present[part.get("user") or ""] += 1
        self.left_of[row] = 1
        return Reply(jobs=[(part, part.get("patience", -1))])

    # ---- told

    def started(self, queue: str | None, cluster: str | None, cores: int, wait: int) -> None:
        """A job has started after this wait (microseconds)."""
        self.waits.add(queue, cluster, cores, wait / SECOND)

    def left(self, row: int, now: int, **told: Any) -> tuple[list[int], bool]:
        """A job has left; `told` has wait, ran and requested_time in microseconds, cores, and whether it completed.

        Returns the rows of the log that have left by that, and whether the job's next part is to be asked for now.
        """
        user = self._user(row)
        self.present[user] -= 1
        self.events += 1
        times = {name: told[name] / SECOND for name in ("requested_time", "wait", "ran")}
        number = int(self.workload.column("job_id")[row])
        job = Departure(number, user, now / SECOND, told["cores"], completed=told["completed"], **times)
        for part in self.parts:
            self._call(part.left, job)
        self.left_of[row] -= 1
        if self.left_of[row] > 0:
            return [], False
        if row in self.chains:
            if told["completed"]:
                return [], True
            del self.chains[row]  # what is left of the work is given up
        return [row, *self.carried.pop(row, ())], False

    # ---- of the log

    def _user(self, row: int) -> str:
        code = int(self.workload.column("user")[row])
        return self.workload.label_names("user")[code] if code >= 0 else ""

    def _find_queue(self, row: int) -> str | None:
        """The queue to which routes send a job that names none."""
        code = int(self.sent.column("queue")[row]) if self.sent.has("queue") else MISSING
        return self.sent.label_names("queue")[code] if code >= 0 else None

    def _describe(self, row: int, now: int) -> Description:
        """The columns of a job, labels as names, times in microseconds; what is missing is left out."""
        found: Description = {}
        for name in {"job_id": 0, "cores": 0, **self.workload.columns}:
            value = self.workload.column(name)[row]
            if COLUMNS[name].kind == "text":
                found[name] = value
            elif COLUMNS[name].kind == "label":
                found[name] = self.workload.label_names(name)[value] if value >= 0 else None
            elif value != MISSING:
                found[name] = int(value)
        for name in MOMENTS:
            if found.get(name, MISSING) >= 0:
                found[name] += now - found["submit"]
        return found

    def _next_rows(self, row: int, count: int) -> list[int]:
        """The rows after this one in its batch, up to one that cannot be merged."""
        batch = int(self.batch[row])
        rows = self.plan.rows[self.plan.first[batch] : self.plan.first[batch + 1]]
        index = int(np.searchsorted(rows, row)) + 1
        found: list[int] = []
        labels = [self.workload.column(name) for name in ALIKE if self.workload.has(name)]
        dates = [self.workload.column(name) for name in MOMENTS if self.workload.has(name)]
        for other in rows[index : index + count].tolist():
            alike = all(label[other] == label[row] for label in labels)
            dated = any(date[one] >= 0 for date in dates for one in (row, other))
            endless = min(self.workload.column("run_time")[[row, other]]) < 0
            if not alike or dated or endless or self.fixed[other] or other in self.inside or self.again[other]:
                break
            found.append(other)
        return found

    def _coming(self, row: int, count: int) -> list[Coming]:
        numbers, cores, asked = (self.workload.column(name) for name in ("job_id", "cores", "requested_time"))
        rows = [] if self.fixed[row] else self._next_rows(row, count)
        return [Coming(int(numbers[one]), int(cores[one]), int(asked[one]) / SECOND) for one in rows]

    def _note(self, what: str, number: int, first: bool) -> None:
        if first:
            self.counts[what] += 1
            self.acts.setdefault(what, []).append(number)

    def _refuse_fixed(self, job: Submission, what: str) -> None:
        if job.fixed:
            why = "it is a task of an array, waits for others, or is waited for by others"
            raise InputError(f"a reaction cannot {what} this job: {why}", value=job.job_id)

    def _call(self, hook: Any, job: Any) -> None:
        try:
            hook(job)
        except WalltimeError:
            raise
        except Exception as error:
            name = type(hook.__self__).__name__
            raise PolicyError(f"{name}: {type(error).__name__} at job {job.job_id}: {error}") from error


def find_fixed(workload: Workload, preceding: bool = False) -> np.ndarray:
    """Which rows are tasks of arrays, have parts that differ, wait for other jobs, or are waited for; SWF's preceding
    jobs are, where they count (`preceding`)."""
    fixed = np.zeros(len(workload), np.bool_)
    for name in ("array", "parts"):
        if workload.has(name):
            fixed |= workload.column(name) >= 0
    named: set[int] = set()
    if workload.has("dependencies"):
        texts = workload.column("dependencies")
        fixed |= np.array([bool(text) for text in texts], np.bool_)
        for text in {text for text in texts if text}:
            named.update(int(number) for number in re.findall(r"(?<=:)\d+", text))
        names = workload.column("name")
        alone = {name for name, text in zip(names, texts, strict=True) if "singleton" in text}
        fixed |= np.array([name in alone for name in names], np.bool_) if alone else False
    if preceding and workload.has("preceding_job"):
        before = workload.column("preceding_job")
        fixed |= before >= 0
        named.update(before[before >= 0].tolist())
    if named:
        fixed |= np.isin(workload.column("job_id"), sorted(named))
    return fixed


def _share(total: int, count: int, place: int) -> int:
    """One of so many whole parts that add up to the total, the larger ones first."""
    return total // count + (place < total % count)


def _time_on(cores: int, serial: float) -> float:
    """How long work takes on so many cores, by Amdahl's law, of what it takes on one."""
    return serial + (1 - serial) / cores
