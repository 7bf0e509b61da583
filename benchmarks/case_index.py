"""A queue made to deceive an index: what does one more pass cost as it gets longer?"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.engines import Stopwatch, build_simulation
from benchmarks.figures import Figure, at_most
from benchmarks.measuring import Timing
from benchmarks.setting import Setting
from benchmarks.workloads import CORES, FILLED, TICK, mixed_queue
from twin import reference
from walltime.core.errors import EngineError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine.loop import Rank

CASE = "index"
QUEUES = (1_000, 8_000, 65_000)
WARMING = 10_000
"""Passes after which the index has met every core count that it will be asked about."""
PASSES = 20_000
TWIN_WORK = 500_000
"""Jobs that the twin may look at in all its passes."""
GROWTH = at_most(2)
"""From 1,000 to 65,000 jobs a binary tree gets 1.6 times as deep; the rest is for the processor's caches."""


def measure(setting: Setting) -> Iterator[Figure]:
    """Microseconds for a full pass under EASY, with the arrival, start and end of the one job that it finds.

    The index is refined when a search first needs it, which takes time in proportion to the queue, once: so the first
    passes, which pay for that, are told apart from the others. The bound is for the others.
    """
    early, late = [], []
    for queue in QUEUES:
        warming, steady = zip(*(_time_passes(queue) for _ in range(setting.repeats)), strict=True)
        early.append(_microseconds(f"{queue:,} waiting: one of the first {WARMING:,} passes", Timing(warming), WARMING))
        yield early[-1]
        twin = _time_twin(queue) / (Timing(steady).median / PASSES)
        late.append(_microseconds(f"{queue:,} waiting: a pass after those", Timing(steady), PASSES, twin))
        yield late[-1]
    for which, figures, target in (("of the first", early, None), ("after those", late, GROWTH)):
        first, last = figures[0], figures[-1]
        what = f"a pass {which}: {QUEUES[-1]:,} waiting over {QUEUES[0]:,}"
        yield Figure(CASE, what, last.median / first.median, last.best / first.best, "x", target, None, setting.repeats)


def _microseconds(what: str, timing: Timing, count: int, twin: float | None = None) -> Figure:
    median, best = (1e6 * seconds / count for seconds in (timing.median, timing.best))
    return Figure(CASE, what, median, best, "us", None, twin, len(timing.runs))


def _time_passes(queue: int) -> tuple[float, float]:
    """CPU seconds of the first passes after the queue stands, and of those that follow."""
    total = WARMING + PASSES
    times = [(FILLED + TICK * passes) * SECOND + 1 for passes in (0, WARMING, total)]
    watch = Stopwatch(times)
    simulation = build_simulation(mixed_queue(queue, total + 1), "easy", [(Rank.TIMERS, watch)])
    simulation.run(times[-1])
    ended, waiting = simulation.ended, simulation.clusters[0].queue.size
    if ended != total or waiting != queue:
        raise EngineError(f"{ended} jobs ended and {waiting} wait, which is not how this queue was made")
    return watch.seen[1] - watch.seen[0], watch.seen[2] - watch.seen[1]


def _time_twin(queue: int) -> float:
    """CPU seconds of the twin for one pass: what more of them cost, divided by their number."""
    passes = max(TWIN_WORK // queue, 20)
    few, many = (_simulate_twin(mixed_queue(queue, count), count) for count in (2, 2 + passes))
    return (many - few) / passes


def _simulate_twin(jobs: Workload, passes: int) -> float:
    begin = time.process_time()
    reference.simulate_cores(jobs, CORES, "easy", until=(FILLED + TICK * passes) * SECOND)
    return time.process_time() - begin
