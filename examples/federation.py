"""Two sites join: does a global scheduler help, and which broker?

Each site has its own users. Apart, a job runs where its user is at home; together, a broker sends it anywhere.

python examples/federation.py
"""

from __future__ import annotations

import numpy as np

import walltime
from walltime.core.time import format_duration
from walltime.core.workload import Workload
from walltime.workload.generate import generate

CLUSTERS = [
    {"name": "north", "cores": 64},
    {"name": "south", "nodes": {"count": 16, "cores": 4, "speed": 1.5}, "scheduler": {"backfill": "conservative"}},
]


def two_sites() -> Workload:
    """A busy site and a quiet one; the group says whose job it is."""
    busy, quiet = generate(1500, 64, 0.95, seed=1), generate(800, 64, 0.5, seed=2)
    columns = {
        name: np.concatenate([busy.column(name), quiet.column(name)])
        for name in ("submit", "run_time", "requested_time", "cores")
    }
    columns["group"] = np.repeat(np.array([0, 1], np.int32), [len(busy), len(quiet)])
    order = np.argsort(columns["submit"], kind="stable")
    return Workload({name: values[order] for name, values in columns.items()}, {"group": ["north", "south"]})


def main() -> None:
    """A line for each way of sharing."""
    jobs = two_sites()
    home = [{"groups": [name], "clusters": [name]} for name in ("north", "south")]
    ways = {
        "apart": {"name": "first", "bind": home},
        "random": "random",
        "least loaded": "least-loaded",
        "earliest start": "earliest-start",
        "held globally": {"name": "fastest", "hold": True},
        "moving on": {"name": "round-robin", "migrate": {"every": "10m", "gain": "5m"}},
    }
    print(f"{'':22}{'mean wait':>12}{'north':>12}{'south':>12}{'moves':>8}")
    for label, broker in ways.items():
        result = walltime.simulate({"workload": jobs, "clusters": CLUSTERS, "broker": broker})
        waits = [result.jobs.filter(result.jobs["group"] == name)["wait"].mean() for name in ("north", "south")]
        each = [format_duration(wait) for wait in waits]
        moves = result.record.facts.get("migrations", 0)
        print(f"{label:22}{format_duration(result.summary['mean_wait']):>12}{each[0]:>12}{each[1]:>12}{moves:>8}")


if __name__ == "__main__":
    main()
