"""Virtual time against the same controller in real time, with our emulated nodes or with genuine ones.

A part of `slurm_fidelity.py real`. A real run takes as long as its trace, so what it found can be kept in a file and
judged again: virtual runs are computed anew each time.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import statistics
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from slurm_nodes import FILES, Slurmds, choose_ports, find_slurmd, give_scripts, read_begin, read_times, rewrite

from walltime.core.time import SECOND
from walltime.core.workload import Origin, Workload
from walltime.site.nodes import Node
from walltime.slurm import engine
from walltime.slurm.controller import SLACK, Controller, Setting
from walltime.slurm.packages import find_installation
from walltime.slurm.protocol.dialect import IncomingMessage
from walltime.slurm.protocol.link import Call, ControllerLink
from walltime.slurm.simulation import Simulation
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import ControllerUsers, TraceJob, make_jobs
from walltime.slurm.translate.writing import write_conf

LEAD, STEP = 10, 13
"""Seconds between a real controller's start and the first submission, and by how many more each run has than the last.

The backfill scheduler beats every five seconds from its start and rounds times to whole minutes of the day. Neither has
any relation to the users' clock, so the runs are spread over a minute. Real runs that start together round alike, and
agree with each other by that alone.
"""
LONGEST = 3600
"""Seconds after which a real run is given up."""


@dataclass(frozen=True)
class RealRun:
    """What one run in real time found: seconds, from the first submission on where they are times.

    `late` is by how much sleeps of a tenth of a second were too long meanwhile; `lead` the time from when the
    controller says that it runs to the first job; `epoch` the trace's zero, as a count of seconds since 1970; `extra`
    what each job held its nodes for beyond its run time.
    """

    seed: int
    turn: int
    starts: list[float]
    extra: list[float]
    late: float
    epoch: int
    lead: float
    load: float


class RealLink(ControllerLink):
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

    def call(self, msg_type: int, body: bytes, user: int = 0) -> IncomingMessage:
        call: Call = self.send(msg_type, body, user)
        while call.answer is None:
            self._pump_once(0.2)
        return self.dialect.unpack(call.answer) if call.answer else IncomingMessage(0, b"", None, 0)


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
    """Let a process go before the others, where one may say so; with its session, if that is its own."""
    with contextlib.suppress(OSError):
        session = os.getsid(process)
        if session in (process, os.getpid()) or session != os.getsid(0):  # else all that runs beside it would go first
            Path(f"/proc/{process}/autogroup").write_text("-20")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process, -20)


def run_real(seed: int, turn: int, genuine: bool) -> RealRun:
    """The same controller and users without the library; before all others, where one may.

    On a machine that is busy otherwise, a controller that waits for a processor would be what is measured.
    """
    with contextlib.suppress(PermissionError):
        os.setsid()
    hurry(os.getpid())
    clock, load = Lateness(), os.getloadavg()[0]
    clock.start()
    workload = make_trace(seed)
    base = (int(time.time()) + LEAD + STEP * turn) * SECOND
    found, began = (run_genuine if genuine else run_emulated)(small_site(), workload, base)
    clock.done.set()
    first = found[0][0]
    starts, extra = [(start - first) / SECOND for _, start, _ in found], [held / SECOND for _, _, held in found]
    late, lead = statistics.mean(clock.late), (first - began) / SECOND
    return RealRun(seed, turn, starts, extra, late, base // SECOND, lead, load)


Found = tuple[list[tuple[int, int, int]], int]
"""Of each job when it came, when it started, and what it held its nodes for beyond its run time; and since when the
controller ran. Microseconds."""


def run_emulated(site: Site, workload: Workload, base: int) -> Found:
    """With our nodes."""
    installation = find_installation()
    people = ControllerUsers(workload.label_names("user"))
    jobs = make_jobs(workload, site, installation.dialect, base, people)
    setting = Setting(conf=write_conf(site), people=people.lines(), virtual=False)
    with Controller(installation, setting) as controller:
        hurry(controller.process)
        time.sleep(2)
        simulation = Simulation(controller, site, jobs, base, link=RealLink)
        simulation.report_nodes(base - 3 * SECOND)  # a controller that came up slowly may have missed the first time
        simulation.run(base + LONGEST * SECOND)
        if any(not job.attempts for job in jobs):
            raise SystemExit(f"a real controller left jobs waiting:\n{controller.log()[-2000:]}")
        began = read_begin(controller.log())
    attempts = [job.attempts[0] for job in jobs]
    return [
        (job.submit, one.start, (one.end or one.start) - one.start - (job.run or 0))
        for job, one in zip(jobs, attempts, strict=True)
    ], began


def run_genuine(site: Site, workload: Workload, base: int) -> Found:
    """With genuine nodes, by the controller's own log."""
    installation, programs = find_installation(), find_slurmd()
    people = ControllerUsers(workload.label_names("user"))
    jobs = make_jobs(workload, site, installation.dialect, base, people)
    give_scripts(jobs)
    text = rewrite(write_conf(site), site, choose_ports(len(site.nodes)))
    setting = Setting(conf=text, files=FILES, people=people.lines(), virtual=False)
    with Controller(installation, setting) as controller, Slurmds(controller, site, programs) as nodes:
        hurry(controller.process)
        hurry(nodes.process)
        nodes.await_all()
        numbers = submit_all(RealLink(controller, installation.dialect, Silent()), jobs)
        finished = controller.folder / "jobs"
        while not finished.exists() or len(finished.read_text().splitlines()) < len(jobs):
            if time.time() * SECOND > base + LONGEST * SECOND:
                raise SystemExit(f"a real controller left jobs waiting:\n{controller.log()[-2000:]}")
            time.sleep(0.5)
        log = controller.log()
    started, ended = read_times(log), read_times(log, ended=True)
    if missing := [number for number in numbers if number not in ended]:
        raise SystemExit(f"jobs {missing} did not end well (a folder with a long name?):\n{log[-2000:]}")
    return [
        (job.submit, started[number], ended[number] - started[number] - (job.run or 0))
        for job, number in zip(jobs, numbers, strict=True)
    ], read_begin(log)


