"""What a scheduler plans over time: the start, and the nodes, of every waiting job whenever they change."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import PLANS
from walltime.core.time import SECOND
from walltime.kernel.source import Engine, Observer
from walltime.policy.views import find_ledger


class PlanRecorder(Observer):
    """Notes every promise that a policy makes: when, for which job, for when, and which nodes if it names them."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, str | None]] = []
        self.latest: dict[int, tuple[int, str | None]] = {}

    def promised(self, engine: Engine, slot: int, time: int) -> None:
        """A policy that looks at a job twice in one pass means the last."""
        running: Any = engine
        job = int(running.jobs.job_id[slot])
        cluster = running.clusters[int(running.jobs.cluster[slot])]
        domain = int(running.jobs.domain[slot]) if len(cluster.domains) > 1 else 0
        nodes = _name_nodes(find_ledger(cluster.domains[domain].view), slot)
        if self.latest.get(job) == (time, nodes):
            return
        self.latest[job] = time, nodes
        if self.rows and self.rows[-1][:2] == (running.now, job):
            self.rows.pop()
        self.rows.append((running.now, job, time, nodes))

    def table(self) -> pl.DataFrame:
        """A row for each change, in order of time."""
        columns: Any = list(zip(*self.rows, strict=True)) or [[], [], [], []]
        named = dict(zip(PLANS, columns, strict=True))
        times = {name: np.array(named[name], np.int64) / SECOND for name in ("time", "planned")}
        return pl.DataFrame(named | times, schema=PLANS).unique(["time", "job_id"], keep="last", maintain_order=True)


def _name_nodes(ledger: Any, slot: int) -> str | None:
    """The numbers of the nodes that are kept for the job, as `0-3,7`; None where any serve."""
    kept = getattr(ledger, "kept_for", None)
    numbers = [] if kept is None else [node for node, _ in kept(slot) if node < ledger.n]
    if not numbers:
        return None
    edges = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = [0, *(edges + 1)], [*edges, len(numbers) - 1]
    runs = [(numbers[first], numbers[last]) for first, last in zip(firsts, lasts, strict=True)]
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs)
