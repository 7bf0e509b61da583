"""A simulation that begins in the middle: jobs that run already are placed, and nothing is decided before a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND
from walltime.kernel.jobs import State
from walltime.kernel.source import Source
from walltime.policy.api import Pass, Policy, Rhythm


class WarmStart(Rhythm):
    """No pass before `time`; from then on another rhythm's passes, or one whenever something has happened."""

    def __init__(self, time: int, inner: Rhythm | None) -> None:
        super().__init__()
        self.time = time
        self.inner = inner
        self.opened = False
        self.replans = inner is not None and inner.replans
        self.asks_limits = inner is not None and inner.asks_limits

    def attach(self, policy: Policy, ageing: bool, lanes: Any = None) -> None:
        super().attach(policy, ageing, lanes)
        if self.inner is not None:
            self.inner.attach(policy, ageing, lanes)

    def keeps_promises(self, policy: Policy) -> bool:
        return policy.plans if self.inner is None else self.inner.keeps_promises(policy)

    def set_partitions(self, masks: Any) -> None:
        if self.inner is not None:
            self.inner.set_partitions(masks)

    def set_arrays(self, arrays: Any) -> None:
        if self.inner is not None:
            self.inner.set_arrays(arrays)

    def idle(self, now: int, causes: int) -> None:
        if self.inner is not None:
            self.inner.idle(now, causes)

    def overlooks(self) -> bool:
        return self.inner is not None and self.inner.overlooks()

    def due(self, now: int, causes: int) -> bool:
        if now < self.time:
            return False
        return bool(causes) if self.inner is None or not self.opened else self.inner.due(now, causes)

    def schedule(self, p: Pass) -> None:
        if self.inner is None:
            self.policy.schedule(p)
        else:
            self.inner.schedule(p)
        self.opened = True
        self.forgets = self.inner is not None and self.inner.forgets

    def next(self, now: int, causes: int) -> int:
        if now < self.time:
            return self.time
        return NEVER if self.inner is None else self.inner.next(now, causes)


class Placements(Source):
    """Starts the jobs that run already at the times at which they started."""

    def __init__(self, started: Any) -> None:
        super().__init__()
        rows = np.flatnonzero(started >= 0)
        self.plan = sorted(((int(started[row]), int(row)) for row in rows), reverse=True)
        self.next = self.plan[-1][0] if self.plan else NEVER

    def fire(self, now: int) -> None:
        jobs: Any = self.engine.jobs
        while self.plan and self.plan[-1][0] <= now:
            row = self.plan.pop()[1]
            found = np.flatnonzero((jobs.row[: jobs.size] == row) & (jobs.state[: jobs.size] == int(State.WAITING)))
            if not len(found):
                raise InputError(
                    "a job that runs already is refused by a rule of the scenario, or was cancelled before: "
                    + "; ".join(getattr(self.engine, "reasons", ())),
                    value=f"job {row + 1} in order of submission",
                )
            if not self.engine.start_as_running(int(found[0])):  # type: ignore[attr-defined]
                raise InputError(
                    "the jobs that run already do not all fit the cluster; the first without room "
                    f"(at {now / SECOND:g} s)",
                    value=int(jobs.job_id[int(found[0])]),
                )
        self.next = self.plan[-1][0] if self.plan else NEVER
