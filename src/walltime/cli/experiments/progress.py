"""The live picture of a sweep on a terminal: how far it is, its rate, the time left, and what each worker is at."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from walltime.core.time import format_duration

if TYPE_CHECKING:
    from rich.console import Group

    from walltime.experiments.runner import Progress

_MOST_WORKERS = 16  # that are shown
_OFTEN = 0.5  # seconds between two pictures


@contextmanager
def show_sweep(name: str, *, hidden: bool) -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress, as often as a person can read it; nothing where no terminal shows it."""
    if hidden or not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.live import Live

    from walltime.cli.terminal.console import err

    with Live(console=err(), auto_refresh=False, transient=True) as live:
        shown = 0.0

        def show(progress: Progress) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _OFTEN:
                shown = time.monotonic()
                live.update(_draw(name, progress), refresh=True)

        yield show


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
