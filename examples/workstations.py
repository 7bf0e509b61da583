"""How long do jobs take on four workstations whose time is shared, and what does it cost to meet at every step?

The experiment of Santoso, van Albada, Basaruddin and Sloot, "A simulation environment for job scheduling on distributed
systems" (2003): four equal workstations, as many jobs of one, two, three and four tasks, 10 s of work in the mean for
each task, submitted straight to the workstations every 10, 15 or 20 s in the mean; tasks are placed round robin, as PVM
does. In one half of the experiment the tasks of a job meet at the start and the end (master and slaves), in the other
they run in lock step and meet after every second of work.

    python examples/workstations.py [PICTURE.png]     # draws it, too, as the paper's Fig. 3
"""

from __future__ import annotations

import sys

import walltime
from walltime.analysis.noise import Interval, estimate

GAPS = (10, 15, 20)
MODELS = {"master-slave": "master and slaves", "lock-step": "lock step"}
SEEDS = range(1, 11)
JOBS = 4000
TASKS = (1, 2, 3, 4)


def describe(gap: float, profile: str) -> dict:
    """The scenario; the same seed gives the same jobs, whatever their tasks do."""
    kind = {
        "tasks": {"name": "empirical", "values": list(TASKS)},
        "work": {"name": "exponential", "mean": 10},
        "profile": profile,
    }
    return {
        "workload": {
            "synthetic": {"jobs": JOBS, "arrivals": {"name": "exponential", "mean": gap}, "types": {"job": kind}}
        },
        "cluster": {
            "nodes": {"count": 4, "cores": 1, "max_load": 100, "name": "ultra"},
            "scheduler": {"backfill": "none", "place": "round-robin"},
        },
        "execution": {"model": {"name": "time-shared", "quantum": 0.1, "step": 1, "delay": 0.01}},
    }


def measure(gap: float, profile: str) -> dict[int, Interval]:
    """The mean response by number of tasks, over runs with different seeds; the first tenth of each is left out."""
    means: dict[int, list[float]] = {tasks: [] for tasks in TASKS}
    for seed in SEEDS:
        jobs = walltime.simulate(describe(gap, profile), seed=seed).jobs[JOBS // 10 :]
        for tasks in TASKS:
            mine = jobs.filter(jobs["cores"] == tasks)
            means[tasks].append(float((mine["end"] - mine["submit"]).mean()))
    return {tasks: estimate(values) for tasks, values in means.items()}


def main() -> None:
    """A table, and a picture where one is asked for."""
    found = {(profile, gap): measure(gap, profile) for profile in MODELS for gap in GAPS}
    print("mean response in seconds of jobs with            " + "".join(f"{tasks:>8}" for tasks in TASKS) + "  tasks")
    for (profile, gap), row in found.items():
        figures = "".join(f"{row[tasks].mean:8.1f}" for tasks in TASKS)
        print(f"{MODELS[profile]:18} one job every {gap} s (mean){figures}")
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])


def draw(found: dict, path: str) -> None:
    """Two panels: a line for each rate of arrivals, with 95 % intervals."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from walltime.analysis.charts.palette import LIGHT
    from walltime.analysis.plots.style import settings

    with plt.rc_context(settings(LIGHT)):
        figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
        for panel, profile in zip(panels, MODELS, strict=True):
            for place, gap in enumerate(GAPS):
                row = found[profile, gap]
                panel.errorbar(
                    TASKS,
                    [row[tasks].mean for tasks in TASKS],
                    [row[tasks].high - row[tasks].mean for tasks in TASKS],
                    label=f"a job every {gap} s",
                    color=LIGHT.categories[place],
                    marker="osd"[place],
                    markersize=4,
                    capsize=2,
                )
            panel.set_title(f"{'ab'[list(MODELS).index(profile)]}) {MODELS[profile]}")
            panel.set_xlabel("tasks of a job")
            panel.set_xticks(TASKS)
        panels[0].set_ylabel("mean response, s")
        panels[0].set_ylim(bottom=0)
        panels[0].legend()
        figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
