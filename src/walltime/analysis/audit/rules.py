"""Does a schedule keep the rules of its site: resources, queues, limits, and which jobs are rejected?

Rules, by their names in a Violation:
request (the table says of a job what the workload says), resources (what jobs need is on their nodes, beside all
others, at every moment; the nodes are their queue's and have their properties; no job shares a node that it did not
want to share; licences suffice), queue (every job is in a queue that takes it, and to which it was sent), quota (no
limit and no cap of a queue is exceeded at any moment), rejection (a job that was rejected could not have been let in),
waiting (no job is left waiting that its policy promises to start; see `waiting.py`). Those about
begin times, dependencies, arrays, deadlines and cancellations are in `conditions.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from walltime.analysis.audit.bindings import find_strays
from walltime.analysis.audit.conditions import find_broken_conditions
from walltime.analysis.audit.limits import NOUNS, SUBMITTED, WORK, Counted, Limits, count_present, find_exceeded
from walltime.analysis.audit.nodes import Placements
from walltime.analysis.audit.people import JobOwners
from walltime.analysis.audit.queues import Queues, find_misplaced
from walltime.analysis.audit.requests import Requests, ask_on_terms
from walltime.analysis.audit.resources import HeldAllocations, find_misused
from walltime.analysis.audit.tables import REPORTED, Tables, Violation, codes_of
from walltime.analysis.audit.waiting import QueueWatch, is_judged
from walltime.analysis.intervals import ABSENT
from walltime.core.tables import OUTCOMES, workload_columns
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import MISSING, Workload
from walltime.scenario import Cluster, Scenario

RUNNING = tuple(cap for cap in NOUNS if cap != SUBMITTED)


def find_broken_rules(tables: Tables, scenario: Scenario, workload: Workload, grown: Workload) -> list[Violation]:
    """Every broken rule of the site; the workload is the scenario's own, with its requests filled in; `grown` with
    what the queues where jobs were make of them."""
    at = find_rows(tables.job_id, workload)
    strangers = np.flatnonzero(at < 0)
    found = [_violation(tables, "request", int(row), None, "is not in the workload") for row in strangers[:REPORTED]]
    if not found:
        found += _find_other_requests(tables, grown, at)
    if found:
        return found  # what follows would only repeat it
    described = scenario.slurm is None or scenario.slurm.conf is None
    sites = [
        _Site(tables, _Asked(tables, workload, at, cluster, described), number, scenario)
        for number, cluster in enumerate(scenario.clusters)
    ]
    for site in sites:
        found += [*site.check_resources(), *site.check_queues(), *site.check_limits(), *site.check_rejected()]
    found += find_strays(tables, scenario, workload, at)
    found += find_broken_conditions(tables, scenario, workload, at)
    if not found and is_judged(scenario, sites[0].requests):
        found += sites[0].check_waiting(scenario)
    return found


def find_rows(job_id: np.ndarray, workload: Workload) -> np.ndarray:
    """The workload's row of each job, -1 for one that it does not have."""
    known = workload.column("job_id")
    if not len(known):
        return np.full(len(job_id), -1)
    order = np.argsort(known, kind="stable")
    rows = order[np.minimum(np.searchsorted(known, job_id, sorter=order), len(known) - 1)]
    return np.where(known[rows] == job_id, rows, -1)


def _find_other_requests(tables: Tables, workload: Workload, at: np.ndarray) -> Iterator[Violation]:
    """Jobs of which the table says something else than the workload."""
    requested = workload.column("requested_time")[at]
    different = {
        "submission": tables.time["submit"] != workload.column("submit")[at],
        "number of cores": tables.cores != workload.column("cores")[at],
        "requested time": (requested >= 0) & (tables.time["requested_time"] != requested),
    }
    told = workload_columns(workload)
    for name in ("user", "group", "account", "qos"):
        mine, theirs = tables.jobs[name], told[name]
        if mine.null_count() < len(mine) or theirs.null_count() < len(theirs):
            different[name] = ~mine.cast(pl.String).eq_missing(theirs.cast(pl.String).gather(at)).to_numpy()
    for what, bad in different.items():
        for row in np.flatnonzero(bad)[:REPORTED].tolist():
            yield _violation(tables, "request", row, None, f"has another {what} than in the workload")


def _find_prompt(requests: Requests, scenario: Scenario) -> np.ndarray:
    """Whether jobs go to their cluster as they are submitted, rather than when others have started or ended."""
    workload, size = requests.workload, len(requests.rows)
    prompt = np.ones(size, np.bool_)
    if workload.has("dependencies"):
        prompt &= np.array([not text for text in workload.column("dependencies")], np.bool_)[requests.rows]
    absent = [("array", True), ("begin", True), ("preceding_job", scenario.dependencies.preceding)]
    for name, counts in absent:
        if counts and workload.has(name):
            prompt &= requests.column(name) == MISSING
    return prompt


