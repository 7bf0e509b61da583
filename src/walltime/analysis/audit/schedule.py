"""Is this schedule legal? Proven from the two tables and the size of the clusters alone, trusting no engine.

Rules, by their names in a Violation:
capacity (never more cores in use than a cluster has; at one instant ends come before starts), early (no start before
submission or eligibility), limit (no attempt beyond its request, where overruns are killed, but for the slack of an
engine that looks at limits only now and then and counts whole seconds), interval (no negative
lengths, no two allocations of one job at once, attempts in order), identity (every job once, every allocation a known
job on a known cluster), state (times, allocations and outcomes fit the job's state; it finished once), agreement (the
job's cores, cluster, start, end, time held and wait are those of its allocations, and the work that it did is possible
in them; of a completed job it is the workload's), nodes (on no node more cores in use than it has, or more than one job
where nodes are given as a whole), promise (blocked heads start as promised), waiting (no job is left waiting that its
policy promises to start).
Those of a site with resources, queues and limits are in `rules.py`, those of reservations and failures in
`outages.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from walltime.analysis.audit.nodes import find_complaints, find_misshapen, find_new_nodes
from walltime.analysis.audit.outages import find_disturbed
from walltime.analysis.audit.promise import find_broken_promises
from walltime.analysis.audit.requests import ask_on_terms, ask_whole_cores
from walltime.analysis.audit.rules import find_broken_rules, find_rows
from walltime.analysis.audit.tables import REPORTED, Tables, Violation, codes_of, report
from walltime.analysis.audit.users import follow_users
from walltime.analysis.audit.waiting import find_left_waiting
from walltime.analysis.intervals import ABSENT
from walltime.core.errors import InputError
from walltime.core.tables import OUTCOMES
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Checkpoint, Scenario

__all__ = ["Violation", "audit"]


def audit(
    record_or_tables: Any,
    clusters: Mapping[str, int] | None = None,
    overrun: str | None = None,
    promise: bool = False,
    workload: Workload | None = None,
    scenario: Scenario | None = None,
) -> list[Violation]:
    """Every broken rule of a schedule, an empty list for a legal one.

    Takes a Record, a Result, or the pair (jobs, allocations); `clusters` are cores by cluster name. Both settings come
    from the record where they are not given; for a pair, the default overrun is kill. `promise` also checks that
    blocked heads start as promised, which only holds for plain EASY (arrival order, requests as estimates, kill).
    Nodes are checked where the record describes them; with the `workload`, also that jobs have the shape they ask for;
    with the `scenario` too, every rule of the site (see `rules.py`): resources, queues, limits, rejections; and, of
    all that `waiting.py` can judge, that no job is left waiting that its policy promises to start.
    """
    tables = Tables(record_or_tables, clusters, overrun)
    found: list[Violation] = []
    if workload is not None and scenario is not None:
        workload = ask_whole_cores(workload, scenario)
    if workload is not None and scenario is not None and scenario.users is not None and scenario.users.reacts:
        found, workload = follow_users(tables, scenario, workload, find_rows(tables.job_id, workload))
    if scenario is not None and scenario.execution.checkpoint is not None:
        _allow_checkpoints(tables, scenario.execution.checkpoint)
    shaped = workload
    if workload is not None and scenario is not None:
        shaped = _ask_on_terms(tables, workload, find_rows(tables.job_id, workload), scenario)
    if shaped is not None and tables.nodes:
        asked = find_rows(tables.job_id, shaped)
        tables.alone = (asked >= 0) & (np.append(shaped.column("exclusive"), 0)[asked] > 0)
    for check in (_check_identity, _check_intervals, _check_early, _check_limit, _check_capacity, _check_jobs):
        check(tables, found)
    _check_nodes(tables, found, shaped)
    rows = None if workload is None else find_rows(tables.job_id, workload)
    if workload is not None and rows is not None:
        _check_work(tables, found, workload, rows)
    found += find_disturbed(tables, scenario, workload, rows)
    if scenario is not None and workload is not None and shaped is not None:
        found += find_broken_rules(tables, scenario, workload, shaped)
    elif scenario is not None and not found:
        found += find_left_waiting(tables, scenario)
    if promise and not found:
        _check_promise(tables, found)
    return found


def _ask_on_terms(tables: Tables, workload: Workload, rows: np.ndarray, scenario: Scenario) -> Workload:
    """What the jobs asked for in the queues where they were."""
    for number, cluster in enumerate(scenario.clusters):
        here = (tables.cluster == number) | (len(scenario.clusters) == 1)
        workload = ask_on_terms(
            workload, np.where(here, rows, -1), cluster, codes_of(tables.jobs["queue"], list(cluster.queues))
        )
    return workload


def _allow_checkpoints(tables: Tables, rule: Checkpoint) -> None:
    """Jobs may run longer than they asked by the time that checkpoints take, and a restart once they had one; what they
    did then was not all work."""
    interval, cost, restart = (microseconds(time) for time in (rule.interval, rule.cost, rule.restart))
    asked = tables.time["requested_time"]
    grown = asked + cost * np.maximum(0, -(-asked // interval) - 1) + restart * (tables.restarts > 0)
    tables.allowed = np.where(asked == ABSENT, ABSENT, grown)
    tables.restart = np.where(tables.restarts > 0, restart, 0)
    work = np.maximum(tables.time["run_time"], 0)
    tables.overhead = cost * (work // interval + 1 + tables.restarts) + restart * tables.restarts


def _check_identity(tables: Tables, found: list[Violation]) -> None:
    by_id = np.sort(tables.job_id)
    for job in np.unique(by_id[1:][by_id[1:] == by_id[:-1]])[:REPORTED].tolist():
        found.append(Violation("identity", job, None, "is in the table of jobs more than once"))
    report(found, "identity", tables.row < 0, tables.owner, tables.begin, "has an allocation but is not a job")
    report(found, "identity", tables.where < 0, tables.owner, tables.begin, "is allocated on an unknown cluster")
    submit = tables.time["submit"]
    report(found, "identity", submit == ABSENT, tables.job_id, submit, "has no submission time")
    report(found, "state", tables.state < 0, tables.job_id, submit, "has no known state")
    report(found, "state", tables.outcome < 0, tables.owner, tables.begin, "has an allocation without known outcome")


def _check_intervals(tables: Tables, found: list[Violation]) -> None:
    owner, begin, stop = tables.owner, tables.begin, tables.stop
    report(found, "interval", begin == ABSENT, owner, stop, "has an allocation without a start")
    report(found, "interval", stop < begin, owner, begin, "has an allocation that ends before it starts")
    report(found, "interval", tables.taken < 1, owner, begin, "has an allocation without cores")
    order = tables.order
    same = (tables.row[order][1:] == tables.row[order][:-1]) & (tables.row[order][1:] >= 0)
    overlap = same & (begin[order][1:] < stop[order][:-1])
    backward = same & (tables.attempt[order][1:] < tables.attempt[order][:-1])
    report(found, "interval", overlap, owner[order][1:], begin[order][1:], "holds two allocations at once")
    report(found, "interval", backward, owner[order][1:], begin[order][1:], "has its attempts out of order")
    resized = tables.is_outcome("resized")[order]
    goes_on = same & (begin[order][1:] == stop[order][:-1]) & (np.diff(tables.attempt[order]) == 0)
    goes_on &= tables.taken[order][1:] < tables.taken[order][:-1]
    left = resized & ~np.r_[goes_on, False][: len(order)]
    report(found, "interval", left, owner[order], stop[order], "gives nodes back and does not go on with the others")


def _check_early(tables: Tables, found: list[Violation]) -> None:
    known = tables.row >= 0
    for name, what in (("submit", "submission"), ("eligible", "it was eligible")):
        limit = tables.time[name][tables.row] if len(tables.job_id) else tables.begin
        early = known & (tables.begin < limit)
        report(found, "early", early, tables.owner, tables.begin, f"starts before {what}")
    times = tables.time
    early = (times["eligible"] != ABSENT) & (times["eligible"] < times["submit"])
    report(found, "early", early, tables.job_id, times["eligible"], "is eligible before its submission")


def _check_limit(tables: Tables, found: list[Violation]) -> None:
    """The time held in each attempt is at most the request, with the time that checkpoints take."""
    if not tables.kill or not len(tables.row):
        return
    order = tables.order[tables.row[tables.order] >= 0]
    row, attempt, length = tables.row[order], tables.attempt[order], (tables.stop - tables.begin)[order]
    if not len(order):
        return
    first = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (attempt[1:] != attempt[:-1])])
    held, limit = np.add.reduceat(length, first), tables.allowed[row[first]]
    beyond = (limit != ABSENT) & (held > limit + tables.slack)
    report(found, "limit", beyond, tables.owner[order][first], tables.begin[order][first], "runs beyond its request")


def _check_capacity(tables: Tables, found: list[Violation]) -> None:
    for number, (name, capacity) in enumerate(tables.clusters.items()):
        mine = np.flatnonzero(tables.where == number)
        lasting = mine[tables.stop[mine] > tables.begin[mine]]
        times = np.r_[tables.stop[lasting], tables.begin[lasting]]
        change = np.r_[-tables.taken[lasting], tables.taken[lasting]]
        starts = np.r_[np.zeros(len(lasting), np.int8), np.ones(len(lasting), np.int8)]
        order = np.lexsort((starts, times))
        used = np.cumsum(change[order])
        rows = np.r_[lasting, lasting][order]
        message = f"{name}: more cores in use than its {capacity}"
        over = (used > capacity) & (starts[order] == 1)
        report(found, "capacity", over, tables.owner[rows], times[order], message)
        # A job of zero length must fit beside those that run before and after its instant.
        instant = mine[tables.stop[mine] == tables.begin[mine]]
        through = _used_through(tables, lasting, tables.begin[instant])
        over = through + tables.taken[instant] > capacity
        report(found, "capacity", over, tables.owner[instant], tables.begin[instant], message)


def _check_nodes(tables: Tables, found: list[Violation], workload: Workload | None) -> None:
    """On every node: no core twice, none that is not there, each job's cores together what it has."""
    for number, name in enumerate(tables.clusters):
        nodes, rows = tables.nodes.get(name), np.flatnonzero(tables.where == number)
        if nodes is None or not len(rows):
            continue
        complaints = [*find_complaints(tables.texts, rows, tables.begin, tables.stop, tables.taken, nodes)]
        if workload is not None:
            complaints += find_misshapen(tables.texts, rows[tables.whole[rows] == rows], tables.owner, nodes, workload)
        complaints += [find_new_nodes(tables.texts, rows[tables.whole[rows] != rows], tables.whole)]
        for bad, message in complaints:
            guilty = np.zeros(len(tables.owner), np.bool_)
            guilty[bad] = True
            report(found, "nodes", guilty, tables.owner, tables.begin, message)


