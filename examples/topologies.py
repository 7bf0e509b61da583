"""What does the network do to a job's run time? The same stencil on three networks, alone and beside others.

Each job has four nodes. In each of its steps it computes for a second, then its nodes exchange what lies on their
borders. Four such jobs fill the machine. On a shared medium they slow each other down; on a star every node has a link
of its own; on the fat tree two nodes share a link to the upper switch.

    python examples/topologies.py
"""

from __future__ import annotations

import walltime
from walltime.programs.profiles import write_out

STEPS, BORDER, LINK = 50, 1e8, {"bandwidth": 1e9, "latency": 1e-6}
NETWORKS = {
    "shared": {"type": "shared", "link": LINK},
    "fat tree": {"type": "fat-tree", "downlink": LINK, "uplink": LINK, "l1_switch_count": 8, "l2_switch_count": 1},
    "star": {"type": "star", "link": LINK},
}
STENCIL = write_out(
    "sequence",
    repeat=STEPS,
    profiles=[
        {"type": "compute-homogenous", "args": {"compute_work": 8e9}},
        {"type": "communication-homogenous", "args": {"size": BORDER}},
    ],
)


def measure(network: dict, jobs: int) -> float:
    """The mean run time of so many jobs that start together."""
    workload = walltime.Workload.from_columns(
        submit=[0] * jobs,
        run_time=[None] * jobs,
        requested_time=[36_000] * jobs,
        cores=[32] * jobs,
        nodes=[4] * jobs,
        profile=[STENCIL] * jobs,
    )
    cluster = {"nodes": "16x8", "network": network}
    result = walltime.simulate(
        {"workload": {"table": workload}, "cluster": cluster, "execution": {"model": "programs"}}
    )
    return float((result.jobs["end"] - result.jobs["start"]).mean())


def main() -> None:
    """A table."""
    print(f"{'run time in seconds':24}{'alone':>10}{'of four':>10}")
    for name, network in NETWORKS.items():
        print(f"{name:24}{measure(network, 1):>10.1f}{measure(network, 4):>10.1f}")
    print(f"{'computing alone':24}{STEPS:>10.1f}{STEPS:>10.1f}")


if __name__ == "__main__":
    main()
