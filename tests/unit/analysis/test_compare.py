"""Results side by side."""

from __future__ import annotations

import pytest

from handmade import job, record
from walltime.analysis.compare import compare, compare_by, distinct_labels
from walltime.analysis.headline import find_remarks
from walltime.api import Result
from walltime.core.errors import InputError


def result(label, wait, bo=0.0, **facts):
    """Ann waits `wait` seconds, bo waits `bo`."""
    rows = [job(1, 0.0, wait, wait + 10, 2, user="ann"), job(2, 0.0, bo, bo + 10, 2, user="bo")]
    return Result(None, record(*rows, **facts), label)


def row(table, metric):
    return table.row(table["metric"].to_list().index(metric), named=True)


def test_differences_to_the_baseline():
    table = compare([result("fcfs", 20.0), result("easy", 10.0)])
    assert table.columns == ["metric", "fcfs", "easy", "easy difference", "easy relative"]
    wait = row(table, "mean_wait")
    assert (wait["fcfs"], wait["easy"], wait["easy difference"], wait["easy relative"]) == (10.0, 5.0, -5.0, -0.5)
    assert row(table, "rejected")["easy relative"] is None  # nothing to relate to
    assert "utilization_window" not in table["metric"].to_list()  # neither has one


def test_the_baseline_may_be_any():
    results = [result("fcfs", 20.0), result("easy", 10.0), result("easy", 40.0)]
    assert distinct_labels(results) == ["fcfs", "easy", "easy (2)"]
    assert row(compare(results, "easy"), "mean_wait")["easy (2) relative"] == 3.0
    assert row(compare(results, 2), "mean_wait")["fcfs difference"] == -10.0
    with pytest.raises(InputError, match="fcfs"):
        compare(results, "sjf")
    with pytest.raises(InputError, match="0 to 2"):
        compare(results, 3)
    with pytest.raises(InputError, match="at least one"):
        compare([])


def test_winners_come_first():
    table = compare_by([result("fcfs", 20.0, 0.0), result("easy", 5.0, 8.0)], "user")
    assert table["user"].to_list() == ["ann", "bo"]
    assert table["easy difference"].to_list() == [-15.0, 8.0]
    assert table["easy relative"].to_list() == [-0.75, None]
    assert compare_by([result("fcfs", 20.0)], "size", metric="max_wait")["fcfs"].to_list()[1] == 20.0
    with pytest.raises(InputError, match="mean_wait"):
        compare_by([result("fcfs", 20.0)], "user", metric="wait")
    with pytest.raises(InputError, match="queue"):
        compare_by([result("fcfs", 20.0)], "que")


def test_unfair_comparisons_are_remarked():
    assert find_remarks([result("a", 1.0), result("b", 2.0)]) == []
    assert len(find_remarks([result("a", 1.0), result("b", 2.0, cores=8)])) == 1
    assert len(find_remarks([result("a", 1.0), result("b", 2.0, perfect_estimates=2, overrun="extend")])) == 2
