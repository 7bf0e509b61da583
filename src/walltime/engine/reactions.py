"""What users do besides, by the parts of kind `users`: asked at each submission, told of each job that leaves."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from walltime.core.errors import PolicyError, WalltimeError
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload
from walltime.policy.users import Departure, Reaction, Submission
from walltime.workload.users.submitted import MOMENTS

RECENT = 20
"""The last starts of a queue, by which its wait is expected."""


class Reactions:
    """The parts in their order, with what users can know. `counts` are jobs that were put off, changed, dropped."""

    def __init__(self, parts: Sequence[Reaction], queues: tuple[str, ...] = ()) -> None:
        self.parts, self.queues = parts, queues
        self.counts: Counter[str] = Counter()
        self.present: Counter[str] = Counter()
        self.again: Counter[int] = Counter()
        self.waits: dict[str | None, deque[float]] = {None: deque(maxlen=RECENT)}

    def attach(self, workload: Workload) -> None:
        """Called once, with the jobs that users may submit."""
        self.workload = workload

    def ask(self, row: int, now: int) -> tuple[Submission, dict[str, Any] | None, int]:
        """What becomes of a job that is due; its columns where it is to be submitted otherwise than in the log; and
        its user's patience in microseconds, or -1."""
        told = self._describe(row, now)
        job = Submission(
            job_id=told["job_id"],
            user=told.get("user") or "",
            now=now / SECOND,
            cores=told["cores"],
            requested_time=told["requested_time"] / SECOND,
            queue=told.get("queue"),
            present=self.present[told.get("user") or ""],
            put_off_before=self.again[row],
            queues=self.queues,
            waits=self._expect,
        )
        for part in self.parts:
            self._call(part.submit, job)
        if job.later > 0:
            if not self.again[row]:
                self.counts["put_off"] += 1
            self.again[row] += 1
            return job, None, -1
        if job.dropped:
            self.counts["abandoned"] += 1
            return job, None, -1
        self.present[job.user] += 1
        new = dict(told) | {"cores": int(job.cores), "queue": job.queue}
        new["requested_time"] = round(job.requested_time * SECOND)
        if new["cores"] < 1 or new["requested_time"] < 1:
            raise PolicyError(f"a reaction asks for {job.cores} cores and {job.requested_time} s for job {job.job_id}")
        changed = any(new.get(name) != told.get(name) for name in ("cores", "queue", "requested_time"))
        if changed:
            self.counts["changed"] += 1
        patience = -1 if job.patience is None else max(1, round(job.patience * SECOND))
        if patience > 0:
            new["patience"] = patience
        return job, new if changed else None, patience

    def _describe(self, row: int, now: int) -> dict[str, Any]:
        """The columns of a job, labels as names, times in microseconds; what is missing is left out."""
        found: dict[str, Any] = {}
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

    def _expect(self, queue: str | None) -> float | None:
        seen = self.waits.get(queue)
        return sum(seen) / len(seen) if seen else None

    def started(self, queue: str | None, wait: int) -> None:
        """A job has started after this wait (microseconds)."""
        for name in {None, queue}:
            self.waits.setdefault(name, deque(maxlen=RECENT)).append(wait / SECOND)

    def left(self, row: int, now: int, **told: Any) -> None:
        """A job has left; `told` has wait, ran and requested_time in microseconds, cores, and whether it completed."""
        code = int(self.workload.column("user")[row])
        user = self.workload.label_names("user")[code] if code >= 0 else ""
        self.present[user] -= 1
        times = {name: told[name] / SECOND for name in ("requested_time", "wait", "ran")}
        number = int(self.workload.column("job_id")[row])
        job = Departure(number, user, now / SECOND, told["cores"], completed=told["completed"], **times)
        for part in self.parts:
            self._call(part.left, job)

    def _call(self, hook: Any, job: Any) -> None:
        try:
            hook(job)
        except WalltimeError:
            raise
        except Exception as error:
            name = type(hook.__self__).__name__
            raise PolicyError(f"{name}: {type(error).__name__} at job {job.job_id}: {error}") from error
