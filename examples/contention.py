"""How much does a stencil lose to the network? It depends on its nodes, and on what runs beside it.

Eight nodes hang on two switches; what goes from one switch to the other shares a thin link. A job has four nodes: it
computes for a second, then each of its nodes exchanges its border with its two neighbours, fifty times over. Beneath
one switch it never meets another job. Half beneath each, it crosses the thin link, and two such jobs slow each other
down. A policy that names nodes places them.

    python examples/contention.py
"""

from __future__ import annotations

import walltime
from walltime import Policy
from walltime.programs.profiles import write_out

STEPS, BORDER = 50, 1e8
NETWORK = {
    "type": "tree",
    "levels": [{"size": 4, "bandwidth": 1e9}, {"size": 2, "bandwidth": 2.5e8}],
}
STENCIL = write_out(
    "sequence",
    repeat=STEPS,
    profiles=[
        {"type": "compute-homogenous", "args": {"compute_work": 8e9}},
        {
            "type": "communication-matrix",
            "args": {"matrix": [[BORDER if (i - j) % 4 in (1, 3) else 0 for j in range(4)] for i in range(4)]},
        },
    ],
)
PLACES = {"one switch": [[0, 1, 2, 3], [4, 5, 6, 7]], "half and half": [[0, 1, 4, 5], [2, 3, 6, 7]]}


class Named(Policy):
    """Each job on the nodes that are meant for it."""

    def __init__(self, places: list[list[int]]) -> None:
        super().__init__()
        self.places = places

    def schedule(self, p) -> None:
        for slot in p.waiting():
            nodes = self.places[p.job(slot).job_id - 1]
            if p.fits_on(slot, nodes):
                p.start_on(slot, nodes)


def measure(places: list[list[int]], jobs: int) -> float:
    """The mean run time of so many jobs that start together."""
    workload = walltime.Workload.from_columns(
        submit=[0] * jobs,
        run_time=[None] * jobs,
        requested_time=[36_000] * jobs,
        cores=[32] * jobs,
        nodes=[4] * jobs,
        profile=[STENCIL] * jobs,
    )
    cluster = {"nodes": "8x8", "network": NETWORK, "scheduler": {"backfill": Named(places)}}
    result = walltime.simulate(
        {"workload": {"table": workload}, "cluster": cluster, "execution": {"model": "programs"}}
    )
    return float((result.jobs["end"] - result.jobs["start"]).mean())


def main() -> None:
    """A table."""
    print(f"{'run time in seconds':24}{'alone':>10}{'of two':>10}")
    for name, places in PLACES.items():
        print(f"{name:24}{measure(places, 1):>10.1f}{measure(places, 2):>10.1f}")


if __name__ == "__main__":
    main()
