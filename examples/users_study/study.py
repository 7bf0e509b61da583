"""Users who wait for their results: what a replay of their log gets wrong.

A log is made of 60 users before a machine that was never full: each submits some jobs, waits for them, thinks, and goes
home in the evening. Then the machine is smaller. In a replay the users submit as if nothing had happened; with feedback
they submit when they have their results. Five questions: what becomes of the wait, what do twice as many users do, how
many users fill the machine to 85 %, what does a limit for each user cost them, and does the policy that wins in the
replay win with users who react?
"""

from __future__ import annotations

import numpy as np

import walltime

CORES = 20
DAYS = 10
HOUR = 3600.0


def make_log(seed: int = 1) -> walltime.Workload:
    """Each user works from nine for some hours, in batches of one to four jobs, ten minutes of thought between them."""
    random = np.random.default_rng(seed)
    columns: dict[str, list] = {name: [] for name in ("user", "submit", "run_time", "requested_time", "cores")}
    for user in range(60):
        for day in range(DAYS):
            now = 86_400 * day + 9 * HOUR + float(random.exponential(1.5 * HOUR))
            while now < 86_400 * day + 18 * HOUR:
                runs = np.round(random.lognormal(7.4, 1.0, int(random.integers(1, 5)))).clip(30, 5 * HOUR)
                columns["user"] += [f"user{user}"] * len(runs)
                columns["submit"] += [round(now)] * len(runs)
                columns["run_time"] += runs.tolist()
                columns["requested_time"] += (runs * random.choice([1.2, 2, 5, 10], len(runs))).round().tolist()
                columns["cores"] += random.choice([1, 1, 2, 4], len(runs)).tolist()
                now += float(runs.max()) + 15 + float(random.exponential(600))
    return walltime.Workload.from_columns(**columns, recorded_wait=[0.0] * len(columns["user"]))


def show(title: str, results: dict[str, walltime.Result]) -> None:
    """The figures of some runs; what is done is as telling as the wait."""
    print(f"\n{title}\n{'':34}{'mean wait':>12}{'slowdown':>10}{'utilization':>13}{'last end':>10}")
    for name, result in results.items():
        told = result.summary
        figures = f"{told['mean_wait'] / 60:8.0f} min{told['mean_bounded_slowdown']:10.1f}{told['utilization']:12.1%}"
        print(f"{name:34}{figures}{told['last_end'] / 86_400:8.1f} d")


def find_population(log: walltime.Workload, wanted: float) -> int:
    """The fewest users, by fives, with whom the machine is as full: the load is an outcome where users react."""
    for count in range(60, 200, 5):
        told = walltime.simulate(log, cores=CORES, users={"mode": "feedback", "population": count}).summary
        if told["utilization"] >= wanted:
            return count
    raise SystemExit("even 195 users do not fill the machine so far")


def main() -> None:
    log = make_log()
    print(f"{len(log):,} jobs of 60 users in {DAYS} days, on {CORES} cores")
    modes = ("replay", "feedback")
    show(
        "A slow and a fast scheduler",
        {
            f"{policy}, {mode}": walltime.simulate(log, cores=CORES, policy=policy, users=mode)
            for mode in modes
            for policy in ("fcfs", "easy")
        },
    )
    show(
        "Twice as many users",
        {
            f"{count} users, {mode}": walltime.simulate(log, cores=CORES, users={"mode": mode, "population": count})
            for mode in modes
            for count in (60, 120)
        },
    )
    fill = find_population(log, 0.85)
    print(f"\n{fill} users fill the machine to 85 %")
    limit = {"limits": [{"per": "user", "running_jobs": 2}], "cores": CORES}
    patient = {"mode": "feedback"}
    adaptive = patient | {"reactions": [{"name": "stop-at-limit", "jobs": 2}]}
    show(
        "At most two running jobs for each user",
        {
            "replay": walltime.simulate(log, cluster=limit, users="replay"),
            "feedback": walltime.simulate(log, cluster=limit, users=patient),
            "feedback, users keep to the limit": walltime.simulate(log, cluster=limit, users=adaptive),
        },
    )
    policies = ("easy", "sjf", "wfp3", "largest")
    runs = {
        mode: {one: walltime.simulate(log, cores=CORES, policy=one, users=mode) for one in policies} for mode in modes
    }
    print("\nThe shortest mean slowdown, and the most done")
    for mode, results in runs.items():
        ranked = sorted(results, key=lambda name: results[name].summary["mean_bounded_slowdown"])
        soonest = min(results, key=lambda name: results[name].summary["makespan"])
        print(f"{mode}: slowdown {' < '.join(ranked)}; the last job ends first with {soonest}")


if __name__ == "__main__":
    main()
