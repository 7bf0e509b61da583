"""Progress of a simulation on a terminal; nothing at all anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from walltime.core.time import format_duration, seconds

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """An engine's observer: shows jobs done, simulated time and speed."""

    def __init__(self, progress: Progress, task: TaskID, first: int) -> None:
        self._progress = progress
        self._task = task
        self._first = first
        self._began = time.perf_counter()

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine about ten times a second; draws at once: a compiled loop leaves a thread no time."""
        elapsed = max(time.perf_counter() - self._began, 1e-9)
        simulated = format_duration(seconds(max(0, now_us - self._first)))
        self._progress.update(
            self._task, completed=ended, simulated=simulated, speed=f"{ended / elapsed:,.0f} jobs/s", refresh=True
        )


@contextmanager
def show_progress(label: str, jobs: int, first: int, *, quiet: bool = False) -> Iterator[Bar | None]:
    """A bar for a run of so many jobs that begins at `first` (microseconds); None where nobody would see it."""
    from walltime.cli.console import err

    if quiet or not err().is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("jobs · {task.fields[simulated]} simulated · {task.fields[speed]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=err(), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(label, total=jobs, simulated="–", speed="–")
        yield Bar(progress, task, first)


@contextmanager
def show_status(text: str, *, quiet: bool = False) -> Iterator[None]:
    """A line on the terminal while something without a known length goes on."""
    from walltime.cli.console import err

    if quiet or not err().is_terminal:
        yield
        return
    with err().status(text):
        yield
