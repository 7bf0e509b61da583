"""How true is the slurm engine? Measurements that take minutes, each a command that prints its figures.

python tools/slurm_fidelity.py real --traces 2 --runs 5     virtual time against the same controller in real time
python tools/slurm_fidelity.py repeat --runs 5              the same trace again and again, on thirteen configurations
python tools/slurm_fidelity.py native                       the six configurations on both engines
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from walltime import Result, simulate
from walltime.analysis.audit.schedule import audit
from walltime.core.tables import Record
from walltime.core.time import SECOND
from walltime.core.workload import Origin, Workload
from walltime.scenario import parse
from walltime.scenario.controller import Controller as ControllerOptions
from walltime.slurm import engine
from walltime.slurm.conf.associations import make_flat
from walltime.slurm.controller import SLACK, Controller, Setting
from walltime.slurm.packages import find_installation
from walltime.slurm.protocol.dialect import Request
from walltime.slurm.protocol.link import Call, Link
from walltime.slurm.simulation import Simulation
from walltime.slurm.site import Node, Site
from walltime.slurm.translate.submission import Job, People, make_jobs
from walltime.slurm.translate.writing import write_conf

LEAD, STEP = 10, 13
"""Seconds between a real controller's start and the first submission, and by how many more each run has than the last.

The backfill scheduler beats every five seconds from its start and rounds times to whole minutes of the day. Neither has
any relation to the users' clock, so the runs are spread over a minute. Real runs that start together round alike, and
agree with each other by that alone.
"""


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


def hurry(process: int) -> None:
    """Let a process and its session go before the others, where one may say so."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/autogroup").write_text("-20")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process, -20)


def run_real(site: Site, workload: Workload, lead: int) -> list[Job]:
    """The same nodes and users, the same controller, without the library; before all others, where one may.

    On a machine that is busy otherwise, a controller that waits for a processor would be what is measured.
    """
    with contextlib.suppress(PermissionError):
        os.setsid()
    hurry(os.getpid())
    installation = find_installation()
    base = (int(time.time()) + lead) * SECOND
    people = People(workload.label_names("user"))
    jobs = make_jobs(workload, site, installation.dialect, base, people)
    setting = Setting(conf=write_conf(site), people=people.lines(), virtual=False)
    with Controller(installation, setting) as controller:
        hurry(controller.process)
        time.sleep(2)
        simulation = Simulation(controller, site, jobs, base, link=RealLink)
        simulation.report_nodes(base - 3 * SECOND)  # a controller that came up slowly may have missed the first time
        simulation.run(base + 3600 * SECOND)
        if any(not job.attempts for job in jobs):
            raise SystemExit(f"a real controller left jobs waiting:\n{controller.log()[-2000:]}")
    return jobs


def run_virtual(site: Site, workload: Workload, options: engine.Options | None = None) -> list[Job]:
    started = engine.start(site, workload, options=options)
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
    """All real runs at once: they wait more than they compute. Then each in virtual time, with the same clock."""
    seeds = range(first, first + traces)
    found = []
    with ProcessPoolExecutor(traces * runs) as pool:
        waiting = {seed: [pool.submit(run_real_trace, seed, LEAD + STEP * i) for i in range(runs)] for seed in seeds}
        for seed in seeds:
            real = [one.result() for one in waiting[seed]]
            late = statistics.mean(lateness for _, lateness, _, _ in real)
            print(f"sleeps were late by {1e3 * late:.2f} ms on average (virtual: {SLACK / 1e3:.2f} ms)")
            virtual = [run_virtual_trace(seed, epoch, lead, late) for _, late, epoch, lead in real]
            found.append(report_real(seed, virtual, [one for one, _, _, _ in real]))
    report_all(found)