class Silent:
    """Stands for no node."""

    def answer(self, request: IncomingMessage) -> bytes:
        raise AssertionError(f"a genuine node was to be asked ({request.msg_type})")


def submit_all(link: RealLink, jobs: Iterable[TraceJob]) -> list[int]:
    """Submit each job in its time; the numbers that the controller gives them."""
    numbers = []
    for job in jobs:
        time.sleep(max(0.0, job.submit / SECOND - time.time()))
        answer = link.call(link.dialect.SUBMIT, link.dialect.job_description.pack(job.request))
        if answer.msg_type != link.dialect.SUBMITTED:
            raise SystemExit(f"a job was refused ({link.dialect.read_return_code(answer.body)})")
        numbers.append(link.dialect.read_submission(answer.body)[0])
    return numbers


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


def run_twin(real: RealRun, delay: float | None = None) -> np.ndarray:
    """The starts in virtual time: at the same time of day, with sleeps that are as late and jobs that hold their nodes
    as much longer in the median, by a controller that started as long before."""
    jobs = make_trace(real.seed)
    jobs = jobs.replace(jobs.columns, origin=Origin(float(real.epoch), "UTC"))
    delay = delay if delay is not None else max(0.0, statistics.median(real.extra))
    options = engine.SlurmOptions(
        warm_up=round(real.lead * SECOND),
        slack=max(SLACK, round(real.late * SECOND)),
        launch=round(delay * SECOND),
        completion=0,
    )
    started = engine.start(small_site(), jobs, options=options)
    with started.controller:
        started.simulation.run()
        return np.array([(job.attempts[0].start - started.jobs[0].submit) / SECOND for job in started.jobs])


def measure_real(seeds: range, runs: int, genuine: bool, at_once: int | None, results: Path | None) -> None:
    """Real runs side by side: they wait more than they compute. Then each in virtual time, with the same clock."""
    known = {} if results is None or not results.exists() else read_runs(results)
    if genuine:
        find_slurmd()
    found = []
    wanted = [(seed, turn) for seed in seeds for turn in range(runs)]
    with ProcessPoolExecutor(at_once or len(wanted)) as pool:
        waiting = {key: pool.submit(run_real, *key, genuine) for key in wanted if key not in known}
        for key, one in waiting.items():
            known[key] = one.result()
            if results is not None:
                with results.open("a") as file:
                    file.write(json.dumps(asdict(known[key])) + "\n")
    for seed in seeds:
        real = [known[seed, turn] for turn in range(runs)]
        extra = np.concatenate([one.extra for one in real])
        print(f"sleeps were late by {1e3 * np.mean([one.late for one in real]):.2f} ms on average "
              f"(virtual: {SLACK / 1e3:.2f} ms); jobs held their nodes {1e3 * np.median(extra):.0f} ms longer than "
              f"they ran in the median, {1e3 * np.quantile(extra, 0.95):.0f} ms at 95 % (load "
              f"{np.mean([one.load for one in real]):.1f})")  # fmt: skip
        found.append(report_real(seed, [run_twin(one) for one in real], [np.array(one.starts) for one in real]))
    report_all(found)


def read_runs(results: Path) -> dict[tuple[int, int], RealRun]:
    runs = (RealRun(**json.loads(line)) for line in results.read_text().splitlines())
    return {(run.seed, run.turn): run for run in runs}


def compare(first: np.ndarray, second: np.ndarray) -> tuple[float, float, int]:
    """(mean distance of starts, difference of the means, pairs of jobs that start in another order)."""
    order = np.sign(np.round(first[:, None]) - np.round(first[None, :]))
    other = np.sign(np.round(second[:, None]) - np.round(second[None, :]))
    swapped = int(((order * other) < 0).sum() // 2)
    return float(np.abs(first - second).mean()), float(abs(first.mean() - second.mean())), swapped


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
