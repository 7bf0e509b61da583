"""Makes every picture of the documents from real simulations: `make pictures` rewrites docs/pictures.

The same jobs give the same pictures. Those of the report need Chromium; without it they are left as they are.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import walltime
from walltime.core.workload import Origin, Workload
from walltime.programs.profiles import write_out
from walltime.workload.generate import Model, generate
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
CORES, NODES = 256, "16x16"
MONDAY = 1_704_067_200.0
"""1 January 2024, when the artificial jobs are said to begin."""
DAY = 86_400.0
DPI = 90
WEEK = {"begin": "14d", "end": "21d"}
OPTIONS: dict[str, dict[str, Any]] = {
    **{"schedule": WEEK, "schedule-diff": WEEK, "boxes": {"by": "size"}},
    **{"fairshare": {"most": 6}, "usage": {"most": 6}, "shares": {"most": 6}},
}
PAIRS = (
    *("utilization", "cdf", "histogram", "boxes", "compare", "change", "winners", "schedule-diff", "queue", "load"),
    *(
        "slowdown-map",
        "fairness",
        "users",
        "median-wait",
        "waits",
        "cumulative-wait",
        "node-load",
        "gaps",
        "difference",
    ),
    "workflows",
    "predictions",
)
"""Pictures that show two policies; the others show one."""


def make_jobs() -> Workload:
    """The demo's jobs, dated, with the waits of first come first served as those of a trace."""
    jobs = generate(jobs=5_000, cores=CORES, load=0.9, seed=1)
    waits = walltime.simulate(jobs, cores=CORES, policy="fcfs").jobs["wait"].to_numpy()
    columns = dict(jobs.columns) | {"recorded_wait": np.rint(waits * 1e6).astype(np.int64)}
    return jobs.replace(columns, origin=Origin(MONDAY, "Europe/Prague"))


def draw_kinds(results: list[walltime.Result], special: dict[str, list[walltime.Result]]) -> None:
    """A picture for each kind: of these results or, for what they have nothing for, of the special ones."""
    from walltime.analysis.charts import KINDS

    for kind in KINDS:
        pair = special.get(kind, results)
        shown = pair if kind in PAIRS else pair[-1:]
        walltime.plot(kind, *shown, **OPTIONS.get(kind, {})).save(FOLDER / f"{kind}.png", dpi=DPI)
        print(f"{kind}.png")


def draw_schedules(disturbed: walltime.Result, workflows: walltime.Result) -> None:
    """What a schedule shows besides jobs: what was down, interrupted jobs, clusters, workflows, shared time."""
    pictures = {
        "outages": disturbed.plot.schedule(begin="3d", end="9d", by="size"),
        "workflow-schedule": workflows.plot.schedule(by="workflow", begin="12h", end="3d"),
        "interrupted": simulate_interrupted().plot.schedule(by="queue"),
        "clusters": simulate_clusters().plot.schedule(begin="2d", end="9d", by="size"),
        "clusters-utilization": simulate_clusters().plot.utilization(),
        "time-shared": simulate_shared().plot.schedule(begin=600, end=1200, by="size"),
        "schedule-dark": simulate_few().plot.schedule(by="backfilled", theme="dark"),
    }
    for name, picture in pictures.items():
        picture.save(FOLDER / f"{name}.png", dpi=DPI)
        print(f"{name}.png")


def simulate_few() -> walltime.Result:
    """Seven jobs on eight cores, of which some are backfilled."""
    jobs = Workload.from_columns(
        submit=[0, 1, 1, 1, 3, 4, 4],
        run_time=[9, 4, 4, 3, 7, 3, 1],
        requested_time=[9, 4, 4, 3, 7, 3, 1],
        cores=[2, 7, 4, 4, 3, 6, 3],
    )
    return walltime.simulate(jobs, cores=8, policy="easy")


