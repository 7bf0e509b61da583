"""The full set of honesty checks: 4,000 pairs of each case, as a table; ends with 1 where a share is out of bounds."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import honesty

PAIRS = 4000
FAMILIES = 4000


def main() -> int:
    random = np.random.Generator(np.random.Philox(2022))
    found = honesty.measure_formula(random, PAIRS, 40_000)
    found += honesty.measure_relabelled(random, PAIRS, 40_000)
    found += [honesty.measure_weeks(random, 2000)]
    wrong = 0
    print("| case | figure | repetitions | difference (t) | ratio (Fieller) | ratio (bootstrap) |")
    print("|---|---|---|---|---|---|")
    for one in found:
        shares = ("–" if share is None else f"{share:.1%}" for share in (one.difference, one.ratio, one.bootstrap))
        print(f"| {one.case} | {one.metric} | {one.repetitions} | {' | '.join(shares)} |", flush=True)
        wrong += not all(0.93 <= share <= 0.97 for share in one.shares)
    figures = honesty.simulate_clusters(1500)
    bound = 0.05 + 2 * math.sqrt(0.05 * 0.95 / FAMILIES)
    for repetitions in honesty.SIZES:
        share = honesty.count_alarms(random, figures, FAMILIES, repetitions)
        print(
            f"false alarms in families of eight, {repetitions} repetitions: {share:.1%} (at most {bound:.1%})",
            flush=True,
        )
        wrong += share > bound
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
