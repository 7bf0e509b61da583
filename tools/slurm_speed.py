"""How fast is the slurm engine? The large cases, which take minutes each; `make bench` measures small ones.

python tools/slurm_speed.py linear      the seed's case: 3,000 jobs, 1,000 nodes of 4 cpus, load 0.9, select/linear
python tools/slurm_speed.py cons_tres   the same with select/cons_tres
python tools/slurm_speed.py quiet       one job, ten nodes, a day
python tools/slurm_speed.py edison      5,576 nodes of 24 cores, a day of 2,000 jobs
python tools/slurm_speed.py gpus        400 nodes of 32 cores and 4 GPUs, a day of 2,000 jobs on which a queue forms
python tools/slurm_speed.py backlog     a full machine and a queue that does not move, 300 s of it: a row for each size,
                                        with a digest of what the controller expects of every job
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from pathlib import Path
from typing import Any

from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse
from walltime.slurm import engine
from walltime.slurm.diagnostics import summarise
from walltime.slurm.paused import Frozen
from walltime.slurm.translate.site import make_site

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.case_slurm import DAY, seed_jobs

EVERY = 6 * 3600
"""Simulated seconds between two lines of the table: how the speed changes as the queue grows and shrinks."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("linear", "cons_tres", "quiet", "edison", "gpus", "backlog"))
    parser.add_argument("--jobs", type=int, default=3000, help="of the seed's case")
    parser.add_argument("--sizes", default="1000x100,1000x400,5000x100", help="of the backlog: nodes and waiting jobs")
    parser.add_argument("--release", help="of Slurm")
    options = parser.parse_args()
    if options.case == "backlog":
        for size in options.sizes.split(","):
            nodes, queue = map(int, size.split("x"))
            for sharing in ("whole", "shared"):
                measure_backlog(nodes, queue, sharing, options.release)
    else:
        measure(*make_case(options.case, options.jobs))


def make_case(case: str, count: int) -> tuple[Scenario, Workload]:
    """The scenario and its jobs; backfilling as Slurm has it by default, and at Edison as its operators had it."""
    sharing, parameters = "shared", "bf_continue"
    nodes: Any = "1000x4"
    until = None
    if case == "quiet":
        jobs, nodes = Workload.from_columns(submit=[0], run_time=[DAY], requested_time=[DAY + 600], cores=[4]), "10x4"
    elif case == "edison":
        jobs = seed_jobs(2000, 5576, days=1.0, load=0.8)
        jobs = jobs.replace(jobs.columns | {"cores": jobs.column("nodes") * 24})
        sharing, nodes, parameters, until = "whole", "5576x24", "bf_continue,bf_max_job_test=50,bf_interval=30", DAY
    elif case == "gpus":
        jobs, nodes, until = make_cards(2000, 400), [{"count": 400, "cores": 32, "gpus": 4}], DAY
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


def make_cards(count: int, nodes: int, load: float = 1.15) -> Workload:
    """A day of jobs with GPUs, eight cores with each, that ask for more than the machine has: a queue forms."""
    draw = random.Random(count + nodes)
    cards = [draw.choice([1, 1, 1, 2, 4, 4, 8, 16, 32, 64]) for _ in range(count)]
    run = [min(draw.lognormvariate(8.5, 1.2), 2 * DAY) for _ in range(count)]
    stretch = load * DAY * 4 * nodes / sum(k * t for k, t in zip(cards, run, strict=True))
    length = [round(t * stretch) + 1 for t in run]
    return Workload.from_columns(
        submit=sorted(draw.randrange(DAY) for _ in range(count)),
        run_time=length,
        requested_time=[60 * (int(t * draw.choice([1.1, 1.5, 2, 4])) // 60 + 1) for t in length],
        cores=[8 * k for k in cards],
        nodes=[-(-k // 4) for k in cards],
        gpus=cards,
    )


BACKLOG = 300
"""Simulated seconds of a backlog that are measured, after a minute in which the machine has filled."""


def make_backlog(nodes: int, queue: int) -> Workload:
    """Jobs of ten nodes that fill the machine until long after the end, and a queue of all sizes behind them."""
    draw = random.Random(nodes + queue)
    full = nodes // 10
    sizes = [10] * full + [draw.choice([1, 2, 4, 8, 16, 32, 64]) for _ in range(queue)]
    hours = [draw.randrange(2, 40) for _ in range(full + queue)]
    return Workload.from_columns(
        submit=[0] * full + [20] * queue,
        run_time=[3600 * hour for hour in hours],
        requested_time=[3600 * hour + 60 * draw.randrange(120) for hour in hours],
        cores=[4 * size for size in sizes],
        nodes=sizes,
    )


def measure_backlog(nodes: int, queue: int, sharing: str, release: str | None) -> None:
    """One row: simulated seconds for a second of the controller's computing, and what it expects of every job."""
    jobs = make_backlog(nodes, queue)
    data: dict[str, Any] = {
        "workload": {"table": jobs},
        "engine": "slurm",
        "cluster": {"nodes": f"{nodes}x4", "sharing": sharing, "scheduler": {"backfill": "conservative"}},
        "slurm": {"settings": {"SchedulerParameters": f"bf_continue,bf_max_job_test={queue}"}, "release": release},
    }
    scenario = parse(data)
    run = engine.start(make_site(scenario), jobs, options=engine.choose_options(scenario))
    with run.controller:
        run.simulation.run(run.base + 60 * SECOND)
        before = run.controller.cpu_seconds()
        run.simulation.run(run.base + (60 + BACKLOG) * SECOND)
        spent = run.controller.cpu_seconds() - before
        asker = Frozen(run)
        expected = asker.ask("squeue -h -o '%i %T %S %N %e' --sort=i")
        asker.close()
        counts = run.controller.count()
        cycles = summarise([Frozen(run, folder="figures").ask("sdiag")], timed=False)["backfill"]["cycles"]
    digest = hashlib.sha256(expected.encode()).hexdigest()[:12]
    print(f"{nodes:5d} nodes, {queue:4d} waiting, {sharing:6s}: {spent:6.2f} s of CPU, {BACKLOG / spent:7.1f} "
          f"simulated seconds for each, {cycles} backfill passes, {digest}, "
          f"{counts['known']} of {counts['asked']} answers known", flush=True)  # fmt: skip


class Table:
    """A line of figures now and then while the simulation runs."""

    def __init__(self) -> None:
        self.run: engine.ControllerRun | None = None
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
    table.run = engine.start(make_site(scenario), jobs, table)
    with table.run.controller:
        until = None if scenario.until is None else table.run.base + int(scenario.until) * SECOND
        table.run.simulation.run(until)
        simulation = table.run.simulation
        table.tell((simulation.link.now - table.run.base) / SECOND, len(jobs), simulation.left)
        print(table.run.controller.count())


if __name__ == "__main__":
    main()
