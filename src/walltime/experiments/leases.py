"""Which runner has which run: leases with fencing numbers, so that each run is done once whatever dies or stalls.

A runner takes runs, and each taking counts up the run's fence. What became of a run is written only by the holder of
its latest fence: a late result of a runner that was given up changes nothing.

A runner is given up when its process is gone, where that can be seen from here, or else when its beat has not moved
for `SILENCE` seconds of our own steady clock. Clocks of different machines are never compared, and a clock that is set
to another time changes nothing.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import sqlalchemy as sa

from walltime.experiments.results import checksum_of
from walltime.experiments.schema import (
    DONE,
    FAILED,
    RUNNING,
    WAITING,
    cells,
    figures,
    files,
    members,
    runners,
    runs,
    specifications,
)
from walltime.experiments.store import Store
from walltime.experiments.tasks import MACHINE, Task, TaskOutcome

SILENCE = 60.0
"""Seconds without a beat after which a runner that cannot be seen is given up."""
BEAT = 5.0
"""Seconds between two beats."""


class Leases:
    """The leases of one runner; `clock` is a steady one."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._seen: dict[int, tuple[int, float]] = {}
        self._beaten = clock()
        self.runner = self._enrol()

    def _enrol(self) -> int:
        values = {"host": socket.gethostname(), "process": process_name(), "beat": 0, "started": time.time()}
        made = runners.insert().values(**values).returning(runners.c.id)
        return int(self._store.database.write(lambda c: c.execute(made).scalar_one()))

    def beat(self) -> None:
        """Tell that this runner lives, where it is time to; enrols again where others have given it up."""
        if self._clock() - self._beaten < BEAT:
            return
        self._beaten = self._clock()
        told = runners.update().where(runners.c.id == self.runner).values(beat=runners.c.beat + 1)
        if self._store.database.write(lambda c: c.execute(told).rowcount) == 0:
            self.runner = self._enrol()

    def reap(self) -> int:
        """Give up the runners that are gone; how many of their runs wait again."""
        found = self._store.database.read(lambda c: c.execute(sa.select(runners)).all())
        gone = [row.id for row in found if row.id != self.runner and self._is_gone(row.id, row.process, row.beat)]
        if not gone:
            return 0

        def change(connection: sa.Connection) -> int:
            held = sa.and_(runs.c.runner_id.in_(gone), runs.c.state == RUNNING)
            freed = connection.execute(
                runs.update().where(held).values(state=WAITING, runner_id=None, fence=runs.c.fence + 1)
            )
            connection.execute(runners.delete().where(runners.c.id.in_(gone)))
            return int(freed.rowcount)

        return self._store.database.write(change)

    def _is_gone(self, runner: int, process: str, beat: int) -> bool:
        seen = can_see(process)
        if seen is not None:
            return not seen
        known, since = self._seen.get(runner, (None, 0.0))
        if known != beat:
            self._seen[runner] = beat, self._clock()
            return False
        return self._clock() - since > SILENCE

    def others(self) -> int:
        """How many other runners there are."""
        asked = sa.select(sa.func.count()).where(runners.c.id != self.runner)
        return int(self._store.database.read(lambda c: c.execute(asked).scalar_one()))

    def take(self, experiment: int, count: int) -> list[Task]:
        """So many of the experiment's waiting runs, or as many as there are, leased to this runner."""
        mine = (
            sa.exists()
            .where(members.c.run_id == runs.c.id)
            .where(cells.c.id == members.c.cell_id)
            .where(cells.c.experiment_id == experiment)
        )
        waiting = sa.select(runs.c.id).where(runs.c.state == sa.literal_column(f"'{WAITING}'"), mine)
        waiting = waiting.order_by(runs.c.id).limit(count).with_for_update(skip_locked=True)

        def change(connection: sa.Connection) -> list[Task]:
            chosen = list(connection.execute(waiting).scalars())
            if not chosen:
                return []
            held = {"state": RUNNING, "runner_id": self.runner, "started": time.time()}
            connection.execute(
                runs.update()
                .where(runs.c.id.in_(chosen))
                .values(fence=runs.c.fence + 1, attempts=runs.c.attempts + 1, **held)
            )
            wanted = sa.select(
                *(runs.c.id, runs.c.digest, runs.c.fence, runs.c.attempts, specifications.c.text, runs.c.seed)
            ).join(specifications)
            rows = connection.execute(wanted.where(runs.c.id.in_(chosen)).order_by(runs.c.id))
            return [Task(*row) for row in rows]

        return self._store.database.write(change)

    def finish(self, outcomes: Sequence[TaskOutcome]) -> list[bool]:
        """Write what became of tasks; of each, whether it was still ours to say. Raises InputError for a full disk."""
        results = self._store.results
        drafts = []
        try:
            for outcome in outcomes:
                drafts.append(results.draft(outcome.task.digest, outcome.task.fence, outcome.files))

            def change(connection: sa.Connection) -> list[bool]:
                accepted = []
                for outcome, draft in zip(outcomes, drafts, strict=True):
                    accepted.append(_note(connection, outcome))
                    if accepted[-1] and (draft is None or draft.exists()):
                        results.put(draft, outcome.task.digest)
                return accepted

            return self._store.database.write(change)
        finally:
            for draft in drafts:
                results.discard(draft)

    def again(self, task: Task) -> Task | None:
        """The task for another attempt, under a new fence; None where it is not ours any more."""

        def change(connection: sa.Connection) -> bool:
            counted = {"fence": runs.c.fence + 1, "attempts": runs.c.attempts + 1}
            return bool(connection.execute(runs.update().where(_is_held(task)).values(**counted)).rowcount)

        if not self._store.database.write(change):
            return None
        return replace(task, fence=task.fence + 1, attempt=task.attempt + 1)

    def release(self, tasks: Iterable[Task]) -> None:
        """Let the tasks wait again, as if they had not been taken."""
        held = list(tasks)

        def change(connection: sa.Connection) -> None:
            for task in held:
                freed = {"state": WAITING, "runner_id": None, "attempts": runs.c.attempts - 1}
                connection.execute(runs.update().where(_is_held(task)).values(**freed))

        if held:
            self._store.database.write(change)

    def retry_failed(self, experiment: int, *, every: bool = False) -> int:
        """Let failed runs of the experiment wait again: those that machines failed, or every one; how many."""
        mine = sa.select(members.c.run_id).join(cells).where(cells.c.experiment_id == experiment)
        chosen = sa.and_(runs.c.state == FAILED, runs.c.id.in_(mine))
        if not every:
            chosen = sa.and_(chosen, runs.c.fault == MACHINE)
        fresh = {"state": WAITING, "attempts": 0, "fault": None, "error": None, "log": None, "finished": None}
        return int(
            self._store.database.write(lambda c: c.execute(runs.update().where(chosen).values(**fresh)).rowcount)
        )

    def close(self) -> None:
        """Give back whatever is still held, and leave."""

        def change(connection: sa.Connection) -> None:
            held = sa.and_(runs.c.runner_id == self.runner, runs.c.state == RUNNING)
            freed = {"state": WAITING, "runner_id": None, "fence": runs.c.fence + 1, "attempts": runs.c.attempts - 1}
            connection.execute(runs.update().where(held).values(**freed))
            connection.execute(runners.delete().where(runners.c.id == self.runner))

        self._store.database.write(change)


