"""The figures of sdiag over several days."""

import pytest

from walltime.slurm.diagnostics import summarise

DAY = """Jobs submitted: 5
Main schedule statistics (microseconds):
\tLast cycle:   7
\tMax cycle:    {}
\tTotal cycles: {}
\tMean cycle:   100
\tMean depth cycle:  {}
Backfilling stats
\tTotal backfilled jobs (since last slurm start): {}
\tTotal cycles: {}
\tLast cycle when: Mon Jan 01 00:00:00 2024 (1704067200)
\tMax cycle:  900
\tMean cycle: 400
\tDepth Mean: {}
\tDepth Mean (try depth): 2
\tQueue length mean: 30
Latency for 1000 calls to gettimeofday(): 20 microseconds
\tTotal cycles: 77
"""
DAYS = [DAY.format(500, 10, 4, 3, 100, 10), DAY.format(200, 30, 8, 5, 300, 20)]


def test_days_are_put_together():
    told = summarise(DAYS, timed=True)
    assert told["main"] == {"cycles": 40, "mean_depth": 7, "mean_cycle": 1e-4, "longest_cycle": 5e-4}
    assert told["backfill"] == pytest.approx(
        {"started": 5, "cycles": 400, "mean_queue": 30, "mean_depth": 17.5, "mean_tried": 2, "mean_cycle": 4e-4,
         "longest_cycle": 9e-4}
    )  # fmt: skip


def test_without_a_cost_of_computing_there_are_no_lengths_of_cycles():
    assert set(summarise(DAYS, timed=False)["main"]) == {"cycles", "mean_depth"}


def test_without_backfilling():
    told = summarise([DAYS[0].partition("Backfilling")[0]], timed=False)
    assert told["main"]["cycles"] == 10
    assert told["backfill"]["cycles"] == 0
