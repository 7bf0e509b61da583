"""The live picture of a sweep on a terminal: how far it is, its rate, the time left, and what each worker is at; and a
word, on a terminal or not, where it will take minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from walltime.cli.run.forewarning import LONG, YOUNG
from walltime.cli.terminal.console import remark
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from rich.console import Group

    from walltime.experiments.runner import Progress

_MOST_WORKERS = 16  # that are shown
_OFTEN = 0.5  # seconds between two pictures


@contextmanager
def show_sweep(name: str, *, hidden: bool) -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress, as often as a person can read it; where no terminal shows it, it says only that
    the sweep will take minutes, and if `hidden` nothing."""
    warning = LongSweep(name)
    if hidden or not sys.stderr.isatty():
        yield (lambda progress: None) if hidden else warning.judge
        return
    from rich.live import Live

    from walltime.cli.terminal.console import err

    with Live(console=err(), auto_refresh=False, transient=True) as live:
        shown = 0.0

        def show(progress: Progress) -> None:
            nonlocal shown
            warning.judge(progress)
            if time.monotonic() - shown >= _OFTEN:
                shown = time.monotonic()
                live.update(_draw(name, progress), refresh=True)

        yield show


class LongSweep:
    """Says once that a sweep will take minutes, in its first seconds, and what takes less."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told = False
        self.mark: tuple[int, float] | None = (
            None  # how many had finished, and when: starting the workers is no measure
        )

    def judge(self, progress: Progress) -> None:
        """Look at how far it is."""
        left = self.estimate(progress)
        if self.told or left is None or left <= LONG:
            return
        self.told = True
        undone, workers = count_undone(progress), len(progress.workers)
        at = f" on {workers} processes" if workers else ""
        remark(
            f"{self.name}: {undone:,} simulations are yet to end; at this speed{at} they take about "
            f"{format_duration(round(left))} more."
        )
        remark("Fewer cells or repetitions take less; walltime sweep --dry-run tells it before.")

    def estimate(self, progress: Progress) -> float | None:
        """Seconds left, at least: by those that have finished since the first, or by one that takes long."""
        if progress.finished and self.mark is None:
            self.mark = (progress.finished, progress.elapsed)
        finished, since = self.mark or (0, progress.elapsed)
        if progress.finished > finished and progress.elapsed - since >= YOUNG:
            return count_undone(progress) * (progress.elapsed - since) / (progress.finished - finished)
        longest = max((taken for _, _, taken in progress.workers), default=0.0)
        return longest * (count_undone(progress) / len(progress.workers) - 1) if longest >= YOUNG else None


def count_undone(progress: Progress) -> int:
    """Runs that have not ended."""
    return progress.total - progress.counts["done"] - progress.counts["failed"]


def tell(name: str, progress: Progress) -> str:
    """Progress in one line."""
    counts = progress.counts
    parts = [f"{counts['done']:,} of {progress.total:,} done", f"{counts['running']:,} running"]
    parts += [f"{counts['failed']:,} failed"] if counts["failed"] else []
    parts += [f"{progress.retried:,} tried again"] if progress.retried else []
    if progress.finished:
        rate = progress.rate
        parts.append(f"{rate:.1f} runs/s" if rate >= 1 else f"{60 * rate:.1f} runs/min")
    if progress.left is not None:
        parts.append(f"{format_duration(progress.left)} left")
    return f"{name}: {', '.join(parts)}"


def _draw(name: str, progress: Progress) -> Group:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    ended = progress.counts["done"] + progress.counts["failed"]
    lines = [
        Text(f"  worker {number}: {digest[:12]}, {format_duration(taken)}", style="dim")
        for number, digest, taken in progress.workers[:_MOST_WORKERS]
    ]
    bar = ProgressBar(total=max(1, progress.total), completed=ended, width=60)
    return Group(Text(tell(name, progress)), bar, *lines)
