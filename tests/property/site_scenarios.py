"""Random small sites and workloads: every rule of resources, queues and limits, each switched on or off at random.

All times are small multiples of a second and all amounts are small, so that ties are everywhere. Names are few, so that
limits bind. What a scenario may not say (a queue without nodes, a quota for nobody) is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload, encode_labels

KINDS = ("cores", "plain", "vectors")
"""A plain number of cores; nodes of which only cores are counted; nodes with everything."""
PLACES = ("first-fit", "best-fit", "worst-fit", "topology", "contiguous", "random")
ORDERS = ("fcfs", "fcfs", "sjf", "smallest", "largest", "priority", "wfp3")
USERS = ("ann", "bo", "cy", "di")
GROUPS = ("atlas", "cms")
QOS = ("high", "low")
TREE = {"root": None, "physics": "root", "atlas": "physics", "cms": "physics", "bio": "root"}
FEATURES = ("ib", "ssd", "big")
CONSTRAINTS = ("ib", "ssd", "ib&ssd", "ib|big", "big&ib|ssd")
RESOURCES = ("scratch:1", "scratch:2", "fpga:1/core", "scratch:3/job", "fpga:1,scratch:1")


class Draw:
    """One scenario in the making."""

    def __init__(self, seed: int, kind: str) -> None:
        self.random = stream(seed, f"site.{kind}")
        self.kind = kind
        self.nodes: list[dict[str, Any]] = []
        self.total = int(self.random.integers(2, 17))  # cores
        self.queues: dict[str, dict[str, Any]] = {}
        self.tree = self.chance(0.6)  # whether there is a tree of accounts

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def one(self, choices: Any) -> Any:
        return choices[int(self.random.integers(0, len(choices)))]

    def some(self, choices: Any, most: int = 2) -> list[Any]:
        count = int(self.random.integers(1, min(most, len(choices)) + 1))
        return [choices[i] for i in sorted(self.random.permutation(len(choices))[:count].tolist())]

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    # ---- the machine

    def draw_nodes(self) -> None:
        rich = self.kind == "vectors"
        memory, gpus, named, features = (rich and self.chance(0.6) for _ in range(4))
        uneven = self.chance(0.2)
        for name in ("a", "b", "c")[: self.number(1, 3)]:
            group: dict[str, Any] = {"count": self.number(1, 4), "cores": self.number(1, 6), "name": name}
            if uneven:
                group["speed"] = self.one((0.333333, 0.5, 1.0, 1.5))
            if memory and self.chance(0.85):
                group["memory"] = self.number(2, 12)
            if gpus and self.chance(0.7):
                group["gpus"] = self.number(1, 3)
            if named and self.chance(0.7):
                group["resources"] = {key: self.number(1, 4) for key in self.some(("scratch", "fpga"))}
            if features and self.chance(0.7):
                group["features"] = self.some(FEATURES)
            if self.chance(0.4):
                group["per_switch"] = self.number(1, 3)
            if rich and not {"memory", "gpus", "resources", "features"} & group.keys():
                group["features"] = ["ib"]
            self.nodes.append(group)
        self.total = sum(group["count"] * group["cores"] for group in self.nodes)

    def draw_node_set(self) -> list[str]:
        group = self.one(self.nodes)
        first = self.number(0, group["count"] - 1)
        last = self.number(first, group["count"] - 1)
        return self.one(
            ([group["name"]], [f"{group['name']}[{first}-{last}]"], self.some([g["name"] for g in self.nodes]))
        )

    def count_cores(self, names: list[str] | None) -> int:
        """How many cores the nodes of a drawn set have; None: those of all."""
        count = 0 if names is not None else self.total
        for name in names or ():
            group = next(group for group in self.nodes if group["name"] == name[0])
            first, last = name[2:-1].split("-") if "[" in name else ("0", str(group["count"] - 1))
            count += group["cores"] * (int(last) - int(first) + 1)
        return count

    # ---- the rules

    def draw_caps(self) -> dict[str, int]:
        drawn = {
            "running_jobs": self.number(1, 4),
            "running_cores": self.number(max(2, self.total // 3), self.total + 1),
            "running_gpus": self.number(2, 6),
            "running_memory": self.number(6, 30),
            "running_core_minutes": self.number(1, 6),
            "submitted_jobs": self.number(4, 16),
        }
        names = ["running_jobs", "running_cores", "running_cores", "running_core_minutes", "submitted_jobs"]
        names += ["running_memory", "running_gpus"] if self.kind != "plain" else []
        return {name: drawn[name] for name in self.some(names)}

    def draw_queues(self) -> None:
        for name in ("short", "long", "wide", "any")[: self.number(1, 4)]:
            queue: dict[str, Any] = {"priority": self.number(0, 2)}
            if self.kind == "vectors" and self.chance(0.5):
                queue["nodes"] = self.draw_node_set()
            if self.chance(0.25):
                queue["order"] = self.one(ORDERS)
            if self.chance(0.2):
                queue["max_time"] = self.number(10, 60)
            if self.chance(0.15):
                queue["max_cores"] = self.number(self.total // 2 + 1, self.total + 1)
            if self.chance(0.1):
                queue["min_cores"] = min(2 if self.chance(0.5) else 1, self.count_cores(queue.get("nodes")))
            if self.chance(0.15):
                whom = (("users", USERS), ("groups", GROUPS), ("accounts", tuple(TREE)))
                key, names = self.one(whom if self.tree else whom[:2])
                queue[key] = self.some(names, 3)
            if self.chance(0.3):
                queue |= self.draw_caps()
            for per in ("per_user", "per_group", "per_account"):
                if self.chance(0.15):
                    queue[per] = self.draw_caps()
            self.queues[name] = _consistent(queue)
        if self.chance(0.7):
            self.queues[self.one(list(self.queues))]["default"] = True

    def draw_route(self) -> dict[str, Any]:
        route: dict[str, Any] = {"queue": self.one(list(self.queues))}
        key, value = self.one(
            (
                ("min_cores", self.number(1, 4)),
                ("max_cores", self.number(1, 4)),
                ("min_time", self.number(2, 6)),
                ("max_time", self.number(2, 6)),
                ("users", self.some(USERS)),
                ("groups", self.some(GROUPS)),
                ("accounts", self.some(tuple(TREE))) if self.tree else ("users", self.some(USERS)),
                ("named", ["old"]),
            )
        )
        return route | {key: value}

    def draw_limit(self) -> dict[str, Any]:
        kinds: dict[str, Any] = {"user": USERS, "group": GROUPS, "account": tuple(TREE), "qos": QOS}
        if self.queues:
            kinds["queue"] = tuple(self.queues)
        limit = self.draw_caps()
        for kind in self.some(list(kinds)) if self.chance(0.7) else ():
            limit[kind] = self.some(kinds[kind])
            limit["optional"] = True
        if self.chance(0.5):
            limit["per"] = self.one(list(kinds))
        return limit

    def draw_limits(self) -> list[dict[str, Any]]:
        limits = [self.draw_limit() for _ in range(self.number(1, 3))]
        if self.chance(0.4):  # one that takes another's place
            cap = self.one(("running_jobs", "running_cores"))
            limits.append({"per": "user", cap: self.number(1, 2)})
            limits.append({"user": [self.one(USERS)], cap: self.number(1, 6), "optional": True})
        return limits

    def draw_cluster(self) -> dict[str, Any]:
        cluster: dict[str, Any] = {}
        if self.kind == "cores":
            cluster["cores"] = self.total
        else:
            self.draw_nodes()
            cluster["nodes"] = self.nodes
            cluster["sharing"] = "whole" if self.chance(0.15) else "shared"
            if self.kind == "vectors" and self.chance(0.4):
                cluster["licences"] = {name: self.number(1, 3) for name in self.some(("matlab", "ansys"))}
        if self.chance(0.6):
            self.draw_queues()
            cluster["queues"] = self.queues
            if self.chance(0.5):
                cluster["routes"] = [self.draw_route() for _ in range(self.number(1, 3))]
        if self.tree:
            cluster["accounts"] = {name: {} if parent is None else {"parent": parent} for name, parent in TREE.items()}
            cluster["accounts"]["bio"]["users"] = ["di"]
        if self.chance(0.6):
            cluster["limits"] = self.draw_limits()
        backfill: Any = self.one(("none", "aggressive", "easy", "easy", "depth", "conservative"))
        scheduler: dict[str, Any] = {
            "order": self.one(ORDERS),
            "backfill": {"name": "depth", "depth": self.number(2, 4)} if backfill == "depth" else backfill,
        }
        if self.kind != "cores":
            scheduler["place"] = self.one(PLACES)
        return cluster | {"scheduler": scheduler}

    # ---- the jobs

    def draw_labels(self, size: int, choices: Any, missing: float) -> list[str | None]:
        return [None if self.chance(missing) else self.one(choices) for _ in range(size)]

    def draw_workload(self, cluster: dict[str, Any]) -> Workload:
        size = self.number(10, 40)
        random = self.random
        run = random.integers(0, 9, size)
        shortest = 0 if self.chance(0.1) else 1
        asked = np.where(random.random(size) < 0.7, run + random.integers(0, 9, size), random.integers(0, 9, size))
        if self.chance(0.3):  # long enough for core-minutes to count
            run, asked = run * 7, asked * 7
        submit = np.sort(random.integers(0, self.one((1, 5, 30, 80)), size))
        largest = max(2, int(self.total * self.one((0.4, 0.8, 1.1))))
        cores = random.integers(1, largest + 1, size)
        cores = np.where(random.random(size) < 0.6, np.minimum(cores, random.integers(1, 4, size)), cores)
        integers: dict[str, Any] = {
            "submit": submit * SECOND,
            "run_time": run * SECOND,
            "requested_time": np.maximum(asked, shortest) * SECOND,
            "cores": cores,
            "priority": random.integers(0, 3, size),
        }
        if self.chance(0.3):
            cancel = submit + random.integers(0, 40, size)
            integers["cancel"] = np.where(random.random(size) < 0.2, cancel * SECOND, MISSING)
        labels: dict[str, Any] = {
            "user": self.draw_labels(size, USERS, 0.1),
            "group": self.draw_labels(size, GROUPS, 0.1),
            "account": self.draw_labels(size, tuple(TREE), 0.3),
            "qos": self.draw_labels(size, QOS, 0.3),
        }
        if self.queues:
            labels["queue"] = self.draw_queue_labels(size, cluster)
        if self.kind != "cores":
            integers |= self.draw_shapes(size, cores)
        if self.kind != "plain":
            integers |= self.draw_amounts(size)
        if self.kind == "vectors":
            labels |= self.draw_wishes(size, cluster)
        return _table(integers, labels)

    def draw_wishes(self, size: int, cluster: dict[str, Any]) -> dict[str, Any]:
        """Properties, named resources and licences: mostly such as there are."""
        there = {
            "constraint": any("features" in group for group in self.nodes),
            "resources": any("resources" in group for group in self.nodes),
            "licences": bool(cluster.get("licences")),
        }
        texts = {"constraint": CONSTRAINTS, "resources": RESOURCES, "licences": ("matlab", "ansys:2", "matlab,ansys")}
        return {name: self.draw_labels(size, texts[name], 0.75 if there[name] else 0.98) for name in texts}

    def draw_queue_labels(self, size: int, cluster: dict[str, Any]) -> list[str | None]:
        choices = list(self.queues)
        if self.chance(0.4):
            choices += [",".join(self.some(list(self.queues), 3)) for _ in range(2)]
        default = any(queue.get("default") for queue in self.queues.values())
        if default:
            choices.append("old")
        return self.draw_labels(size, choices, 0.4 if default or "routes" in cluster else 0.05)

    def draw_shapes(self, size: int, cores: Any) -> dict[str, Any]:
        count = sum(group["count"] for group in self.nodes)
        nodes, each = np.full(size, MISSING), np.full(size, MISSING)
        share = self.one((0.0, 0.4, 0.4, 1.0))
        for row in range(size):
            if self.chance(share):
                way = self.number(0, 2)
                if way != 1:
                    nodes[row] = self.number(1, min(count, int(cores[row])))
                if way != 0:
                    each[row] = self.number(1, 4)
                if way == 2:
                    cores[row] = nodes[row] * each[row]
        return {"nodes": nodes, "cores_per_node": each, "cores": cores}

    def draw_amounts(self, size: int) -> dict[str, Any]:
        """Memory and GPUs, in all, per node and per core; and who wants nodes for himself."""
        amounts: dict[str, Any] = {}
        chosen = self.some(("memory", "memory_per_node", "memory_per_core"), 3) if self.chance(0.6) else []
        most = {"memory": 8, "memory_per_node": 5, "memory_per_core": 2}
        for name in chosen:
            amounts[name] = np.where(
                self.random.random(size) < 0.4, self.random.integers(0, most[name] + 1, size), MISSING
            )
        if any("gpus" in group for group in self.nodes) or self.kind == "cores":
            amounts["gpus"] = np.where(self.random.random(size) < 0.2, self.random.integers(1, 4, size), 0)
            amounts["gpus_per_node"] = np.where(self.random.random(size) < 0.1, 1, MISSING)
        if self.kind == "vectors" and self.chance(0.3):
            amounts["exclusive"] = (self.random.random(size) < 0.2).astype(np.int64)
        return amounts


def draw_site(seed: int, kind: str) -> tuple[dict[str, Any], Workload]:
    """A scenario without its workload, as a file would say it, and the jobs; always the same for the same arguments."""
    draw = Draw(seed, kind)
    cluster = draw.draw_cluster()
    return {"seed": seed % 3, "cluster": cluster}, draw.draw_workload(cluster)


def draw_terms(cluster: dict[str, Any], seed: int, *, growing: bool = True) -> None:
    """What queues make of their jobs' requests; by draws of its own, so that it changes nothing else."""
    random = stream(seed, "site.terms")
    for queue in cluster.get("queues", {}).values():
        if "nodes" in cluster and random.random() < 0.4:
            queue["sharing"] = "whole"
    if any("memory" in group for group in cluster.get("nodes", ())):
        for one in (cluster, *cluster.get("queues", {}).values()):
            if random.random() < 0.5:
                one["default_memory"] = ("0/core", "1/core", "2/core", "2/node", "5/node", "all", "all")[
                    int(random.integers(7))
                ]
            if random.random() < 0.4:
                one["max_memory"] = ("3/node", "5/node", "1/core", "2/core", "3/core")[
                    int(random.integers(5 if growing else 2))
                ]


def _consistent(queue: dict[str, Any]) -> dict[str, Any]:
    """The queue without what a scenario may not say."""
    least = queue.get("min_cores", 1)
    for cap in ("max_cores", "running_cores"):
        if cap in queue:
            queue[cap] = max(queue[cap], least)
    return queue


def _table(integers: dict[str, Any], labels: dict[str, Any]) -> Workload:
    columns = {name: np.asarray(values, np.int64) for name, values in integers.items()}
    names = {}
    for name, values in labels.items():
        columns[name], names[name] = encode_labels(values)
    return Workload(columns, names)
