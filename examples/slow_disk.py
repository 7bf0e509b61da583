"""What does one slow disk do to a master and its workers? It depends on how the work is handed out.

Four workers have forty tasks. A task reads a gigabyte from the disk of its worker and computes for a second. One of the
disks is ten times slower. Divided beforehand, all wait for the worker with the slow disk; handed out one by one, it
gets fewer tasks.

    python examples/slow_disk.py
"""

from __future__ import annotations

import walltime
from walltime.programs import Profile, gather, register
from walltime.programs.profiles import write_out

TASKS, DATA, WORK = 40, 1e9, 8e9


class Farm(Profile):
    """Process 0 is the master; the others work."""

    def __init__(self, handed_out: str) -> None:
        self.handed_out = handed_out

    async def run(self, processes) -> None:
        master, *workers = processes
        if self.handed_out == "beforehand":
            await gather(*(self.work(worker, [None] * (TASKS // len(workers))) for worker in workers))
        else:
            tasks = [None] * TASKS
            await gather(*(self.work(worker, tasks) for worker in workers))
        await master.compute(WORK)

    async def work(self, worker, tasks) -> None:
        """Take tasks from the list until it is empty."""
        while tasks:
            tasks.pop()
            await worker.read(DATA)
            await worker.compute(WORK)


def measure(handed_out: str, slow: float) -> float:
    """The run time of the job where the last node's disk has so many bytes a second."""
    workload = walltime.Workload.from_columns(
        submit=[0],
        run_time=[None],
        requested_time=[3600],
        cores=[40],
        nodes=[5],
        profile=[write_out("farm", handed_out=handed_out)],
    )
    disks = [{"capacity": "1T", "read": read, "write": 1e9} for read in (1e9, slow)]
    nodes = [{"count": 4, "cores": 8, "disk": disks[0]}, {"count": 1, "cores": 8, "disk": disks[1]}]
    result = walltime.simulate(
        {"workload": {"table": workload}, "cluster": {"nodes": nodes}, "execution": {"model": "programs"}}
    )
    return float(result.jobs["end"][0])


def main() -> None:
    """A table."""
    register("farm", Farm)
    print(f"{'run time in seconds':24}{'all fast':>10}{'one slow':>10}")
    for way in ("beforehand", "one by one"):
        print(f"{way:24}{measure(way, 1e9):>10.1f}{measure(way, 1e8):>10.1f}")


if __name__ == "__main__":
    main()
