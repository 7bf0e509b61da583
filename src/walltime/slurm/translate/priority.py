"""Which job is first and when the controller schedules: a scenario's order and rhythm as lines of slurm.conf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.core.workload import Workload
from walltime.scenario import Cluster
from walltime.site.priority import FLAGS, PERIODS, TRES, WEIGHTS

FCFS, SUBMISSION, MULTIFACTOR, FAIRSHARE = "fcfs", "submission", "multifactor", "fairshare"
ORDERS = (FCFS, SUBMISSION, MULTIFACTOR, FAIRSHARE)
FORMULAS = {"fair-tree": "", "classic": "NO_FAIR_TREE"}
RESETS = {name: name.upper() for name in (*PERIODS, "now")}
ALONE = 1_000_000_000
"""The weight of fair share where it is the only thing that counts."""
PERIODIC = {
    *("sched_interval", "sched_min_interval", "default_queue_depth", "defer", "bf_interval", "bf_window"),
    *("bf_resolution", "bf_max_job_test", "bf_max_job_user", "bf_continue"),
}
"""Parameters of the rhythm `periodic`; they have the controller's own names and units."""
MAIN = {
    *("sched_interval", "sched_min_interval", "batch_sched_delay", "default_queue_depth", "partition_job_depth"),
    *("sched_max_job_start", "defer", "assoc_limit_stop"),
}
"""Of the rhythm `slurm`, those of the main pass, which there is without a backfill scheduler, too."""
SLURM = MAIN | {
    *("bf_interval", "bf_window", "bf_window_linear", "bf_resolution", "bf_continue", "bf_max_job_test"),
    *("bf_max_job_start", "bf_max_job_user", "bf_max_job_part", "bf_max_job_user_part", "bf_max_job_assoc"),
    *("bf_job_part_count_reserve", "bf_min_age_reserve", "bf_min_prio_reserve", "bf_max_job_array_resv"),
}
"""All of its parameters."""
RHYTHMS = {"instant": set[str](), "periodic": PERIODIC, "slurm": SLURM}
INSTANT = {"bf_max_job_test": 1000, "bf_window": 10_080}
"""Where a scenario looks at all jobs at every instant, the controller looks at very many, far ahead."""
BY_AGE = (
    "PriorityType=priority/multifactor",
    "PriorityWeightAge=31536000",
    "PriorityMaxAge=365-0",
    "PriorityCalcPeriod=1",
)
"""First come, first served by the age in seconds: this plug-in alone counts down what running jobs may still use."""


def is_weighted(cluster: Cluster) -> bool:
    """Whether the order needs associations."""
    return cluster.scheduler.order.name in (MULTIFACTOR, FAIRSHARE)


def needs_age(cluster: Cluster, jobs: Workload) -> bool:
    """Whether jobs are served in the order in which they became eligible, and some only after their submission; from
    their submission on they have their priority under priority/basic."""
    waits = np.array([bool(text) for text in jobs.column("dependencies")], np.bool_)
    waits |= jobs.column("begin") > jobs.column("submit")
    return cluster.scheduler.order.name == FCFS and bool((waits & (jobs.column("aware") <= 0)).any())


