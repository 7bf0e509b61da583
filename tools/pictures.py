"""Makes every picture of the documents from real simulations: `make pictures` rewrites docs/pictures.

The same jobs give the same pictures. Those of the report need Chromium; without it they are left as they are.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import walltime
from walltime.core.workload import Origin, Workload
from walltime.workload.generate import generate

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
CORES, NODES = 256, "16x16"
MONDAY = 1_704_067_200.0
"""1 January 2024, when the artificial jobs are said to begin."""
DAY = 86_400.0
DPI = 90
WEEK = {"begin": "14d", "end": "21d"}
OPTIONS: dict[str, dict[str, Any]] = {"schedule": WEEK, "schedule-diff": WEEK, "boxes": {"by": "size"}}
PAIRS = (
    *("utilization", "cdf", "histogram", "boxes", "compare", "change", "winners", "schedule-diff", "queue", "load"),
    *("slowdown-map", "fairness", "users", "median-wait", "cumulative-wait", "node-load", "gaps", "difference"),
)
"""Pictures that show two policies; the others show one."""


def make_jobs() -> Workload:
    """The demo's jobs, dated, with the waits of first come first served as those of a trace."""
    jobs = generate(jobs=5_000, cores=CORES, load=0.9, seed=1)
    waits = walltime.simulate(jobs, cores=CORES, policy="fcfs").jobs["wait"].to_numpy()
    columns = dict(jobs.columns) | {"recorded_wait": np.rint(waits * 1e6).astype(np.int64)}
    return jobs.replace(columns, origin=Origin(MONDAY, "Europe/Prague"))


def draw_kinds(results: list[walltime.Result]) -> None:
    """A picture for each kind that these results have."""
    from walltime.analysis.charts import KINDS

    for kind in KINDS:
        shown = results if kind in PAIRS else results[1:]
        try:
            picture = walltime.plot(kind, *shown, **OPTIONS.get(kind, {}))
        except walltime.InputError as error:
            print(f"no picture of {kind}: {error}")
            continue
        picture.save(FOLDER / f"{kind}.png", dpi=DPI)
        print(f"{kind}.png")
    draw_disturbed()
    draw_repetitions()
    few = walltime.simulate(
        Workload.from_columns(
            submit=[0, 1, 1, 1, 3, 4, 4],
            run_time=[9, 4, 4, 3, 7, 3, 1],
            requested_time=[9, 4, 4, 3, 7, 3, 1],
            cores=[2, 7, 4, 4, 3, 6, 3],
        ),
        cores=8,
        policy="easy",
    )
    few.plot.schedule(by="backfilled", theme="dark").save(FOLDER / "schedule-dark.png", dpi=DPI)


def draw_disturbed() -> None:
    """A schedule with nodes that fail, a weekly maintenance and a reservation, and its map of down times."""
    cluster = {
        "nodes": NODES,
        "failures": [{"between": {"mean": 20 * DAY}, "repair": 6 * 3600.0}],
        "reservations": [
            {"name": "update", "start": "4d", "length": "10h", "every": "7d"},
            {"name": "course", "start": "7d", "length": "1d", "count": 4, "users": ["teacher"]},
        ],
    }
    jobs = {"generate": {"jobs": 1_500, "cores": CORES, "load": 0.7}}
    result = walltime.simulate({"workload": jobs, "cluster": cluster, "seed": 4}, policy="easy")
    result.plot.schedule(begin="3d", end="9d", by="size").save(FOLDER / "outages.png", dpi=DPI)
    result.plot.failures().save(FOLDER / "failures.png", dpi=DPI)
    print("outages.png, failures.png")


def draw_repetitions() -> None:
    """Three policies, each with five seeds."""
    results = [
        walltime.simulate(generate(jobs=1_000, cores=CORES, load=0.9, seed=seed), cores=CORES, policy=policy)
        for seed in range(5)
        for policy in ("fcfs", "conservative", "easy")
    ]
    walltime.plot("compare", *results).save(FOLDER / "repetitions.png", dpi=DPI)
    print("repetitions.png")


def draw_watch(jobs: Workload) -> None:
    """The terminal at the end of a watched run."""
    from rich.console import Console

    from walltime.cli.watch import Watch
    from walltime.engine import native
    from walltime.scenario import parse, resolve

    console = Console(record=True, width=100, file=open("/dev/null", "w"), force_terminal=True)  # noqa: SIM115
    watch = Watch("easy", jobs, console)
    watch.draw = lambda picture: None
    scenario = parse({"workload": {"table": jobs}, "cluster": {"cores": CORES}, "until": "24d"})
    native.run(resolve(scenario, jobs), jobs, watch)
    watch._speed = lambda: "210,000 jobs/s"  # type: ignore[method-assign]  # the same picture each time
    console.print(watch.picture())
    svg = console.export_svg(title="walltime run --watch", unique_id="watch")
    (FOLDER / "watch.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")
    print("watch.svg")


def draw_report(results: list[walltime.Result]) -> None:
    """The report as a browser shows it, wide and light, narrow and dark."""
    browser = shutil.which("chromium")
    if browser is None:
        print("no Chromium: the pictures of the report stay as they are")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = walltime.write_report(results, Path(folder) / "report.html", title="First come first served, or EASY?")
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        chromium = driver.chromium.launch(executable_path=browser, args=flags)
        for name, width, height, scheme in (("report", 1240, 1500, "light"), ("report-narrow", 400, 900, "dark")):
            tab = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready=yes]")
            if name == "report-narrow":
                tab.evaluate("() => document.getElementById('schedule').scrollIntoView()")
            tab.wait_for_timeout(500)
            tab.screenshot(path=FOLDER / f"{name}.png")
            print(f"{name}.png")
        chromium.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    jobs = make_jobs()
    results = [walltime.simulate(jobs, nodes=NODES, policy=policy) for policy in ("fcfs", "easy")]
    draw_kinds(results)
    draw_watch(jobs)
    draw_report(results)


if __name__ == "__main__":
    sys.exit(main())