def simulate_interrupted() -> walltime.Result:
    """Two jobs that are suspended for an urgent one, and go on where they were."""
    times = [60, 50, 15, 20, 20]
    jobs = Workload.from_columns(
        submit=[0, 0, 10, 25, 30],
        run_time=times,
        requested_time=times,
        cores=[4, 4, 6, 2, 4],
        queue=["normal", "normal", "urgent", "normal", "normal"],
    )
    cluster = {
        "nodes": "2x4",
        "queues": {"urgent": {"priority": 1}, "normal": {"default": True}},
        "scheduler": {"preempt": {"name": "queue", "mode": "suspend"}},
    }
    return walltime.simulate({"workload": jobs, "cluster": cluster}, label="easy, urgent jobs first")


def simulate_disturbed() -> walltime.Result:
    """Nodes that fail, a weekly maintenance and a reservation."""
    cluster = {
        "nodes": NODES,
        "failures": [{"between": {"mean": 20 * DAY}, "repair": 6 * 3600.0}],
        "reservations": [
            {"name": "update", "start": "4d", "length": "10h", "every": "7d"},
            {"name": "course", "start": "7d", "length": "1d", "count": 4, "users": ["teacher"]},
        ],
    }
    jobs = {"generate": {"jobs": 1_500, "cores": CORES, "load": 0.7}}
    return walltime.simulate({"workload": jobs, "cluster": cluster, "seed": 4}, policy="easy")


def simulate_programs() -> walltime.Result:
    """Jobs that compute, send to each other and write, on two groups of nodes."""
    rng = np.random.default_rng(1)
    count, wide = 60, write_out("sequence", repeat=20, profiles=[
        {"type": "compute-homogenous", "args": {"compute_work": 8e10}},
        {"type": "communication-homogenous", "args": {"size": 4e9}},
        {"type": "disk-write", "args": {"size": 2e9}},
    ])  # fmt: skip
    jobs = Workload.from_columns(
        submit=np.sort(rng.uniform(0, 7200, count)), cores=[16] * count, nodes=[2] * count,
        requested_time=[7200] * count, run_time=[None] * count, profile=[wide] * count, memory=[16] * count,
        user=[f"user{number % 4}" for number in range(count)],
    )  # fmt: skip
    disk = {"capacity": "1T", "read": 1e9, "write": 5e8}
    sizes = {"thin": (6, 64), "fat": (4, 128)}
    nodes = [{"name": name, "count": n, "cores": 16, "memory": has, "disk": disk} for name, (n, has) in sizes.items()]
    cluster = {"nodes": nodes, "network": {"type": "star", "link": {"bandwidth": 1e9}}}
    kept = {"interval": 120, "by": ["node-group", "user"]}
    scenario = {"workload": {"table": jobs}, "cluster": cluster, "record": kept, "execution": {"model": "programs"}}
    return walltime.simulate(scenario)


def simulate_shares(jobs: Workload) -> walltime.Result:
    """The same jobs in the order of fair shares; what was used is half forgotten after two days."""
    order = {"name": "fairshare", "formula": "classic", "half_life": "2d"}
    cluster = {"nodes": NODES, "scheduler": {"order": order}}
    return walltime.simulate({"workload": jobs, "cluster": cluster}, label="fair share")


def simulate_site() -> walltime.Result:
    """Two partitions, one of them with GPUs, which a third of the jobs ask for."""
    jobs = generate(1_500, CORES, 0.8, 2, Model(longest_run=12 * 3600.0))
    wants = np.arange(len(jobs)) % 3 == 0
    columns = dict(jobs.columns) | {"gpus": np.where(wants, 1 + np.arange(len(jobs)) % 4, 0)}
    columns["memory"] = jobs.column("cores") * (3 << 30)
    site = {
        "nodes": [{"count": 14, "cores": 16, "memory": "64G"}, {"count": 6, "cores": 16, "memory": "64G", "gpus": 4}]
    }
    dated = jobs.replace(columns, origin=Origin(MONDAY, "Europe/Prague"))
    return walltime.simulate({"workload": dated, "cluster": site}, label="easy")


