"""What does fairness cost in packing? A published sweep: Tetris with fairness from 0 to 1, ten users, forty nodes.

Each user has jobs of one shape, from one core with 15 GB to ten cores with 2 GB; together they want more than the
machine has. At 0 each node takes the job that fills it best, whatever user it is of; at 1 the user with the lowest
dominant share comes first, and a node on which its job does not fit stays idle. Nodes ask for work every 10 s.

    python examples/packing.py                    # fairness 0, 0.1, ... 1: a minute
    python examples/packing.py --part 0.1 0 1     # a tenth of the jobs, two values: seconds
    python examples/packing.py --seeds 20 1       # twenty draws of the jobs: the mean, the lowest and the highest

The published figures are read off the curves of A. Makogon, "A simulator of a computing cluster", Higher School of
Economics, Moscow 2024: the use of cores and memory from 1,000 s to 5,000 s, and when the last job ends.
"""

from __future__ import annotations

import argparse

import numpy as np

import walltime
from walltime.core.random import stream

GB = 1 << 30
NODES = ((20, 100), (20, 60), (10, 80), (5, 50), (25, 20), (10, 30), (15, 15), (20, 10))
"""Cores and GB; five nodes of each."""
USERS = (
    *((1, 5, 1500, 250, 40), (1, 10, 800, 400, 40), (1, 15, 800, 300, 30), (2, 5, 1300, 250, 30)),
    *((2, 6, 1200, 250, 30), (2, 7, 800, 300, 40), (5, 4, 1000, 180, 30), (5, 5, 700, 160, 10)),
    *((7, 5, 200, 800, 200), (10, 2, 400, 220, 30)),
)
"""Cores, GB, how many jobs, the mean of their run times in seconds and its standard deviation."""
PUBLISHED = {0.0: (0.985, 0.99, 10_300), 0.6: (0.95, 0.82, None), 0.8: (0.94, 0.80, None), 1.0: (0.73, 0.61, 14_700)}
"""By fairness: use of cores and of memory, and the makespan in seconds."""


def make_jobs(seed: int, part: float) -> walltime.Workload:
    """Every user submits from 1 s on, with gaps from 1 s to 4 s; run times are normal, and at least a second."""
    columns: dict[str, list] = {name: [] for name in ("submit", "run_time", "cores", "memory_per_node", "user")}
    for number, (cores, memory, count, mean, deviation) in enumerate(USERS):
        random = stream(seed, "packing", number)
        many = round(count * part)
        gaps = random.uniform(1, 4, many)
        columns["submit"] += (1 + np.cumsum(gaps) - gaps[0]).tolist()
        columns["run_time"] += np.maximum(1, random.normal(mean, deviation, many)).tolist()
        columns["cores"] += [cores] * many
        columns["memory_per_node"] += [memory * GB] * many
        columns["user"] += [f"user{number}"] * many
    order = np.argsort(columns["submit"], kind="stable")
    chosen = {name: [values[i] for i in order] for name, values in columns.items()}
    return walltime.Workload.from_columns(**chosen, requested_time=chosen["run_time"], nodes=[1] * len(order))


def simulate(jobs: walltime.Workload, fairness: float) -> walltime.Result:
    """The jobs on the forty nodes; vectors are counted in cores and GB, as in the published sweep."""
    tetris = {"name": "tetris", "fairness": fairness, "every": 10, "scale": {"cores": 1, "memory": "1G"}}
    nodes = [{"count": 5, "cores": cores, "memory": f"{memory}G"} for cores, memory in NODES]
    cluster = {"nodes": nodes, "scheduler": {"backfill": tetris}}
    return walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})


def measure(result: walltime.Result, begin: float, end: float) -> tuple[float, float, float, float]:
    """The use of cores and of memory between two times, the makespan, and how far apart users' dominant shares are: the
    standard deviation over the mean."""
    table = result.jobs
    overlap = np.clip(np.minimum(table["end"], end) - np.maximum(table["start"], begin), 0, None) / (end - begin)
    cores = 5 * sum(cores for cores, _ in NODES)
    memory = 5 * sum(memory for _, memory in NODES)
    shapes = np.array([USERS[int(name[4:])] for name in table["user"]])
    of_cores, of_memory = overlap * shapes[:, 0] / cores, overlap * shapes[:, 1] / memory
    users = table["user"].to_numpy()
    shares = [max(of_cores[users == name].sum(), of_memory[users == name].sum()) for name in np.unique(users)]
    spread = float(np.std(shares) / np.mean(shares))
    return float(of_cores.sum()), float(of_memory.sum()), float(table["end"].max()), spread


def main() -> None:
    """A table, ours beside the published."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fairness", nargs="*", type=float, help="values, by default 0, 0.1, ... 1")
    parser.add_argument("--part", type=float, default=1.0, help="the part of the jobs")
    parser.add_argument("--seeds", type=int, default=1, help="draws of the jobs: mean, lowest and highest")
    given = parser.parse_args()
    values = given.fairness or [round(0.1 * step, 1) for step in range(11)]
    draws = [make_jobs(seed, given.part) for seed in range(given.seeds)]
    window = 1000 * given.part, 5000 * given.part
    print(f"{'fairness':>8}{'':>8}{'cores':>8}{'memory':>8}{'makespan':>10}{'spread':>8}")
    for value in values:
        found = [measure(simulate(jobs, value), *window) for jobs in draws]
        shown = {"mean": np.mean(found, axis=0), "lowest": np.min(found, axis=0), "highest": np.max(found, axis=0)}
        for what, row in shown.items() if given.seeds > 1 else [("", shown["mean"])]:
            cores, memory, makespan, spread = row
            print(f"{value:>8.1f}{what:>8}{cores:>8.3f}{memory:>8.3f}{makespan:>10,.0f}{spread:>8.2f}")
        if given.part == 1 and value in PUBLISHED:
            cores, memory, ends = PUBLISHED[value]
            print(f"{'published':>16}{cores:>8.3f}{memory:>8.3f}" + ("" if ends is None else f"{ends:>10,}"))


if __name__ == "__main__":
    main()
