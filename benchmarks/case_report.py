"""The report of a result: the command, its file, and the page in a browser."""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import walltime
from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import time_command
from benchmarks.setting import Setting

CASE = "report"
CPU, MEMORY, SIZE = at_most(20), at_most(2000), at_most(10)
OPEN, FRAME = at_most(2), at_most(33)
NODES = "1032x32"
"""With nodes there is more to show: every core has its place, and there is a map of all nodes over time."""
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_FRAMES = """() => { const gantt = walltime.viewer.gantt, spent = [];
  for (let i = 0; i < 30; i++) {
    if (i === 15) gantt.reset();
    gantt.zoom(i < 15 ? 0.9 : 1, 0.3);
    gantt.pan(0.01, 0);
    const began = performance.now();
    gantt.draw();
    spent.push(performance.now() - began);
  }
  return [spent, gantt.plan.jobs.count, gantt.plan.blocks.of.length]; }"""


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds and peak memory of `walltime report`, the size of the file, and how the page moves in Chromium.

    The last two are wall time, as a person waits for them: worth looking at on a quiet machine only. The CPU time of
    the page's own thread tells on a busy one what it has to do until it is ready.
    """
    folder, page = setting.folder / "reported", setting.folder / "report.html"
    walltime.simulate(setting.trace(), nodes=NODES, policy="easy").save(folder)
    command = [sys.executable, "-m", "walltime", "report", str(folder), "-o", str(page), "--force"]
    usage = time_command(command, setting.repeats)
    what = f"walltime report, {setting.jobs:,} jobs"
    yield seconds(CASE, f"{what}: CPU time", usage.cpu, CPU)
    for words, value, unit, target in (
        ("peak memory", usage.memory / 1e6, "MB", MEMORY),
        ("size of the file", page.stat().st_size / 1e6, "MB", SIZE),
    ):
        yield Figure(CASE, f"{what}: {words}", value, value, unit, target, None, setting.repeats)
    if (browser := shutil.which("chromium")) is not None:
        yield from _browse(browser, page, setting.repeats)


def _browse(browser: str, page: Path, repeats: int) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    opened, worked, frames, what = [], [], [], ""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=list(_FLAGS))
        for _ in range(repeats):
            tab = chromium.new_page(viewport={"width": 1280, "height": 900})
            clock = tab.context.new_cdp_session(tab)
            clock.send("Performance.enable", {"timeDomain": "threadTicks"})
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready=yes]")
            opened.append(float(tab.evaluate("() => performance.now() / 1000")))
            told = {entry["name"]: entry["value"] for entry in clock.send("Performance.getMetrics")["metrics"]}
            worked.append(float(told["TaskDuration"]))
            spent, jobs, blocks = tab.evaluate(_FRAMES)
            frames += spent
            what = f"a frame of the schedule, {jobs:,} jobs, {blocks:,} rectangles"
            tab.close()
        chromium.close()
    for words, spent in (("the page is ready after", opened), ("– CPU time of its thread", worked)):
        yield Figure(CASE, words, statistics.median(spent), min(spent), "s", OPEN, None, repeats)
    yield Figure(CASE, what, statistics.median(frames), min(frames), "ms", FRAME, None, repeats)
