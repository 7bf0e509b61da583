"""The report of an experiment in a real browser: quiet, whatever names say, and a click shows the schedule of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import Page, open_browser

import walltime

EVIL = "<img src=x onerror=window.hacked=1>"
EXPERIMENT = {
    "name": "clicked",
    "scenario": {
        "workload": {
            "synthetic": {
                "jobs": 40,
                "arrivals": {"name": "exponential", "mean": 300},
                "types": {"a": {"user": EVIL, "work": 900, "tasks": 2}, "b": {"user": "bo", "work": 600}},
            }
        },
        "cluster": {"cores": 4},
    },
    "grid": {
        "policy": ["fcfs", "easy"],
        "cores": {"key": "cluster.cores", "values": {EVIL: 4, "large": 8}},
    },
    "repetitions": 3,
    "keep": {"groups": ["user"], "tables": True},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from open_browser()


@pytest.mark.service
@pytest.mark.parametrize("width", [420, 1280])
def test_the_report_of_an_experiment_in_a_browser(browser, tmp_path, width):
    with walltime.Store(tmp_path / "store", create=True) as store:
        walltime.sweep(EXPERIMENT, store, workers=1)
        file = walltime.report_experiment(store, "clicked", tmp_path / "clicked.html")
    page = Page(browser, file, width)
    assert page.complaints == []
    assert [one for one in page.requests if not one.startswith(("file:", "data:", "blob:"))] == []
    assert page.ask("window.hacked") is None
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask("document.querySelectorAll('figure svg.panel').length") == 8  # four figures, maps and curves
    # Two other cells are chosen: the words and the groups are theirs.
    names = page.ask("[...document.querySelectorAll('#pairs select')[0].options].map(o => o.textContent)")
    assert names == [f"fcfs, {EVIL}", "fcfs, large", f"easy, {EVIL}", "easy, large"]
    lists = page.tab.locator("#pairs select")
    lists.nth(0).select_option("1")
    lists.nth(1).select_option("3")
    assert "easy, large" in page.tab.locator("#pairs li").first.inner_text()
    assert page.tab.locator("#pairs tbody tr").count() == 2
    lists.nth(1).select_option("1")
    assert "Choose two cells that differ" in page.tab.locator("#pairs").inner_text()
    # A click on a run shows its schedule.
    assert page.tab.locator("#run-list tbody tr").count() == 12
    page.tab.locator("#run-list button", has_text="schedule").nth(4).click()
    page.settle()
    assert page.tab.locator("#chosen").inner_text() == "fcfs, large, seed 1"
    assert page.ask("walltime.viewer.gantt.schedules.length") == 1
    assert page.ask("walltime.viewer.gantt.plan.jobs.count") == 40
    assert page.complaints == []
    page.close()
