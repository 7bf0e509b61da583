"""Random mixtures of everything that a scenario has: each feature is in some of them, beside any of the others.

They stand on the generators that the comparisons with the slow twins use, so that times and amounts are small and ties
are everywhere. What no twin knows is laid over these: rhythms, brokers and migration, models that share time, a start
with jobs that run already, workflows, a cut-off. Some of what is drawn a scenario may not say: that is refused, which
is an answer too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from conditions import add_conditions
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS, draw_site, draw_terms
from test_clusters_disrupted import BROKERS, join
from test_fairshare_twin import draw_order
from test_orders_twin import BACKFILLS, ESTIMATES, ORDERS
from test_rhythm_twin import draw_rhythm, drop_minutes

from walltime.core.random import stream
from walltime.core.workload import Workload, encode_labels

MODELS = ("processor-sharing", "time-shared", "gang")
PLACES = ("round-robin", "even", "first-fit", "contiguous", "topology", "random")
TASKS = ("sequential", "lock-step step=1", "lock-step step=2 delay=1 spin", "master-slave step=3 delay=1")
SITES = ("several", "cores", "plain", "vectors", "cores", "several", "plain", "vectors")
USERS = ("ann", "bo", "cy", "di")
REACTIONS: tuple[dict[str, Any], ...] = (
    {"name": "give-up", "after": 20},
    {"name": "stop-at-limit", "jobs": 2, "again": 7},
    {"name": "abandon", "wait": 30},
    {"name": "ask-for-less", "margin": 1.5, "jobs": 2},
    {"name": "fewer-cores", "gain": 1, "serial": 0.2},
    {"name": "split", "time": 10},
    {"name": "split", "cores": 2},
    {"name": "merge", "jobs": 3, "below": 20},
    {"name": "other-site", "gain": 1},
    {"name": "other-queue", "gain": 1},
)
PLANNERS = ("slurm", {"name": "slurm", "bf_interval": 5, "sched_interval": 10, "sched_min_interval": 1})
PLANS: tuple[Any, ...] = (
    {"name": "plan", "build": "best-gap"},
    {"name": "plan", "optimise": {"name": "tabu", "rounds": 20}},
    {"name": "plan", "optimise": {"name": "annealing", "rounds": 20}},
)


OWN_PLACES = ("first-fit", "best-fit", "worst-fit", "even", "round-robin", "random")
"""Placements that a queue may have for itself."""


class Mixture:
    """One scenario in the making; `folder` is for the files that it names."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self.folder = folder
        self.random = stream(seed, "mixture")
        self.keys: dict[str, Any] = {"seed": seed % 5}

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def one(self, choices: Any) -> Any:
        return choices[int(self.random.integers(0, len(choices)))]

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def draw(self) -> dict[str, Any]:
        """The scenario as a mapping, its workload in it."""
        site = self.one(SITES)
        workload = self.draw_several() if site == "several" else self.draw_alone(site)
        if self.chance(0.4):
            workload, keys = add_conditions(workload, self.seed)
            self.keys |= keys
        if self.chance(0.15):
            self.keys["cancellations"] = {"share": 0.4, "after": self.number(2, 30), "running": self.chance(0.5)}
        if self.chance(0.15):
            workload = self.number_strangely(workload)
        if self.chance(0.25):
            self.keys["until"] = self.number(1, 120)
        self.keys["workload"] = {"table": workload}
        if self.chance(0.1):
            self.keys["workload"]["workflows"] = self.draw_workflows()
        if self.chance(0.15) and "cluster" in self.keys:
            self.keys["start"] = self.draw_start()
        if (users := self.draw_users()) is not None:
            self.keys["users"] = users
        self.plan_together()
        self.keys["workload"]["table"] = self.draw_parts(self.count_threads(workload))
        return self.keys

    # ---- clusters

    def draw_alone(self, kind: str) -> Workload:
        """The only cluster; now and then behind a broker all the same."""
        cluster, workload = self.draw_cluster(self.seed, kind)
        self.keys["cluster"] = cluster
        if self.chance(0.1):
            self.keys["broker"] = self.draw_broker([cluster | {"name": "cluster"}])
        return self.share_time(workload) if self.chance(0.2) else workload

    def draw_several(self) -> Workload:
        count = self.number(2, 4)
        drawn = [self.draw_cluster(1000 * self.seed + number, self.one(KINDS)) for number in range(count)]
        clusters = [cluster | {"name": f"c{number}"} for number, (cluster, _) in enumerate(drawn)]
        if len({cluster["scheduler"].get("rhythm") == "event" for cluster in clusters}) > 1:
            for cluster in clusters:
                cluster["scheduler"]["rhythm"] = "instant"
        self.keys["clusters"] = clusters
        self.keys["broker"] = self.draw_broker(clusters)
        return join([workload for _, workload in drawn])

    def draw_cluster(self, seed: int, kind: str) -> tuple[dict[str, Any], Workload]:
        site, workload = draw_site(seed, kind) if self.chance(0.25) else draw_disrupted(seed, kind)
        cluster = site["cluster"]
        self.keys.setdefault("execution", site.get("execution", {}))
        if "checkpoint" not in self.keys["execution"]:
            if cluster.get("interrupted") == "checkpoint":
                cluster["interrupted"] = "requeue"
            if cluster["scheduler"].get("preempt", {}).get("mode") == "checkpoint":
                cluster["scheduler"]["preempt"]["mode"] = "suspend"
        self.draw_scheduler(cluster, seed, kind)
        for rule in cluster.get("reservations", ()):
            if self.chance(0.2):  # without an end
                rule["every"] = 2_000 if cluster.get("failures") else self.one((20_000, 86_400, 86_400 * 7))
                rule.pop("times", None)
        return cluster, workload

    def draw_scheduler(self, cluster: dict[str, Any], seed: int, kind: str) -> None:
        scheduler = cluster["scheduler"]
        if self.chance(0.3):
            scheduler["order"] = self.one(ORDERS)
        elif self.chance(0.3):
            scheduler["order"], extra = draw_order(seed)
            cluster |= extra
        if self.chance(0.4):
            scheduler["backfill"] = self.one((*BACKFILLS, *PLANS))
        if self.chance(0.4):
            scheduler["estimate"] = self.one(ESTIMATES)
        if kind != "cores" and self.chance(0.3):
            scheduler["place"] = self.one(PLACES)
        if self.chance(0.12):
            scheduler["rhythm"] = "event"
        elif self.chance(0.15):
            scheduler["rhythm"] = {"name": "periodic"} | draw_rhythm(seed, kind, limited=False)
            scheduler.pop("preempt", None)
            cluster.pop("failures", None)
            cluster.pop("reservations", None)
        planner = stream(seed, "planner")  # of its own, so that it changes nothing else that is drawn
        if "nodes" in cluster and planner.random() < 0.15:
            scheduler["rhythm"] = PLANNERS[int(planner.integers(len(PLANNERS)))]
            scheduler["backfill"] = ("none", "easy", "conservative")[int(planner.integers(3))]
        packer = stream(seed, "packer")
        if packer.random() < 0.15 and scheduler.get("rhythm") not in PLANNERS:
            given = {"fairness": float(packer.choice([0, 0.4, 1])), "every": int(packer.choice([0, 7]))}
            scheduler["backfill"] = {"name": "tetris"} | given
        if packer.random() < 0.1:
            scheduler["order"] = "drf"
        aging = stream(seed, "aging")
        if aging.random() < 0.2:
            scheduler["order"] = {"name": "multifactor", "weights": {"age": 1000, "job_size": 300}, "max_age": 500}
            limit = {"per": ("user", "group")[int(aging.integers(2))], "accruing_jobs": int(aging.integers(4))}
            cluster["limits"] = [*cluster.get("limits", ()), limit]
        if "nodes" in cluster and aging.random() < 0.3:
            for queue in dict(cluster.get("queues", {})).values():
                queue["place"] = OWN_PLACES[int(aging.integers(len(OWN_PLACES)))]

        if stream(seed, "terms").random() < 0.2:
            draw_terms(cluster, seed, growing=False)

    def draw_broker(self, clusters: list[dict[str, Any]]) -> dict[str, Any]:
        part = self.one(("first", *BROKERS))
        broker: dict[str, Any] = {"name": part} if isinstance(part, str) else dict(part)
        broker |= {"hold": self.chance(0.5), "overtake": self.chance(0.6)}
        if self.chance(0.5):
            broker["order"] = self.draw_global_order()
        if self.chance(0.4):
            broker["migrate"] = {"gain": self.number(1, 5), "most": self.number(1, 3)}
            broker["migrate"] |= {"every": self.number(1, 9)} if self.chance(0.5) else {}
        if self.chance(0.3):
            names = [cluster["name"] for cluster in clusters]
            broker["bind"] = [{"users": [self.one(USERS)], "clusters": [self.one(names)]} for _ in range(2)]
        if self.chance(0.3):
            broker["queues"] = {
                "small": {"max_cores": 2, "priority": self.number(0, 2), "order": self.draw_global_order()},
                "rest": {"broker": "random"} if self.chance(0.5) else {},
            }
        return broker

    def draw_global_order(self) -> Any:
        return self.one(ORDERS) if self.chance(0.5) else draw_order(self.seed + 7)[0]

    def plan_together(self) -> None:
        """One plan over all clusters, now and then; by draws of its own, so that it changes nothing else."""
        random = stream(self.seed, "mixture.together")
        clusters = self.keys.get("clusters", ())
        if random.random() > 0.25 or len(clusters) < 2:
            return
        for cluster in clusters:
            cluster["scheduler"] = {**cluster["scheduler"], "backfill": "plan"}
            if cluster["scheduler"].get("rhythm") in PLANNERS:
                del cluster["scheduler"]["rhythm"]
        name = ("tabu", "annealing", "gap-search")[int(random.integers(3))]
        self.keys["broker"]["optimise"] = {"name": name, "rounds": 20}

    # ---- how jobs run, and what else there is

    def count_threads(self, workload: Workload) -> Workload:
        """Cores of two threads, now and then: of the only cluster, and with the jobs as they are."""
        random = stream(self.seed, "mixture.threads")
        cluster = self.keys.get("cluster", {})
        if random.random() < 0.1 and "nodes" in cluster:
            cluster["threads_per_core"] = 2
            for group in cluster["nodes"]:
                group["cores"] *= 2
        return workload

    def draw_parts(self, workload: Workload) -> Workload:
        """Jobs whose nodes differ, now and then: some of those that have two cores or more."""
        random = stream(self.seed, "mixture.parts")
        if random.random() > 0.15 or not len(workload):
            return workload
        cores = np.maximum(workload.column("cores"), 1)
        chosen = (cores > 1) & (random.random(len(cores)) < 0.4)
        less = np.maximum(1, (cores / 2 * random.random(len(cores))).astype(np.int64))
        texts = [f"1x{all - few}+1x{few}" if own else None for own, all, few in zip(chosen, cores, less, strict=True)]
        codes, names = encode_labels(texts)
        columns = dict(workload.columns) | {"parts": codes, "cores": cores}
        for name, value in (("nodes", 2), ("cores_per_node", -1)):
            if workload.has(name):
                columns[name] = np.where(chosen, value, workload.column(name))
        return workload.replace(columns, labels=dict(workload.labels) | {"parts": names})

    def share_time(self, workload: Workload) -> Workload:
        """Nodes whose cores are shared, by a model and task models of their own."""
        cluster = self.keys["cluster"]
        if "nodes" not in cluster:
            return workload
        self.keys["execution"] = {"model": self.one(MODELS), "overrun": "kill" if self.chance(0.3) else "extend"}
        drop_minutes(cluster)
        if cluster.get("interrupted") == "checkpoint":
            cluster["interrupted"] = "requeue"
        if cluster["scheduler"].get("preempt", {}).get("mode") == "checkpoint":
            cluster["scheduler"]["preempt"]["mode"] = "requeue"
        for group in cluster["nodes"]:
            group |= {"max_load": self.number(1, 3), "quantum": self.one((1, 2, 0.5)), "switch_cost": self.one((0, 1))}
        texts = [self.one(TASKS) for _ in range(len(workload))]
        codes, names = encode_labels(texts)
        labels = dict(workload.labels) | {"profile": names}
        return workload.replace(dict(workload.columns) | {"profile": codes}, labels=labels)

    def number_strangely(self, workload: Workload) -> Workload:
        """Numbers of jobs as large as they come."""
        ids = workload.column("job_id") + self.one((10**6, 2**31 - 5, 2**53 - 1, 2**62, 2**63 - 1000))
        ids = np.where(self.random.random(len(ids)) < 0.1, ids[0], ids)  # some have the first one's
        texts = workload.column("dependencies") if workload.has("dependencies") else [""]
        if any(texts) or workload.has("preceding_job"):
            return workload
        return workload.replace(dict(workload.columns) | {"job_id": ids})

    def draw_users(self) -> dict[str, Any] | None:
        """Users who react, by draws of their own, so that they change nothing else that is drawn."""
        random = stream(self.seed, "mixture.users")
        if "start" in self.keys or random.random() > 0.25:
            return None
        parts = [REACTIONS[int(place)] for place in random.permutation(len(REACTIONS))[: int(random.integers(0, 4))]]
        rules = {"mode": "feedback", "waits": "none", "campaign": int(random.integers(0, 5)), "session_gap": 60}
        rules |= {
            "think": ("recorded", "drawn")[int(random.integers(2))],
            "hours": ("own", "any")[int(random.integers(2))],
        }
        if random.random() < 0.2:
            return {"mode": "alea", "waits": "none", "reactions": parts}
        if random.random() < 0.2:
            rules["population"] = int(random.integers(1, 9))
        return rules | {"reactions": parts}

    def draw_workflows(self) -> dict[str, Any]:
        tasks = [
            {"id": f"t{i}", "name": f"t{i}", "cores": self.number(1, 2), "runtimeInSeconds": self.number(0, 9),
             "parents": [f"t{self.number(0, i - 1)}"] if i else [], "children": []}
            for i in range(self.number(2, 6))
        ]  # fmt: skip
        path = self.folder / f"workflow{self.seed}.json"
        path.write_text(json.dumps({"name": "w", "schemaVersion": "1.4", "workflow": {"tasks": tasks}}))
        mix: dict[str, Any] = {"manifests": [str(path)], "submit": self.one(("single", "multi", "manifest"))}
        return mix | ({"every": self.number(5, 40)} if self.chance(0.6) else {"share": 0.3})

    def draw_start(self) -> dict[str, Any]:
        """Jobs that run or wait as the simulation begins."""
        lines = ["job_id,state,user,submit,start,cores,requested_time"]
        for number in range(self.number(1, 6)):
            start = self.number(0, 29) if self.chance(0.5) else None
            state = "PENDING" if start is None else "RUNNING"
            told = f"{self.number(0, 29 if start is None else start)},{'' if start is None else start}"
            lines.append(f"{number + 7000},{state},{self.one(USERS)},{told},{self.number(1, 3)},{self.number(1, 60)}")
        path = self.folder / f"start{self.seed}.csv"
        path.write_text("\n".join(lines) + "\n")
        return {"time": 30, "jobs": str(path)}


def draw_mixture(seed: int, folder: Path) -> dict[str, Any]:
    """A scenario as a mapping; always the same for the same seed."""
    return Mixture(seed, folder).draw()
