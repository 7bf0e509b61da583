"""Three coarse queues with tight limits, or seven fine ones with generous limits: who gains, who loses?

python examples/queue_study/study.py
"""

from __future__ import annotations

from pathlib import Path

from workload import make_jobs

import walltime
from walltime.analysis.winners import Winners, find_winners
from walltime.core.time import format_duration
from walltime.scenario import load_cluster

HERE = Path(__file__).parent


def main() -> None:
    jobs = make_jobs()
    before, after = (
        walltime.simulate({"workload": jobs, "cluster": load_cluster(HERE / f"{name}.yaml")}, label=name)
        for name in ("before", "after")
    )
    print(f"{len(jobs)} jobs on {sum(before.summary['clusters'].values())} cores\n")
    for result in (before, after):
        waits = [format_duration(result.summary[key]) for key in ("mean_wait", "median_wait", "p95_wait")]
        print(
            f"{result.label:<7} mean wait {waits[0]:>9}   median {waits[1]:>9}   95 % {waits[2]:>9}   "
            f"slowdown {result.summary['mean_bounded_slowdown']:7.1f}   "
            f"utilization {result.summary['utilization_window']:6.1%}"
        )
        if violations := result.audit():
            raise SystemExit(f"{result.label}: {violations[0]}")

    for title, winners in (
        ("By the queues of before", find_winners(before, after, "queue")),
        ("By the queues of after", find_winners(after, before, "queue")),
    ):
        sign = 1 if winners.before == "before" else -1
        print(f"\n{title}, after against before:")
        for row in sorted(winners.table.iter_rows(named=True), key=lambda row: sign * row["effect"]):
            print(f"  {row['queue']:<7}{row['jobs']:>6} jobs {sign * row['effect'] / 3600:+9,.0f} h in all")

    print("\nBy user, the three at each end:")
    users = find_winners(before, after, "user")
    for row in [*users.table.head(3).to_dicts(), *users.table.tail(3).to_dicts()]:
        waits = [format_duration(row[key]) for key in ("wait_before", "wait_after")]
        print(f"  {row['user']:<13}{row['jobs']:>5} jobs, mean wait {waits[0]:>9} -> {waits[1]:>9}: {row['verdict']}")
    print(f"\n{sum_up(users)}")


def sum_up(winners: Winners) -> str:
    """What the change comes to, in a sentence."""
    found = winners.balance
    return (
        f"{found.gain} of {found.groups} {winners.key}s wait less ({found.gain_clearly} clearly), {found.lose} more "
        f"({found.lose_clearly} clearly): {found.saved / 3600:,.0f} h saved, {found.added / 3600:,.0f} h added."
    )


if __name__ == "__main__":
    main()
