"""Cases of scenarios: valid ones, made wrong in one or two values, loaded and, where they are accepted, run."""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
from functools import cache
from pathlib import Path

import yaml
from mutation import mutate_bytes, mutate_tree

import walltime
from walltime.scenario import load, parse
from walltime.scenario.reading.loading import dump
from walltime.workload.formats import write

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
from disruption_scenarios import draw_disrupted

SITES = 60
MOST_JOBS = 60
MOST_CORES = 2000
PARTS = {
    "order": ["fcfs", "sjf", "wfp3", "fairshare", "multifactor", {"name": "formula", "formula": "wait / cores"}],
    "backfill": ["none", "easy", "conservative", {"name": "lookahead", "depth": 5}, {"name": "depth", "depth": 2}],
    "estimate": ["request", {"name": "factor", "factor": 1.5}, "last-two", "perfect"],
    "rhythm": ["event", {"name": "periodic", "interval": 30}],
}


@cache
def draw_site(number: int) -> tuple[str, bytes]:
    """A valid scenario with everything that a site may have, as JSON, and the table of its jobs."""
    kind = ("cores", "plain", "vectors")[number % 3]
    site, workload = draw_disrupted(number, kind)
    with tempfile.TemporaryDirectory() as folder:
        write(workload, Path(folder) / "log.csv")
        table = (Path(folder) / "log.csv").read_bytes()
    return json.dumps(site | {"workload": {"trace": "log.csv"}}), table


def run_scenario_file(dice: random.Random, folder: Path) -> None:
    """A scenario as a file, its text or its values changed."""
    text, table = draw_site(dice.randrange(SITES))
    (folder / "log.csv").write_bytes(table)
    raw = text.encode() if dice.random() < 0.9 else yaml.safe_dump(json.loads(text)).encode()
    raw = mutate_bytes(raw, dice) if dice.random() < 0.3 else mutate_tree(text.encode(), dice)
    (folder / "s.yaml").write_bytes(raw)
    _run(load(folder / "s.yaml"))


def run_scheduler(dice: random.Random, folder: Path) -> None:
    """A scheduler of random parts, one of its parameters changed."""
    scheduler = {kind: copy.deepcopy(dice.choice(parts)) for kind, parts in PARTS.items() if dice.random() < 0.7}
    scheduler = json.loads(mutate_tree(json.dumps(scheduler).encode(), dice)) if scheduler else {}
    data = {"workload": {"generate": {"jobs": 10, "cores": 4}}, "cluster": {"cores": 4, "scheduler": scheduler}}
    _run(parse(data))


def _run(scenario: walltime.Scenario) -> None:
    """Runs what a person could have meant to be small; a scenario that was accepted can also be written."""
    dump(scenario)
    generated = scenario.workload.generate
    if generated is not None and (generated.jobs or 0) > MOST_JOBS:
        return
    if sum(cluster.total_cores or 0 for cluster in scenario.clusters) > MOST_CORES:
        return
    if scenario.engine != "native":
        return
    result = walltime.simulate(scenario)
    if violations := result.audit():
        raise AssertionError(f"an illegal schedule: {violations[0]}")
