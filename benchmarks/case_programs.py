"""Jobs that are programs: operations from files and from coroutines, and a hundred thousand jobs on 10,000 nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Target, at_least, at_most, seconds
from benchmarks.measuring import Timing
from benchmarks.setting import Setting
from walltime.cluster.network import Link, Star
from walltime.core.errors import EngineError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.programs.platform import Platform
from walltime.programs.profiles import Profile, Profiles, write_out
from walltime.programs.program import Program
from walltime.programs.speedup import linear
from walltime.scenario import parse

CASE = "programs"
NODES = 100
ROUNDS = 100
END = 1e15
FEWER = 20
STEP = {"type": "sequence", "args": {"repeat": ROUNDS, "profiles": [
    {"type": "compute-vector", "args": {"compute_work": [1e9, 2e9]}},
    {"type": "communication-src-dst", "args": {"src": [0], "dst": [1], "size": 50}},
]}}  # fmt: skip
ENGINE_NODES = 10_000


class Rounds(Profile):
    """The same as a coroutine."""

    async def run(self, processes: list[Any]) -> None:
        first, second = processes
        for _ in range(ROUNDS):
            one, two = first.compute(1e9), second.compute(2e9)
            await one
            await two
            await first.transfer(50, second)


def measure(setting: Setting) -> Iterator[Figure]:
    """Operations in a CPU second, thousands; then jobs that compute, communicate and write, from start to end."""
    programs = max(1, setting.jobs // 1_000)
    step = Profiles().find(write_out("sequence", **STEP["args"]))
    for what, profile, target in (("file", step, at_least(300)), ("coroutines", Rounds(), at_least(100))):
        timing, count = setting.time(partial(_start, profile, programs), _finish)
        yield _operations(f"{count:,} operations from {what}", count, timing, target)
    yield _compare_others(setting, step, programs)
    jobs = setting.jobs // 10
    timing, record = setting.time(partial(_scenario, jobs), lambda made: native.run(*made))
    if record.facts["programs"]["failed"] or (record.jobs["state"] != "completed").any():
        raise EngineError("a program did not complete")
    what = f"{jobs:,} jobs that compute, communicate and write, {ENGINE_NODES:,} nodes"
    yield seconds(CASE, what, timing, at_most(120))


def _operations(what: str, count: int, timing: Timing, target: Target) -> Figure:
    median, best = (count / 1e3 / seconds for seconds in (timing.median, timing.best))
    return Figure(CASE, what, median, best, "k/s", target, None, len(timing.runs))


def _compare_others(setting: Setting, step: Any, programs: int) -> Figure:
    """An operation beside many flows with which it shares no link over one beside few."""
    cost = {}
    for share in (1, FEWER):  # all at once, each pair of nodes alone; then as many one after the other
        pairs = max(1, programs // share)
        timing, count = setting.time(partial(_start, step, programs, 2 * pairs), _finish)
        cost[share] = timing.median / count, timing.best / count
    many, few = cost[1], cost[FEWER]
    what = f"an operation beside {programs:,} flows elsewhere over one beside {max(1, programs // FEWER):,}"
    return Figure(CASE, what, many[0] / few[0], many[1] / few[1], "x", at_most(3), None, setting.repeats)


def _start(profile: Any, programs: int, nodes: int = NODES) -> tuple[Platform, int]:
    """Programs of two processes on a star, each pair of nodes with a few of them."""
    platform = Platform([4] * nodes, [1e9] * nodes, Star(nodes, Link(100.0, 1e-6)))
    for number in range(programs):
        first = 2 * number % nodes
        Program(platform, ((first, 1), (first + 1, 1)), linear, number, "rounds").start(profile)
    return platform, programs * ROUNDS * 3


def _finish(made: tuple[Platform, int]) -> int:
    platform, count = made
    platform.activities.advance(END)
    if platform.activities.live:
        raise EngineError("a program did not end")
    return count


def _scenario(count: int) -> tuple[Any, Workload]:
    draw = stream(1, "benchmark.programs")
    profile = write_out(
        "sequence",
        profiles=[
            {"type": "compute-homogenous", "args": {"compute_work": 1e12}},
            {"type": "communication-homogenous", "args": {"size": 1e8}},
            {"type": "disk-write", "args": {"size": 1e9}},
        ],
    )
    nodes = draw.choice([1, 2, 4, 8], count)
    columns = {
        "submit": np.sort(draw.integers(0, 100 * 1000, count)) * SECOND,
        "run_time": np.full(count, -1),
        "requested_time": np.full(count, 86_400 * SECOND),
        "cores": nodes * 4,
        "nodes": nodes,
        "profile": np.zeros(count, np.int32),
    }
    workload = Workload(columns, {"profile": [profile]})
    link = {"bandwidth": "1.25G", "latency": 1e-6}
    switches = {"l1_switch_count": 250, "l2_switch_count": 20}
    cluster = {
        "nodes": [{"count": ENGINE_NODES, "cores": 8, "disk": {"read": "1G", "write": "500M"}}],
        "network": {"type": "fat-tree", "downlink": link, "uplink": link} | switches,
        "scheduler": {"backfill": "easy"},
    }
    data = {"workload": {"table": workload}, "cluster": cluster, "execution": {"model": "programs"}}
    return parse(data, []), workload