def _used_through(tables: Tables, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Cores in use both just before and just after each time."""
    by_start, by_end = (rows[np.argsort(times[rows])] for times in (tables.begin, tables.stop))
    taken = np.r_[0, np.cumsum(tables.taken[by_start])][np.searchsorted(tables.begin[by_start], at, "left")]
    given = np.r_[0, np.cumsum(tables.taken[by_end])][np.searchsorted(tables.stop[by_end], at, "right")]
    return np.asarray(taken - given)


def _check_jobs(tables: Tables, found: list[Violation]) -> None:
    """States, and the agreement of each job with the sum of its allocations."""
    held = _Totals(tables)
    if not len(tables.job_id):
        return
    jobs, times = tables.job_id, tables.time
    start, end, run, wait = (times[name] for name in ("start", "end", "run_time", "wait"))
    least, most = _bound_work(tables, held)
    has_start, has_end = start != ABSENT, end != ABSENT
    ran, ended = has_start & held.any, tables.is_state("completed", "timeout", "failed", "cancelled")
    finished = tables.is_state("completed", "timeout", "failed")
    rejected, running, waiting = (tables.is_state(name) for name in ("rejected", "running", "waiting"))
    timeout = tables.is_state("timeout")
    useful = np.rint(held.time - tables.lost * SECOND / np.maximum(tables.cores, 1)).astype(np.int64)
    at_limit = _is_at(useful, tables.allowed, tables)
    at_limit |= _is_at(useful, tables.allowed - tables.restart, tables)  # it began from nothing again
    apart = np.isin(held.outcome, [OUTCOMES.index(name) for name in ("suspended", "requeued", "preempted")])
    cut_short = apart & tables.is_state("failed", "cancelled")  # it ended while it did not run
    spent = end - times["submit"] - held.time
    rules = (
        ("state", finished & ~(has_start & has_end), start, "is finished but has no start or no end"),
        ("state", tables.is_state("cancelled") & ~has_end, start, "is cancelled but has no end"),
        ("state", rejected & (has_start | has_end | held.any), start, "is rejected but has a start, end or allocation"),
        ("state", waiting & has_end, end, "is waiting but has an end"),
        ("state", waiting & (tables.restarts == 0) & (has_start | held.any), start, "is waiting but has started"),
        ("state", running & (~has_start | has_end), end, "is running but has no start, or an end"),
        ("state", has_end & (end < times["submit"]), end, "ends before its submission"),
        (
            "state",
            ended & held.any & (held.outcome != tables.state) & ~cut_short,
            end,
            "has a last outcome unlike its state",
        ),
        (
            "state",
            running & held.any & (held.outcome != tables.state) & (held.outcome != OUTCOMES.index("suspended")),
            start,
            "is running but its allocation has ended",
        ),
        ("state", held.closing != (ended & held.any), end, "did not finish exactly once"),
        ("state", timeout & tables.kill & ~at_limit, end, "timed out, not at its limit"),
        ("state", timeout & (not tables.kill), end, "timed out although overruns are extended"),
        ("agreement", has_start != held.any, start, "has a start without an allocation, or the other way round"),
        ("agreement", ran & (start != held.first_start), start, "does not start with its first allocation"),
        (
            "agreement",
            ran & ended & (end != held.last_end) & ~(cut_short & (end > held.last_end)),
            end,
            "does not end with its last allocation",
        ),
        ("agreement", held.other_cores, start, "is allocated another number of cores than it has"),
        ("agreement", held.other_cluster, start, "is allocated on another cluster than its own"),
        ("agreement", ran & (times["held_time"] != held.time), start, "holds its cores longer or shorter than it did"),
        (
            "agreement",
            ran
            & tables.is_state("completed", "timeout")
            & ((run > most + tables.early) | (run < least - tables.slack)),
            end,
            "has another run time than its allocations",
        ),
        ("agreement", ran & (run > _work_in(held.time, tables.speeds[1])), end, "did more work than its time allows"),
        ("agreement", ran & ended & (wait != spent), start, "has a wait other than end - submit - time held"),
        (
            "agreement",
            running & ran & (wait != np.maximum(tables.horizon, held.last_end) - times["submit"] - held.time),
            start,
            "has a wrong wait so far",
        ),
        (
            "agreement",
            ~has_start & has_end & (wait != ABSENT) & (wait != spent),
            end,
            "has a wait unlike its end - submit",
        ),
        (
            "agreement",
            held.any
            & (held.attempts != tables.restarts + ~waiting)
            & ~(cut_short & (held.attempts == tables.restarts)),
            start,
            "has a wrong count of restarts",
        ),
    )
    for rule, bad, when, message in rules:
        report(found, rule, bad, jobs, when, message)


def _check_work(tables: Tables, found: list[Violation], workload: Workload, rows: np.ndarray) -> None:
    """A completed job has done the work that the workload says; of a program it says nothing."""
    asked = np.append(workload.column("run_time"), ABSENT)[rows]
    if tables.programs:
        asked = np.where(np.append(workload.column("profile"), -1)[rows] >= 0, ABSENT, asked)
    other = tables.is_state("completed") & (rows >= 0) & (asked >= 0) & (tables.time["run_time"] != asked)
    report(found, "agreement", other, tables.job_id, tables.time["end"], "has completed other work than its own")


def _bound_work(tables: Tables, held: _Totals) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most work that a job can have done in the time that was not lost: as fast as the slowest and
    the fastest nodes are, without what checkpoints took; where time is shared, perhaps none."""
    useful = np.rint(held.time - tables.lost * SECOND / np.maximum(tables.cores, 1)).astype(np.int64)
    if tables.shared:
        return np.zeros_like(useful), _work_in(held.time, tables.speeds[1])
    slowest = np.floor((useful - tables.overhead) * tables.speeds[0]).astype(np.int64)
    slack = np.where(tables.speeds[0] == tables.speeds[1] == 1.0, 0, held.intervals)  # each interval is rounded
    return slowest - slack, _work_in(useful, tables.speeds[1]) + slack


def _work_in(time: np.ndarray, speed: float) -> np.ndarray:
    """The work that is done in so much time, rounded up."""
    return np.asarray(time if speed == 1.0 else np.ceil(time * speed).astype(np.int64))


def _is_at(values: np.ndarray, limit: np.ndarray, tables: Tables) -> np.ndarray:
    """Whether times are at the limit, as exactly as the engine looks at limits."""
    return np.asarray((values > limit - max(tables.early, 1)) & (values <= limit + tables.slack))


class _Totals:
    """For each job what its allocations add up to; zero or ABSENT for a job without one."""

    def __init__(self, tables: Tables) -> None:
        size, order = len(tables.job_id), tables.order[tables.row[tables.order] >= 0]
        row, begin, stop = tables.row[order], tables.begin[order], tables.stop[order]
        self.any = np.bincount(row, minlength=size) > 0
        self.time, self.attempts = (np.zeros(size, np.int64) for _ in range(2))
        self.first_start, self.last_end = np.full(size, ABSENT), np.full(size, ABSENT)
        self.outcome = np.full(size, -1)
        self.other_cores, self.other_cluster = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.intervals = np.bincount(row, minlength=size)
        np.add.at(self.time, row, stop - begin)
        new = np.r_[True, row[1:] != row[:-1]][: len(row)]
        final = np.r_[row[1:] != row[:-1], True][: len(row)]
        attempt = tables.attempt[order]
        self.first_start[row[new]], self.last_end[row[final]] = begin[new], stop[final]
        self.outcome[row[final]] = tables.outcome[order][final]
        np.add.at(self.attempts, row, new | np.r_[True, attempt[1:] != attempt[:-1]][: len(row)])
        alone = tables.is_whole[tables.where[order]] | tables.alone[row]
        taken = tables.taken[tables.whole[order]]  # whole nodes may have more cores than the job asked for
        wrong = np.where(alone, taken < tables.cores[row], taken != tables.cores[row])
        self.other_cores[row[wrong]] = True
        elsewhere = tables.placed[row] & (tables.where[order] != tables.cluster[row])
        elsewhere &= attempt == tables.restarts[row]  # one that was interrupted may go on in another cluster
        self.other_cluster[row[elsewhere]] = True
        closing = tables.is_outcome("completed", "timeout")[order]
        closing |= final & tables.is_state("failed", "cancelled")[row]  # an earlier attempt may fail and be repeated
        self.closing = np.bincount(row[closing], minlength=size) == 1


def _check_promise(tables: Tables, found: list[Violation]) -> None:
    """Promises, cluster by cluster, on tables that are otherwise legal."""
    if not tables.kill:
        raise InputError("promises hold only where overruns are killed", value="extend")
    if (tables.restarts > 0).any():
        raise InputError("promises are those of plain EASY, which restarts no job")
    only = len(tables.clusters) == 1
    for number, capacity in enumerate(tables.clusters.values()):
        mine = (tables.cluster == number) | (only & ~tables.placed)
        queued = mine & ~tables.is_state("rejected") & (tables.time["eligible"] != ABSENT)
        rows = np.flatnonzero(queued)
        columns = [tables.time[name][rows] for name in ("eligible", "start", "end", "requested_time")]
        for row, promised, seen in find_broken_promises(capacity, tables.cores[rows], *columns, horizon=tables.horizon):
            real = tables.time["start"][rows[row]]
            when = "does not start" if real == ABSENT else f"starts at {real / SECOND:g} s"
            message = f"was promised a start by {promised / SECOND:g} s but {when}"
            found.append(Violation("promise", int(tables.job_id[rows[row]]), seen / SECOND, message))
