"""How near is the native engine with `rhythm: slurm` to the real controller? Both engines run the same scenarios.

python tools/slurm_native.py kinds --seeds 1,3,5      the sites of slurm_sites.py, kind by kind
python tools/slurm_native.py table --seeds 1,3        one factor at a time: partitions, backfilling, whole nodes
python tools/slurm_native.py features --seeds 1,3     those of slurm_features.py, by themselves and together
python tools/slurm_native.py micro --seeds 1,3        20 jobs of seconds to minutes on 10 nodes, start by start

Told is by how much native is off, in per cent of the controller's, with the 95 % interval of the paired differences
over sites and seeds; beside it, how far two starts of the controller at other moments (leads) are from each other.
Launch latencies are equal on both sides.
With --results what has been run is kept in a file, and not run again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from slurm_features import ROWS, make_features
from slurm_sites import KINDS, make_micro, make_partitions, make_site

from walltime import Workload, simulate

LEADS = (120.5, 133.9)
"""When the controller starts, in seconds before the first job: its beats fall elsewhere."""
IN_PHASE = 120.0
"""A lead of whole minutes: its beats fall where those of the native engine do."""
LATENCY = 25_000
"""Microseconds by which a job holds its nodes for longer on the controller: its `launch` and `completion`."""
DRAWS = 2000
"""Of the bootstrap over sites and seeds."""
Case = Callable[[], tuple[Workload, dict[str, Any]]]


def find_waits(jobs: Workload, cluster: dict[str, Any], lead: float | None) -> list[float]:
    """The waits on the controller, or, without a lead, on the native engine."""
    if lead is None:
        result = simulate(delay(jobs), cluster=cluster)
    else:
        result = simulate(jobs, cluster=cluster, engine="slurm", slurm={"lead": lead})
    if broken := result.audit():
        raise SystemExit(f"{'native' if lead is None else 'slurm'}: {broken[0]}")
    return [float(wait) for wait in result.jobs["wait"].drop_nulls()]


def delay(jobs: Workload) -> Workload:
    """The jobs, each as much longer as the controller's are by their launch and completion."""
    run, asked = jobs.columns["run_time"], jobs.columns["requested_time"]
    return jobs.replace({**jobs.columns, "run_time": np.where(run < asked, run + LATENCY, run)})


class Store:
    """Waits by what was run; native ones are never kept, because the code may have changed."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, list[float]] = json.loads(path.read_text()) if path and path.exists() else {}

    def ask(self, name: str, case: Case, lead: float | None) -> list[float]:
        if lead is None:
            return find_waits(*case(), None)
        key = f"{name} lead {lead}"
        if key not in self.known:
            self.known[key] = find_waits(*case(), lead)
            if self.path is not None:
                self.path.write_text(json.dumps(self.known))
        return self.known[key]


def measure(store: Store, label: str, cases: dict[str, Case], leads: int) -> None:
    """One row: mean and 95 % waits of both engines, the difference with its interval, and lead against lead."""
    rows = []
    for name, case in cases.items():
        native = store.ask(name, case, None)
        rows.append((native, [store.ask(name, case, lead) for lead in LEADS[:leads]]))
    cells = []
    for statistic in (np.mean, lambda waits: np.quantile(waits, 0.95)):
        off = [_compare(rows, statistic, chosen) for chosen in _resample(len(rows))]
        low, high = np.quantile([pair[0] for pair in off[1:]], [0.025, 0.975])
        ours, theirs = _pool(rows, statistic, range(len(rows)))
        cells.append(f"{ours:,.0f} | {theirs:,.0f} | {off[0][0]:+.1%} ({low:+.1%} to {high:+.1%}) | {off[0][1]:.1%}")
    print(f"| {label} | {len(rows)} | {' | '.join(cells)} |", flush=True)


def _resample(count: int) -> Iterator[list[int]]:
    """All of them first, then draws with replacement."""
    draw = random.Random(1)
    yield list(range(count))
    for _ in range(DRAWS):
        yield [draw.randrange(count) for _ in range(count)]


def _pool(rows: list[Any], statistic: Any, chosen: Any) -> tuple[float, float]:
    """The statistic over the waits of all chosen runs: ours, and the controller's over its leads."""
    ours = statistic(np.concatenate([rows[place][0] for place in chosen]))
    theirs = [statistic(np.concatenate([rows[place][1][lead] for place in chosen])) for lead in range(len(rows[0][1]))]
    return float(ours), float(np.mean(theirs))


def _compare(rows: list[Any], statistic: Any, chosen: list[int]) -> tuple[float, float]:
    """By how much ours is off, and how far the leads are from each other at the most."""
    ours, theirs = _pool(rows, statistic, chosen)
    leads = [statistic(np.concatenate([rows[place][1][lead] for place in chosen])) for lead in range(len(rows[0][1]))]
    return ours / theirs - 1, (max(leads) - min(leads)) / theirs


def find_kinds(kinds: list[str], sites: int, seeds: list[int], jobs: int) -> Iterator[tuple[str, dict[str, Case]]]:
    for kind in kinds:
        yield (
            kind,
            {
                f"{kind} site {site} seed {seed} jobs {jobs}": (
                    lambda kind=kind, site=site, seed=seed: make_site(kind, site, seed, jobs)  # type: ignore[misc]
                )
                for site in range(sites)
                for seed in seeds
            },
        )


