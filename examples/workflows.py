"""Three ways to submit a workflow: as a pilot job, as chained jobs, and workflow-aware.

The shape of Fig. 17 of G. Rodrigo et al., "ScSF: a scheduling simulation framework", JSSPP 2017: chained jobs wait
again before every step; a pilot and a workflow that the scheduler knows of do not, but the pilot holds cores that it
does not use. No job overtakes here, so that everything waits for about half a day, as it nearly is with ScSF's
backfilling of 50 jobs in a queue of thousands. With unlimited backfilling small tasks slip through, and it is the wide
pilot that waits.

python examples/workflows.py
"""

from __future__ import annotations

import statistics

import walltime
from walltime.workload.generate import Model, generate
from walltime.workload.synthesis.workflow_mix import WAYS, Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

HOUR = 3600.0
PERIODS = (17, 11)  # hours between workflows
SEEDS = (1, 2)


def make_workflows() -> list[Workflow]:
    """One that is wide first and long then, one the other way round, and one that forks and joins four times."""
    wide = Task("wide", 48, 0.9 * HOUR, HOUR)
    long = Task("long", 4, 3.9 * HOUR, 4 * HOUR)
    steps = [Task("0", 4, 600, 900)]
    for level in range(4):
        fan = [Task(f"{level}.{n}", 12, 1500, 1800, (steps[-1].id,)) for n in range(5)]
        steps += [*fan, Task(str(level + 1), 4, 600, 900, tuple(task.id for task in fan))]
    return [
        Workflow.of("wideLong", [wide, Task(**vars(long) | {"needs": ("wide",)})]),
        Workflow.of("longWide", [long, Task(**vars(wide) | {"needs": ("long",)})]),
        Workflow.of("forkJoin", steps),
    ]


def main() -> None:
    print(
        f"{'every':<7}{'workflow':<10}{'way':<10}{'wait h':>8}{'run h':>8}{'turnaround h':>14}{'stretch':>9}{'idle':>7}"
    )
    for period in PERIODS:
        for workflow in make_workflows():
            for way in WAYS:
                rows = []
                for seed in SEEDS:
                    jobs = generate(4000, 1024, 0.8, seed, Model(longest_run=12 * HOUR))
                    jobs = add_workflows(jobs, Mix([workflow], way, every=period * HOUR), seed)
                    rows += walltime.simulate(jobs, cores=1024, policy="fcfs", seed=seed).workflows.to_dicts()
                middle = {
                    name: statistics.median(row[name] for row in rows if row[name] is not None)
                    for name in ("wait", "run", "turnaround", "stretch")
                }
                held, idle = (sum(row[name] for row in rows) for name in ("core_hours", "idle_core_hours"))
                print(
                    f"{f'{period} h':<7}{workflow.name:<10}{way:<10}{middle['wait'] / HOUR:>8.1f}"
                    f"{middle['run'] / HOUR:>8.1f}{middle['turnaround'] / HOUR:>14.1f}{middle['stretch']:>9.2f}"
                    f"{idle / held:>7.0%}"
                )


if __name__ == "__main__":
    main()
