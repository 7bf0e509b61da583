"""How many more cores would halve the mean wait?

An administrator's question. The machine grows node by node until the mean wait, over several runs that differ by noise
alone, is half of what it is today.

    python examples/what_if_bigger_machine.py
"""

from __future__ import annotations

from statistics import mean

import walltime
from walltime.core.time import format_duration
from walltime.workload.generate import generate
from walltime.workload.transform import shake

NODE = 16  # cores of a node
NODES = 12  # of today's machine
RUNS = 5
MOST = 2 * NODES


def main() -> None:
    jobs = generate(jobs=2000, cores=NODES * NODE, load=0.9, seed=3)
    # Today's jobs, shaken: every size of the machine is judged by the same five workloads.
    workloads = [shake(jobs, 3600, seed) for seed in range(RUNS)]

    def mean_wait(nodes: int) -> float:
        results = (walltime.simulate(workload, nodes=(nodes, NODE), policy="easy") for workload in workloads)
        return mean(result.summary["mean_wait"] for result in results)

    today = mean_wait(NODES)
    print(f"{NODES} nodes of {NODE} cores: mean wait {format_duration(today)}")
    for nodes in range(NODES + 1, MOST + 1):
        wait = mean_wait(nodes)
        print(f"{nodes} nodes: mean wait {format_duration(wait)} ({wait / today - 1:+.0%})")
        if wait <= today / 2:
            more = nodes - NODES
            print(f"\n{more} more nodes ({more * NODE} cores, {more / NODES:+.0%}) halve the mean wait.")
            return
    print(f"\nTwice the machine is not enough: {MOST} nodes do not halve the mean wait.")


if __name__ == "__main__":
    main()