class Lateness(threading.Thread):
    """How late the machine wakes whoever sleeps a tenth of a second; a controller's beat is made of such sleeps."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.late: list[float] = []

    def run(self) -> None:
        while not self.done.is_set():
            began = time.monotonic()
            time.sleep(0.1)
            self.late.append(time.monotonic() - began - 0.1)


def run_real_trace(seed: int, lead: int) -> tuple[np.ndarray, float, int, float]:
    """The starts, the mean lateness of sleeps meanwhile in seconds, the trace's zero, and the controller's lead."""
    clock = Lateness()
    clock.start()
    began = time.time()
    jobs = run_real(small_site(), make_trace(seed), lead)
    clock.done.set()
    zero = jobs[0].submit - round(float(make_trace(seed).column("submit")[0]))
    return starts(jobs), statistics.mean(clock.late), zero // SECOND, jobs[0].submit / SECOND - began


def run_virtual_trace(seed: int, epoch: int, lead: float, late: float) -> np.ndarray:
    """At the same time of day, with sleeps that are as late, by a controller that started as long before."""
    jobs = make_trace(seed)
    jobs = jobs.replace(jobs.columns, origin=Origin(float(epoch), "UTC"))
    options = engine.Options(warm_up=round(lead * SECOND), slack=max(SLACK, round(late * SECOND)))
    return starts(run_virtual(small_site(), jobs, options))


MEASURES = ("starts apart", "means apart", "swapped")


def report_real(seed: int, virtual: list[np.ndarray], real: list[np.ndarray]) -> np.ndarray:
    """How far virtual runs are from real ones, and these from each other; for each measure whether virtual holds.

    Every real run has a mean distance to the other real runs. Its virtual twin, with the same clock, has one to these
    same others. Virtual time holds on a trace if the twins' mean is not above the largest of the real runs' own: it is
    no farther from the rest than a real run can be. Returns the distances: twins and real runs, by measure and run.
    """
    means = [float(np.mean([one.mean() for one in group])) for group in (virtual, real)]
    print(f"trace {seed}: {len(real[0])} jobs; mean start: virtual {means[0]:.2f} s, real {means[1]:.2f} s")
    size = range(len(real))
    own, twins = (
        np.array([np.mean([compare(runs[i], real[j]) for j in size if j != i], axis=0) for i in size]).T
        for runs in (real, virtual)
    )
    same = np.array([compare(a, b) for a, b in zip(virtual, real, strict=True)]).T
    for name, theirs, ours, near in zip(MEASURES, own, twins, same, strict=True):
        verdict = "holds" if ours.mean() <= theirs.max() else "does not hold"
        told = (f"{one.mean():6.2f} ({one.min():6.2f} to {one.max():6.2f})" for one in (theirs, ours))
        print(f"  {name:13s} real {next(told)}   virtual {next(told)}   to its twin {near.mean():6.2f}   {verdict}",
              flush=True)  # fmt: skip
    return np.array([twins, own])


def report_all(found: list[np.ndarray]) -> None:
    """Over all traces: is a virtual twin farther from the others than the real run is? With the chance of as much.

    If virtual and real are alike, each twin could as well be the real run: signs of the differences are random.
    """
    draw = np.random.default_rng(0)
    for i, name in enumerate(MEASURES):
        apart = np.concatenate([twins[i] - own[i] for twins, own in found])
        signs = draw.choice([-1, 1], (20_000, len(apart)))
        chance = float(np.mean((signs * np.abs(apart)).mean(axis=1) >= apart.mean()))
        held = sum(twins[i].mean() <= own[i].max() for twins, own in found)
        ours, theirs = (np.mean([pair[k][i] for pair in found]) for k in (0, 1))
        print(f"{name:13s} holds on {held} of {len(found)} traces; virtual {ours:.2f}, real {theirs:.2f}, difference "
              f"{apart.mean():+.2f} (by chance as large: {chance:.2f})")  # fmt: skip


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


def measure_repeat(runs: int, busy_with: int, release: str | None) -> None:
    """Every run from the start; from the second on beside so many processes that keep the machine busy."""
    failed = False
    for name, (run, workload) in (repeated_sites(release) | repeated_configurations(release)).items():
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
    options = engine.Options(release=release)
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
        names = engine.make_own_site(ControllerOptions.model_validate(given)).partitions
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


def record_virtual(site: Site, workload: Workload, options: engine.Options | None = None) -> Record:
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
    repeat = commands.add_parser("repeat")
    repeat.add_argument("--runs", type=int, default=5)
    repeat.add_argument("--busy", type=int, default=2, help="processes that compute beside it")
    repeat.add_argument("--release", help="of Slurm")
    native = commands.add_parser("native")
    native.add_argument("--days", type=int, default=5)
    native.add_argument("--only", choices=list(native_cases(0)), help="one of the configurations")
    native.add_argument("--fine", action="store_true", help="on a controller that plans as finely as it can")
    options = parser.parse_args()
    if options.command == "real":
        measure_real(options.traces, options.runs, options.first)
    elif options.command == "native":
        measure_native(options.days, options.fine, options.only)
    else:
        measure_repeat(options.runs, options.busy, options.release)


if __name__ == "__main__":
    main()
