"""Queueing systems as scenarios, each with what theory says of it and with a broken twin that must be found out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime import api
from walltime.analysis import queueing as theory
from walltime.analysis.statistics import student_quantile

EXPONENTIAL = {"name": "exponential", "mean": 1.0}
CONFIDENCE, WIDTH = 0.999, 0.02
SETTLING = 0.05  # of a run's jobs, not counted: it begins empty


@dataclass(frozen=True)
class Interval:
    """A mean over independent runs; the half-width is Student's at 99.9 %."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: list[float]) -> Interval:
        n = len(values)
        half = student_quantile((1 + CONFIDENCE) / 2, n - 1) * float(np.std(values, ddof=1)) / n**0.5
        return cls(float(np.mean(values)), half)

    def holds(self, value: float) -> bool:
        return abs(self.mean - value) <= self.half

    def narrow(self, value: float) -> bool:
        return self.half <= WIDTH * value


def mean_response(result: Any, **labels: str) -> float:
    """The mean response after settling, of the jobs with these labels."""
    jobs = result.jobs[int(SETTLING * result.jobs.height) :]
    for name, value in labels.items():
        jobs = jobs.filter(jobs[name] == value)
    return float((jobs["end"] - jobs["submit"]).mean())


def share_rejected(result: Any) -> float:
    jobs = result.jobs[int(SETTLING * result.jobs.height) :]
    return float((jobs["state"] == "rejected").mean())


@dataclass(frozen=True)
class System:
    """A scenario, what is measured in it, and what theory says; `broken` are settings that make it another system."""

    name: str
    scenario: dict[str, Any]
    theory: float
    broken: dict[str, Any]
    measure: Callable[[Any], float] = mean_response
    runs: int = 32
    policy: Any = "fcfs"
    quantity: str = "mean response"
    notes: str = field(default="")

    def run(self, seed: int, settings: dict[str, Any] | None = None) -> Any:
        scenario = copy.deepcopy(self.scenario)
        for key, value in (settings or {}).items():
            *path, last = key.split(".")
            target = scenario
            for step in path:
                target = target[step]
            target[last] = value
        policy = scenario.pop("policy", self.policy)
        return api.simulate(scenario, seed=seed, policy=policy)

    def estimate(self, runs: int | None = None, settings: dict[str, Any] | None = None) -> Interval:
        return Interval.of([self.measure(self.run(seed, settings)) for seed in range(1, 1 + (runs or self.runs))])


def arrivals(rate: float, work: Any = EXPONENTIAL, jobs: int = 40_000, **kind: Any) -> dict[str, Any]:
    """Poisson arrivals of one kind of job."""
    gaps = {"name": "exponential", "mean": 1 / rate}
    return {"synthetic": {"jobs": jobs, "arrivals": gaps, "types": {"job": {"work": work, **kind}}}}


def shared(max_load: int = 2000, **more: Any) -> dict[str, Any]:
    """One node whose time is shared."""
    return {"nodes": {"count": 1, "cores": 1, "max_load": max_load}, **more}


def make_systems() -> list[System]:
    """The systems that a single cluster can be."""
    return [*plain_systems(), *limited_systems(), *priority_systems(), *sharing_systems()]


def plain_systems() -> list[System]:
    slow = {"name": "exponential", "mean": 4.0}
    work = "workload.synthetic.types.job.work"
    found = [
        System(
            "M/M/1",
            {"workload": arrivals(0.7), "cluster": {"cores": 1}},
            theory.response_mmc(0.7, 1),
            {work: {"name": "exponential", "mean": 1.03}},
        ),
        System(
            "M/D/1",
            {"workload": arrivals(0.7, 1.0), "cluster": {"cores": 1}},
            theory.response_mg1(0.7, 1, 0),
            {work: {"name": "uniform", "low": 0.5, "high": 1.5}},
            runs=16,
        ),
        System(
            "M/G/1, hyper-exponential",
            {
                "workload": arrivals(0.5, {"name": "hyper-exponential", "mean": 1.0, "cv": 2.0}, 60_000),
                "cluster": {"cores": 1},
            },
            theory.response_mg1(0.5, 1, 4),
            {"policy": "sjf"},
            runs=56,
        ),
        System(
            "M/G/1, jobs of 1 to 4 tasks on one node",
            {
                "workload": arrivals(0.25, tasks={"name": "empirical", "values": [1, 2, 3, 4]}),
                "cluster": {"sharing": "whole", **shared(4)},
                "execution": {"model": "processor-sharing"},
            },
            # N X with X exponential: E[S] = 2.5, E[S^2] = 7.5 * 2
            theory.response_mg1(0.25, 2.5, 15 / 6.25 - 1),
            {"cluster.nodes.speed": 1.03},
        ),
    ]
    for rate, runs in ((0.5, 16), (0.8, 48)):
        found.append(
            System(
                f"M/M/4, rate {rate:g}",
                {"workload": arrivals(rate, slow), "cluster": {"cores": 4}},
                theory.response_mmc(rate, 4, 4),
                {"cluster.cores": 5} if rate > 0.6 else {"cluster.cores": 3},
                runs=runs,
            )
        )
    return found


