"""Is a policy better, or was it lucky? A model of a log gives as many months as one likes.

Fits a model to a log (here a published model's jobs stand for it), checks how close the model is, and compares two
policies on five months that never happened but could have.
"""

from __future__ import annotations

import walltime

CORES = 256
SEEDS = range(1, 6)


def main() -> None:
    """From a log to a comparison over five synthetic months."""
    log = walltime.generate_workload("lublin", cores=CORES, days=60, load=0.75, seed=0, stabilization=0.0)
    model = walltime.fit_model(log)
    trial = walltime.generate_workload(model, cores=CORES, days=60, seed=1, stabilization=0.0)
    comparison = walltime.compare_workloads(log, trial, names=("the log", "the model"))
    for variable in comparison.variables:
        print(f"{variable.name:15} differs by {variable.ks:.3f}")

    wins = 0
    for seed in SEEDS:
        jobs = walltime.generate_workload(model, cores=CORES, days=30, load=0.85, seed=seed)
        waits = {
            policy: walltime.simulate(jobs, cores=CORES, policy=policy).summary["mean_wait"] / 3600
            for policy in ("easy", "conservative")
        }
        wins += waits["easy"] < waits["conservative"]
        print(f"month {seed}: mean wait " + ", ".join(f"{policy} {wait:.1f} h" for policy, wait in waits.items()))
    print(f"easy waits less in {wins} of {len(SEEDS)} months")


if __name__ == "__main__":
    main()
