"""A run that will take minutes says so in its first seconds, with the reason and what would be faster."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from walltime.cli.run.reasons import give_reasons
from walltime.cli.run.standstill import describe_standstill
from walltime.cli.terminal.console import remark
from walltime.cli.terminal.progress import describe_instant, look_ahead
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.pipeline import Prepared

    Explain = Callable[[Prepared, float | None, int], list[str]]

YOUNG = 3.0
"""Real seconds after which a run is judged for the first time."""
LONG = 60.0
"""Seconds left that are worth a word."""
LASTING = 5.0
"""Real seconds of one simulated instant that are worth a word."""


class Forewarning:
    """An engine's observer beside the progress bar, if there is one: measures how fast the run is, and speaks once.

    `explain` makes the lines behind the first one, of what is run, the seconds left and the jobs that wait.
    """

    def __init__(self, name: str, prepared: Prepared, bar: Any = None, explain: Explain = give_reasons) -> None:
        self.name = name
        self.prepared = prepared
        self.bar = bar
        self.explain = explain
        self.remaining = look_ahead(prepared.workload, prepared.scenario.until)
        self.simulation: Any = None
        self.told = self.explained = False
        self.steps = 0
        self.instant = -1
        self.queue: list[int] = []  # how many waited, at every step
        self.began = time.perf_counter()
        if hasattr(bar, "note_waiting"):
            self.note_waiting = bar.note_waiting

    def attach(self, simulation: Any) -> None:
        """Called by an engine that can be looked at."""
        self.simulation = simulation
        if hasattr(self.bar, "attach"):
            self.bar.attach(simulation)

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine about ten times a second."""
        self.steps += 1
        if self.bar is not None:
            self.bar.progress(now_us, submitted, ended)
        if self.told:
            return
        elapsed = time.perf_counter() - self.began
        left = self.remaining.estimate(elapsed, now_us, submitted, ended)
        self.queue.append(submitted - ended if self.simulation is None else count_waiting(self.simulation))
        if elapsed >= YOUNG and left is not None and left > LONG:
            self.told = True
            more = ", and longer if the queue goes on growing" if self.is_growing(now_us) else ""
            remark(f"{self.name}: at its speed so far this takes about {format_duration(round(left))} more{more}.")
            self.say_why(left, self.queue[-1])

    def is_growing(self, now_us: int) -> bool:
        """Whether the queue has grown by half since half the time, and more jobs are to come."""
        return now_us < self.remaining.last and self.queue[-1] > 1.5 * self.queue[len(self.queue) // 2]

    def say_why(self, left: float | None, waiting: int) -> None:
        """The reason and the faster choice, unless they have been told."""
        if not self.explained:
            self.explained = True
            for line in self.explain(self.prepared, left, waiting):
                remark(line)

    def look(self, frame: FrameType | None) -> None:
        """Called every few seconds, also amid a pass: an instant that lasts is told once."""
        if self.simulation is None or self.told:
            return
        before, self.instant = self.instant, int(self.simulation.now)
        if before != self.instant or self.explained or describe_standstill(frame) is not None:
            return  # of a loop in somebody's own code there is another word
        workload = self.prepared.workload
        when = describe_instant(self.instant, self.remaining.first, workload.origin)
        remark(f"{self.name}: a single pass has taken more than {format_duration(round(LASTING))} so far ({when}).")
        self.say_why(None, count_waiting(self.simulation))


@contextmanager
def watch_for_long_passes(warning: Forewarning) -> Iterator[None]:
    """While the block runs, have the warning look by a timer: within a long pass the engine calls nothing, but hears
    signals."""
    if threading.current_thread() is not threading.main_thread() or warning.prepared.scenario.engine == "slurm":
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda number, frame: warning.look(frame))
    signal.setitimer(signal.ITIMER_REAL, LASTING, LASTING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def explain_again(prepared: Prepared, left: float | None, waiting: int) -> list[str]:
    """What is said of a run that is simulated again to explain a job's wait."""
    return [
        f"The whole run is simulated again, and {waiting:,} jobs wait.",
        "A result that ends soon after the job is explained sooner: see --until of walltime run.",
    ]


def count_waiting(simulation: Any) -> int:
    """Jobs that wait at this moment."""
    return sum(domain.queue.size for cluster in simulation.clusters for domain in cluster.domains)


class Repetitions:
    """Many simulations that will take minutes together: says so once, in the first seconds, with what takes less.

    An engine's observer too, so that a first one that takes long is noticed.
    """

    def __init__(self, name: str, advice: str) -> None:
        self.name = name
        self.advice = advice
        self.done = self.total = 0
        self.told = False
        self.began = time.perf_counter()

    def count(self, done: int, total: int) -> None:
        """So many have ended; called with 0 when the first begins."""
        self.done, self.total = done, total
        if done == 0:
            self.began = time.perf_counter()
        self.judge()

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine about ten times a second."""
        self.judge()

    def judge(self) -> None:
        elapsed = time.perf_counter() - self.began
        left = elapsed / (self.done + 1) * (self.total - self.done - 1)  # as if the next one ended now: at least that
        if not self.told and elapsed >= YOUNG and left > LONG:
            self.told = True
            done = "the first takes so long that all" if self.done == 0 else f"{self.done:,} have ended; the others"
            remark(
                f"{self.name}: of {self.total:,} simulations {done} take at least {format_duration(round(left))} more."
            )
            remark(self.advice)