def find_problems(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """What of the order and the rhythm a controller cannot honour, by key."""
    order, rhythm = cluster.scheduler.order, cluster.scheduler.rhythm
    if order.name not in ORDERS:
        yield "cluster.scheduler.order", f"{order.name}: only {', '.join(ORDERS)}"
    elif order.name not in (FCFS, SUBMISSION):
        yield from _in_weights(order.parameters)
        yield from _in_shares(_share_parameters(cluster))
    if rhythm.name not in RHYTHMS:
        yield "cluster.scheduler.rhythm", f"{rhythm.name}: only {', '.join(RHYTHMS)}"
    elif strange := sorted(set(rhythm.parameters) - RHYTHMS[rhythm.name]):
        yield f"cluster.scheduler.rhythm.{strange[0]}", "not a parameter of the controller's"


def _share_parameters(cluster: Cluster) -> Mapping[str, Any]:
    """Of fair share: those of the order itself, or of the factor among others."""
    order = cluster.scheduler.order
    return order.parameters if order.name == FAIRSHARE else order.parameters.get("fairshare") or {}


def _in_weights(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("site", "nice"):
        if given.get(name, 0) != 0:
            yield f"cluster.scheduler.order.{name}", "a formula: the controller has none"


def _in_shares(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    key = "cluster.scheduler.order.fairshare"
    if given.get("formula", "fair-tree") not in FORMULAS:
        yield f"{key}.formula", f"{given['formula']}: only {', '.join(FORMULAS)}"
    if given.get("by", "user") != "user":
        yield f"{key}.by", f"{given['by']}: the controller's is by user"
    if given.get("charge", "cpu") != "cpu":
        yield f"{key}.charge", f"{given['charge']}: only cpu"
    if given.get("usage"):
        yield f"{key}.usage", "usage is counted from the start"


def write_order(cluster: Cluster, by_age: bool) -> list[str]:
    """The lines about priority; `by_age` where it has to be the age of a job that says which came first."""
    order = cluster.scheduler.order
    if order.name in (FCFS, SUBMISSION):
        flags = ["PriorityFlags=ACCRUE_ALWAYS"] if order.name == SUBMISSION else []
        return [*BY_AGE, *flags] if by_age else ["PriorityType=priority/basic"]
    given = order.parameters
    shares = _share_parameters(cluster)
    weights = {"fairshare": ALONE} if order.name == FAIRSHARE else given.get("weights") or {}
    flags = [FORMULAS[shares.get("formula", "fair-tree")]]
    flags += [word for name, word in FLAGS.items() if given.get(name)]
    lines = ["PriorityType=priority/multifactor"]
    lines += [f"{WEIGHTS[name]}={int(weight)}" for name, weight in weights.items()]
    lines.append(f"PriorityCalcPeriod={_minutes(given.get('interval', '5m'))}")
    lines.append(f"PriorityMaxAge={_minutes(given.get('max_age', '7d'))}")
    half_life = _minutes(shares.get("half_life", "7d"), least=0)
    lines.append(f"PriorityDecayHalfLife={half_life}")
    reset = RESETS.get(str(shares.get("reset", "none")), "NONE")
    if half_life == 0 and reset == "NONE":  # usage for ever, for which the controller wants one reset, when it starts
        reset = "NOW"
    if reset != "NONE":
        lines.append(f"PriorityUsageResetPeriod={reset}")
    if (dampening := shares.get("dampening", 1)) != 1:
        lines.append(f"FairShareDampeningFactor={round(dampening)}")
    lines += ["PriorityFavorSmall=YES"] if given.get("favor_small") else []
    if tres := given.get("tres"):
        lines.append("PriorityWeightTRES=" + ",".join(f"{TRES[name]}={int(weight)}" for name, weight in tres.items()))
    lines += [f"PriorityFlags={','.join(flag for flag in flags if flag)}"] if any(flags) else []
    return lines


def _minutes(duration: Any, least: int = 1) -> int:
    """Whole minutes; raises InputError for less than that, and for parts of one."""
    length = seconds(parse_duration(duration))
    if length % 60 or length < 60 * least:
        raise InputError("the controller counts whole minutes", value=duration)
    return int(length // 60)


def write_rhythm(cluster: Cluster, reservations: int) -> list[str]:
    """The words of SchedulerParameters: how often and how far it looks, how many reservations it makes (0: all)."""
    rhythm = cluster.scheduler.rhythm
    given = {"bf_continue": rhythm.name != "slurm"} | dict(INSTANT if rhythm.name == "instant" else rhythm.parameters)
    reservations = given.pop("bf_job_part_count_reserve", 0) or reservations
    return [*_spell(given), *([f"bf_job_part_count_reserve={reservations}"] if reservations else [])]


def write_main(cluster: Cluster) -> list[str]:
    """The words of SchedulerParameters about the main pass, which there is without a backfill scheduler, too."""
    rhythm = cluster.scheduler.rhythm
    given = rhythm.parameters if rhythm.name == "slurm" else {}
    return _spell({name: value for name, value in given.items() if name in MAIN})


def _spell(given: Mapping[str, Any]) -> list[str]:
    """Parameters as words; those that are true or false are there or not."""
    words = {name: name if isinstance(value, bool) else f"{name}={value}" for name, value in given.items()}
    return [word for name, word in words.items() if given[name] is not False]


def qos_priorities(cluster: Cluster) -> dict[str, int]:
    """Of the QOS factor, by name."""
    given = cluster.scheduler.order.parameters.get("qos") if cluster.scheduler.order.name == MULTIFACTOR else None
    return {str(name): int(value) for name, value in (given or {}).items()}
