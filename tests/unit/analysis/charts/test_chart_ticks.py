"""What is written at an axis: round values, never too many, words that say what they are."""

from __future__ import annotations

import pytest

from walltime.analysis.charts.chart import Axis, Clock
from walltime.analysis.charts.ticks import find_ticks

DAY = 86_400.0


@pytest.mark.parametrize(
    ("kind", "low", "high", "count", "expected"),
    [
        ("count", 0.9, 8.9, 5, ["1", "2", "5"]),
        ("count", 0.5, 40, 9, ["1", "2", "5", "10", "20"]),
        ("count", 1, 256, 5, ["1", "10", "100"]),
        ("number", 0.04, 0.3, 5, ["0.05", "0.1", "0.2"]),
        ("duration", 20, 4000, 8, ["30 s", "1 min", "2 min", "5 min", "10 min", "30 min", "1 h"]),
        ("duration", 1, 90_000, 3, ["1 s", "10 min", "1 d"]),
        ("number", 3, 7, 5, ["4", "6"]),
    ],
)
def test_a_logarithmic_axis_has_round_values(
    kind: str, low: float, high: float, count: int, expected: list[str]
) -> None:
    found = find_ticks(Axis("", kind, log=True), low, high, count)
    assert [text for _, text in found] == expected
    assert all(0.99 * low <= value <= 1.01 * high for value, _ in found)


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [
        (2900, 4300, 3, ["50 min", "60 min", "70 min"]),
        (0, 6300, 4, ["0 min", "30 min", "60 min", "90 min"]),
        (0, 7300, 5, ["0 h", "0.5 h", "1 h", "1.5 h", "2 h"]),
        (-7200, 7200, 4, ["−2 h", "−1 h", "0 h", "1 h", "2 h"]),
        (0, 2.2 * DAY, 4, ["0 d", "1 d", "2 d"]),
        (0, 130, 4, ["0 min", "1 min", "2 min"]),
        (0, 45, 3, ["0 s", "15 s", "30 s", "45 s"]),
        (0, 0.5, 5, ["0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s"]),
        (0, 1.5 * DAY, 6, ["0 h", "6 h", "12 h", "18 h", "24 h", "30 h", "36 h"]),
        (0, 4 * DAY, 8, ["0 d", "0.5 d", "1 d", "1.5 d", "2 d", "2.5 d", "3 d", "3.5 d", "4 d"]),
    ],
)
def test_durations_of_an_axis_have_one_unit(low: float, high: float, count: int, expected: list[str]) -> None:
    assert [text for _, text in find_ticks(Axis("", "duration"), low, high, count)] == expected


def test_many_years_are_told_by_their_numbers() -> None:
    clock = Clock(1_704_067_200.0, "UTC")
    assert [text for _, text in find_ticks(Axis("", "time"), 0, 15 * 365 * DAY, 3, clock)] == ["2025", "2030", "2035"]
    assert find_ticks(Axis("", "time"), 0, 400 * DAY, 6, clock)[1][1] == "Apr 2024"


@pytest.mark.parametrize("days", [20, 30, 45, 70, 100, 200, 400, 800, 2000])
@pytest.mark.parametrize("count", [2, 3, 8])
def test_an_axis_of_dates_has_two_ticks_at_least(days: float, count: int) -> None:
    found = find_ticks(Axis("", "time"), 5 * DAY, (5 + days) * DAY, count, Clock(1_704_067_200.0, "UTC"))
    assert 2 <= len(found) <= count + 1
    assert len({text for _, text in found}) == len(found)


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (0, 30 * DAY, "days since time zero of the trace"),
        (3000, 2 * DAY, "days, hours:minutes since time zero of the trace"),
        (0, 7200, "hours:minutes since time zero of the trace"),
        (0, 90, "hours:minutes:seconds since time zero of the trace"),
        (3 * DAY + 60, 3 * DAY + 7200, "hours:minutes on day 3 of the trace"),
    ],
)
def test_an_axis_of_time_says_what_its_figures_are(first: float, last: float, words: str) -> None:
    assert Clock().describe(first, last) == words
