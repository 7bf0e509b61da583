"""The slow twin's rules about who may not wait yet: dependencies and arrays; plain Python, looking at everybody.

It shares no code with the compiled engine. A held job is let in at `opens(job)`: a time, None while that is not known,
and NEVER where a dependency can no longer be met. The twins ask about every held job, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from twin.workflows import Pilots
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import MISSING, Workload

if TYPE_CHECKING:
    from twin.jobs import Job

GONE = ("completed", "timeout", "failed", "cancelled", "rejected")


@dataclass
class Card:
    """What a row says besides what it needs, and what has become of it."""

    row: int
    user: int
    name: str
    array: str | None
    limit: int | None
    text: str
    preceding: int | None
    think: int
    patience: int | None
    aware: bool
    alone_since: int | None = None  # when its singleton was met
    asked: bool = False  # it is eligible, and wants a place in its array
    inside: bool = False  # it has a place in its array


class Gates:
    """The rows' cards beside the twin's own jobs, which have row, job_id, submit, begin, state, start and end."""

    def __init__(self, workload: Workload, jobs: list[Job], never: str = "cancel", preceding: bool = False) -> None:
        self.jobs, self.stay, self.follows = jobs, never == "stay", preceding
        self.by_row = {job.row: job for job in jobs}
        self.pilots = Pilots(workload, jobs)
        self.job_id = workload.column("job_id").tolist()
        self.cards = [_read_card(workload, row) for row in range(len(workload))]
        self.outside: dict[str, list[Job]] = {}
        plain = not workload.has("dependencies") and not workload.has("array")
        self.plain = plain and not (preceding and workload.has("preceding_job"))

    def opens(self, job: Job, now: int) -> int | None:
        """When the job may be let in."""
        begin = job.submit if job.begin is None else max(job.submit, job.begin)
        if self.plain:
            return int(begin)
        card = self.cards[job.row]
        if card.asked:
            return now if card.inside else None
        times = [self.met(kind, target, offset, job, now) for kind, target, offset in _conditions(card.text)]
        if times and "?" in card.text:
            known = [time for time in times if time is not None and time < NEVER]
            if not known:
                return NEVER if None not in times else None
            times = [min(known)]
        if self.follows and card.preceding in self.job_id:
            times.append(self.met("afterany", str(card.preceding), card.think, job, now))
        if NEVER in times:
            return NEVER
        known = [time for time in times if time is not None]
        return max([begin, *known]) if len(known) == len(times) else None

    def met(self, kind: str, target: str, offset: int, job: Job, now: int) -> int | None:
        """When one condition is met: a time, None for not known, NEVER."""
        if kind == "singleton":
            return self.alone(job, now)
        times = [self.done(kind, row) for row in self.rows(target)]
        if kind == "afternotok" and times != [NEVER] * len(times):  # of an array, one that went wrong is enough
            times = [self.done("afterany", row) for row in self.rows(target)]
        if NEVER in times:
            return NEVER
        known = [time for time in times if time is not None]
        return max(known) + offset if len(known) == len(times) else None

    def rows(self, target: str) -> list[int]:
        """An array's tasks, the job of that number, or the task of that name."""
        array = [card.row for card in self.cards if card.array == target]
        if array:
            return array
        if "_" in target:
            return [card.row for card in self.cards if card.name == target]
        return [self.job_id.index(int(target))]

    def done(self, kind: str, row: int) -> int | None:
        """When the job of a row did what is waited for."""
        job = self.by_row.get(row)
        if job is None:
            return None  # after the cut-off
        if kind == "after" and job.start is not None:
            return int(job.start)
        if job.state not in GONE:
            return None
        if (kind == "afterok" and job.state != "completed") or (kind == "afternotok" and job.state == "completed"):
            return NEVER
        return int(job.submit if job.end is None else job.end)

    def alone(self, job: Job, now: int) -> int | None:
        """When nobody of that user and name was before the job any more, and nobody ran."""
        card = self.cards[job.row]
        if card.alone_since is None:
            fellows = [
                other
                for other in self.jobs
                if other is not job
                and self.cards[other.row].user == card.user
                and _base(self.cards[other.row].name) == _base(card.name)
            ]
            before = [other for other in fellows if other.turn < job.turn and other.state not in (*GONE, "future")]
            if not before and not any(other.state == "running" for other in fellows):
                card.alone_since = now
        return card.alone_since

    def since(self, job: Job, now: int) -> int:
        """From when on a job that is let in now counts as eligible."""
        return int(job.submit) if self.cards[job.row].aware else now

    # ---- arrays

    def takes(self, job: Job) -> bool:
        """Whether the job's array has a place for it; otherwise it is held until there is one."""
        card = self.cards[job.row]
        if card.limit is None or card.inside:
            return True
        inside = sum(other.inside for other in self.cards if other.array == card.array)
        card.asked, card.inside = True, inside < card.limit
        if not card.inside:
            self.outside.setdefault(str(card.array), []).append(job)
        return bool(card.inside)

    def leave(self, job: Job) -> None:
        """The job has ended: the first of the held tasks has its place."""
        card = self.cards[job.row]
        if card.inside:
            card.inside = False
            waiting = self.outside.get(str(card.array), [])
            while waiting:
                following = waiting.pop(0)
                if following.state == "held":
                    self.cards[following.row].inside = True
                    return


def _read_card(workload: Workload, row: int) -> Card:
    array = limit = None
    if workload.has("array") and workload.column("array")[row] != MISSING:
        array, _, most = workload.label_names("array")[int(workload.column("array")[row])].partition("%")
        limit = int(most) if most else None
    preceding, think, patience = (
        int(workload.column(name)[row]) for name in ("preceding_job", "think_time", "patience")
    )
    return Card(
        row=row,
        user=int(workload.column("user")[row]),
        name=workload.column("name")[row] if workload.has("name") else "",
        array=array,
        limit=limit,
        text=workload.column("dependencies")[row] if workload.has("dependencies") else "",
        preceding=None if preceding == MISSING else preceding,
        think=max(think, 0),
        patience=None if patience == MISSING else patience,
        aware=bool(workload.column("dependencies")[row] and workload.column("aware")[row]),
    )


def _conditions(text: str) -> list[tuple[str, str, int]]:
    """(kind, target, offset) of each."""
    found = []
    for part in text.replace("?", ",").split(","):
        kind, *targets = part.split(":")
        for target in targets:
            name, _, minutes = target.partition("+")
            found.append((kind, name, int(minutes or 0) * 60 * SECOND))
        if kind == "singleton":
            found.append((kind, "", 0))
    return found


def _base(name: str) -> str:
    """An array's name for a task of it."""
    base, _, task = name.rpartition("_")
    return base if base and task.isdigit() else name
