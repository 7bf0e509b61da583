"""How true is the slurm engine? Measurements that take minutes, each a command that prints its figures.

python tools/slurm_fidelity.py real --traces 2 --runs 5     virtual time against the same controller in real time
python tools/slurm_fidelity.py repeat --runs 5              the same trace again and again, on six configurations
python tools/slurm_fidelity.py native                       the six configurations on both engines
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.slurm import engine
from walltime.slurm.associations import make_flat
from walltime.slurm.controller import Controller, Setting
from walltime.slurm.dialect import Request
from walltime.slurm.link import Call, Link
from walltime.slurm.packages import find_installation
from walltime.slurm.simulation import Simulation
from walltime.slurm.site import Node, Site, write_conf
from walltime.slurm.submission import Job, People, make_jobs

LEAD = 10
"""Seconds between a real controller's start and the first submission; each run has one more than the last, because
the backfill scheduler's beat of five seconds has no fixed relation to the users' clock."""


class RealLink(Link):
    """A controller that lives in real time: nothing waits for anybody."""

    @property
    def now(self) -> int:
        return int(time.time() * SECOND)

    def start(self) -> None:
        """Nothing to wait for: the nodes are asked to report when the controller is up."""

    def advance(self, until: int) -> None:
        served = self.served
        while self.now < until and self.served == served:
            self._pump_once(min(0.2, max(0.0, (until - self.now) / SECOND)))

    def call(self, kind: int, body: bytes, user: int = 0) -> Request:
        call: Call = self.send(kind, body, user)
        while call.answer is None:
            self._pump_once(0.2)
        return self.dialect.unpack(call.answer) if call.answer else Request(0, b"", None, 0)


def make_trace(seed: int, jobs: int = 30, nodes: int = 10) -> Workload:
    """A few minutes of short jobs on a small machine, more than it can take at once."""
    draw = random.Random(seed)
    submit, at = [], 0
    for _ in range(jobs):
        at += draw.randrange(0, 6)
        submit.append(at)
    run = [draw.randrange(4, 45) for _ in range(jobs)]
    size = [draw.choice([1, 1, 2, 2, 4, 6, nodes]) for _ in range(jobs)]
    limit = [draw.choice([60, 60, 120]) for _ in range(jobs)]
    return Workload.from_columns(
        submit=submit, run_time=run, requested_time=limit, cores=[4 * n for n in size], nodes=size
    )


def small_site() -> Site:
    """Ten nodes of four cores, backfilling every five seconds so that it matters in a few minutes."""
    return Site(
        "fidelity",
        (
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core",
            "PriorityType=priority/basic",
            "SchedulerType=sched/backfill",
            "SchedulerParameters=bf_interval=5,bf_continue",
            "NodeName=n[1-10] NodeAddr=127.0.0.1 CPUs=4 CoresPerSocket=4 State=UNKNOWN",
            "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        ),
        tuple(Node(f"n{i}", 4, cores=4) for i in range(1, 11)),
    )


def run_real(site: Site, workload: Workload, lead: int) -> list[Job]:
    """The same nodes and users, the same controller, without the library."""
    installation = find_installation()
    base = (int(time.time()) + lead) * SECOND
    people = People(workload.label_names("user"))
    jobs = make_jobs(workload, site, installation.dialect, base, people)
    setting = Setting(conf=write_conf(site), people=people.lines(), virtual=False)
    with Controller(installation, setting) as controller:
        time.sleep(2)
        simulation = Simulation(controller, site, jobs, base, link=RealLink)
        simulation.report_nodes(base - 3 * SECOND)  # a controller that came up slowly may have missed the first time
        simulation.run(base + 3600 * SECOND)
        if any(not job.attempts for job in jobs):
            raise SystemExit(f"a real controller left jobs waiting:\n{controller.log()[-2000:]}")
    return jobs


def run_virtual(site: Site, workload: Workload, warm_up: int = engine.WARM_UP) -> list[Job]:
    started = engine.start(site, workload, options=engine.Options(warm_up=warm_up))
    with started.controller:
        started.simulation.run()
        return started.jobs


def starts(jobs: list[Job]) -> np.ndarray:
    base = jobs[0].submit
    return np.array([(job.attempts[0].start - base) / SECOND for job in jobs])


def compare(first: np.ndarray, second: np.ndarray) -> tuple[float, float, int]:
    """(mean distance of starts, difference of the means, pairs of jobs that start in another order)."""
    order = np.sign(np.round(first[:, None]) - np.round(first[None, :]))
    other = np.sign(np.round(second[:, None]) - np.round(second[None, :]))
    swapped = int(((order * other) < 0).sum() // 2)
    return float(np.abs(first - second).mean()), float(abs(first.mean() - second.mean())), swapped


def measure_real(traces: int, runs: int, first: int) -> None:
    """All real runs at once: they wait more than they compute. The virtual controllers start as long before the jobs."""
    seeds = range(first, first + traces)
    with ProcessPoolExecutor(traces * runs) as pool:
        real = {seed: [pool.submit(run_real_trace, seed, LEAD + turn) for turn in range(runs)] for seed in seeds}
        virtual = {seed: [run_virtual_trace(seed, LEAD + turn) for turn in range(runs)] for seed in seeds}
        usual = {seed: starts(run_virtual(small_site(), make_trace(seed))) for seed in seeds}
        held = [report_real(seed, usual[seed], virtual[seed], [one.result() for one in real[seed]]) for seed in seeds]
    print(f"virtual time is no farther from the real runs than these are from each other on {sum(held)} of {traces}")


def run_real_trace(seed: int, lead: int) -> np.ndarray:
    return starts(run_real(small_site(), make_trace(seed), lead))


def run_virtual_trace(seed: int, lead: int) -> np.ndarray:
    return starts(run_virtual(small_site(), make_trace(seed), lead * SECOND + SECOND // 2))


def report_real(seed: int, usual: np.ndarray, virtual: list[np.ndarray], real: list[np.ndarray]) -> bool:
    """Whether by each measure the usual virtual run is as near to the real ones as the farthest of them is."""
    means = [float(np.mean([one.mean() for one in group])) for group in ([usual], virtual, real)]
    print(f"trace {seed}: {len(usual)} jobs; mean start: virtual {means[0]:.2f} s, over the same beats as the real "
          f"controllers {means[1]:.2f} s; real {means[2]:.2f} s")  # fmt: skip
    apart = [[compare(a, b) for b in real if b is not a] for a in real]
    rows = {
        "real against real": [pair for pairs in apart for pair in pairs],
        "virtual against real": [compare(usual, b) for b in real],
        "virtual on the same beats": [compare(a, b) for a in virtual for b in real],
        "virtual against virtual": [compare(a, b) for a, b in itertools.combinations(virtual, 2)],
    }
    for name, pairs in rows.items():
        cells = [
            f"{statistics.mean(pair[i] for pair in pairs):7.2f} ({max(pair[i] for pair in pairs):6.2f})"
            for i in range(3)
        ]
        print(f"  {name:26s} starts apart {cells[0]} s   means apart {cells[1]} s   swapped {cells[2]}", flush=True)
    farthest = [max(statistics.mean(pair[i] for pair in pairs) for pairs in apart) for i in range(3)]
    ours = [statistics.mean(pair[i] for pair in rows["virtual against real"]) for i in range(3)]
    print(f"  the farthest of the real runs: {farthest[0]:.2f} s, {farthest[1]:.2f} s, {farthest[2]:.2f} swapped; "
          f"virtual {ours[0]:.2f} s, {ours[1]:.2f} s, {ours[2]:.2f}", flush=True)  # fmt: skip
    return all(mine <= theirs for mine, theirs in zip(ours, farthest, strict=True))


def configurations() -> dict[str, tuple[Site, Workload]]:
    """Six sites that differ in what they schedule by, each with a trace that makes it matter."""
    nodes = tuple(Node(f"n{i}", 8, cores=8) for i in range(1, 17))
    lines = ("NodeName=n[1-16] NodeAddr=127.0.0.1 CPUs=8 CoresPerSocket=8 State=UNKNOWN",)
    batch = ("PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP",)
    tres = ("SelectType=select/cons_tres", "SelectTypeParameters=CR_Core")
    fifo = ("PriorityType=priority/basic",)
    backfill = ("SchedulerType=sched/backfill", "SchedulerParameters=bf_continue")
    base = Site("fidelity", (), nodes)
    users = ["ann", "bo", "cy", "di"]
    shares = make_flat(users, {"ann": 4, "bo": 2})
    capped = replace(
        shares,
        entries=tuple(
            replace(entry, limits={"MaxJobs": "3"}) if entry.user == "ann" else entry for entry in shares.entries
        ),
    )
    fair = (
        "PriorityType=priority/multifactor",
        "PriorityWeightAge=1000",
        "PriorityWeightFairshare=100000",
        "PriorityDecayHalfLife=1-0",
        "AccountingStorageEnforce=associations,limits",
    )
    gpus = tuple(replace(node, gres=(("gpu", None, 4),) if i < 4 else ()) for i, node in enumerate(nodes))
    gpu_lines = (
        "GresTypes=gpu",
        "NodeName=n[1-4] NodeAddr=127.0.0.1 CPUs=8 CoresPerSocket=8 Gres=gpu:4 State=UNKNOWN",
        "NodeName=n[5-16] NodeAddr=127.0.0.1 CPUs=8 CoresPerSocket=8 State=UNKNOWN",
    )
    two = (
        "PartitionName=long Nodes=n[1-12] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=short Nodes=n[5-16] MaxTime=60 PriorityTier=2 State=UP",
    )
    tiers = (
        "PreemptType=preempt/partition_prio",
        "PreemptMode=REQUEUE",
        *lines,
        "PartitionName=long Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 State=UP",
        "PartitionName=short Nodes=ALL MaxTime=60 PriorityTier=2 State=UP",
    )
    whole = ("SelectType=select/linear",)
    plain, queues, cards = make_day(1), make_day(2, queues=True), make_day(3, gpus=True)
    both = {"partitions": ("long", "short"), "default_partition": "long"}
    return {
        "whole nodes (select/linear)": (replace(base, settings=(*whole, *fifo, *backfill, *lines, *batch), linear=True),
                                        plain),
        "fair share": (replace(base, settings=(*tres, *fair, *backfill, *lines, *batch), associations=shares), plain),
        "limits": (replace(base, settings=(*tres, *fair, *backfill, *lines, *batch), associations=capped), plain),
        "preemption": (replace(base, settings=(*tres, *fifo, *backfill, *tiers), **both), queues),
        "GPUs": (replace(base, settings=(*tres, *fifo, *backfill, *gpu_lines, *batch), nodes=gpus), cards),
        "overlapping partitions": (replace(base, settings=(*tres, *fifo, *backfill, *lines, *two), **both), queues),
    }  # fmt: skip


def make_day(seed: int, jobs: int = 150, queues: bool = False, gpus: bool = False) -> Workload:
    """A busy day of 128 cores, with bursts that come in one second."""
    draw = random.Random(seed)
    rows = []
    for _ in range(jobs):
        at = draw.choice([draw.randrange(0, 20_000), 3600, 7200])
        run = int(min(draw.lognormvariate(6.5, 1.2), 20_000)) + 1
        short = run < 1800
        rows.append((at, run, int(run * draw.choice([1.05, 1.5, 3, 6])) + 60, draw.choice([1, 2, 8, 16, 32, 64]),
                     draw.choice(["ann", "bo", "cy", "di"]), short, draw.choice([0, 0, 1, 2, 4])))  # fmt: skip
    columns = {
        "submit": [row[0] for row in rows],
        "run_time": [row[1] for row in rows],
        "requested_time": [min(row[2], 3600) if queues and row[5] else row[2] for row in rows],
        "cores": [min(row[3], 8) if gpus and row[6] else row[3] for row in rows],
        "user": [row[4] for row in rows],
    }
    if queues:
        columns["queue"] = ["short" if row[5] else "long" for row in rows]
    if gpus:
        columns["gpus"] = [row[6] for row in rows]
    return Workload.from_columns(**columns)


def digest(jobs: list[Job]) -> str:
    """Everything that became of the jobs, as one number."""
    import hashlib

    told = [(job.label, job.state, job.end, [(a.start, a.end, a.nodes, a.cpus) for a in job.attempts]) for job in jobs]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def measure_repeat(runs: int) -> None:
    """The last two of the runs of each configuration beside two processes that keep the machine busy."""
    failed = False
    for name, (site, workload) in configurations().items():
        found = set()
        busy: list[subprocess.Popen[bytes]] = []
        for turn in range(runs):
            if turn == max(1, runs - 2):
                busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
            try:
                found.add(digest(run_virtual(site, workload)))
            finally:
                if turn == runs - 1:
                    for process in busy:
                        process.kill()
                        process.wait()
        failed |= len(found) > 1
        print(f"{name:30s} {runs} runs, {len(found)} different: {' '.join(sorted(found))}", flush=True)
    if failed:
        raise SystemExit("not the same every time")


def measure_native() -> None:
    """Scenarios that both engines honour: how far apart their schedules are."""
    from walltime import simulate

    day = make_day(1)
    cases: dict[str, tuple[Workload, dict[str, object]]] = {
        "whole nodes, easy": (day, {"nodes": "16x8", "cluster__sharing": "whole", "policy": "easy"}),
        "shared nodes, easy": (day, {"nodes": "16x8", "policy": "easy"}),
        "shared nodes, conservative": (day, {"nodes": "16x8", "policy": "conservative"}),
        "shared nodes, no backfill": (day, {"nodes": "16x8", "policy": "fcfs"}),
        "one pool of cores, easy": (day, {"cores": 128, "policy": "easy"}),
        "overlapping queues": (
            make_day(2, queues=True),
            {
                "cluster": {
                    "nodes": "16x8",
                    "queues": {
                        "long": {"nodes": ["n[0-11]"], "default": True},
                        "short": {"nodes": ["n[4-15]"], "max_time": "1h", "priority": 1},
                    },
                }
            },
        ),
    }
    print(f"{'':30s} {'mean wait (s)':>18s} {'starts apart (s)':>22s} {'utilization':>17s}")
    print(f"{'':30s} {'native':>9s}{'slurm':>9s} {'median':>11s}{'mean':>11s} {'native':>9s}{'slurm':>8s}")
    for name, (jobs, settings) in cases.items():
        try:
            native, slurm = (simulate(jobs, engine=which, **settings) for which in ("native", "slurm"))
        except Exception as error:  # a part that one of the engines lacks: say which, and go on
            print(f"{name:30s} {str(error).splitlines()[-1]}", flush=True)
            continue
        apart = np.abs(native.jobs["start"].to_numpy() - slurm.jobs["start"].to_numpy())
        waits = [result.summary["mean_wait"] for result in (native, slurm)]
        used = [result.summary["utilization"] for result in (native, slurm)]
        print(f"{name:30s} {waits[0]:9.0f}{waits[1]:9.0f} {np.nanmedian(apart):11.0f}{np.nanmean(apart):11.0f} "
              f"{used[0]:9.1%}{used[1]:8.1%}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    real = commands.add_parser("real")
    real.add_argument("--traces", type=int, default=2)
    real.add_argument("--runs", type=int, default=5)
    real.add_argument("--first", type=int, default=100, help="the first seed")
    repeat = commands.add_parser("repeat")
    repeat.add_argument("--runs", type=int, default=5)
    commands.add_parser("native")
    options = parser.parse_args()
    if options.command == "real":
        measure_real(options.traces, options.runs, options.first)
    elif options.command == "native":
        measure_native()
    else:
        measure_repeat(options.runs)


if __name__ == "__main__":
    main()
