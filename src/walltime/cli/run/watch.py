"""A run that is watched: the state of the system drawn in the terminal while it is simulated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from walltime.cli.run.keys import Keys, listen
from walltime.core.dates import show_date
from walltime.core.time import SECOND, format_duration, seconds

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from walltime.core.workload import Workload

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#%@"
"""Levels of a curve, from nothing to full; the second for terminals that know ASCII only."""
NAMES, GAP = 24, 2
"""The most letters of a name at the left, and the space between two columns."""
_EVERY = 0.04
_LINE = 2.0
"""Seconds between two drawings on a terminal, and between two lines in a pipe."""
_MOST = 60.0
"""Seconds that a pace lets the run stand still at the most."""
PAUSE, FASTER, SLOWER, TO_THE_END = " ", "+", "-", "q"
HELP = "space: pause · +: faster · -: slower · q: to the end"


class Watching:
    """How runs are watched: at which pace (simulated seconds for each real one, or None), and where it is drawn."""

    def __init__(self, pace: float | None = None, console: Console | None = None) -> None:
        self.pace = pace
        self._console = console

    @contextmanager
    def show(self, label: str, workload: Workload) -> Iterator[LiveView]:
        """The observer of one run; its last state stays on the screen."""
        from rich.live import Live

        from walltime.cli.terminal.console import err

        console = self._console or err()
        watch = LiveView(label, workload, console, self.pace)
        if not console.is_terminal:
            yield watch
            watch.finish()
            return
        with listen() as keys, Live(console=console, auto_refresh=False, transient=False) as live:
            watch.draw = lambda picture: live.update(picture, refresh=True)
            watch.keys = keys
            yield watch
            watch.finish()


class LiveView:
    """An engine's observer that keeps what it has seen, and draws it: a line for each curve, the past at the left."""

    def __init__(self, label: str, workload: Workload, console: Console, pace: float | None = None) -> None:
        self.label, self.console, self.pace = label, console, pace
        self.jobs = len(workload)
        self.first = int(workload.columns["submit"][0]) if self.jobs else 0
        self.origin = workload.origin
        self.draw: Any = None
        self.keys = Keys(None)
        self.paused = self.over = False
        self.now, self.ended = self.first, 0
        self.history: list[tuple[int, float, int, int]] = []  # time, share used, waiting, running
        self._simulation: Any = None
        self._began = self._drawn = time.perf_counter()
        self._paced = self._began, self.first  # since when, of both times, this pace holds

    def attach(self, simulation: Any) -> None:
        """The simulation to look at; it reports as often as it can, as most runs are over in a moment."""
        self._simulation = simulation
        simulation.every = 0.0

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine: notes the state, waits where a pace was asked for, draws now and then."""
        self.now, self.ended = now_us, ended
        self.history.append((now_us, *self._state()))
        if len(self.history) > 4000:
            del self.history[1::2]
        self._stay()
        if time.perf_counter() - self._drawn >= (_EVERY if self.draw else _LINE):
            self._drawn = time.perf_counter()
            self._show()

    def _stay(self) -> None:
        """Let the run stand still until it may go on: by the pace, and by the keys."""
        most = time.perf_counter() + _MOST
        while not self.over:
            now = time.perf_counter()
            left = min(self._left(now), most - now)
            if not self.keys.live:
                time.sleep(max(0.0, left))
                return
            if key := self.keys.wait(_MOST if self.paused else left):
                self._press(key)
            elif left <= 0 and not self.paused:
                return

    def _left(self, now: float) -> float:
        """Seconds until this moment of the run is due."""
        if self.pace is None:
            return 0.0
        return self._paced[0] + (self.now - self._paced[1]) / SECOND / self.pace - now

    def _press(self, key: str) -> None:
        """Do what a key says."""
        now = time.perf_counter()
        reached = (self.now - self._paced[1]) / SECOND / max(now - self._paced[0], 1e-3)
        if key == PAUSE:
            self.paused = not self.paused
        elif key in (FASTER, SLOWER) and (self.pace or key == SLOWER):
            self.pace = max((self.pace or reached) * (2 if key == FASTER else 0.5), 1e-3)
        elif key == TO_THE_END:
            self.over, self.paused, self.pace = True, False, None
        self._paced = now, self.now
        self._show()

    def finish(self) -> None:
        """Draws the last state, also of a run that was over before anything could be seen."""
        self.over = True
        if self._simulation is not None:
            self.now, self.ended = int(self._simulation.now), int(self._simulation.ended)
            self.history.append((self.now, *self._state()))
        self._show()

    def _state(self) -> tuple[float, int, int]:
        """Share of the cores in use, jobs that wait, jobs that run."""
        clusters = self._simulation.clusters if self._simulation is not None else []
        capacity = sum(cluster.ledger.capacity for cluster in clusters)
        used = capacity - sum(cluster.ledger.free for cluster in clusters)
        waiting = sum(cluster.queue.size for cluster in clusters)
        live = self._simulation.jobs.live if self._simulation is not None else 0
        return (used / capacity if capacity else 0.0), waiting, max(live - waiting, 0)

    def _show(self) -> None:
        if self.draw is not None:
            self.draw(self.picture())
        else:
            self.console.print(self.line(), soft_wrap=True)

    def line(self) -> str:
        """The state in one line, for a pipe."""
        used, waiting, running = self.history[-1][1:] if self.history else (0.0, 0, 0)
        return (
            f"{self.label}: {self._clock()}, {self.ended:,} of {self.jobs:,} jobs done, {100 * used:.0f} % of the "
            f"cores in use, {running:,} running, {waiting:,} waiting, {self._speed()}"
        )

    def picture(self) -> RenderableType:
        """The state as a small table of curves."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        used, waiting, running = self.history[-1][1:] if self.history else (0.0, 0, 0)
        longest = max((sample[2] for sample in self.history), default=0)
        busiest = max((sample[3] for sample in self.history), default=0)
        shares = self._shares()
        told = {
            "jobs": f"{self.ended:,} of {self.jobs:,}",
            "utilization": f"{100 * used:.0f} %",
            "waiting": f"{waiting:,} (at most {longest:,})",
            "running": f"{running:,} (at most {busiest:,})",
        }
        names = min(max(len(name) for name in (*told, *shares)), NAMES)
        width = max(10, min(self.console.width - names - max(map(len, told.values())) - 2 * GAP, 100))
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=False)
        for size in (names, width, None):
            table.add_column(no_wrap=True, overflow="ellipsis", width=size)
        table.add_row("jobs", self._bar(self.ended / self.jobs if self.jobs else 1.0, width), told["jobs"])
        table.add_row("utilization", Text(self._curve(1, 1.0, width), style="cyan"), told["utilization"])
        table.add_row("waiting", Text(self._curve(2, longest, width), style="yellow"), told["waiting"])
        table.add_row("running", Text(self._curve(3, busiest, width), style="green"), told["running"])
        for name, share in shares.items():
            table.add_row(Text(name), self._bar(share, width), f"{100 * share:.0f} %")
        told_first = f"  {self._clock()} · {self._speed()}{' · paused' if self.paused else ''}"
        label = Text(self.label, style="bold", no_wrap=True)
        label.truncate(max(self.console.width - len(told_first), 8), overflow="ellipsis")
        head = Text.assemble(label, told_first, no_wrap=True, overflow="ellipsis")
        if self.over or not self.keys.live:
            return Group(head, table)
        return Group(head, table, Text(HELP, style="dim", no_wrap=True, overflow="ellipsis"))

    def _shares(self) -> dict[str, float]:
        """The share of each cluster that is in use, where there are several."""
        clusters = self._simulation.clusters if self._simulation is not None else []
        used = {one.name: 1 - one.ledger.free / max(one.ledger.capacity, 1) for one in clusters}
        return used if len(used) > 1 else {}

    def _curve(self, column: int, top: float, width: int) -> str:
        """The past of one figure in so many letters, each the mean of its part of the time so far."""
        levels = BLOCKS if "utf" in self.console.encoding.lower() else PLAIN
        sums, counts = [0.0] * width, [0] * width
        span = max(self.now - self.first, 1)
        for sample in self.history:
            index = min(max((sample[0] - self.first) * width // span, 0), width - 1)
            sums[index] += float(sample[column])
            counts[index] += 1
        letters, value = [], 0.0
        for total, count in zip(sums, counts, strict=True):
            value = total / count if count else value
            share = min(value / top, 1.0) if top else 0.0
            letters.append(levels[0 if share <= 0 else max(1, round(share * (len(levels) - 1)))])
        return "".join(letters)

    def _bar(self, share: float, width: int) -> str:
        full = "█" if "utf" in self.console.encoding.lower() else "#"
        return full * round(min(max(share, 0.0), 1.0) * width)

    def _clock(self) -> str:
        passed = f"{format_duration(seconds(max(self.now - self.first, 0)))} simulated"
        if self.origin.epoch is None:
            return passed
        return f"{show_date(self.origin.epoch + seconds(self.now), self.origin.timezone)} · {passed}"

    def _speed(self) -> str:
        elapsed = max(time.perf_counter() - self._began, 1e-9)
        return f"{self.ended / elapsed:,.0f} jobs/s"
