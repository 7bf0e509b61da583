"""Real processes beside simulated ones: python -m benchmarks.processes [JOBS]

Jobs of one or two tasks burn cpu time on two cores of this machine, each task pinned to a core, round robin, as a job's
tasks are placed in the simulation. They are submitted with exponential gaps. A task watches its own cpu time, so that
it does exactly its work however long that takes; in lock step the tasks of a job meet at a barrier after each step, as
master and slaves at the start and the end. What else runs on the machine is in the measured times: the share of the two
cores that others had meanwhile is told.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from typing import Any

import numpy as np

import walltime
from walltime.workload.distributions import parse_distribution
from walltime.workload.synthesis.mix import JobType, synthesise

STEP = 0.05
PROFILES = ("sequential", "lock-step", "master-slave")


def burn(core: int, work: float, step: float, barrier: Any, meets: bool, ended: Any) -> None:
    """One task: cpu seconds of work, in steps between meetings."""
    os.sched_setaffinity(0, {core})
    if meets and step >= work:
        barrier.wait()
    begun, done = time.process_time(), 0.0
    while done < work:
        done = min(work, done + step)
        while time.process_time() - begun < done:
            pass
        if meets:
            barrier.wait()
    ended.put(time.monotonic())


def run_real(jobs: walltime.Workload, profile: str, cores: list[int]) -> np.ndarray:
    """The turnaround of each job, in seconds."""
    began, following, running = time.monotonic(), 0, []
    for submit, work, tasks in zip(*(jobs.column(name) for name in ("submit", "run_time", "cores")), strict=True):
        time.sleep(max(0.0, began + submit / 1e6 - time.monotonic()))
        barrier, ended = multiprocessing.Barrier(int(tasks)), multiprocessing.SimpleQueue()
        step = STEP if profile == "lock-step" else work / 1e6
        processes = []
        for _ in range(tasks):
            meets = profile != "sequential" and tasks > 1
            given = (cores[following % len(cores)], work / 1e6, step, barrier, meets, ended)
            processes.append(multiprocessing.Process(target=burn, args=given))
            following += 1
        submitted = time.monotonic()
        for process in processes:
            process.start()
        running.append((submitted, processes, ended))
    turnaround = []
    for submitted, processes, ended in running:
        for process in processes:
            process.join()
        turnaround.append(max(ended.get() for _ in processes) - submitted)
    return np.array(turnaround)


def run_simulated(jobs: walltime.Workload, profile: str, cores: list[int]) -> np.ndarray:
    """The same jobs on as many nodes of one core."""
    result = walltime.simulate(
        jobs,
        policy={"order": "fcfs", "backfill": "none", "place": "round-robin"},
        cluster__nodes={"count": len(cores), "cores": 1, "max_load": 100},
        execution__model={"name": "time-shared", "quantum": 0.004, "tasks": profile, "step": STEP},
    )
    return (result.jobs["end"] - result.jobs["submit"]).to_numpy()


def others(before: os.times_result, ticks: list[int], cores: list[int]) -> float:
    """The share of these cores that was not idle and not ours."""
    now, after = os.times(), idle(cores)
    span = (now.elapsed - before.elapsed) * len(cores)
    ours = sum(now[:4]) - sum(before[:4])
    return 1 - ours / span - (after[0] - ticks[0]) / os.sysconf("SC_CLK_TCK") / span


def idle(cores: list[int]) -> list[int]:
    """Idle ticks of the cores, together."""
    with open("/proc/stat", encoding="ascii") as file:
        lines = [line.split() for line in file]
    return [sum(int(line[4]) + int(line[5]) for line in lines if line[0] in {f"cpu{core}" for core in cores})]


def main() -> None:
    """A table: measured, simulated, and by how much they differ."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    cores = sorted(os.sched_getaffinity(0))[:2]
    kinds = [
        JobType(
            "job",
            parse_distribution({"name": "exponential", "mean": 0.4}),
            parse_distribution({"name": "empirical", "values": [1, 2]}),
        )
    ]
    jobs = synthesise(parse_distribution({"name": "exponential", "mean": 0.6}), kinds, jobs=count, seed=1)
    print(
        f"{'':14}{'measured':>10}{'simulated':>11}{'deviation':>11}{'others had':>12}   (mean turnaround, {count} jobs)"
    )
    for profile in PROFILES:
        before, ticks = os.times(), idle(cores)
        measured = run_real(jobs, profile, cores)
        busy = others(before, ticks, cores)
        simulated = run_simulated(jobs, profile, cores)
        deviation = measured.mean() / simulated.mean() - 1
        print(f"{profile:14}{measured.mean():9.3f}s{simulated.mean():10.3f}s{deviation:+11.1%}{busy:12.0%}", flush=True)


if __name__ == "__main__":
    main()
