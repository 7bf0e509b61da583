"""A workload for the study: two months of a pool of two kinds of nodes, with the rhythm of days and weeks.

python examples/queue_study/workload.py jobs.parquet
"""

from __future__ import annotations

import sys

import numpy as np

from walltime import Workload
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.workload.formats import write
from walltime.workload.generate import Model, generate

CORES = 544
SMALL_NODE = 12
COMMUNITIES = {"tests": 2 * 3600, "analysis": 24 * 3600, "simulation": 14 * 86_400}
"""Groups of users by the length of most of their jobs, in seconds."""
USERS = 12
"""Users of each group."""


def make_jobs(jobs: int = 6000, load: float = 0.8, seed: int = 11) -> Workload:
    """Jobs that ask for nodes, some for large ones, of users who mostly ask for similar lengths."""
    model = Model(median_run=2400, spread_run=2.0, longest_run=12 * 86_400.0, largest=0.12, killed=0.02)
    made = generate(jobs, CORES, load, seed, model)
    cores, request = made.column("cores"), made.column("requested_time") / SECOND
    random = stream(seed, "queue_study")
    nodes = -(-cores // SMALL_NODE)
    big = (cores > SMALL_NODE) & (cores <= 32) & (random.random(jobs) < 0.5)  # one big node instead of some small ones
    nodes[big] = 1
    home = np.searchsorted(list(COMMUNITIES.values()), request)  # the group whose jobs are of this length
    visitor = random.random(jobs) < 0.2
    home[visitor] = random.integers(0, len(COMMUNITIES), int(visitor.sum()))
    home = np.minimum(home, len(COMMUNITIES) - 1)
    member = np.floor(USERS * random.random(jobs) ** 1.3).astype(np.int64)  # some submit more than others
    kept = {name: made.columns[name] for name in ("job_id", "submit", "run_time", "requested_time", "cores")}
    people = [f"{group}{number + 1}" for group in COMMUNITIES for number in range(USERS)]
    return Workload(
        kept
        | {
            "nodes": nodes,
            "user": home * USERS + member,
            "group": home,
        },
        labels={"user": people, "group": list(COMMUNITIES)},
        source="the queue study",
    )


if __name__ == "__main__":
    write(make_jobs(), sys.argv[1])
