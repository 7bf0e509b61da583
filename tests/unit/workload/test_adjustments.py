"""What users might have done under other limits, worked by hand."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.workload.adjustments import move, run_on

HOUR, SECOND = 3600, 1_000_000


def log(**changed) -> Workload:
    """Jobs 1 and 2 were cut off after an hour; 3 to 7 of the same user ran for 2 to 6 hours, 8 of another for 9."""
    columns = {
        "submit": list(range(8)),
        "run_time": [HOUR, HOUR, *(hours * HOUR for hours in (2, 3, 4, 5, 6, 9))],
        "requested_time": [HOUR, HOUR, *[10 * HOUR] * 6],
        "cores": [1, 8] * 4,
        "user": ["ann", "bo", *["ann"] * 5, "cy"],
        "queue": ["short", "short", *["long"] * 6],
    }
    return Workload.from_columns(**columns | changed)


def test_a_job_that_was_cut_off_runs_as_long_as_a_longer_one_of_its_user() -> None:
    longer, count = run_on(log(), {"short": 24 * HOUR * SECOND, "long": 10 * HOUR * SECOND}, seed=1)
    assert count == 2
    assert longer.column("run_time")[0] // SECOND in {2 * HOUR, 3 * HOUR, 4 * HOUR, 5 * HOUR, 6 * HOUR}
    assert longer.column("run_time")[1] // SECOND in {hours * HOUR for hours in (2, 3, 4, 5, 6, 9)}
    assert (longer.column("requested_time")[:2] // SECOND).tolist() == [24 * HOUR] * 2
    assert (longer.column("run_time")[2:] == log().column("run_time")[2:]).all()
    drawn = {int(run_on(log(), {"short": 24 * HOUR * SECOND}, seed)[0].column("run_time")[0]) for seed in range(40)}
    assert len(drawn) == 5  # every length comes, and no other


def test_where_the_queue_gives_no_more_nothing_changes() -> None:
    same, count = run_on(log(), {"short": HOUR * SECOND, "long": 10 * HOUR * SECOND}, seed=1)
    assert count == 0
    assert same.column("run_time").tolist() == log().column("run_time").tolist()


def test_where_no_job_ran_longer_it_is_up_to_four_times_the_limit() -> None:
    short = log(run_time=[HOUR, HOUR, *[60] * 6])
    longer, _ = run_on(short, {"short": None}, seed=1)
    assert all(HOUR <= time / SECOND <= 4 * HOUR for time in longer.column("run_time")[:2])
    assert (longer.column("requested_time")[:2] == longer.column("run_time")[:2]).all()


def test_jobs_move_within_the_bounds_of_the_first_rule_that_fits() -> None:
    small = {"sources": ("long",), "to": "small", "cores": (None, 1), "time": (None, None)}
    rest = {"sources": ("long", "short"), "to": "rest", "cores": (None, None), "time": (2 * HOUR * SECOND, None)}
    moved, count = move(log(), [small, rest])
    names = moved.label_names("queue")
    assert [names[code] for code in moved.column("queue")] == ["short", "short", *["small", "rest"] * 3]
    assert count == 6


def test_a_scenario_says_so_and_the_result_tells_it(tmp_path) -> None:
    walltime.write_workload(log(), tmp_path / "log.parquet")
    queues = {"short": {"max_time": "1d"}, "long": {"max_time": "10h"}}
    data = {"workload": {"trace": str(tmp_path / "log.parquet")}, "cluster": {"cores": 64, "queues": queues}}
    rule = {"sources": "long", "to": "short", "max_cores": 1}
    given = data | {"workload": data["workload"] | {"adjust": {"run_on": True, "moves": [rule]}}}
    found = walltime.simulate(given)
    assert found.summary["facts"]["adjusted"] == {"run_on": 2, "moved": 3}
    assert found.summary["facts"]["time_limits"] == {"short": 86400, "long": 36000}
    assert found.jobs["queue"].to_list().count("short") == 5
    assert walltime.simulate(given).digest == found.digest
    with pytest.raises(InputError, match="no such queue"):
        walltime.simulate(data | {"workload": data["workload"] | {"adjust": {"moves": [rule | {"to": "none"}]}}})
    with pytest.raises(InputError, match="needs run_on, moves, alike or shake"):
        walltime.simulate(data | {"workload": data["workload"] | {"reaction": {}}})


def test_a_comparison_of_other_limits_says_that_no_user_reacts(tmp_path) -> None:
    from walltime.analysis.headline import find_remarks

    walltime.write_workload(log(), tmp_path / "log.parquet")
    data = {"workload": {"trace": str(tmp_path / "log.parquet")}}
    results = [
        walltime.simulate(data | {"cluster": {"cores": 64, "queues": {"short": {"max_time": limit}, "long": {}}}})
        for limit in ("1h", "2h")
    ]
    assert any("no user reacts" in remark for remark in find_remarks(results))
    assert not any("no user reacts" in remark for remark in find_remarks(results[:1] * 2))
