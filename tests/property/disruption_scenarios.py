"""Random small sites in which much gets in the way: reservations, failures, checkpoints, preemption, all mixed.

They stand on `site_scenarios`: small numbers, so that ties are everywhere. What a scenario may not say (reservations
that overlap, checkpoints without an interval) is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from site_scenarios import GROUPS, USERS, Draw

from walltime.core.workload import Workload, encode_labels

RANKS = ({"high": 2, "low": -1}, {"high": 1}, {"low": -1, "high": -2})
MODES = ("requeue", "kill", "suspend", "checkpoint")
VICTIMS = ("youngest", "smallest", "lowest")


class Disrupted(Draw):
    """One scenario in the making; `pace` stretches all times where the jobs are long."""

    def __init__(self, seed: int, kind: str) -> None:
        super().__init__(seed, kind)
        self.reservations: list[dict[str, Any]] = []
        self.booked: list[tuple[set[Any], int, int, int]] = []  # (nodes, cores, first start, last end)

    # ---- reservations

    def node_names(self) -> list[str]:
        return [f"{group['name']}{number}" for group in self.nodes for number in range(group["count"])]

    def draw_reservations(self, failing: bool) -> list[dict[str, Any]]:
        for number in range(self.number(1, 3)):
            start, length = self.number(0, 60), self.number(3, 15)
            rule: dict[str, Any] = {"name": f"r{number}", "start": start, "length": length}
            last = start + length
            if self.chance(0.4):
                rule["every"] = length + self.number(0, 20)
                rule["times"] = self.number(2, 4)
                last = start + rule["every"] * (rule["times"] - 1) + length
            elif self.chance(0.2) and not failing:
                rule["every"] = 86_400 * 20
                last = 1 << 40
            nodes, cores = self.draw_extent(rule)
            if self.chance(0.6) and (self.kind != "cores" or not failing or cores <= self.total // 4):
                key, names = self.one((("users", USERS), ("groups", GROUPS)))
                rule[key] = self.some(names, 4)
            if self.is_clear(nodes, cores, start, last):
                self.booked.append((nodes, cores, start, last))
                self.reservations.append(rule)
        return self.reservations

    def draw_extent(self, rule: dict[str, Any]) -> tuple[set[Any], int]:
        """The nodes, or the number of cores, that the reservation is to have."""
        if self.kind == "cores":
            cores = self.number(1, self.total)
            if self.chance(0.7):
                rule["cores"] = cores
                return set(), cores
            return set(), self.total
        names = self.node_names()
        if self.chance(0.5):
            nodes = self.some(names, 4)
            rule["nodes"] = nodes
        elif self.chance(0.6):
            rule["count"] = self.number(1, len(names))
            nodes = names[-rule["count"] :]
        else:
            nodes = names
        return set(nodes), 0

    def is_clear(self, nodes: set[Any], cores: int, start: int, last: int) -> bool:
        """Whether no other reservation needs the same at the same time, as far as a look at the outer edges tells."""
        there = [other for other in self.booked if start < other[3] and other[2] < last]
        if self.kind == "cores":
            return cores + sum(other[1] for other in there) <= self.total
        return not any(nodes & other[0] for other in there)

    # ---- failures

    def draw_failures(self, pace: int) -> list[dict[str, Any]]:
        return [self.draw_source(pace) for _ in range(self.number(1, 3))]

    def draw_source(self, pace: int) -> dict[str, Any]:
        source: dict[str, Any] = {"known": self.chance(0.6)}
        if self.kind != "cores" and self.chance(0.5):
            source["notice"] = self.number(1, 8)
        if self.kind == "cores":
            if self.chance(0.7):
                source["cores"] = self.number(1, max(1, self.total // 2))
        else:
            if self.chance(0.6):
                source["nodes"] = self.some(self.node_names(), 4)
            if self.chance(0.4):
                source["together"] = self.number(2, 3)
        if self.chance(0.5):
            return source | {"at": self.number(0, 50 * pace), "length": self.number(1, 12 * pace)}
        return source | {"between": self.draw_length(self.number(40, 200) * pace), "repair": self.draw_length(6 * pace)}

    def draw_length(self, mean: int) -> dict[str, Any]:
        drawn: dict[str, Any] = {"mean": mean, "distribution": self.one(("exponential", "weibull", "lognormal"))}
        if drawn["distribution"] == "weibull":
            drawn["shape"] = self.one((0.7, 1.5))
        elif drawn["distribution"] == "lognormal":
            drawn["sigma"] = self.one((0.5, 1.0))
        return drawn

    # ---- the rest

    def draw_preempt(self, execution: dict[str, Any]) -> dict[str, Any]:
        modes = MODES if "checkpoint" in execution else MODES[:3]
        part: dict[str, Any] = {"name": "qos", "mode": self.one(modes), "victims": self.one(VICTIMS)}
        if self.queues and self.chance(0.5):
            part["name"] = "queue"
            if self.chance(0.5):
                part["ranks"] = {self.one(list(self.queues)): self.number(-2, 4)}
        else:
            part["ranks"] = self.one(RANKS)
        if self.chance(0.5):
            part["grace"] = self.number(1, 6)
        return part

    def draw_scenario(self) -> tuple[dict[str, Any], Workload]:
        cluster = self.draw_cluster()
        if self.chance(0.5):
            cluster.pop("limits", None)
        pace = 1
        execution: dict[str, Any] = {}
        if self.chance(0.4):
            execution["checkpoint"] = {"interval": self.number(1, 5), "cost": self.number(0, 1)}
            execution["checkpoint"]["restart"] = self.number(0, 2)
        if self.chance(0.15) and "core_minutes" not in repr(cluster):
            execution["overrun"] = "extend"
        features = [name for name in ("reservations", "failures", "preempt") if self.chance(0.6)] or ["reservations"]
        if "reservations" in features:
            cluster["reservations"] = self.draw_reservations("failures" in features)
        workload = self.draw_workload(cluster)
        if max(workload.column("run_time").tolist()) > 10_000_000:
            pace = 5
        if "failures" in features:
            cluster["failures"] = self.draw_failures(pace)
        if "preempt" in features:
            cluster["scheduler"]["preempt"] = self.draw_preempt(execution)
        fates = ("requeue", "requeue", "fail", "checkpoint", "checkpoint")
        cluster["interrupted"] = self.one(fates if "checkpoint" in execution else fates[:3])
        bound = [rule["name"] for rule in self.reservations if {"users", "groups"} & rule.keys()]
        if bound:
            workload = _with_labels(workload, "reservation", self.draw_bonds(workload, bound))
        return {"cluster": cluster, "execution": execution}, workload

    def draw_bonds(self, workload: Workload, bound: list[str]) -> list[str | None]:
        """Reservations for some of the jobs, mostly such that take them."""
        bonds: list[str | None] = []
        for row in range(len(workload)):
            wanted = self.one(bound) if self.chance(0.35) else None
            rule = next((rule for rule in self.reservations if rule["name"] == wanted), {})
            short = int(workload.column("requested_time")[row]) <= rule.get("length", 0) * 1_000_000
            named = any(
                workload.label_names(name)[code] in rule.get(f"{name}s", ())
                for name in ("user", "group")
                if (code := int(workload.column(name)[row])) >= 0
            )
            bonds.append(wanted if (named and short) or self.chance(0.1) else None)
        return bonds

    def draw_queue_labels(self, size: int, cluster: dict[str, Any]) -> list[str | None]:
        """One queue for each job: of a job with several it would be a question what its rank is."""
        default = any(queue.get("default") for queue in self.queues.values())
        return self.draw_labels(size, list(self.queues), 0.3 if default or "routes" in cluster else 0.05)


def draw_disrupted(seed: int, kind: str) -> tuple[dict[str, Any], Workload]:
    """A scenario without its workload, and the jobs; always the same for the same arguments."""
    scenario, workload = Disrupted(seed, kind).draw_scenario()
    return scenario | {"seed": seed % 3}, workload


def _with_labels(workload: Workload, name: str, values: list[str | None]) -> Workload:
    codes, names = encode_labels(values)
    return Workload(dict(workload.columns) | {name: np.asarray(codes)}, dict(workload.labels) | {name: names})
