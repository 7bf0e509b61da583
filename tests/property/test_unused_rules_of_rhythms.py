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

from walltime import Result
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
        rhythm = {"name": "periodic", "bf_interval": self.one((1, 5)), "sched_interval": self.one((3, 7))}
        self.scheduler["rhythm"] = rhythm | self.one(({}, {"sched_min_interval": 0}, {"bf_resolution": 1}))
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


def _idle_maintenance(site: Site) -> None:
    if not waits_for_beats(site):
        nodes.RULES["maintenance of an empty cluster"](site)


def _idle_failure(site: Site) -> None:
    if not waits_for_beats(site):
        nodes.RULES["failure of an empty cluster"](site)


def _nodes(site: Site) -> None:
    """An optimiser looks at as many jobs as ask for twice the machine's cores, so more nodes are more jobs for it."""
    backfill = site["cluster"]["scheduler"]["backfill"]
    if not (isinstance(backfill, dict) and "optimise" in backfill):
        nodes.RULES["nodes for nobody"](site)


def waits_for_beats(site: Site) -> bool:
    """Slurm's backfill cycles keep their distance, also from one that an outage has caused: the beat is another one."""
    rhythm = site["cluster"]["scheduler"].get("rhythm")
    return isinstance(rhythm, dict) and rhythm["name"] == "slurm"


RULES = nodes.RULES | {
    "maintenance of an empty cluster": _idle_maintenance,
    "failure of an empty cluster": _idle_failure,
    "nodes for nobody": _nodes,
    "limit on work": _work,
    "checkpoints": _checkpoints,
}


OF_NODES = ("feature", "memory", "resource", "gpus", "maintenance", "failure", "nodes for nobody")
"""Rules that name nodes, which a plain number of cores does not have."""


@cache
def without(seed: int) -> Result | None:
    """The run without any such rule; None where a scenario may not be so."""
    try:
        return nodes.simulate(*fresh(seed))
    except PolicyError:
        raise
    except InputError:
        return None


def test_most_scenarios_of_each_kind_may_be() -> None:
    for place, kind in enumerate(KINDS):
        ran = sum(without(seed) is not None for seed in SEEDS[place :: len(KINDS)])
        assert ran > len(SEEDS) // len(KINDS) // 2, kind


def run(site: Site, columns: Columns) -> Result | None:
    """The run; None where a scenario may not have all that together."""
    try:
        return nodes.simulate(site, columns)
    except PolicyError:
        raise
    except InputError:
        return None


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule: str) -> None:
    tried = 0
    for seed in SEEDS:
        site, columns = fresh(seed)
        plain = without(seed)
        if plain is None or (rule in OF_NODES and "nodes" not in site["cluster"]):
            continue
        RULES[rule](site)
        if (found := run(site, columns)) is None:
            continue
        tried += 1
        assert nodes.rows(found, rule) == nodes.rows(plain, rule), (rule, seed, site)
    assert tried >= LEAST, tried


def test_dependencies_that_are_met_at_submission_change_no_schedule() -> None:
    tried = 0
    for seed in SEEDS:
        site, columns = fresh(seed)
        plain = without(seed)
        if plain is None:
            continue
        columns["dependencies"] = nodes.met_dependencies(plain, columns)
        if (found := run(site, columns)) is None:
            continue
        tried += any(columns["dependencies"])
        assert nodes.rows(found) == nodes.rows(plain), (seed, site)
    assert tried >= LEAST, tried
