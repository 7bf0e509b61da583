"""How true is the slurm engine? Measurements that take minutes, each a command that prints its figures.

python tools/slurm_fidelity.py real --traces 2 --runs 5     virtual time against the same controller in real time
python tools/slurm_fidelity.py real --slurmd                the same with genuine nodes in real time
python tools/slurm_fidelity.py repeat --runs 5              the same trace again and again, on thirteen configurations
python tools/slurm_fidelity.py native                       the six configurations on both engines
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from slurm_real import measure_real

from walltime import Result, simulate
from walltime.analysis.audit.schedule import audit
from walltime.core.tables import Record
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.scenario.controller import Controller as ControllerOptions
from walltime.site.associations import Association, Associations
from walltime.site.gres import Gres
from walltime.site.nodes import Node
from walltime.slurm import engine
from walltime.slurm.site import Site
from walltime.slurm.translate.site import make_own_site


def make_flat(users: list[str], shares: dict[str, int]) -> Associations:
    """Every user with an account of the same name below root, all with equal shares unless told otherwise."""
    entries: list[Association] = []
    for user in users:
        entries.append(Association(f"acct-{user}", share=shares.get(user, 1)))
        entries.append(Association(f"acct-{user}", user, f"acct-{user}", is_default=True))
    return Associations(tuple(entries))


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
    gpus = tuple(replace(node, gres=(Gres("gpu", None, 4),) if i < 4 else ()) for i, node in enumerate(nodes))
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
    both = {"partitions": ("long", "short")}
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
        asked = 60 * (int(run * draw.choice([1.05, 1.5, 3, 6])) // 60 + 1)
        rows.append((at, run, asked, draw.choice([1, 2, 8, 16, 32, 64]),
                     draw.choice(["ann", "bo", "cy", "di"]), short, draw.choice([0, 0, 1, 2, 4])))  # fmt: skip
    columns = {
        "submit": [row[0] for row in rows],
        "run_time": [row[1] for row in rows],
        "requested_time": [min(row[2], 3600) if queues and row[5] else row[2] for row in rows],  # whole minutes
        "cores": [min(row[3], 8) if gpus and row[6] else row[3] for row in rows],
        "user": [row[4] for row in rows],
    }
    if queues:
        columns["queue"] = ["short" if row[5] else "long" for row in rows]
    if gpus:
        columns["gpus"] = [row[6] for row in rows]
    return Workload.from_columns(**columns)


def measure_repeat(runs: int, busy_with: int, release: str | None, only: list[str]) -> None:
    """Every run from the start; from the second on beside so many processes that keep the machine busy."""
    failed = False
    cases = repeated_sites(release) | repeated_configurations(release)
    for name, (run, workload) in ((name, cases[name]) for name in only or cases):
        found, wrong, waits = set(), 0, 0.0
        for turn in range(runs):
            busy = [
                subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy_with if turn else 0)
            ]
            try:
                record = run()
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
            found.add(find_digest(record))
            wrong += len(audit(record, workload=workload))
            waits = float(record.jobs["wait"].mean() or 0.0)  # type: ignore[arg-type]
        failed |= len(found) > 1 or wrong > 0
        print(f"{name:30s} {runs} runs, {len(found)} different, {wrong} rules broken: {' '.join(sorted(found))} "
              f"(mean wait {waits:.0f} s; {os.getloadavg()[0]:.0f} processes wanted to run)", flush=True)  # fmt: skip
    if failed:
        raise SystemExit("not the same every time, or not legal")


Repeated = dict[str, tuple[Callable[[], Record], Workload]]


def repeated_configurations(release: str | None) -> Repeated:
    options = engine.SlurmOptions(release=release)
    return {
        name: (functools.partial(record_virtual, site, workload, options), workload)
        for name, (site, workload) in configurations().items()
    }


def repeated_sites(release: str | None) -> Repeated:
    """The configurations of the tests, after the manner of public ones, with a busy hour over all partitions."""
    cases: Repeated = {}
    for folder in sorted((Path(__file__).parents[1] / "tests" / "unit" / "slurm" / "sites").iterdir()):
        given = {"conf": str(folder / "slurm.conf"), "associations": "flat", "drop_unknown": True, "release": release}
        if (folder / "associations.dump").exists():
            given |= {"associations": str(folder / "associations.dump"), "qos": str(folder / "qos.txt")}
        names = make_own_site(ControllerOptions.model_validate(given)).partitions
        day = make_day(2, 60)
        columns = {key: day.column(key) / (SECOND if key != "cores" else 1) for key in ("submit", "run_time", "cores")}
        jobs = Workload.from_columns(
            submit=columns["submit"] // 10,
            run_time=columns["run_time"] // 10 + 1,
            requested_time=[3600] * 60,
            cores=np.minimum(columns["cores"], 8).astype(int),
            user=["ann", "bo", "cy"] * 20,
            queue=[names[i % len(names)] for i in range(60)],
        )
        run = functools.partial(simulate, jobs, engine="slurm", slurm=given, until=20_000)
        cases[f"site {folder.name}"] = (lambda run=run: run().record, jobs)  # type: ignore[misc]
    return cases


def record_virtual(site: Site, workload: Workload, options: engine.SlurmOptions | None = None) -> Record:
    """A run as a result keeps it."""
    scenario = parse({"workload": {"table": workload}, "cluster": {"name": "cluster", "nodes": "16x8"}})
    started = engine.start(site, workload, options=options)
    with started.controller:
        started.simulation.run()
        return started.record(scenario, (0.0, 0.0))


def find_digest(record: Record) -> str:
    """One number for every byte of both tables."""
    written = b"".join(table.write_csv().encode() for table in (record.jobs, record.allocations))
    return hashlib.sha256(written).hexdigest()[:16]


FINE = "bf_continue,bf_max_job_test=1000,bf_window=10080,bf_interval=1,bf_resolution=1,sched_interval=1"
"""As near to backfilling at every instant as the controller can be."""


def measure_native(days: int, fine: bool, only: str | None) -> None:
    """The configurations on both engines, each on so many days; beside it, how far native is from itself if every job
    is submitted up to a second later: what a difference of no importance does."""
    columns = ("mean wait", "starts apart", "native from itself", "utilization")
    print("| configuration | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in native_cases(0) if not only else [only]:
        rows = []
        for day in range(1, days + 1):
            jobs, settings = native_cases(day)[name]
            native, moved = simulate(jobs, **settings), simulate(delay(jobs, day), **settings)
            if fine and "fcfs" not in str(settings.get("policy")):
                settings |= {"slurm": {"settings": {"SchedulerParameters": f"{FINE},bf_job_part_count_reserve=1"}}}
            slurm = simulate(jobs, engine="slurm", **settings)
            for result in (native, slurm):
                if broken := result.audit():
                    raise SystemExit(f"{name}: {broken[0]}")
            means = [result.summary[key] for key in ("mean_wait", "utilization") for result in (native, slurm)]
            rows.append([*means, *measure_apart(native, slurm), *measure_apart(native, moved)])
        wait, other, used, theirs, median, mean, own_median, own_mean = np.mean(rows, axis=0)
        change = [row[1] / row[0] - 1 for row in rows]
        scatter = f", by day {min(change):+.0%} to {max(change):+.0%}"
        cells = (f"{wait:,.0f} s, {other:,.0f} s ({other / wait - 1:+.0%}{scatter})", f"{median:,.0f} s ({mean:,.0f})",
                 f"{own_median:,.0f} s ({own_mean:,.0f})", f"{used:.1%}, {theirs:.1%}")  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def delay(jobs: Workload, seed: int) -> Workload:
    """Every job up to a second later, in the same order: jobs of one second stay together."""
    second, place = np.unique(jobs.column("submit"), return_inverse=True)
    later = (second + np.random.default_rng(seed).integers(0, SECOND, len(second)))[place]
    return jobs.replace(jobs.columns | {"submit": later})


def measure_apart(first: Result, second: Result) -> tuple[float, float]:
    """Median and mean distance of the starts of jobs that started in both."""
    both = first.jobs.join(second.jobs, on="job_id")
    apart = np.abs(both["start"].to_numpy() - both["start_right"].to_numpy())
    return float(np.nanmedian(apart)), float(np.nanmean(apart))


def native_cases(seed: int) -> dict[str, tuple[Workload, dict[str, Any]]]:
    """Scenarios that are the configurations of `configurations`, in the words of both engines."""
    day, queues, cards = make_day(seed), make_day(seed, queues=True), make_day(seed, gpus=True)
    whole = {"nodes": "16x8", "sharing": "whole"}
    limits = [{"per": "user", "running_cores": 48}, {"user": "ann", "running_jobs": 3}]
    gpus = [{"count": 4, "cores": 8, "gpus": 4, "name": "g"}, {"count": 12, "cores": 8}]
    two = {
        "long": {"nodes": ["n[0-11]"], "default": True},
        "short": {"nodes": ["n[4-15]"], "max_time": "1h", "priority": 1},
    }
    order = {"name": "multifactor", "weights": {"age": 1000, "fairshare": 100_000}, "fairshare": {"half_life": "1d"}}
    fair = {"nodes": "16x8", "shares": {"ann": 4, "bo": 2}, "scheduler": {"order": order}}
    tiers = {"long": {"default": True}, "short": {"max_time": "1h", "priority": 1}}
    preempt = {"nodes": "16x8", "queues": tiers, "scheduler": {"preempt": "queue"}}
    none = {"scheduler": {"backfill": "none"}}
    return {
        "whole nodes (select/linear)": (day, {"cluster": whole}),
        "shared nodes (select/cons_tres)": (day, {"cluster": {"nodes": "16x8"}}),
        "one pool of cores": (day, {"cluster": {"cores": 128}}),
        "fair share": (day, {"cluster": fair}),
        "limits": (day, {"cluster": {"nodes": "16x8", "limits": limits}}),
        "preemption": (queues, {"cluster": preempt}),
        "GPUs": (cards, {"cluster": {"nodes": gpus}}),
        "two overlapping partitions": (queues, {"cluster": {"nodes": "16x8", "queues": two}}),
        "whole nodes, no backfilling": (day, {"cluster": whole | none, "policy": "fcfs"}),
        "shared nodes, no backfilling": (day, {"cluster": {"nodes": "16x8"} | none, "policy": "fcfs"}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    real = commands.add_parser("real")
    real.add_argument("--traces", type=int, default=2)
    real.add_argument("--runs", type=int, default=5)
    real.add_argument("--first", type=int, default=100, help="the first seed")
    real.add_argument("--slurmd", action="store_true", help="genuine nodes: a slurmd for each, jobs that sleep")
    real.add_argument("--at-once", type=int, help="real runs beside each other; all")
    real.add_argument(
        "--results", type=Path, help="keep what real runs find in this file; what it holds is not run again"
    )
    repeat = commands.add_parser("repeat")
    repeat.add_argument("--runs", type=int, default=5)
    repeat.add_argument("--busy", type=int, default=2, help="processes that compute beside it")
    repeat.add_argument("--release", help="of Slurm")
    repeat.add_argument("--only", action="append", default=[], help="one of the configurations; may be repeated")
    native = commands.add_parser("native")
    native.add_argument("--days", type=int, default=5)
    native.add_argument("--only", choices=list(native_cases(0)), help="one of the configurations")
    native.add_argument("--fine", action="store_true", help="on a controller that plans as finely as it can")
    options = parser.parse_args()
    if options.command == "real":
        seeds = range(options.first, options.first + options.traces)
        measure_real(seeds, options.runs, options.slurmd, options.at_once, options.results)
    elif options.command == "native":
        measure_native(options.days, options.fine, options.only)
    else:
        measure_repeat(options.runs, options.busy, options.release, options.only)


if __name__ == "__main__":
    main()
