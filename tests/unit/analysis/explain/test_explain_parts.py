"""The parts of a job's priority at any time, by hand; and that asking changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import walltime
from walltime import Workload
from walltime.analysis.charts.palette import DARK, LIGHT
from walltime.analysis.explain.chart import COLOURS, draw
from walltime.analysis.explain.explanation import ORDER as KINDS
from walltime.core.errors import InputError

JOBS = Workload.from_columns(
    name=["a", "b", "c", "d"],
    submit=[0.0, 0.0, 100.0, 300.0],
    run_time=[1000.0, 1000.0, 3000.0, 1800.0],
    requested_time=[3600.0, 2000.0, 3600.0, 3600.0],
    cores=[4, 1, 4, 1],
    user=["ann", "bo", "ann", "cy"],
)
ORDER = {
    "name": "multifactor",
    "weights": {"age": 1000, "job_size": 200, "fairshare": 500},
    "max_age": "1h",
    "favor_small": True,
    "interval": 10,
    "nice": 5,
    "fairshare": {"formula": "classic", "half_life": 0},
}


@pytest.fixture(scope="module")
def result():
    return walltime.simulate({"workload": {"table": JOBS}, "cluster": {"cores": 4, "scheduler": {"order": ORDER}}})


def test_every_factor_and_weight_at_a_time_at_which_nothing_happens(result):
    """Nothing happens between 300 and 1,000; b, which is smaller than a, runs. At 507 factors are those of 500: c has
    waited for 400 s of an hour, ann has used nothing, and four cores of four are as large as a job can be. At 2,900 a
    has run since 2,100: of bo's 1,000 core-seconds, cy's 1,800 and ann's 3,200 a third is due to each."""
    told = walltime.explain(result, "c", at=507)
    parts = told.asked[0].parts
    assert told.asked[0].time == 507
    assert parts["age"] == pytest.approx(1000 * 400 / 3600)
    assert parts["age.factor"] == pytest.approx(400 / 3600)
    assert parts["age.weight"] == 1000
    assert parts["fairshare.factor"] == 1
    assert (parts["job_size"], parts["job_size.weight"], parts["nice"]) == (0, 200, -5)
    assert parts["priority"] == int(1000 * 400 / 3600 + 500 - 5)
    later = walltime.explain(result, "c", at=2900).asked[0].parts
    assert later["fairshare"] == pytest.approx(500 * 2 ** -(3200 / 6000 * 3))
    assert later["age"] == pytest.approx(1000 * 2800 / 3600)
    assert "= 1,000 x 0.111111" in str(told)
    assert not told.notes
    twice = walltime.explain(result, "a", at=["507", "10m"]).asked
    assert [one.time for one in twice] == [507, 600]
    assert twice[1].parts["age"] == pytest.approx(1000 * 600 / 3600)


@pytest.mark.parametrize("time", [50, 99_999])
def test_a_time_at_which_it_did_not_wait(result, time):
    with pytest.raises(InputError, match="did not wait") as caught:
        walltime.explain(result, "c", at=time)
    assert "100 s to" in str(caught.value.choices)


@pytest.mark.parametrize("order", ["fairshare", {"name": "fairshare", "formula": "fair-tree", "interval": 0}, ORDER])
def test_asking_changes_nothing(order):
    """Whenever somebody asks, and however often, everybody starts when they did."""
    random = np.random.default_rng(3)
    size = 120
    jobs = Workload.from_columns(
        submit=np.sort(random.integers(0, 20_000, size)).astype(float),
        run_time=random.integers(100, 4000, size).astype(float),
        requested_time=np.full(size, 4000.0),
        cores=random.integers(1, 5, size),
        user=[f"u{code}" for code in random.integers(0, 5, size)],
    )
    scheduler = {"order": order, "backfill": "easy"}
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": {"cores": 4, "scheduler": scheduler}})
    longest = result.jobs.sort("wait")[-1]
    times = np.linspace(longest["eligible"][0], longest["start"][0] - 1, 25).round(3).tolist()
    told = walltime.explain(result, longest["job_id"][0], at=times)
    assert [one.time for one in told.asked] == times
    assert not told.notes


def test_one_colour_has_one_meaning_in_all_panels_and_pictures(result):
    assert set(COLOURS) == set(KINDS)
    meanings: dict[Any, set[str]] = {}
    for job in ("a", "b", "c", "d"):
        for panel in draw(walltime.explain(result, job)).panels:
            for mark in panel.marks:
                meanings.setdefault(mark.colour, set()).add(mark.label.split(" (")[0])
    assert len(meanings) > 6
    shared = {colour: names for colour, names in meanings.items() if len(names) > 1}
    families = [{kind for kind, colour in COLOURS.items() if colour == number} for number in set(COLOURS.values())]
    for colour, names in shared.items():
        assert colour in ("ink", "muted") or any(names <= family for family in families), (colour, names)
    for theme in (LIGHT, DARK):
        told_apart = [theme.colour(number) for number in range(16)]
        assert len(set(told_apart)) == 16


def test_a_part_of_a_heterogeneous_job_is_found_by_the_number_of_the_log():
    table = Workload.from_columns(
        job_id=[7, 12], submit=[0, 5], run_time=[10, 10], requested_time=[10, 10], cores=[1, 1]
    )
    result = walltime.simulate({"workload": {"table": table}, "cluster": {"cores": 1}})
    assert walltime.explain(result, "12+1").job == walltime.explain(result, 12).job == "12"
    with pytest.raises(InputError, match=r"no such job: '9\+1'"):
        walltime.explain(result, "9+1")


class LastLook:
    """Keeps hold of the simulations."""

    def __init__(self) -> None:
        self.runs: list[Any] = []

    def attach(self, simulation: Any) -> None:
        self.runs.append(simulation)

    def progress(self, now: int, submitted: int, ended: int) -> None:
        pass


def test_nothing_is_simulated_beyond_the_end_of_the_job(result):
    """b leaves at 1,000 s, when the others are still there."""
    look = LastLook()
    told = walltime.explain(result, "b", observe=lambda prepared: look)
    assert [run.now for run in look.runs] == [told.runs[-1].end * 1_000_000] == [1_000_000_000]
    assert told.runs[-1].end < result.jobs["end"].max()
    assert told.notes == walltime.explain(result, "d").notes


def test_where_the_schedule_is_another_one_all_of_it_is_simulated(result):
    """In the result b has ended a second later: which one is told is said, with the digest of all of it."""
    import polars as pl

    record = replace(result.record, jobs=result.jobs.with_columns(end=pl.col("end") + (pl.col("name") == "b")))
    other = walltime.Result(result.scenario, record, result.label)
    look = LastLook()
    told = walltime.explain(other, "a", observe=lambda prepared: look)
    assert len(look.runs) == 2
    assert look.runs[-1].now == result.jobs["end"].max() * 1_000_000
    assert any(f"{result.digest[:12]} now" in note for note in told.notes)
