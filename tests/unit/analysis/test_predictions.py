"""What was planned before jobs started, against schedules by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import walltime
from walltime.analysis.analyses import analyse
from walltime.analysis.predictions import (
    AHEAD,
    Week,
    cover_weeks,
    draw_errors,
    find_interval,
    judge_intervals,
    judge_plans,
    look_back,
)
from walltime.core.errors import InputError
from walltime.scenario import Part
from walltime.workload.generate import generate


def simulate(**cluster):
    """One that runs for 1,000 s and asks for 2,000; one behind it; one that comes at 700 s and waits for both."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0, 700], cores=[2, 2, 1], run_time=[1000, 500, 10], requested_time=[2000, 500, 10], nodes=[1, 1, 1]
    )
    scenario = {"workload": {"table": jobs}, "record": {"plans": True}}
    return walltime.simulate(
        scenario | {"cluster": {"scheduler": {"backfill": "conservative"}} | (cluster or {"cores": 2})}
    )


def test_every_change_of_the_plan_is_kept():
    plans = simulate().record.plans
    assert plans.rows() == [
        (0.0, 1, 0.0, None),
        (0.0, 2, 2000.0, None),
        (700.0, 3, 2500.0, None),
        (1000.0, 2, 1000.0, None),
        (1000.0, 3, 1500.0, None),
    ]


def test_nodes_are_planned_by_name_where_it_matters_which():
    result = simulate(nodes=[{"count": 1, "cores": 2}, {"count": 1, "cores": 1}])
    assert result.record.plans.filter(pl.col("job_id") == 2)["nodes"].to_list() == ["0", None]  # it starts at once
    assert judge_plans(result)["nodes"].to_list()[:2] == [1.0, 1.0]


def test_the_plan_is_compared_with_what_became_of_it():
    result = simulate()
    assert look_back(result, 60.0).select("job_id", "start", "planned").rows() == [
        (2, 1000.0, 2000.0),
        (3, 1500.0, 1500.0),
    ]
    found = judge_plans(result)
    assert found["ahead"].to_list() == list(AHEAD)
    assert found["jobs"].to_list() == [2, 2, 0, 0]
    assert found.row(0, named=True) == {
        **{"ahead": 60.0, "jobs": 2, "known": 1.0, "mean_error": 500.0, "median_error": 500.0, "p90_error": 900.0},
        **{"within_minute": 0.5, "within_ten_minutes": 0.5, "sooner": 0.5, "later": 0.0, "nodes": None},
    }
    assert found.row(1, named=True)["mean_error"] == 1000.0  # the third was planned for 2,500 s then, and the other too


def test_plans_are_kept_in_the_folder(tmp_path):
    result = simulate()
    result.save(tmp_path / "result")
    again = walltime.load(tmp_path / "result")
    assert again.record.plans.equals(result.record.plans)
    assert analyse(again, [Part(name="predictions")]).tables["predictions"].equals(judge_plans(result))


def test_without_plans_it_says_how_to_keep_them():
    jobs = walltime.Workload.from_columns(submit=[0], cores=[1], run_time=[5])
    with pytest.raises(InputError, match="plans: true"):
        judge_plans(walltime.simulate(jobs, cores=1))


def test_the_picture_has_a_line_for_each_result():
    assert len(draw_errors([simulate(), simulate()]).chart.marks) == 2


def test_an_interval_holds_nine_in_ten_jobs_that_it_was_not_learned_from():
    """In steady state; and one for half of them holds half, so a wide one is not what makes it true."""
    jobs = generate(6000, 64, 0.7, seed=11)
    result = walltime.simulate(
        {"workload": jobs, "cluster": {"cores": 64, "scheduler": {"backfill": "plan"}}, "record": {"plans": True}}
    )
    found = judge_intervals(result)
    *classes, total = found.rows(named=True)
    assert total["jobs"] == sum(row["jobs"] for row in classes) > 1500
    assert total["coverage"] == pytest.approx(0.9, abs=0.06)
    waiting = [row for row in classes if row["planned_wait"] > 0]
    assert all(row["sooner"] < 0 >= row["later"] for row in waiting)  # promises are kept, or better
    half = judge_intervals(result, share=0.5).rows(named=True)
    held = [row for row in half if row["planned_wait"] is not None and row["planned_wait"] > 600]
    assert sum(row["coverage"] * row["jobs"] for row in held) / sum(row["jobs"] for row in held) < 0.75


def test_shares_are_parts():
    with pytest.raises(InputError, match="between 0 and 1"):
        judge_intervals(simulate(), share=1.5)


def past_jobs(errors, planned=7200.0):
    """A job an hour with such errors in turn, planned to wait for so long."""
    submit = [3600.0 * number for number in range(len(errors))]
    frame = pl.DataFrame({"submit": submit, "error": errors, "planned_wait": [planned] * len(errors)})
    return frame.with_columns(start=pl.col("submit") + planned + pl.col("error"))


def test_an_interval_is_of_jobs_that_were_planned_to_wait_about_as_long():
    past = pl.concat([past_jobs([float(n) for n in range(-100, 0)]), past_jobs([50.0] * 19, planned=300.0)])
    assert find_interval(past, 20_000.0, 0.9) == (100, -96.0, -5.0)  # the 5th and the 96th of 100
    assert find_interval(past, 400.0, 0.9) is None  # 19 are too few


def test_weeks_are_judged_by_what_had_started_before_them():
    """Three weeks: errors of a minute at most, then of an hour, then again of an hour, which has been seen by then."""
    week = 7 * 24
    errors = [60.0 * (n % 2) for n in range(week)] + [3600.0 * (n % 2) for n in range(2 * week)]
    (second, third), _ = cover_weeks(past_jobs(errors), 0.9)
    assert (second.jobs, third.jobs) == (week, week)
    assert second.coverage == 0.5
    assert second.width == 60.0
    assert third.coverage == 1.0
    assert third.width == 3600.0


def test_an_interval_is_as_wide_as_the_weeks_before_teach():
    """Each week's errors reach farther than those of the week before: a plain quantile always comes too late."""
    random = np.random.default_rng(5)
    errors = np.concatenate([random.uniform(-scale, scale, 7 * 24) for scale in np.linspace(1000, 2000, 12)])
    weeks, level = cover_weeks(past_jobs(errors.tolist()), 0.9)
    assert level > 0.9
    held = np.mean([week.coverage for week in weeks[2:]])
    assert held == pytest.approx(0.9, abs=0.06)
    assert held > np.mean([plain.coverage for plain in plain_weeks(errors)[2:]]) + 0.03


def plain_weeks(errors):
    """The same with the quantiles of all that went before."""
    found = []
    for begin in range(7 * 24, len(errors), 7 * 24):
        low, high = np.quantile(errors[:begin], [0.05, 0.95])
        judged = errors[begin : begin + 7 * 24]
        found.append(Week(len(judged), float(((judged >= low) & (judged <= high)).mean()), float(high - low)))
    return found


def test_where_weeks_are_alike_the_interval_is_not_made_wider():
    errors = np.random.default_rng(6).uniform(-1000, 1000, 12 * 7 * 24).tolist()
    weeks, level = cover_weeks(past_jobs(errors), 0.9)
    assert level == pytest.approx(0.9, abs=0.03)
    assert weeks[-1].width == pytest.approx(1800, abs=60)


def test_jobs_that_start_at_once_need_no_interval():
    assert cover_weeks(past_jobs([0.0] * 500, planned=0.0), 0.9) == ([], 0.9)
