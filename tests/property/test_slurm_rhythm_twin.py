"""Slurm's planner, compiled and in its slow twin, gives the same schedules on nodes."""

from __future__ import annotations

from typing import Any

import pytest
from site_runs import compare_with_twin
from site_scenarios import draw_site, draw_terms
from test_rhythm_twin import drop_minutes
from test_unused_rules import draw

from walltime.core.random import stream
from walltime.core.workload import Workload, encode_labels
from walltime.scenario import Scenario, parse

BACKFILLS = ("none", "easy", {"name": "depth", "depth": 2}, "conservative", "conservative")


def draw_planner(seed: int, kind: str) -> dict[str, Any]:
    """Parameters small enough for jobs of a few seconds; each is left out at times."""
    random = stream(seed, f"slurm.{kind}")

    def one(*choices: Any) -> Any:
        return choices[int(random.integers(0, len(choices)))]

    drawn = {
        "sched_interval": one(1, 4, 60, 60),
        "sched_min_interval": one(0, 2, 1_500_000),
        "batch_sched_delay": one(0, 1, 3),
        "default_queue_depth": one(0, 1, 5, 100),
        "partition_job_depth": one(0, 0, 1, 3),
        "sched_max_job_start": one(0, 0, 1),
        "defer": one(False, False, True),
        "bf_interval": one(1, 3, 7),
        "bf_window": one(1, 1440),
        "bf_window_linear": one(0, 0, 5),
        "bf_resolution": one(1, 2, 5, 60),
        "bf_max_job_test": one(1, 2, 5, 500),
        "bf_max_job_start": one(0, 0, 1),
        "bf_max_job_user": one(0, 0, 1, 2),
        "bf_max_job_part": one(0, 0, 1, 3),
        "bf_max_job_user_part": one(0, 0, 2),
        "bf_max_job_assoc": one(0, 0, 2),
        "bf_job_part_count_reserve": one(0, 0, 2),
        "bf_min_age_reserve": one(0, 0, 3),
        "bf_max_job_array_resv": one(1, 2),
        "assoc_limit_stop": one(False, True),
    }
    return {name: value for name, value in drawn.items() if random.random() < 0.5}


def draw_scenario(seed: int, kind: str, place: str | None = None, *, terms: bool = False) -> Scenario:
    site, workload = draw_site(seed, kind)
    scheduler = site["cluster"]["scheduler"]
    scheduler["rhythm"] = {"name": "slurm"} | draw_planner(seed, kind)
    scheduler["backfill"] = BACKFILLS[seed % len(BACKFILLS)]
    if seed % 3:
        scheduler.pop("place", None)
    if place is not None:
        scheduler["place"] = place
    if kind == "plain" and seed % 4 == 0:
        site["cluster"]["sharing"] = "whole"
    if terms:
        draw_terms(site["cluster"], seed)
    drop_minutes(site)
    return parse(site | {"workload": {"table": add_arrays(workload) if seed % 2 else workload}})


def add_arrays(workload: Workload) -> Workload:
    """Some of the jobs are tasks of arrays, three in a row."""
    names = [f"a{row // 3}" if row % 9 < 6 else None for row in range(len(workload))]
    codes, labels = encode_labels(names)
    return Workload(dict(workload.columns) | {"array": codes}, dict(workload.labels) | {"array": labels})


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_the_planner_agrees_with_its_twin(kind):
    compare_with_twin(draw_scenario, kind, range(60))


def draw_on_terms(seed: int, kind: str) -> Scenario:
    """Queues that give their jobs more than these ask for."""
    return draw_scenario(seed, kind, terms=True)


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_the_planner_agrees_with_its_twin_on_queues_with_terms_of_their_own(kind):
    compare_with_twin(draw_on_terms, kind, range(300, 340))


def draw_contiguous(seed: int, kind: str) -> Scenario:
    """Jobs whose nodes have to be neighbours."""
    return draw_scenario(seed, kind, "contiguous")


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_the_planner_agrees_with_its_twin_on_neighbouring_nodes(kind):
    compare_with_twin(draw_contiguous, kind, range(200, 230))


def test_of_two_ends_at_once_the_job_that_came_first_is_taken_away_first():
    """As the controller's list has them; a try of the whole window depends on it."""
    compare_with_twin(draw_scenario, "vectors", [284])


BEATS: tuple[dict[str, int], ...] = (
    {"bf_interval": 5, "sched_interval": 10, "sched_min_interval": 1},
    {"bf_interval": 3, "sched_interval": 6},
)


def draw_beats(seed: int, kind: str) -> Scenario:
    """Jobs long enough for passes of both kinds to come when nothing happens."""
    site, columns = draw(seed)
    scheduler = site["cluster"]["scheduler"]
    scheduler |= {"backfill": kind, "place": "first-fit", "rhythm": {"name": "slurm"} | BEATS[seed % len(BEATS)]}
    if scheduler["order"] in ("fairshare", "drf"):
        scheduler["order"] = "sjf"
    return parse(site | {"workload": {"table": Workload.from_columns(**columns)}})


@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_a_main_pass_with_news_makes_the_next_cycle_due_also_where_it_brings_one_itself(kind):
    compare_with_twin(draw_beats, kind, range(100))
