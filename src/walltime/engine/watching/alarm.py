"""An instant at a time at which nothing happens, for those that look."""

from __future__ import annotations

from walltime.core.time import NEVER
from walltime.kernel.source import Source


class Alarm(Source):
    """Nothing happens at these times, but there is an instant, at which observers look."""

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self.times = sorted(times, reverse=True)
        self.next = self.times[-1] if self.times else NEVER

    def fire(self, now: int) -> None:
        while self.times and self.times[-1] <= now:
            self.times.pop()
        self.next = self.times[-1] if self.times else NEVER
