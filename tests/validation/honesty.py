"""Are verdicts honest? Systems whose true difference is known, and how often the intervals of verdicts hold it.

- `formula`: two single-server queues under common random numbers, started in steady state; the truth is that of M/M/1.
- `relabelled`: one such queue under seeds that are called two scenarios; the second's times are all multiplied by a
  known factor, which is the true ratio whatever the figure.
- `weeks`: the same over the weeks of one long run each.
- `engine`: simulated clusters under relabelled seeds, for false alarms among many figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from walltime.analysis.verdict import LESS, MORE, WEEKS, Verdict, adjust, judge

SIZES = (5, 10, 30)
METRICS = ("mean_wait", "p95_wait")
FACTOR = 1.25
LOADS = (0.5, 0.6)


@dataclass(frozen=True)
class Coverage:
    """In how many of the pairs the intervals held the truth: of the difference, of the ratio, and the bootstrap's."""

    case: str
    metric: str
    repetitions: int
    pairs: int
    difference: float | None
    ratio: float
    bootstrap: float | None

    @property
    def shares(self) -> list[float]:
        """All that are known."""
        return [share for share in (self.difference, self.ratio, self.bootstrap) if share is not None]


def simulate_queues(random: np.random.Generator, runs: int, jobs: int, loads: tuple[float, ...]) -> list[np.ndarray]:
    """The waits of each job (rows) in each run (columns) at each load, all with the same draws (Lindley's recursion).

    Service takes one second on average. The first wait is drawn from that of the steady state.
    """
    first, size = random.random(runs), random.exponential(1.0, runs)
    now = [np.where(first < load, size / (1 - load), 0.0) for load in loads]
    waits = [np.empty((jobs, runs)) for _ in loads]
    for job in range(jobs):
        service, gap = random.exponential(1.0, runs), random.exponential(1.0, runs)
        for place, load in enumerate(loads):
            waits[place][job] = now[place]
            now[place] = np.maximum(0.0, now[place] + service - gap / load)
    return waits


def find_truth(metric: str, load: float) -> float:
    """The figure of M/M/1 in steady state, with a service of one second on average."""
    return load / (1 - load) if metric == "mean_wait" else max(0.0, -math.log(0.05 / load) / (1 - load))


def sum_up(waits: np.ndarray) -> dict[str, np.ndarray]:
    """The figures of each run."""
    return {"mean_wait": waits.mean(axis=0), "p95_wait": np.quantile(waits, 0.95, axis=0)}


def measure_formula(random: np.random.Generator, pairs: int, runs: int, jobs: int = 2000) -> list[Coverage]:
    """Two loads under the same draws, against the formula."""
    before, after = (sum_up(waits) for waits in simulate_queues(random, runs, jobs, LOADS))
    found = []
    for metric in METRICS:
        old, new = (find_truth(metric, load) for load in LOADS)
        for size in SIZES:
            chosen = [_choose(random, runs, (size,)) for _ in range(pairs)]
            verdicts = [judge(metric, ("b", after[metric][own]), ("a", before[metric][own])) for own in chosen]
            found.append(_count("formula", metric, size, verdicts, new - old, new / old - 1))
    return found


def measure_relabelled(random: np.random.Generator, pairs: int, runs: int, jobs: int = 500) -> list[Coverage]:
    """One queue under other seeds, called two scenarios; and the same with all times of the second multiplied."""
    figures = sum_up(simulate_queues(random, runs, jobs, (0.7,))[0])
    found = []
    for case, factor in (("no difference", 1.0), ("times 1.25", FACTOR)):
        for metric in METRICS:
            for size in SIZES:
                chosen = (_choose(random, runs, (2, size)) for _ in range(pairs))
                values = ((factor * figures[metric][one], figures[metric][other]) for one, other in chosen)
                verdicts = [judge(metric, ("b", one), ("a", other)) for one, other in values]
                found.append(_count(case, metric, size, verdicts, 0.0 if factor == 1 else None, factor - 1))
    return found


def measure_weeks(random: np.random.Generator, pairs: int, weeks: int = 12, daily: int = 40) -> Coverage:
    """Long runs of two queues that are alike, judged over their weeks, of which the first day each is left out."""
    from walltime.analysis.weeks import share_weeks

    waits = simulate_queues(random, 2 * pairs, weeks * 7 * daily, (0.7,))[0]
    day = np.arange(len(waits)) // daily
    week = np.where(day % 7 == 0, -1, day // 7)
    values = [share_weeks(week[week >= 0], waits[week >= 0, run]) for run in range(2 * pairs)]
    verdicts = [
        judge("mean_wait", ("b", values[2 * pair]), ("a", values[2 * pair + 1]), basis=WEEKS) for pair in range(pairs)
    ]
    return _count("weeks", "mean_wait", weeks, verdicts, 0.0, 0.0)


def count_alarms(random: np.random.Generator, figures: dict[str, np.ndarray], families: int, repetitions: int) -> float:
    """The share of families in which a difference is found although the runs of all sides are of one scenario.

    A family is two scenarios against a third in every figure: as many comparisons as there are figures, twice.
    """
    runs, alarms = len(next(iter(figures.values()))), 0
    for _ in range(families):
        base, *others = _choose(random, runs, (3, repetitions))
        verdicts = [
            judge(name, (f"{place}", values[own]), ("base", values[base]))
            for place, own in enumerate(others)
            for name, values in figures.items()
        ]
        alarms += any(one.outcome in (LESS, MORE) for one in adjust(verdicts))
    return alarms / families


def simulate_clusters(runs: int, jobs: int = 150) -> dict[str, np.ndarray]:
    """The headline of a cluster under EASY with so many seeds."""
    import walltime
    from walltime.analysis.headline import BRIEF

    scenario = {"workload": {"generate": {"jobs": jobs, "cores": 32, "load": 0.8}}, "cluster": {"cores": 32}}
    summaries = [walltime.simulate(scenario, seed=seed).summary for seed in range(runs)]
    return {key: np.array([summary[key] for summary in summaries]) for key in BRIEF}


def _choose(random: np.random.Generator, runs: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of runs, none of them twice."""
    return random.choice(runs, math.prod(shape), replace=False).reshape(shape)


def _count(
    case: str, metric: str, size: int, verdicts: list[Verdict], difference: float | None, ratio: float
) -> Coverage:
    known = [one for one in verdicts if one.relative is not None]
    drawn = [one for one in known if one.bootstrap is not None]
    return Coverage(
        *(case, metric, size, len(verdicts)),
        None if difference is None else np.mean([_holds(one.difference, difference) for one in verdicts]),
        # where no percentage can be told, the interval holds all
        (sum(_holds(one.relative, ratio) for one in known) + len(verdicts) - len(known)) / len(verdicts),
        np.mean([_holds(one.bootstrap, ratio) for one in drawn]) if drawn else None,
    )


def _holds(interval, value: float) -> bool:
    return bool(interval.low <= value <= interval.high)
