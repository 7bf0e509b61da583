"""Which policy serves this workload best, and is the difference more than chance?

python examples/compare_policies.py
"""

from __future__ import annotations

import walltime
from walltime.core.time import format_duration
from walltime.workload.generate import generate

CORES = 128
POLICIES = ("fcfs", "aggressive", "easy")
REPETITIONS = 10


def main() -> None:
    jobs = generate(jobs=1500, cores=CORES, load=0.85, seed=7)

    print(f"{len(jobs)} jobs on {CORES} cores\n")
    results = [walltime.simulate(jobs, cores=CORES, policy=policy) for policy in POLICIES]
    for result in results:
        summary = result.summary
        print(
            f"{result.label:<12}"
            f"mean wait {format_duration(summary['mean_wait']):>9}   "
            f"bounded slowdown {summary['mean_bounded_slowdown']:7.1f}   "
            f"utilization {summary['utilization_window']:6.1%}"
        )

    print("\nEasy relative to fcfs:")
    metrics = ("mean_wait", "p95_wait", "makespan")
    for row in walltime.compare([results[0], results[2]], metrics=metrics).iter_rows(named=True):
        print(f"  {row['metric']:<10}{row['easy relative']:+8.1%}")

    print("\nWho waits how long under easy:")
    for row in results[2].by("size").iter_rows(named=True):
        if row["jobs"]:
            print(f"  {row['size']:>6} cores: {row['jobs']:>4} jobs, mean wait {format_duration(row['mean_wait'])}")

    print(f"\nOver {REPETITIONS} other seeds:")
    scenario = {"workload": {"generate": {"jobs": 500, "cores": CORES, "load": 0.85}}, "cluster": {"cores": CORES}}
    repetitions = [
        [walltime.simulate(scenario, policy=policy, seed=seed) for seed in range(REPETITIONS)] for policy in POLICIES
    ]
    for verdict in walltime.judge(*repetitions, metrics=["mean_wait"]):
        print(f"  {verdict.sentence}")


if __name__ == "__main__":
    main()
