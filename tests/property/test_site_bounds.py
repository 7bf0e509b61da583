"""No schedule of the slow twin has more than there is, at any moment: nodes, licences, and every limit.

The sums are taken from the outcomes and the scenario alone, in other words than the twin's own.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from site_scenarios import KINDS, TREE, draw_site

from twin import reference
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload
from walltime.scenario import Cluster, parse

MINUTE = 60 * SECOND


def describe(workload: Workload) -> list[dict[str, Any]]:
    """The jobs as mappings of what they say; the rest is absent."""
    jobs: list[dict[str, Any]] = [{} for _ in range(len(workload))]
    for name, values in workload.columns.items():
        for job, value in zip(jobs, values.tolist(), strict=True):
            if value != MISSING:
                job[name] = workload.label_names(name)[value] if COLUMNS[name].kind == "label" else value
    return jobs


def shares(text: str | None) -> dict[int, int]:
    """Cores by node, from `0-3:24,7:5`."""
    found = {}
    for part in (text or "").split(",") if text else ():
        numbers, _, cores = part.partition(":")
        first, _, last = numbers.partition("-")
        found |= {node: int(cores) for node in range(int(first), int(last or first) + 1)}
    return found


def named(job: dict[str, Any], count: int) -> Counter[str]:
    """What a job of so many nodes has of named resources on each of them."""
    each = -(-job["cores"] // count)
    found: Counter[str] = Counter()
    for text in job.get("resources", "").split(",") if "resources" in job else ():
        amount, _, per = text.partition("/")
        name, _, number = amount.partition(":")
        value = int(number or 1)
        found[name] += value * each if per == "core" else -(-value // count) if per == "job" else value
    return found


def usage(job: dict[str, Any], nodes: dict[int, int]) -> dict[int, Counter[str]]:
    """What a running job has at least on each of its nodes."""
    on_nodes = {}
    has_shape = any(
        job.get(name) for name in ("nodes", "cores_per_node", "gpus", "gpus_per_node", "memory_per_node", "exclusive")
    )
    for node, cores in nodes.items():
        amounts = named(job, len(nodes)) if "resources" in job else Counter()
        amounts["cores"] += cores
        amounts["gpus"] += job.get("gpus_per_node", -(-job.get("gpus", 0) // len(nodes)))
        if "memory_per_node" in job:
            amounts["memory"] += job["memory_per_node"]
        elif "memory_per_core" in job:
            amounts["memory"] += job["memory_per_core"] * min(cores, job["cores"] // len(nodes) if has_shape else cores)
        on_nodes[node] = amounts
    return on_nodes


def check_nodes(cluster: Cluster, running: list[tuple[dict[str, Any], Any]]) -> None:
    layout = cluster.layout()
    assert layout is not None
    used: dict[int, Counter[str]] = {}
    tenants: Counter[int] = Counter()
    licences: Counter[str] = Counter()
    for job, outcome in running:
        nodes = shares(outcome.nodes)
        whole = layout.whole or job.get("exclusive")
        assert sum(nodes.values()) == job["cores"] or whole
        for node, amounts in usage(job, nodes).items():
            used[node] = used.get(node, Counter()) + (Counter() if whole else amounts)
            tenants[node] += 1000 if whole else 1
        for text in job["licences"].split(",") if "licences" in job else ():
            licences[text.partition(":")[0]] += int(text.partition(":")[2] or 1)
        patterns = cluster.queues[outcome.queue].nodes if cluster.queues else None
        assert patterns is None or all(layout.select(patterns)[node] for node in nodes)
        for node in nodes if "constraint" in job else ():
            terms = [term.split("&") for term in job["constraint"].split("|")]
            assert any(all(layout.with_feature(name)[node] for name in term) for term in terms)
    for node, amounts in used.items():
        assert all(amounts[name] <= int(layout.amounts(name)[node]) for name in amounts), (node, amounts)
    assert all(count < 1000 or count == 1000 for count in tenants.values())
    assert all(licences[name] <= layout.licences.get(name, 0) for name in licences)


def above(account: str | None, cluster: Cluster) -> set[str]:
    """The account and those above it, which is the same in all scenarios that have a tree."""
    found = set()
    while account is not None:
        found.add(account)
        account = TREE[account] if cluster.accounts else None
    return found


def entities(job: dict[str, Any], outcome: Any, kind: str, cluster: Cluster) -> set[str]:
    if kind == "account":
        charged = "bio" if cluster.accounts and job.get("user") == "di" else None
        return above(job.get("account", charged), cluster)
    name = (outcome.queue if cluster.queues else None) if kind == "queue" else job.get(kind)
    return set() if name is None else {name}


def check_limits(cluster: Cluster, running: list[tuple[dict[str, Any], Any]], now: int) -> None:
    """Jobs, cores and core-minutes under every limit that no other takes the place of."""
    named = {
        (kind, name, cap)
        for limit in cluster.limits
        if limit.per is None and len(limit.names()) == 1
        for kind, names in limit.names().items()
        for name in names
        for cap in limit.caps()
    }
    rules = [(limit.names(), limit.per, limit.caps()) for limit in cluster.limits]
    for name, queue in cluster.queues.items():
        rules.append(({"queue": (name,)}, None, queue.caps()))
        for kind in ("user", "group"):
            caps = getattr(queue, f"per_{kind}")
            if caps is not None and not any({"queue", kind} <= limit.names().keys() for limit in cluster.limits):
                rules.append(({"queue": (name,)}, kind, caps.caps()))
    for names, per, caps in rules:
        counts: dict[str, Counter[str]] = {}
        for job, outcome in running:
            if all(set(given) & entities(job, outcome, kind, cluster) for kind, given in names.items()):
                for entity in {"all"} if per is None else entities(job, outcome, per, cluster):
                    if per == "account" and "account" in names and not set(names["account"]) & above(entity, cluster):
                        continue
                    count = counts.setdefault(entity, Counter())
                    count["running_jobs"] += 1
                    count["running_cores"] += job["cores"]
                    left = outcome.start + job["requested_time"] - now
                    count["running_core_minutes"] += job["cores"] * left
        for entity, count in counts.items():
            for cap, most in caps.items():
                if cap in count and (per is None or (per, entity, cap) not in named):
                    most = most * MINUTE if cap == "running_core_minutes" else most
                    gave_way = per == "queue" and cap in cluster.queues[entity].caps()
                    assert gave_way or count[cap] <= most, (names, per, entity, cap, count[cap], most)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_exceeded(kind):
    for seed in range(120):
        site, workload = draw_site(seed, kind)
        scenario = parse(site | {"workload": {"table": workload}})
        cluster, jobs = scenario.clusters[0], describe(workload)
        outcomes = reference.simulate(scenario)
        for now in {outcome.start for outcome in outcomes if outcome.start is not None}:
            running = [
                (job, outcome)
                for job, outcome in zip(jobs, outcomes, strict=True)
                if outcome.start is not None and outcome.end is not None and outcome.start <= now < outcome.end
            ]
            if kind == "cores":
                assert sum(job["cores"] for job, _ in running) <= cluster.cores
            else:
                check_nodes(cluster, running)
            check_limits(cluster, running, now)
