"""The slow, obvious twin of the engine: plain Python, one screen for each rule, kept to check the fast one.

It shares no code with the compiled engine. Where the two differ, one of them is wrong; this one is short enough to be
judged by reading it. Every question is answered by looking at all jobs, all reservations and all nodes.

Its parts: `clock` (what happens at one instant, in order), `site` (one cluster), `brokering` (a global scheduler before
several), `jobs`, `courses` (attempts, checkpoints), `timeshare` (tasks that share a core), `leaving` (processes that
leave early), `gates` (what is held, and until when) with `workflows`, `users` (who react), `queues` (the way in, order,
domains), `limits`, `outages` (reservations and failures), `preemption`, `passes` with `packing`, `rhythm` and `slurm`,
`parts` and `fairshare` (orders, estimates), and the ledgers `pool` (a plain number of cores) and `vectors` (nodes) with
`requests` and `places`. Each says which rule it chose where there was a choice. Here these:

- A pass is made when something happened, when a promise falls due, and at the first instant at which a job that only
  its core-minutes keep back is let in.
- The causes of a pass are the whole cluster's: where something other than an arrival happened, all domains plan anew.
- A job is `backfilled` if, when it starts, somebody stands before it in its domain who has a reservation or whom the
  limits would let start.
- At submission: the queues that do not take the job are struck off; where none is left it is rejected with the reason
  of the first that was tried. Only then is it looked at whether it was cancelled already.
- A reservation that falls due when its job has just come to a limit is lost at once; whom that helps is moved when
  something ends, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twin.clock import Clock
from twin.courses import Interval
from twin.jobs import Job, write_shares
from twin.site import in_turn
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

POLICIES = {
    "fcfs": {"backfill": "none"},
    "easy": {"backfill": "easy"},
    "aggressive": {"backfill": "aggressive"},
    "conservative": {"backfill": "conservative"},
}
"""Schedulers with a name; any other is given by its parts."""


@dataclass(frozen=True)
class Outcome:
    """What became of one job, in microseconds; None where it does not apply.

    `queue` is the one in which it started, or the first that was tried; `nodes` are those of its last run, as
    `0-3:24,7:5`; `run` is the wall time that counts, of all attempts, of a job that still runs at the cut-off up to
    then; `lost` are core-microseconds; `moves` is how often it went to another cluster.
    """

    job_id: int
    row: int
    cluster: str | None
    queue: str | None
    eligible: int | None
    start: int | None
    end: int | None
    state: str
    reason: str | None
    backfilled: bool
    nodes: str | None
    run: int | None
    restarts: int
    lost: int
    intervals: tuple[Interval, ...]
    moves: int


def simulate(scenario: Scenario) -> list[Outcome]:
    """The schedule of a scenario, in row order."""
    return outcomes(play(scenario))


def simulate_cores(
    workload: Workload,
    cores: int,
    policy: str | Mapping[str, Any] = "easy",
    overrun: str = "kill",
    until: int | None = None,
) -> list[Outcome]:
    """The schedule on a plain number of cores; `policy` is one of POLICIES or a scheduler's parts, `until` in
    microseconds."""
    if isinstance(policy, str) and policy not in POLICIES:
        raise InputError("unknown policy", value=policy, choices=POLICIES)
    scheduler = POLICIES[policy] if isinstance(policy, str) else dict(policy)
    keys = {"cluster": {"cores": cores, "scheduler": scheduler}, "execution": {"overrun": overrun}}
    keys |= {} if until is None else {"until": until / SECOND}
    return simulate(parse(keys | {"workload": {"table": workload}}))


def play(scenario: Scenario) -> Clock:
    """The clock after the last instant: what became of everything."""
    table = scenario.workload.table
    clock = Clock(scenario, scenario.read_workload() if table is None else table)
    clock.run()
    return clock


def outcomes(clock: Clock) -> list[Outcome]:
    """In row order; of users who react, what was submitted, in order of entry."""
    users = clock.users
    jobs = clock.jobs if users is None else in_turn(job for job in clock.jobs if job.row in users.came)
    return [_outcome(clock, job) for job in jobs]


def _outcome(clock: Clock, job: Job) -> Outcome:
    course = job.course
    run = None
    if job.start is not None and (job.end is not None or clock.until is not None):
        run = course.work if job.end is not None else course.used + course.elapsed + (clock.until or 0) - course.since
    return Outcome(
        job.job_id,
        job.row,
        None if job.site is None else job.site.cluster.name,
        job.queue if job.runs_in is None else job.runs_in,
        job.queued,
        job.start,
        job.end,
        "waiting" if job.state in ("held", "paused") else job.state,
        job.reason,
        job.backfilled,
        write_shares(job.shares),
        run,
        0 if course is None else course.attempt,
        0 if course is None else course.lost,
        () if course is None else tuple(course.intervals),
        0 if clock.above is None else clock.above.moves[job.row],
    )
