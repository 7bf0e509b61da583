"""A rule that nothing uses changes no schedule, whenever the scheduler thinks and however jobs unfold.

The jobs and nodes are those of `test_unused_rules`; they run under every rhythm, as programs, on nodes whose time is
shared, under plans that are improved, and on a plain number of cores.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import test_unused_rules as nodes

from walltime.core.errors import InputError, PolicyError
from walltime.core.random import stream

Site = dict[str, Any]
Columns = dict[str, list[Any]]
ENOUGH = 100_000_000
LEAST = 20
"""Scenarios to which each rule can be added, at least."""
BEATS: tuple[dict[str, Any], ...] = (
    {},
    {"bf_interval": 5, "sched_interval": 10, "sched_min_interval": 1},
    {"bf_interval": 3, "bf_max_job_test": 4, "bf_continue": True},
)
OPTIMISERS = ("tabu", "annealing", "gap-search")
PROFILES = (
    '{"type": "compute-homogenous", "args": {"compute_work": %d}}',
    '{"type": "idle", "args": {"time": %d}}',
    '{"type": "sequence", "args": {"repeat": %d, "profiles": ['
    '{"type": "compute-homogenous", "args": {"compute_work": 1}}, '
    '{"type": "communication-homogenous", "args": {"size": 2e8}}]}}',
)


class Draw:
    """One scenario of `test_unused_rules`, and what is different here."""

    def __init__(self, seed: int) -> None:
        self.site, self.columns = nodes.draw(seed)
        self.random = stream(seed, "unused rules of rhythms")
        self.cluster = self.site["cluster"]
        self.scheduler = self.cluster["scheduler"]

    def one(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def slurm(self) -> None:
        self.scheduler["rhythm"] = {"name": "slurm"} | self.one(BEATS)
        self.scheduler["backfill"] = self.one(("none", "easy", "conservative"))

    def periodic(self) -> None:
        self.scheduler["rhythm"] = {"name": "periodic", "main_every": self.one((3, 7)), "backfill_every": 5}
        self.scheduler["backfill"] = self.one(("none", "easy", "conservative"))

    def event(self) -> None:
        self.scheduler["rhythm"] = "event"

    def improved(self) -> None:
        self.scheduler["backfill"] = {"name": "plan", "optimise": {"name": self.one(OPTIMISERS), "rounds": 20}}

    def programs(self) -> None:
        self.site["execution"] = {"model": "programs"}
        self.cluster["network"] = {"type": "star", "link": {"bandwidth": "1G", "latency": 1e-6}}
        self.columns["profile"] = [self.one(PROFILES) % self.one(range(1, 12)) for _ in self.columns["submit"]]

    def shared(self) -> None:
        self.site["execution"] = {"model": self.one(("processor-sharing", "time-shared", "gang"))}
        for group in self.cluster["nodes"]:
            group["max_load"] = self.one((1, 2, 3))

    def extended(self) -> None:
        self.site["execution"] = {"overrun": "extend"}

    def plain(self) -> None:
        self.cluster["cores"] = sum(group["count"] * group["cores"] for group in self.cluster.pop("nodes"))
        del self.cluster["sharing"], self.scheduler["place"]
        for name in ("nodes", "cores_per_node"):
            self.columns.pop(name, None)


KINDS: tuple[Callable[[Draw], None], ...] = (
    Draw.slurm,
    Draw.slurm,
    Draw.periodic,
    Draw.event,
    Draw.improved,
    Draw.improved,
    Draw.programs,
    Draw.shared,
    Draw.extended,
    Draw.plain,
)
SEEDS = range(10 * len(KINDS))


@cache
def drawn(seed: int) -> tuple[Site, Columns]:
    draw = Draw(seed)
    KINDS[seed % len(KINDS)](draw)
    return draw.site, draw.columns


def fresh(seed: int) -> tuple[Site, Columns]:
    return copy.deepcopy(drawn(seed))


def _work(site: Site) -> None:
    site["cluster"]["limits"] = [{"running_core_minutes": ENOUGH}, {"per": "user", "running_core_minutes": ENOUGH}]


def _checkpoints(site: Site) -> None:
    site.setdefault("execution", {})["checkpoint"] = {"interval": nodes.FAR, "cost": 0, "restart": 0}


def _broker(site: Site) -> None:
    """A search draws its random numbers by the cluster's name, which stays."""
    site["clusters"] = [site.pop("cluster") | {"name": "cluster"}]
    site["broker"] = "least-loaded"


def _cluster(site: Site) -> None:
    _broker(site)
    site["clusters"].append({"name": "other", "nodes": "9x9"})
    site["broker"] = {"name": "least-loaded", "bind": [{"clusters": ["cluster"]}]}


def _idle_maintenance(site: Site) -> None:
    if not waits_for_beats(site):
        nodes.RULES["maintenance of an empty cluster"](site)


def _idle_failure(site: Site) -> None:
    if not waits_for_beats(site):
        nodes.RULES["failure of an empty cluster"](site)


def waits_for_beats(site: Site) -> bool:
    """Slurm's backfill cycles keep their distance, also from one that an outage has caused: the beat is another one."""
    rhythm = site["cluster"]["scheduler"].get("rhythm")
    return isinstance(rhythm, dict) and rhythm["name"] == "slurm"


RULES = nodes.RULES | {
    "maintenance of an empty cluster": _idle_maintenance,
    "failure of an empty cluster": _idle_failure,
    "limit on work": _work,
    "checkpoints": _checkpoints,
    "a broker over one cluster": _broker,
    "another cluster": _cluster,
}


@cache
def without(seed: int) -> list[Any] | None:
    """The run without any such rule; None where a scenario may not be so."""
    try:
        return nodes.rows(nodes.simulate(*fresh(seed)))
    except PolicyError:
        raise
    except InputError:
        return None


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule: str) -> None:
    tried = 0
    for seed in SEEDS:
        site, columns = fresh(seed)
        if without(seed) is None:
            continue
        try:
            RULES[rule](site)
            found = nodes.rows(nodes.simulate(site, columns))
        except PolicyError:
            raise
        except (InputError, KeyError):  # of nodes, and there are none, or what a scenario may not have together
            continue
        tried += 1
        assert found == without(seed), (rule, seed, site)
    assert tried >= LEAST, tried
