"""What a weekly maintenance window costs, under three policies.

python examples/maintenance.py
"""

from __future__ import annotations

import walltime
from walltime.core.time import format_duration

JOBS = {
    "generate": {"jobs": 4000, "cores": 512, "load": 0.75, "model": {"longest_run": 3 * 86_400.0, "exact_request": 1.0}}
}
WINDOW = {"name": "maintenance", "start": "5d", "length": "8h", "every": "7d"}


def main() -> None:
    print(f"{'policy':<14}{'window':<8}{'mean wait':>10}{'95 %':>10}{'utilization':>13}{'core-hours down':>17}")
    for policy in ("fcfs", "easy", "conservative"):
        for window in ((), (WINDOW,)):
            cluster = {"nodes": "32x16", "reservations": window}
            result = walltime.simulate({"workload": JOBS, "cluster": cluster, "seed": 3}, policy=policy)
            found = result.summary
            print(
                f"{policy:<14}{'weekly' if window else 'none':<8}{format_duration(found['mean_wait']):>10}"
                f"{format_duration(found['p95_wait']):>10}{found['utilization_window']:>13.1%}"
                f"{found['down_core_seconds'] / 3600:>17,.0f}"
            )
            if violations := result.audit():
                raise SystemExit(f"{policy}: {violations[0]}")


if __name__ == "__main__":
    main()
