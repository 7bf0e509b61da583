"""The slow, obvious twin of the engine on a site: nodes with several resources, queues, and limits; plain Python.

It shares no code with the compiled engine. Every question is answered by looking at all jobs, all reservations and all
nodes. At one instant: ends, kills, cancellations, ends of grace, failures, edges of reservations, releases, arrivals;
then one pass over all domains; and again while something is due. A pass is made when something happened, when a promise
falls due, and at the first instant at which a job that only its core-minutes keep back is let in.

Its parts: `reference_site_clock` (the clock), `_jobs`, `_courses` (attempts, checkpoints), `_queues` (the way
in, order, domains), `_limits`, `_outages` (reservations and failures), `_preempt`, `_passes`, and the ledgers `_pool`
(a plain number of cores) and `_vectors` (nodes), with `_requests` and `_places`. Each says which rule it chose where
there was a choice. Here these:

- The causes of a pass are the whole cluster's: where something other than an arrival happened, all domains plan anew.
- A job is `backfilled` if, when it starts, somebody stands before it in its domain who has a reservation or whom the
  limits would let start.
- At submission: the queues that do not take the job are struck off; where none is left it is rejected with the reason
  of the first that was tried. Only then is it looked at whether it was cancelled already.
- Who is held, and until when, is in `reference_gates`.
- A reservation that falls due when its job has just come to a limit is lost at once; whom that helps is moved when
  something ends, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twin.reference_site_clock import Options, Site
from twin.reference_site_courses import Interval
from twin.reference_site_jobs import Job, write_shares
from twin.reference_site_outages import Outages, read_failing
from twin.reference_site_passes import RULES, Domain
from twin.reference_site_rhythm import Periodic
from twin.reference_site_slurm import SlurmPasses
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Scenario


@dataclass(frozen=True)
class Outcome:
    """What became of one job, in microseconds; None where it does not apply.

    `queue` is the one in which it started, or the first that was tried; `nodes` are those of its last run, as
    `0-3:24,7:5`; `run` is the wall time that counts, of all attempts; `lost` are core-microseconds.
    """

    job_id: int
    row: int
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


def simulate(
    workload: Workload,
    cluster: Cluster,
    backfill: str = "easy",
    order: str | Mapping[str, Any] = "fcfs",
    depth: int = 1,
    seed: int = 0,
    never: str = "cancel",
    preceding: bool = False,
    deadlines: str = "keep",
    rhythm: Mapping[str, Any] | None = None,
    candidates: str | None = None,
) -> list[Outcome]:
    """The schedule of the workload on the cluster, in row order.

    `backfill` is none (or fcfs), aggressive, easy, depth (with `depth` reservations) or conservative; `order` one of
    those that `reference_parts` knows, or a part as a scenario has it. The placement is the cluster's own. `rhythm` are
    the parameters of the periodic rhythm, or, with the name slurm among them, of that one; without them there is a pass
    whenever something happened. `candidates` is
    the order of those behind the last reservation, in that rhythm. `never`, `preceding` and `deadlines` are the
    scenario's keys of dependencies and deadlines.
    """
    options = Options(
        backfill,
        order,
        depth,
        seed,
        never=never,
        preceding=preceding,
        deadlines=deadlines,
        rhythm=rhythm,
        candidates=candidates,
    )
    return simulate_disrupted(workload, cluster, options)[0]


def simulate_scenario(scenario: Scenario) -> tuple[list[Outcome], Outages]:
    """The schedule of a scenario with one cluster and its jobs in a table, and what got in the way."""
    cluster = scenario.clusters[0]
    backfill = cluster.scheduler.backfill
    options = Options(
        backfill.name,
        cluster.scheduler.order.short(),
        backfill.parameters.get("depth", 1),
        scenario.seed,
        scenario.execution.overrun == "extend",
        scenario.execution.checkpoint,
        read_failing(cluster, scenario.seed),
        scenario.dependencies.never,
        scenario.dependencies.preceding,
        scenario.deadlines,
    )
    return simulate_disrupted(scenario.read_workload(), cluster, options)


def simulate_disrupted(workload: Workload, cluster: Cluster, options: Options) -> tuple[list[Outcome], Outages]:
    """The same with everything that may get in the way, and what did."""
    rule = "none" if options.backfill == "fcfs" else options.backfill
    if rule not in RULES:
        raise InputError("unknown policy", value=options.backfill, choices=RULES)
    site = Site(workload, cluster, options)
    count = 1 + max(site.queues.domains.values())
    for booking in site.outages.bookings:
        if not booking.rule.maintenance:
            booking.domain, count = count, count + 1
    depth = 1 if rule == "easy" else options.depth
    if options.rhythm is not None:
        part = {"name": rule, "depth": options.depth}
        part |= {} if options.candidates is None else {"candidates": options.candidates}
        given = {name: value for name, value in options.rhythm.items() if name != "name"}
        kind = SlurmPasses if options.rhythm.get("name") == "slurm" else Periodic
        site.domains = [kind(site, number, part, given) for number in range(count)]
    else:
        site.domains = [Domain(site, number, rule, depth) for number in range(count)]
    site.run()
    return [_outcome(job) for job in site.jobs], site.outages


def _outcome(job: Job) -> Outcome:
    run = None if job.start is None or job.end is None else job.course.work
    queue = job.queue if job.runs_in is None else job.runs_in
    return Outcome(
        job.job_id,
        job.row,
        queue,
        job.queued,
        job.start,
        job.end,
        "waiting" if job.state == "held" else job.state,
        job.reason,
        job.backfilled,
        write_shares(job.shares),
        run,
        job.course.attempt,
        job.course.lost,
        tuple(job.course.intervals),
    )
