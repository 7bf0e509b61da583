"""How fast is the slurm engine? The large cases, which take minutes each; `make bench` measures small ones.

python tools/slurm_speed.py linear      the seed's case: 3,000 jobs, 1,000 nodes of 4 cpus, load 0.9, select/linear
python tools/slurm_speed.py cons_tres   the same with select/cons_tres
python tools/slurm_speed.py quiet       one job, ten nodes, a day
python tools/slurm_speed.py edison      5,576 nodes of 24 cores, a day of 2,000 jobs
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse
from walltime.slurm import engine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.case_slurm import DAY, seed_jobs

EVERY = 6 * 3600
"""Simulated seconds between two lines of the table: how the speed changes as the queue grows and shrinks."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("linear", "cons_tres", "quiet", "edison"))
    parser.add_argument("--jobs", type=int, default=3000, help="of the seed's case")
    measure(*make_case(*vars(parser.parse_args()).values()))


def make_case(case: str, count: int) -> tuple[Scenario, Workload]:
    """The scenario and its jobs; backfilling as Slurm has it by default, and at Edison as its operators had it."""
    sharing, nodes, parameters = "shared", "1000x4", "bf_continue"
    until = None
    if case == "quiet":
        jobs, nodes = Workload.from_columns(submit=[0], run_time=[DAY], requested_time=[DAY + 600], cores=[4]), "10x4"
    elif case == "edison":
        jobs = seed_jobs(2000, 5576, days=1.0, load=0.8)
        jobs = jobs.replace(jobs.columns | {"cores": jobs.column("nodes") * 24})
        sharing, nodes, parameters, until = "whole", "5576x24", "bf_continue,bf_max_job_test=50,bf_interval=30", DAY
    else:
        jobs = seed_jobs(count)
        sharing = "whole" if case == "linear" else "shared"
    data: dict[str, Any] = {
        "workload": {"table": jobs},
        "engine": "slurm",
        "until": until,
        "cluster": {"nodes": nodes, "sharing": sharing, "scheduler": {"backfill": "conservative"}},
        "slurm": {"settings": {"SchedulerParameters": parameters}},
    }
    return parse(data), jobs


class Table:
    """A line of figures now and then while the simulation runs."""

    def __init__(self) -> None:
        self.run: engine.Run | None = None
        self.began = time.perf_counter(), time.process_time()
        self.told = 0

    def progress(self, now: int, submitted: int, ended: int) -> None:
        """As a simulation calls it."""
        if self.run is None or now // SECOND < self.told + EVERY:
            return
        self.told = now // SECOND // EVERY * EVERY
        self.tell(now / SECOND, submitted, ended)

    def tell(self, simulated: float, submitted: int, ended: int) -> None:
        assert self.run is not None
        wall, own = time.perf_counter() - self.began[0], time.process_time() - self.began[1]
        spent = self.run.controller.cpu_seconds()
        print(f"{simulated:9.0f} s simulated, {submitted:5d} jobs in, {ended:5d} out: wall {wall:7.1f} s "
              f"({simulated / wall:7.0f} x), controller's CPU {spent:7.1f} s ({simulated / max(spent, 0.01):7.0f} x), "
              f"ours {own:6.2f} s ({own / max(spent, 0.01):5.1%})", flush=True)  # fmt: skip


def measure(scenario: Scenario, jobs: Workload) -> None:
    """Run it, with figures on the way and at the end."""
    table = Table()
    table.run = engine.start(engine.make_site(scenario), jobs, table)
    with table.run.controller:
        until = None if scenario.until is None else table.run.base + int(scenario.until) * SECOND
        table.run.simulation.run(until)
        simulation = table.run.simulation
        table.tell((simulation.link.now - table.run.base) / SECOND, len(jobs), simulation.left)
        print(table.run.controller.count())


if __name__ == "__main__":
    main()