def find_features(sites: int, seeds: list[int], jobs: int, only: str) -> Iterator[tuple[str, dict[str, Case]]]:
    for names in ROWS:
        if only in names:
            yield (
                names,
                {
                    f"features {names} site {site} seed {seed} jobs {jobs}": (
                        lambda names=names, site=site, seed=seed: make_features(names, site, seed, jobs)  # type: ignore[misc]
                    )
                    for site in range(sites)
                    for seed in seeds
                },
            )


LAYOUTS = ("one queue", "all", "disjoint", "overlap", "overlap, no tier or limit")


def find_factors(seeds: list[int], only: str) -> Iterator[tuple[str, dict[str, Case]]]:
    """200 jobs on 20 nodes of 8 cores, in first-come order: one factor at a time."""
    for layout in LAYOUTS:
        for backfill in ("none", "easy", "conservative"):
            for sharing in ("shared", "whole"):
                label = f"{layout}, {backfill}{', whole nodes' if sharing == 'whole' else ''}"
                if only in label:
                    yield (
                        label,
                        {
                            f"{label} seed {seed}": (
                                lambda given=(layout, backfill, sharing, seed): make_factor(*given)  # type: ignore[misc]
                            )
                            for seed in seeds
                        },
                    )


def make_factor(layout: str, backfill: str, sharing: str, seed: int) -> tuple[Workload, dict[str, Any]]:
    draw = random.Random(seed)
    names = ["p0", "p1", "p2", "p3", "p4"]
    rows = []
    for _ in range(200):
        run = 30 * draw.randint(1, 110)
        asked = 60 * (int(run * draw.uniform(1, 4)) // 60 + 1)
        rows.append((draw.randrange(7200), run, asked, draw.choice([1, 2, 4, 8, 16, 32]), draw.choice(names)))
    rows.sort()
    submit, run_time, requested, cores, queue = (list(column) for column in zip(*rows, strict=True))
    columns = {"submit": submit, "run_time": run_time, "requested_time": requested, "cores": cores}
    scheduler = {"order": "fcfs", "backfill": backfill, "rhythm": "slurm"}
    cluster: dict[str, Any] = {"nodes": "20x8", "sharing": sharing, "scheduler": scheduler}
    if layout != "one queue":
        columns["queue"] = queue
        cluster["queues"] = _partition(layout, names)
        longest = dict.fromkeys(names, 60 * 60 * 24 * 365)
        longest |= {"p1": 7200, "p4": 14_400} if layout == "overlap" else {}
        columns["requested_time"] = [min(time, longest[name]) for time, name in zip(requested, queue, strict=True)]
        columns["run_time"] = [min(pair) for pair in zip(run_time, columns["requested_time"], strict=True)]
    return Workload.from_columns(**columns), cluster


def _partition(layout: str, names: list[str]) -> dict[str, dict[str, Any]]:
    if layout.startswith("overlap"):
        return make_partitions(20, tiers=layout == "overlap")
    queues: dict[str, dict[str, Any]] = {name: {} for name in names}
    if layout == "disjoint":
        queues = {name: {"nodes": [f"n[{4 * place}-{4 * place + 3}]"]} for place, name in enumerate(names)}
    queues["p0"]["default"] = True
    return queues


def measure_micro(seeds: list[int]) -> None:
    """How far each start of a micro-cluster is from the controller's, with its beats at the same times."""
    print("| seed | median distance of a start | 90 % | largest |\n|---|---|---|---|")
    found = []
    for seed in seeds:
        jobs, cluster = make_micro(seed)
        native = simulate(delay(jobs), cluster=cluster).jobs["start"]
        slurm = simulate(jobs, cluster=cluster, engine="slurm", slurm={"lead": IN_PHASE}).jobs["start"]
        found.append(np.abs(native.to_numpy() - slurm.to_numpy()))
        _tell_distances(str(seed), found[-1])
    _tell_distances("all", np.concatenate(found))


def _tell_distances(label: str, apart: Any) -> None:
    print(f"| {label} | {' | '.join(f'{np.quantile(apart, part):.1f} s' for part in (0.5, 0.9, 1.0))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kinds", "table", "features", "micro"])
    parser.add_argument("--seeds", default="1,3", help="odd ones judge; even ones are for trying things out")
    parser.add_argument("--leads", type=int, default=2, choices=range(1, len(LEADS) + 1))
    parser.add_argument("--kind", choices=KINDS, help="of kinds: one of them")
    parser.add_argument("--sites", type=int, default=4, help="of kinds and features: sites of each")
    parser.add_argument("--jobs", type=int, default=200, help="of kinds and features: jobs of a site")
    parser.add_argument("--only", default="", help="of table and features: rows with this in their name")
    parser.add_argument("--results", type=Path, help="keep the controller's waits in this file")
    given = parser.parse_args()
    seeds = [int(seed) for seed in given.seeds.split(",")]
    if given.what == "micro":
        measure_micro(seeds)
        return
    store = Store(given.results)
    print("| case | runs | mean wait, native | Slurm | off (95 % interval) | lead to lead "
          "| 95 % wait, native | Slurm | off (95 % interval) | lead to lead |\n|---|" + "---|" * 9)  # fmt: skip
    kinds = [given.kind] if given.kind else list(KINDS)
    rows = {
        "kinds": lambda: find_kinds(kinds, given.sites, seeds, given.jobs),
        "table": lambda: find_factors(seeds, given.only),
        "features": lambda: find_features(given.sites, seeds, given.jobs, given.only),
    }[given.what]()
    for label, cases in rows:
        measure(store, label, cases, given.leads)


if __name__ == "__main__":
    main()