def limited_systems() -> list[System]:
    def cluster(cores: int, places: int) -> dict[str, Any]:
        return {"cores": cores, "limits": [{"submitted_jobs": places}]}

    return [
        System(
            "M/M/2/5, response",
            {"workload": arrivals(1.6, jobs=20_000), "cluster": cluster(2, 5)},
            theory.response_mmck(1.6, 1, 2, 5),
            {"cluster": cluster(2, 6)},
            runs=12,
        ),
        System(
            "M/M/2/5, share turned away",
            {"workload": arrivals(1.6, jobs=20_000), "cluster": cluster(2, 5)},
            theory.blocked_mmck(1.6, 1, 2, 5),
            {"cluster": cluster(2, 6)},
            share_rejected,
            runs=48,
            quantity="share turned away",
        ),
        System(
            "M/M/4/4, Erlang B",
            {"workload": arrivals(3.0, jobs=20_000), "cluster": cluster(4, 4)},
            theory.erlang_b(4, 3.0),
            {"cluster": cluster(4, 5)},
            share_rejected,
            runs=24,
            quantity="share turned away",
        ),
    ]


def priority_workload(rates: list[float], jobs: int = 40_000) -> dict[str, Any]:
    kinds = {
        f"class{place}": {
            "weight": rate,
            "work": EXPONENTIAL,
            "priority": len(rates) - place,
            "qos": "urgent" if place == 0 else "normal",
        }
        for place, rate in enumerate(rates)
    }
    gaps = {"name": "exponential", "mean": 1 / sum(rates)}
    return {"synthetic": {"jobs": jobs, "arrivals": gaps, "types": kinds}}


def priority_systems() -> list[System]:
    rates = [0.3, 0.4]
    expected = theory.responses_priority(rates, 1.0, preemptive=False)
    found = []
    for place, name in enumerate(("first", "second")):
        found.append(
            System(
                f"M/M/1 with priorities, {name} class",
                {"workload": priority_workload(rates), "cluster": {"cores": 1}},
                expected[place],
                {"policy": "fcfs"},
                lambda result, place=place: mean_response(result, group=f"class{place}"),
                policy={"order": "priority", "backfill": "none"},
                runs=24 if place == 0 else 64,
            )
        )
    return found + preemptive_systems(rates)


def preemptive_systems(rates: list[float]) -> list[System]:
    """A displaced job goes on later from where it was; the urgent class does not notice the other."""
    expected = theory.responses_priority(rates, 1.0, preemptive=True)
    parts = {"order": "priority", "backfill": "none"}
    preempt = {"name": "qos", "ranks": {"urgent": 1}, "mode": "suspend"}
    return [
        System(
            f"M/M/1 with preemption, {name} class",
            {"workload": priority_workload(rates, 20_000 if place == 0 else 40_000), "cluster": {"cores": 1}},
            expected[place],
            {"policy": parts},
            lambda result, place=place: mean_response(result, group=f"class{place}"),
            policy={**parts, "preempt": preempt},
            runs=20 if place == 0 else 40,
        )
        for place, name in enumerate(("first", "second"))
    ]


def sharing_systems() -> list[System]:
    found = []
    for name, work in (
        ("exponential", EXPONENTIAL),
        ("constant", 1.0),
        ("hyper-exponential", {"name": "hyper-exponential", "mean": 1.0, "cv": 2.0}),
        ("Pareto", {"name": "pareto", "shape": 3.0, "mean": 1.0}),
    ):
        found.append(
            System(
                f"M/G/1 processor sharing, {name}",
                {
                    "workload": arrivals(0.6, work, 60_000 if name == "hyper-exponential" else 40_000),
                    "cluster": shared(),
                    "execution": {"model": "processor-sharing"},
                },
                theory.response_sharing(0.6, 1),
                {"cluster": {"cores": 1}, "execution": {"model": "trace"}}
                if name != "exponential"
                else {"cluster.nodes.speed": 0.97},  # of exponential jobs the order does not matter
                runs={"hyper-exponential": 40, "constant": 12, "Pareto": 12}.get(name, 20),
            )
        )
    return found