def _violation(tables: Tables, rule: str, row: int, time: int | None, message: str) -> Violation:
    seconds = None if time is None or time == ABSENT else time / SECOND
    return Violation(rule, int(tables.job_id[row]), seconds, message)


class _Asked:
    """What the jobs at `at` of a workload asked of a cluster, in the queues where they were or in others."""

    def __init__(
        self, tables: Tables, workload: Workload, at: np.ndarray, cluster: Cluster, described: bool = True
    ) -> None:
        self.workload, self.at, self.cluster, self.described = workload, at, cluster, described
        self._found: dict[int, Requests] = {}
        self.there = self._on_terms(codes_of(tables.jobs["queue"], list(cluster.queues)))

    def as_jobs_of(self, number: int) -> Requests:
        """What they would have asked for as jobs of this queue."""
        if self.there.workload is self.workload:  # no queue says anything
            return self.there
        if number not in self._found:
            self._found[number] = self._on_terms(np.full(len(self.at), number))
        return self._found[number]

    def _on_terms(self, queue: np.ndarray) -> Requests:
        asked = ask_on_terms(self.workload, self.at, self.cluster, queue)
        return Requests(asked, self.at, self.cluster, self.described)


class _Site:
    """One cluster of a result. Jobs are rows of the table; rejected ones, which are on no cluster, count if it is the
    only one and there is no broker before it."""

    def __init__(self, tables: Tables, asked: _Asked, number: int, scenario: Scenario) -> None:
        self.asked, requests = asked, asked.there
        broker = scenario.broker
        alone = len(scenario.clusters) == 1 and broker is None
        self.tables, self.requests, self.alone = tables, requests, alone
        built_in = broker is not None and ":" not in broker.name and broker.instance is None
        straight = broker is not None and built_in and not broker.hold and not (broker.migrate or broker.optimise)
        self.prompt = _find_prompt(requests, scenario) if straight else np.full(len(tables.job_id), alone)
        cluster = requests.cluster
        self.people = JobOwners(requests.workload, requests.rows, cluster)
        self.names = list(cluster.queues) or list(requests.workload.label_names("queue"))
        self.queue = codes_of(tables.jobs["queue"], self.names)
        self.mine = np.ones(len(tables.job_id), np.bool_) if alone else tables.cluster == number
        self.rejected = tables.is_state("rejected") & self.mine
        self.queues = (
            Queues(requests, self.people, asked.workload.column("cores")[asked.at]) if cluster.queues else None
        )
        self.shared = broker is not None and broker.shared_limits
        self.first = number == 0
        if not alone and not self.shared:
            self.queue = np.where(self.mine, self.queue, self._queues_before())
        self.limits = Limits(cluster, self.people, self.names)
        real = (tables.row >= 0) & (tables.begin != ABSENT) & (tables.stop >= tables.begin)
        self.everywhere = np.flatnonzero(real)
        self.rows = np.flatnonzero(real & (tables.where == number))
        self.held = HeldAllocations(
            tables.row,
            tables.begin,
            tables.stop,
            self.queue[tables.row] if len(self.queue) else tables.row,
            tables.whole,
        )
        self.placed = Placements(tables.texts, self.rows if requests.layout is not None else self.rows[:0])

    def _queues_before(self) -> np.ndarray:
        """The queue here of jobs that are elsewhere now, where they could only be in one; else -1."""
        if self.queues is None:
            return np.full(len(self.queue), -1)
        options = self.queues.options & self.queues.takes
        return np.where(options.sum(axis=1) == 1, options.argmax(axis=1), -1)

    # ---- resources

    def check_resources(self) -> Iterator[Violation]:
        for guilty, message in find_misused(
            self.requests, self.held, self.placed, self.rows, ours=not self.tables.foreign
        ):
            for row in np.unique(guilty)[:REPORTED].tolist():
                begin = int(self.tables.begin[row])
                yield _violation(self.tables, "resources", int(self.tables.row[row]), begin, message)
        jobs = np.unique(self.tables.row[self.rows])
        greedy = self.requests.find_greedy(jobs, self.queue[jobs] if self.queues else np.full(len(jobs), -1))
        for row in jobs[greedy][:REPORTED].tolist():
            yield _violation(self.tables, "resources", row, None, "has more memory on a node than it may ask for")

    # ---- queues

    def check_queues(self) -> Iterator[Violation]:
        if self.queues is None:
            theirs = codes_of(self.tables.jobs["queue"], self.requests.workload.label_names("queue"))
            wrong = (theirs != self.requests.column("queue")) & self.mine
            for row in np.flatnonzero(wrong)[:REPORTED].tolist():
                yield _violation(self.tables, "queue", row, None, "has another queue than in the workload")
            return
        started = self.tables.time["start"] != ABSENT
        told = 0
        for guilty, message in find_misplaced(self.queues, self.queue, started, self.rejected):
            for row in guilty[self.mine[guilty]][:REPORTED].tolist():
                told += 1
                if told > REPORTED:
                    return
                yield _violation(self.tables, "queue", row, int(self.tables.time["submit"][row]), message)

    # ---- limits

    def check_limits(self) -> Iterator[Violation]:
        if not self.limits.bounds or (self.shared and not self.first):
            return
        yield from self._check_running()
        yield from self._check_submitted()

    def _amounts(self, cap: str, jobs: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """What jobs add to a cap; of core-minutes the cores."""
        if cap in ("running_gpus", "running_memory"):
            return self.requests.total(cap.removeprefix("running_"), jobs, nodes)
        return np.ones(len(jobs), np.int64) if cap in ("running_jobs", SUBMITTED) else self.requests.cores[jobs]

    def _check_running(self) -> Iterator[Violation]:
        """All caps on what runs, over all allocations: those of this cluster, or of all that share its limits."""
        rows = self.everywhere if self.shared else self.rows
        jobs = self.tables.row[rows]
        begin, stop = (times[rows] for times in (self.tables.begin, self.tables.stop))
        first = int(begin.min(initial=0))  # numbers stay small
        begin, stop = begin - first, stop - first
        latest = begin + np.maximum(self.requests.column("requested_time")[jobs] - self._held_before()[rows], 0)
        nodes = self.requests.count_nodes(jobs, self.queue[jobs] if self.queues else np.full(len(jobs), -1))
        amounts: dict[str, np.ndarray] = {}
        for counted in self.limits.count(jobs, self.queue[jobs], RUNNING):
            if counted.cap not in amounts:
                amounts[counted.cap] = self._amounts(counted.cap, jobs, nodes)
            bad, used = find_exceeded(counted, amounts[counted.cap], begin, stop, latest)
            yield from self._tell(counted, bad, used, jobs, begin + first)

    def _held_before(self) -> np.ndarray:
        """For each allocation the time that its job had held others before: what it may still use is no less."""
        before = np.zeros(len(self.tables.row), np.int64)
        order = self.tables.order
        row, length = self.tables.row[order], (self.tables.stop - self.tables.begin)[order]
        total = np.cumsum(length) - length
        new = np.r_[True, row[1:] != row[:-1]][: len(row)]
        before[order] = total - np.maximum.accumulate(np.where(new, total, 0))
        return before

    def _tell(
        self, counted: Counted, bad: np.ndarray, used: np.ndarray, jobs: np.ndarray, times: np.ndarray
    ) -> Iterator[Violation]:
        for place in bad[:REPORTED].tolist():
            at = int(counted.places[place])
            message = f"{counted.whose(place)} has {int(used[place]):,} of {counted.most:,} {NOUNS[counted.cap]}"
            yield _violation(self.tables, "quota", int(jobs[at]), int(times[at]), message)

    def _check_submitted(self) -> Iterator[Violation]:
        """Caps on the jobs in the system. A job that left at the instant at which it came was perhaps never counted."""
        submit, leave = self._stay()
        mine = np.ones(len(self.mine), np.bool_) if self.shared else self.mine
        jobs = np.flatnonzero(mine & ~self.tables.is_state("rejected") & (leave > submit))
        submit, leave = submit[jobs], leave[jobs]
        for counted in self.limits.count(jobs, self.queue[jobs], (SUBMITTED,)):
            bad, used = find_exceeded(counted, np.ones(len(jobs), np.int64), submit, leave, leave)
            yield from self._tell(counted, bad, used, jobs, submit)

    def _stay(self) -> tuple[np.ndarray, np.ndarray]:
        """From when to when each job is in the system; where it may have waited elsewhere first, in any case."""
        submit, end = self.tables.time["submit"], self.tables.time["end"]
        end = np.where(end == ABSENT, self.tables.horizon + 1, end)
        start = self.tables.time["start"]
        certain = np.where((start == ABSENT) | (self.tables.restarts > 0), end, start)
        return np.where(self.prompt, submit, certain), end

    # ---- waiting jobs

    def check_waiting(self, scenario: Scenario) -> Iterator[Violation]:
        sole = np.ones(len(self.queue), np.bool_)
        if self.queues is not None:
            sole = (self.queues.options & self.queues.takes).sum(axis=1) == 1
        return QueueWatch(self.tables, scenario, self.requests, self.limits, self.queue, sole).find()

    # ---- rejected jobs

    def check_rejected(self) -> Iterator[Violation]:
        if not self.alone:
            return
        rows = np.flatnonzero(self.rejected)
        left = rows[self._find_welcome(rows)] if len(rows) else rows
        if len(left):
            left = left[~self._find_full(left)]
        for row in left[:REPORTED].tolist():
            submit = int(self.tables.time["submit"][row])
            yield _violation(self.tables, "rejection", row, submit, "was rejected, but no rule keeps it out")

    def _options(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(places, queue): the rows as jobs of each queue that they may be in and that takes them."""
        if self.queues is None:
            yield np.arange(len(rows)), self.queue[rows]
            return
        for number in range(len(self.names)):
            places = np.flatnonzero((self.queues.options & self.queues.takes)[rows, number])
            yield places, np.full(len(places), number)

    def _find_welcome(self, rows: np.ndarray) -> np.ndarray:
        """Which of the rows some queue takes, some nodes could hold, and no cap excludes."""
        welcome = np.zeros(len(rows), np.bool_)
        for places, queue in self._options(rows):
            jobs = rows[places]
            nodes_of = queue if self.queues else np.full(len(jobs), -1)
            requests = self.asked.as_jobs_of(int(queue[0])) if self.queues and len(jobs) else self.requests
            good = requests.find_possible(jobs, nodes_of) & self._find_admitted(jobs)
            good &= ~requests.find_greedy(jobs, nodes_of)
            nodes = requests.count_nodes(jobs, nodes_of)
            for counted in self.limits.count(jobs, queue, RUNNING):
                amount = self._amounts(counted.cap, jobs, nodes)[counted.places]
                if counted.cap == WORK:
                    amount = amount * (self.tables.allowed[jobs][counted.places] / (60 * SECOND))
                good[counted.places[amount > counted.most]] = False
            welcome[places] |= good
        return welcome

    def _find_admitted(self, jobs: np.ndarray) -> np.ndarray:
        """The jobs that are bound to no reservation, or may use theirs and ask for no more time than it lasts."""
        good = np.ones(len(jobs), np.bool_)
        codes = self.requests.reservation[jobs]
        for code in np.unique(codes[codes >= 0]).tolist():
            own = self.requests.reservation_of(code)
            mine = codes == code
            if own is None:
                continue
            named = np.zeros(len(self.tables.job_id), np.bool_)
            for kind, names in (("user", own.users), ("group", own.groups), ("account", own.accounts)):
                named |= self.people.find(kind, names or ())
            short = self.tables.allowed[jobs] <= microseconds(own.length)
            good[mine] = (named[jobs] & short)[mine]
        return good

    def _find_full(self, rows: np.ndarray) -> np.ndarray:
        """Which of the rows may have been one too many in the system, when they were submitted."""
        submit, leave = self._stay()
        late = (leave == self.tables.time["start"]) | self._find_preempted() | self._find_abandoned(submit[rows], leave)
        full = np.zeros(len(rows), np.bool_)
        inside = np.flatnonzero(~self.rejected)
        ways = [(inside[places], queue) for places, queue in self._options(inside)]
        present, queues = (np.concatenate(column) for column in zip(*ways, strict=True))
        others = [_without_repeats(counted, present) for counted in self.limits.count(present, queues, (SUBMITTED,))]
        for places, wanted in self._options(rows):
            jobs = rows[places]
            for counted, there in zip(self.limits.count(jobs, wanted, (SUBMITTED,)), others, strict=True):
                at = submit[jobs[counted.places]]
                count = count_present(there, submit, late, leave, at, counted.entity)
                full[places[counted.places[count >= counted.most]]] = True
        return full

    def _find_preempted(self) -> np.ndarray:
        """The jobs that left because others took their places: a pass, after the arrivals of the instant, made them."""
        known = self.tables.order[self.tables.row[self.tables.order] >= 0]
        last = np.full(len(self.tables.job_id), -1)
        last[self.tables.row[known]] = self.tables.outcome[known]  # in order of time, so that the last remains
        return np.asarray(last == OUTCOMES.index("preempted"))

    def _find_abandoned(self, rejections: np.ndarray, leave: np.ndarray) -> np.ndarray:
        """Held jobs that were cancelled as others were rejected: perhaps for it, where they waited for one of these."""
        held = self.tables.is_state("cancelled") & (self.tables.time["eligible"] == ABSENT)
        return np.asarray(held & np.isin(leave, rejections))


def _without_repeats(counted: Counted, jobs: np.ndarray) -> Counted:
    """The same with rows of jobs as places, each job once for each entity: it may have the choice of several queues."""
    pairs = np.unique(np.column_stack((jobs[counted.places], counted.entity)), axis=0)
    return replace(counted, places=pairs[:, 0], entity=pairs[:, 1])
