"""In the periodic rhythm the compiled engine, which skips the passes that change nothing, and its twin, which has them
all, give the same schedules: on cores, nodes and sites with rules."""

from __future__ import annotations

from typing import Any

import pytest
from site_runs import compare_with_twin, fast_rows, slow_rows
from site_scenarios import KINDS, draw_site

from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

CANDIDATES = ("sjf", "smallest", "wfp3")


def draw_rhythm(seed: int, kind: str, limited: bool) -> dict[str, Any]:
    """Parameters small enough for jobs of a few seconds; each is left out at times.

    A pass over none but jobs at a limit counts as one or not, as it comes; so with limits there is no least pause.
    """
    random = stream(seed, f"rhythm.{kind}")

    def one(*choices: Any) -> Any:
        return choices[int(random.integers(0, len(choices)))]

    drawn = {
        "sched_interval": one(1, 4, 60, -1),
        "sched_min_interval": 0 if limited else one(0, 2, 1_500_000),
        "default_queue_depth": one(1, 2, 5, 100),
        "defer": one(False, False, True),
        "bf_interval": one(1, 3, 7, 30),
        "bf_window": one(1, 1440),
        "bf_resolution": one(1, 1, 2, 5, 60),
        "bf_max_job_test": one(1, 2, 5, 500),
        "bf_max_job_user": one(0, 0, 1, 2),
    }
    kept = {name: value for name, value in drawn.items() if random.random() < 0.8}
    return kept | ({"sched_min_interval": 0} if limited else {})


def draw_scenario(seed: int, kind: str) -> Scenario:
    site, workload = draw_site(seed, kind)
    scheduler = site["cluster"]["scheduler"]
    scheduler["rhythm"] = {"name": "periodic"} | draw_rhythm(seed, kind, _limited(site["cluster"]))
    if kind == "plain" and seed % 3 == 0:  # whole nodes that are all alike are planned as a number
        for group in site["cluster"]["nodes"]:
            group["cores"] = 4
        site["cluster"]["sharing"] = "whole"
    if seed % 4 == 0 and scheduler["backfill"] in ("easy", "conservative"):
        scheduler["backfill"] = {"name": scheduler["backfill"], "candidates": CANDIDATES[seed % 3]}
    if scheduler["rhythm"].get("sched_interval") != -1:
        drop_minutes(site)
    if scheduler["backfill"] == "none" and scheduler["rhythm"].get("sched_interval") == -1:
        del scheduler["rhythm"]["sched_interval"]  # nobody would ever start
    return parse(site | {"workload": {"table": workload}})


def drop_minutes(rules: Any) -> None:
    """Let limits on core-minutes be limits on jobs: it is no event that time alone lets in a job that no pass has
    found at a limit."""
    if isinstance(rules, dict) and "running_core_minutes" in rules:
        rules["running_jobs"] = rules.pop("running_core_minutes")
    for inner in rules.values() if isinstance(rules, dict) else rules if isinstance(rules, list) else ():
        drop_minutes(inner)


def _limited(cluster: dict[str, Any]) -> bool:
    caps = [key for queue in cluster.get("queues", {}).values() for key in queue if "running" in key or "per_" in key]
    return bool(cluster.get("limits") or caps)


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    compare_with_twin(draw_scenario, kind, range(40))


@pytest.mark.parametrize(
    ("rhythm", "waits", "starts"),
    [
        ({"sched_interval": -1}, [(0, 35)], [0, 9]),
        ({"sched_interval": -1}, [(21, 63), (0, 35)], [0, 18, 9]),
        ({"sched_interval": 60}, [(21, 63), (0, 35)], [0, 18, 8.666667]),
    ],
)
def test_a_pass_comes_behind_the_time_at_which_core_minutes_let_a_job_in(rhythm, waits, starts):
    """240 core-seconds at most, of which the first job, of 3 cores and 77 s, leaves 9 + 3t: 35 at 8.67 s, 63 at 18 s.

    A pass on that takes place at once where there are main passes, else at the next multiple of 3.
    """
    jobs = [(42, 77, 3), *((run, requested, 1) for run, requested in waits)]
    run, requested, cores = ([job[i] for job in jobs] for i in range(3))
    workload = Workload.from_columns(submit=[0] * len(jobs), run_time=run, requested_time=requested, cores=cores)
    scheduler = {"backfill": "aggressive", "rhythm": {"name": "periodic", "bf_interval": 3} | rhythm}
    cluster = {"nodes": "1x6", "limits": [{"running_core_minutes": 4}], "scheduler": scheduler}
    scenario = parse({"workload": {"table": workload}, "cluster": cluster})
    assert [row[2] for row in fast_rows(scenario)] == starts
    assert [row[2] for row in slow_rows(scenario)] == starts


def test_the_same_among_other_limits():
    compare_with_twin(draw_scenario, "plain", range(140, 150))