def simulate_plans(jobs: Workload) -> list[walltime.Result]:
    """Plans by requests of users, and by exact ones."""
    exact = jobs.replace(dict(jobs.columns) | {"requested_time": jobs.columns["run_time"]})
    return [
        walltime.simulate(table, cores=CORES, policy="conservative", record__plans=True, label=label)
        for table, label in ((jobs, "users' requests"), (exact, "exact requests"))
    ]


def simulate_workflows() -> list[walltime.Result]:
    """Workflows among other jobs: each task submitted when those before it have ended, or all known beforehand."""
    wide, long = Task("wide", 48, 3_240, 3_600), Task("long", 4, 14_040, 14_400)
    kinds = [
        Workflow.of("wideLong", [wide, replace(long, needs=("wide",))]),
        Workflow.of("longWide", [long, replace(wide, needs=("long",))]),
    ]
    results = []
    for way, label in (("multi", "chained jobs"), ("manifest", "workflow-aware")):
        jobs = generate(1_200, CORES, 0.75, 1, Model(longest_run=12 * 3600.0))
        mixed = add_workflows(jobs, Mix(kinds, way, every=4 * 3600.0), 1)
        results.append(walltime.simulate(mixed, cores=CORES, policy="easy", label=label))
    return results


@cache
def simulate_clusters() -> walltime.Result:
    """Three clusters of different kinds, and a broker that sends each job where it starts first."""
    clusters = [
        {"name": "old", "cores": 64},
        {"name": "new", "nodes": {"count": 8, "cores": 16, "speed": 1.5}},
        {"name": "small", "nodes": "8x4"},
    ]
    jobs = {"generate": {"jobs": 1_200, "cores": 128, "load": 0.9}}
    return walltime.simulate(
        {"workload": jobs, "clusters": clusters, "broker": "earliest-start"}, label="three clusters"
    )


def simulate_shared() -> walltime.Result:
    """Four workstations whose time is shared by the tasks of jobs in lock step."""
    kind = {
        "tasks": {"name": "empirical", "values": [1, 2, 3, 4]},
        "work": {"name": "exponential", "mean": 10},
        "profile": "lock-step",
    }
    arrivals = {"name": "exponential", "mean": 8}
    scenario = {
        "workload": {"synthetic": {"jobs": 300, "arrivals": arrivals, "types": {"solver": kind}}},
        "cluster": {
            "nodes": {"count": 4, "cores": 1, "max_load": 20},
            "scheduler": {"backfill": "none", "place": "round-robin"},
        },
        "execution": {"model": {"name": "time-shared", "quantum": 0.1, "delay": 0.01}},
        "seed": 1,
    }
    return walltime.simulate(scenario, label="time-shared")


def draw_repetitions() -> None:
    """Three policies, each with five seeds."""
    results = [
        walltime.simulate(generate(jobs=1_000, cores=CORES, load=0.9, seed=seed), cores=CORES, policy=policy)
        for seed in range(5)
        for policy in ("fcfs", "conservative", "easy")
    ]
    walltime.plot("compare", *results, repeated=True).save(FOLDER / "repetitions.png", dpi=DPI)
    print("repetitions.png")


def draw_watch(jobs: Workload) -> None:
    """The terminal at the end of a watched run."""
    from rich.console import Console

    from walltime.cli.run.watch import LiveView
    from walltime.engine import native
    from walltime.scenario import parse, resolve

    console = Console(record=True, width=100, file=open("/dev/null", "w"), force_terminal=True)  # noqa: SIM115
    watch = LiveView("easy", jobs, console)
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
    disturbed, workflows = simulate_disturbed(), simulate_workflows()
    special = {"fairshare": [simulate_shares(jobs)], "failures": [disturbed], "workflows": workflows}
    special["resources"] = special["shares"] = [simulate_site()]
    special["loads"] = [simulate_programs()]
    special["predictions"] = simulate_plans(jobs)
    draw_kinds(results, special)
    draw_schedules(disturbed, workflows[0])
    draw_repetitions()
    draw_watch(jobs)
    draw_report(results)


if __name__ == "__main__":
    sys.exit(main())
