"""Progress of a simulation on a terminal; nothing at all anywhere else."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from walltime.core.time import format_duration, microseconds, seconds

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from walltime.core.workload import Origin, Workload


class RemainingTime:
    """How long a simulation will yet take: by the time that is left to simulate, at the speed of late.

    That is the time to `last`, the cut-off or the last submission; of what comes after only the number of jobs is
    known, and it goes by them. Where all jobs are to end and those that are yet to be submitted and to end would take
    longer at the same speed, it is that: a queue that grows has to be served after the last submission. Speed differs
    much over a trace: a full machine is slow.
    """

    WINDOW = 30.0
    """Real seconds that count as of late."""

    def __init__(self, first: int, last: int, jobs: int, *, whole: bool = True) -> None:
        self.first = first
        self.last = last
        self.jobs = jobs
        self.whole = whole
        self._marks: deque[tuple[float, int, int, int]] = deque()

    def estimate(self, at: float, now: int, submitted: int, ended: int) -> float | None:
        """Seconds left at the real time `at`; None while there is nothing to go by."""
        self._marks.append((at, now, submitted, ended))
        while len(self._marks) > 2 and self._marks[1][0] < at - self.WINDOW:
            self._marks.popleft()
        before, then, entered, earlier = self._marks[0]
        if now < self.last:
            shares = [(self.last - now, now - max(then, self.first))]
            if self.whole:
                shares.append((2 * self.jobs - submitted - ended, submitted - entered + ended - earlier))
        else:
            shares = [(self.jobs - ended, ended - earlier)]
        if at <= before:
            return None
        return max(((at - before) * left / done for left, done in shares if done > 0), default=None)


class Bar:
    """An engine's observer: shows jobs done and waiting, the simulated time or date, speed, and the time left."""

    def __init__(self, progress: Progress, task: TaskID, remaining: RemainingTime, origin: Origin) -> None:
        self._progress = progress
        self._task = task
        self._remaining = remaining
        self._origin = origin
        self._waiting = ""
        self._began = time.perf_counter()

    def note_waiting(self, waiting: int) -> None:
        """Called before `progress` by an engine that counts them."""
        self._waiting = f"{waiting:,} waiting · "

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine about ten times a second; draws at once: a compiled loop leaves a thread no time."""
        elapsed = max(time.perf_counter() - self._began, 1e-9)
        simulated = describe_instant(now_us, self._remaining.first, self._origin)
        left = self._remaining.estimate(self._began + elapsed, now_us, submitted, ended)
        self._progress.update(
            self._task,
            completed=ended,
            waiting=self._waiting,
            simulated=simulated,
            speed=f"{ended / elapsed:,.0f} jobs/s",
            left="" if left is None else f"{format_duration(round(left))} left",
            refresh=True,
        )


def describe_instant(now_us: int, first: int, origin: Origin) -> str:
    """The date on the trace's clock, where it has one; else how much has been simulated since the first job."""
    if origin.epoch is None:
        return f"{format_duration(seconds(max(0, now_us - first)))} simulated"
    zone = ZoneInfo(origin.timezone or "UTC")
    return datetime.fromtimestamp(origin.epoch + seconds(now_us), zone).strftime("%Y-%m-%d %H:%M")


@contextmanager
def show_progress(
    label: str, workload: Workload, until: float | None = None, *, quiet: bool = False
) -> Iterator[Bar | None]:
    """A bar for a run of a workload that is cut off at `until` (seconds); None where no terminal shows it."""
    from walltime.cli.terminal.console import err

    if quiet or not err().is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("jobs · {task.fields[waiting]}{task.fields[simulated]} · {task.fields[speed]} {task.fields[left]}"),
    )
    with Progress(*columns, console=err(), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(label, total=len(workload), waiting="", simulated="–", speed="–", left="")
        yield Bar(progress, task, look_ahead(workload, until), workload.origin)


def look_ahead(workload: Workload, until: float | None) -> RemainingTime:
    """What there is to simulate of a workload."""
    times = workload.columns["submit"]
    first, last = (int(times[0]), int(times[-1])) if len(workload) else (0, 0)
    if until is None:
        return RemainingTime(first, last, len(workload))
    return RemainingTime(first, microseconds(until), len(workload), whole=False)


@contextmanager
def show_status(text: str, *, quiet: bool = False) -> Iterator[None]:
    """A line on the terminal while something without a known length goes on."""
    from walltime.cli.terminal.console import err

    if quiet or not err().is_terminal:
        yield
        return
    with err().status(text):
        yield