def _note(connection: sa.Connection, outcome: TaskOutcome) -> bool:
    """Write one outcome; False where the lease has passed on, and then nothing is written."""
    from walltime import __version__

    task = outcome.task
    values = {
        "state": FAILED if outcome.fault else DONE,
        "runner_id": None,
        "finished": time.time(),
        "version": __version__,
        **{
            name: getattr(outcome, name)
            for name in ("result", "fault", "error", "log", "wall", "cpu", "memory", "host")
        },
    }
    if not connection.execute(runs.update().where(_is_held(task)).values(**values)).rowcount:
        # Perhaps this very transaction was done before the server went away.
        asked = sa.select(runs.c.id).where(
            runs.c.id == task.run, runs.c.fence == task.fence, runs.c.state.in_((DONE, FAILED))
        )
        return connection.execute(asked).first() is not None
    if outcome.figures:
        numbers = [{"run_id": task.run, "name": name, "value": value} for name, value in outcome.figures.items()]
        connection.execute(figures.insert(), numbers)
    if outcome.files:
        kept = [
            {"run_id": task.run, "name": name, "size": len(data), "checksum": checksum_of(data)}
            for name, data in outcome.files.items()
        ]
        connection.execute(files.insert(), kept)
    return True


def _is_held(task: Task) -> sa.ColumnElement[bool]:
    return sa.and_(runs.c.id == task.run, runs.c.fence == task.fence, runs.c.state == RUNNING)


def process_name() -> str:
    """What tells this process from any other, of this machine or another, now or after a restart."""
    return f"{_machine()}/{os.getpid()}/{_begun(os.getpid())}"


def can_see(process: str) -> bool | None:
    """Whether a process lives; None where that cannot be seen from here."""
    machine, pid, begun = process.rsplit("/", 2)
    if machine != _machine() or not pid.isdigit() or _begun(os.getpid()) == "?":
        return None
    return _begun(int(pid)) == begun


def _machine() -> str:
    """This boot of this machine, and the space of process numbers that we are in."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _begun(pid: int) -> str:
    """When the process began, in the kernel's count; `?` for one that is not there, or has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return "?"
    return "?" if words[0] in "ZX" else words[19]
