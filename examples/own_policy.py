"""A policy of your own, in Python, beside the built-in ones.

python examples/own_policy.py
"""

from __future__ import annotations

from shortest_backfill import ShortestBackfill

import walltime
from walltime.core.time import format_duration
from walltime.workload.generate import generate

CORES = 128


def smallest_first(p) -> None:
    """A function of the pass is a policy too: start the smallest jobs that fit. Wide jobs may starve."""
    for slot in sorted(p.waiting(), key=p.cores):
        if not p.fits(slot):
            break
        p.start(slot)


def main() -> None:
    jobs = generate(jobs=1500, cores=CORES, load=0.9, seed=11)
    for policy in ("easy", ShortestBackfill, smallest_first):
        result = walltime.simulate(jobs, cores=CORES, policy=policy)
        broken = result.audit()
        summary = result.summary
        print(
            f"{result.label:<17}"
            f"mean wait {format_duration(summary['mean_wait']):>9}   "
            f"longest wait {format_duration(summary['max_wait']):>8}   "
            f"{'legal' if not broken else broken[0]}"
        )


if __name__ == "__main__":
    main()
