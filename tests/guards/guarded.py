"""The scenarios whose schedules are guarded: some 300, of every kind, each drawn from a seed and always the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import test_clusters_disrupted as grids
import test_conditions_twin as conditions
import test_engine_twin as plain
import test_nodes_twin as nodes
import test_orders_twin as orders
import test_timeshare_twin as timeshare
from conditions import add_conditions
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS, draw_site
from test_fairshare_twin import draw_shared
from test_rhythm_twin import draw_scenario as draw_periodic

import walltime
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.policy import registry

Run = Callable[[Path], walltime.Result]
"""Simulates one scenario; files that it needs are put into the folder."""


def scenarios() -> Iterator[tuple[str, Run]]:
    """Every guarded scenario by its name, `kind/.../seed`."""
    for seed in range(30):
        yield f"cores/{seed}", partial(_cores, seed)
    for seed in range(40):
        yield f"orders/{seed}", partial(_orders, seed)
    for policy, depth in nodes.POLICIES:
        for seed in range(4):
            yield f"nodes/{policy}-{depth}/{seed}", partial(_nodes, seed, policy, depth)
    for kind in KINDS:
        for family, draw, seeds in SITES:
            for seed in seeds:
                yield f"{family}/{kind}/{seed}", partial(_site, draw, seed, kind)
        for seed in range(40, 48):
            yield f"rhythm/{kind}/{seed}", partial(_periodic, seed, kind)
    for seed in range(10):
        yield f"conditions/pool/{seed}", partial(_conditions, seed)
    for seed in range(14):
        yield f"clusters/{seed}", partial(_clusters, seed, False)
        yield f"clusters-disrupted/{seed}", partial(_clusters, seed, True)
    for model in timeshare.MODELS:
        for seed in range(5):
            yield f"{model}/{seed}", partial(_timeshare, seed, model)
    for seed, preset in enumerate(registry.presets()):
        yield f"generated/{preset.name}", partial(_generated, seed, preset.name)
    for seed in range(6):
        yield f"start/{seed}", partial(_started, seed)


def measure(run: Run, folder: Path) -> str:
    """The digest of what a scenario gives: its jobs, allocations and outages; or why it is refused."""
    try:
        result = run(folder)
    except InputError as error:
        return f"refused: {error.what}"
    outages = sorted(map(repr, result.outages.rows()))
    return hashlib.sha256("\n".join([result.digest, *outages]).encode()).hexdigest()[:20]


# ---- one cluster


def _cores(seed: int, folder: Path) -> walltime.Result:
    case = plain.draw_case(seed, 3, 400 if seed % 5 == 0 else 60)
    until = None if case.until is None else case.until / 1_000_000
    policy = plain.POLICIES[seed % len(plain.POLICIES)]
    return walltime.simulate(case.workload, cores=case.cores, policy=policy, overrun=case.overrun, until=until)


def _orders(seed: int, folder: Path) -> walltime.Result:
    return orders.simulate(orders.draw_case(seed, 60))


def _nodes(seed: int, policy: str, depth: int, folder: Path) -> walltime.Result:
    return walltime.simulate(nodes.make_scenario(nodes.draw_case(seed, policy, depth)))


def _site(draw: Callable[[int, str], Any], seed: int, kind: str, folder: Path) -> walltime.Result:
    site, workload = draw(seed, kind)
    return walltime.simulate(site | {"workload": {"table": workload}})


def _draw_bound(seed: int, kind: str) -> tuple[dict[str, Any], walltime.Workload]:
    """A site whose jobs wait for one another."""
    site, workload = draw_site(seed, kind)
    bound, keys = add_conditions(workload, seed)
    return site | keys, bound


SITES = (
    ("site", draw_site, range(12)),
    ("fairshare", draw_shared, range(20, 26)),
    ("conditions", _draw_bound, range(30, 35)),
    ("disrupted", draw_disrupted, range(14)),
)


def _periodic(seed: int, kind: str, folder: Path) -> walltime.Result:
    return walltime.simulate(draw_periodic(seed, kind))


def _conditions(seed: int, folder: Path) -> walltime.Result:
    keys, workload = conditions.draw_plain(seed)
    return walltime.simulate(keys | {"workload": {"table": workload}})


def _timeshare(seed: int, model: str, folder: Path) -> walltime.Result:
    return walltime.simulate(timeshare.draw_scenario(seed, model))


def _generated(seed: int, preset: str, folder: Path) -> walltime.Result:
    """Jobs of the generator, too many at times, on a pool of cores, on whole nodes or on nodes."""
    size = ({"cores": 64}, {"nodes": "8x8", "sharing": "whole"}, {"nodes": "16x4"})[seed % 3]
    workload = {"generate": {"jobs": 500, "cores": 64, "load": (0.8, 1.1)[seed % 2]}}
    return walltime.simulate({"workload": workload, "cluster": size, "seed": seed}, policy=preset)


# ---- several clusters


def _clusters(seed: int, disrupted: bool, folder: Path) -> walltime.Result:
    random = stream(seed, "guarded clusters")
    execution: dict[str, Any] = {}
    if disrupted:
        clusters, execution, parts = grids.draw_grid(seed + 500, 2 + seed % 3)
    else:
        drawn = [draw_site(100 * seed + number, KINDS[(seed + number) % 3]) for number in range(2 + seed % 3)]
        clusters = [site["cluster"] | {"name": f"c{number}"} for number, (site, _) in enumerate(drawn)]
        parts = [jobs for _, jobs in drawn]
    broker: dict[str, Any] = {"hold": bool(random.integers(0, 2)), "overtake": bool(random.integers(0, 2))}
    if random.integers(0, 2):
        broker["migrate"] = {"gain": 1, "most": 3} | ({} if random.integers(0, 2) else {"every": 5})
    part = grids.BROKERS[seed % len(grids.BROKERS)]
    broker |= {"name": part} if isinstance(part, str) else part
    workload = grids.join(parts)
    return walltime.simulate(
        {"workload": workload, "clusters": clusters, "broker": broker, "execution": execution, "seed": seed}
    )


# ---- from a system as it stands


def _started(seed: int, folder: Path) -> walltime.Result:
    """Three to six jobs run and as many wait when the simulation begins."""
    random = stream(seed, "guarded start")
    lines = ["JOBID|STATE|USER|ACCOUNT|PARTITION|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|REASON"]
    count = int(random.integers(3, 7))
    for number in range(2 * count):
        cores, hours, ago = (int(value) for value in random.integers(1, [5, 9, 6]))
        came = f"2026-11-15T{11 - ago:02d}:00:00"
        running = number < count
        state, began, elapsed = ("RUNNING", came, f"{ago + 1}:00:00") if running else ("PENDING", "N/A", "0:00")
        limit = f"{hours + (ago + 1 if running else 0)}:00:00"
        lines.append(f"{100 + number}|{state}|ann|phys|any|{cores}|{limit}|{came}|{began}|{elapsed}|None")
    table = folder / "squeue.txt"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    jobs = plain.draw_case(seed, 20, 40).workload
    cluster = {"cores": max(4 * count, int(jobs.column("cores").max()))}
    policy = plain.POLICIES[seed % len(plain.POLICIES)]
    start = {"time": "2026-11-15T12:00:00", "jobs": str(table)}
    return walltime.simulate({"workload": {"table": jobs}, "cluster": cluster, "start": start}, policy=policy)
