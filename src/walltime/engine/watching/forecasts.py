"""When a waiting job would start, as far as the requests tell; and what was foreseen for each job when it came."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from walltime.core.time import NEVER, SECOND
from walltime.engine.recording.recorder import NOWHERE
from walltime.kernel.jobs import State
from walltime.kernel.source import Engine, Observer

MOST_PLANNED = 5_000
"""Jobs before the one in question that a prediction plans at the most."""


def find_domain(engine: Any, slot: int) -> Any:
    """Where the job waits; None before a broker has sent it anywhere."""
    jobs = engine.jobs
    if jobs.position[slot] == -1:
        return None
    home = int(jobs.cluster[slot])
    if home == NOWHERE:
        return None
    domains = engine.clusters[home].domains
    return domains[int(jobs.domain[slot]) if len(domains) > 1 else 0]


def find_ahead(engine: Any, domain: Any, slot: int) -> list[int]:
    """The jobs that wait in the domain before this one, which waits there too; those at a limit as well, in order."""
    jobs, lines = engine.jobs, domain.lines
    mine = jobs.state[: jobs.size] == State.WAITING
    mine &= jobs.cluster[: jobs.size] == jobs.cluster[slot]
    mine &= jobs.position[: jobs.size] != -1
    if lines is not None:
        mine &= jobs.domain[: jobs.size] == jobs.domain[slot]
    slots = np.flatnonzero(mine)
    lanes = jobs.lane[slots]
    tiers = np.zeros(len(slots), np.int64)
    for lane in np.unique(lanes).tolist() if lines is not None else ():
        tiers[lanes == lane] = lines.lane_tier(lane)
    slots = slots[np.lexsort((jobs.seq[slots], jobs.key[slots], tiers))]
    before: list[int] = slots[: int(np.argmax(slots == slot))].tolist()
    return before


def foresee(engine: Any, domain: Any, slot: int, ahead: list[int]) -> int | None:
    """When a waiting job would start if no more jobs came and estimates were true, as a broker would be told, and not
    before its limits let it in; of those ahead, in their order, the ones that a limit refuses are left out. None with
    too many, or where it would not."""
    if len(ahead) > MOST_PLANNED:
        return None
    lines = domain.lines
    before = [other for other in ahead if lines is None or lines.refuser(other) < 0]
    start = engine.clusters[int(engine.jobs.cluster[slot])].predict_behind(slot, before, int(engine.now))
    start = max(start, find_opening(engine, lines, slot))
    return None if start >= NEVER else int(start)


def find_opening(engine: Any, lines: Any, slot: int) -> int:
    """From when on a job's limits let it in, as far as expected ends tell; now for one with a choice of queues."""
    jobs, now = engine.jobs, int(engine.now)
    if lines is None or lines.quotas is None or int(jobs.choice[slot]) >= 0 or lines.refuser(slot) < 0:
        return now
    running = np.flatnonzero((jobs.holding[: jobs.size] == 1) & (jobs.cluster[: jobs.size] == jobs.cluster[slot]))
    running = running[np.argsort(jobs.expected_end[running], kind="stable")]
    return int(lines.quotas.lets_in(slot, running.tolist()))


class ForecastRecorder(Observer):
    """Notes for each job what was foreseen at the instant at which it began to wait: its promise, where it has one,
    else when it would start behind those before it. In microseconds, by the number of the job.

    Under a rhythm only a job that comes at the very instant of a pass could have a promise by then. Such promises are
    left out, so that plans of all jobs are alike, and so that no cycle need plan further than what starts."""

    deaf = True

    def __init__(self) -> None:
        self.planned: dict[int, int] = {}
        self.fresh: list[tuple[int, int]] = []

    def moved(self, engine: Any, slot: int, before: int, after: int) -> None:
        if after == State.WAITING and (job := int(engine.jobs.job_id[slot])) not in self.planned:
            self.fresh.append((slot, job))

    def settled(self, engine: Engine) -> None:
        if not self.fresh:
            return
        fresh, self.fresh = self.fresh, []
        for slot, job in fresh:
            if job not in self.planned and (start := self._foresee(engine, slot)) is not None:
                self.planned[job] = start

    def _foresee(self, engine: Any, slot: int) -> int | None:
        jobs = engine.jobs
        if int(jobs.state[slot]) == State.RUNNING:
            return int(jobs.start[slot])
        domain = find_domain(engine, slot) if int(jobs.state[slot]) == State.WAITING else None
        if domain is None:
            return None
        if domain.rhythm is None and int(jobs.promise[slot]) >= 0:
            return int(jobs.promise[slot])
        return foresee(engine, domain, slot, find_ahead(engine, domain, slot))

    def table(self) -> pl.DataFrame:
        """`job_id` and `planned`, in seconds."""
        planned = np.array(list(self.planned.values()), np.int64) / SECOND
        return pl.DataFrame({"job_id": list(self.planned), "planned": planned}, {"job_id": pl.Int64, "planned": float})
