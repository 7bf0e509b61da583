"""Is a job left waiting that its policy promises to start?

Looked at after the pass of an instant, when everything that could start has. *Fits* means: enough is free now, no limit
refuses it, and it ends before the next reservation of the machine begins. Then there is none

- under `aggressive` that fits;
- under `none` at the head of the queue that fits;
- under `easy` and `lookahead` that fits and, beside the reservation of the head, would end by the shadow time or use
  the extra cores only (step 3 of EASY);
- under every policy that backfills (`depth`, `conservative` and a `plan` of earliest gaps too) that fits and would end
  by the next expected end of a running job: no reservation can begin before that, so it would delay none.

The last is what can be told without the promises themselves, which no table has. Where the order of the queue is not
`fcfs`, any job that does not fit may be the head: only a schedule that no head explains is blamed.

In the periodic rhythm the instants are those of its backfill passes, and jobs beyond what a pass looks at are not
expected to start; the same holds for the depth of `lookahead`.

Not judged, so that nothing legal is ever blamed: instants at which something is down or reserved; clusters under a
broker, with preemption, with shared time, with policies or placements of one's own, with several resources or
properties on the nodes, or whose jobs need consecutive nodes; jobs of an array, of a workflow, of a reservation, with a
choice of queues, or with a limit on core-minutes; `conservative` with limits, where a promise that is lost at a limit
helps others only when something ends, and on nodes where a job asks for nodes: one that starts may take others than
were promised, and what that leaves free is seen when something ends. Beside such a job, any that waits may be behind
it. At most LOOKS instants are looked at, spread evenly over those at which a job waits; of more than HEADS possible
heads none is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from walltime.analysis.audit.limits import NOUNS, SUBMITTED, WORK, Counted, Limits
from walltime.analysis.audit.nodes import Placements
from walltime.analysis.audit.parts import sizes_of
from walltime.analysis.audit.people import JobOwners
from walltime.analysis.audit.requests import Requests
from walltime.analysis.audit.tables import REPORTED, Tables, Violation, goes_on
from walltime.analysis.intervals import ABSENT
from walltime.core.tables import ticks
from walltime.core.time import NEVER, SECOND, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Scenario
from walltime.scenario.outages import occurrences

LOOKS = 4_000
"""Instants that are looked at, at most: a look costs the jobs that wait and run then."""
HEADS = 40
"""Jobs that are tried as the head of a queue whose order is not known."""
RUNNING = tuple(cap for cap in NOUNS if cap != SUBMITTED)
BACKFILLS = ("none", "aggressive", "easy", "lookahead", "depth", "conservative", "plan")
PROMISES = ("conservative", "plan")
PLACES = ("first-fit", "best-fit", "worst-fit", "random")
MINUTES = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, *(6000 << k for k in range(21)))
CORRECTIONS = np.cumsum([0, *(minutes * 60 * SECOND for minutes in MINUTES)])
LEFT = "is left waiting, though it fits"


@dataclass(frozen=True)
class Spans:
    """Intervals by time: rows of a table, from when to when."""

    row: np.ndarray
    start: np.ndarray
    end: np.ndarray


class Sweep:
    """Which of the spans contain a time; the times are asked for in order."""

    def __init__(self, spans: Spans) -> None:
        order = np.argsort(spans.start, kind="stable")
        self.row, self.start, self.end = spans.row[order], spans.start[order], spans.end[order]
        self.seen, self.now = 0, np.zeros(0, np.int64)

    def at(self, time: int) -> tuple[np.ndarray, np.ndarray]:
        """The places of those that have ended since the last call, and of those that have begun and are not over."""
        upto = int(np.searchsorted(self.start, time, "right"))
        over = self.end[self.now] <= time
        gone, new = self.now[over], np.arange(self.seen, upto)
        new = new[self.end[new] > time]
        self.seen, self.now = upto, np.concatenate((self.now[~over], new))
        return gone, new


def is_judged(scenario: Scenario, requests: Requests) -> bool:
    """Whether what the policy promises can be told of this cluster."""
    parts = requests.cluster.scheduler
    known = parts.backfill.name in BACKFILLS and parts.rhythm.name in ("instant", "event", "periodic")
    own = any(part.instance is not None for part in (parts.backfill, parts.rhythm, parts.estimate))
    if parts.backfill.name == "plan":  # conservative backfilling, unless gaps are chosen or the plan is improved
        known &= not {"build", "optimise"} & set(parts.backfill.parameters)
    places = [parts.place, *(queue.place for queue in requests.cluster.queues.values())]
    usual_places = all(place is None or place.name in PLACES for place in places)
    plain = requests.layout is None or (not requests.beyond_cores and usual_places)
    if parts.backfill.name in PROMISES and requests.layout is not None:
        shaped = (requests.told > 0) | requests.exclusive
        plain &= not shaped.any() and not (requests.layout.whole and len(set(requests.layout.cores().tolist())) > 1)
    alone = len(scenario.clusters) == 1 and scenario.broker is None and scenario.start is None
    usual = scenario.engine == "native" and scenario.execution.model.name == "trace"
    lazy = parts.rhythm.name == "periodic" and parts.backfill.name == "none"  # there is no backfill pass
    return known and not own and plain and alone and usual and not lazy and parts.preempt is None


def find_left_waiting(tables: Tables, scenario: Scenario) -> Iterator[Violation]:
    """The jobs that are left waiting on a plain number of cores without rules: the tables alone tell all of it."""
    cluster = scenario.clusters[0]
    if cluster.nodes or cluster.queues or cluster.limits or cluster.reservations:
        return
    columns = {name: np.maximum(tables.time[name], 0) for name in ("submit", "run_time", "requested_time")}
    columns |= {"job_id": tables.job_id, "cores": np.maximum(tables.cores, 1)}
    rows = np.arange(len(tables.job_id))
    requests = Requests(Workload(columns), rows, cluster)
    if is_judged(scenario, requests):
        limits = Limits(cluster, JobOwners(requests.workload, rows, cluster), [])
        sole = np.ones(len(rows), np.bool_)
        yield from QueueWatch(tables, scenario, requests, limits, np.full(len(rows), -1), sole).find()


class QueueWatch:
    """One cluster, looked at instant by instant."""

    def __init__(
        self,
        tables: Tables,
        scenario: Scenario,
        requests: Requests,
        limits: Limits,
        queue: np.ndarray,
        sole: np.ndarray,
    ) -> None:
        self.tables, self.scenario, self.requests = tables, scenario, requests
        parts = requests.cluster.scheduler
        self.policy, self.rhythm = parts.backfill, parts.rhythm
        self.total = next(iter(tables.clusters.values()))
        self.sure = parts.estimate.name == "request"  # else the record does not say what the scheduler believed
        self.estimate = np.maximum(tables.allowed, 1)
        self.checkpoints = goes_on(scenario)
        self.in_order = parts.order.name == "fcfs" and not requests.cluster.queues
        self.windows = self._find_windows()
        lasting = (tables.stop > tables.begin) | tables.still  # also those that have just begun at the cut-off
        here = np.flatnonzero((tables.where == 0) & (tables.row >= 0) & lasting)
        stop = np.where(tables.still, NEVER, tables.stop)[here]
        self.running = Sweep(Spans(here, tables.begin[here], stop))
        self.starts = np.sort(tables.begin[tables.row >= 0])
        counts = list(limits.count(np.arange(len(queue)), queue, RUNNING))
        for counted in counts:
            if counted.cap == WORK:
                sole[counted.places] = False
        self.waiting, self.others = (Sweep(spans) for spans in self._find_waits(sole))
        self.quotas = [Quota(counted, requests, queue) for counted in counts if counted.cap != WORK]
        self.room = None if requests.layout is None else Room(requests, tables, here)

    # ---- when

    def _find_waits(self, sole: np.ndarray) -> tuple[Spans, Spans]:
        """From when to when each job waits: from its eligibility, and some time after an interruption, to a start or
        its end.
        Those that are judged, and those that are not but may stand before them."""
        tables, last = self.tables, self.tables.horizon + 1
        order = tables.order[(tables.row >= 0)[tables.order]]
        row, begin, stop = tables.row[order], tables.begin[order], tables.stop[order]
        ended = np.where(tables.time["end"] == ABSENT, last, tables.time["end"])
        first = np.where(tables.time["start"] == ABSENT, ended, tables.time["start"])
        final = np.r_[row[1:] != row[:-1], True][: len(row)]
        until = np.where(final, ended[row], np.r_[begin[1:], 0][: len(row)])
        apart = tables.is_outcome("suspended", "resized")[order]  # it goes on by itself
        until = np.where((final & tables.is_state("running")[row]) | apart, stop, until)
        labels = [tables.jobs["workflow"].is_null().to_numpy()]
        labels += [self.requests.column(name) < 0 for name in ("array", "reservation")]
        labels.append(self.requests.column("aware") <= 0)  # eligible from its submission, whatever it waits for
        judged = np.logical_and.reduce([*labels, sole, tables.time["eligible"] != ABSENT, ~tables.is_state("rejected")])
        rows = np.concatenate((np.arange(len(first)), row))
        again = stop + microseconds(self.requests.cluster.requeue_delay)
        start, end = np.concatenate((tables.time["eligible"], again)), np.concatenate((first, until))
        judged, other = (mask[rows] & (end > start) for mask in (judged, ~judged & ~tables.is_state("rejected")))
        return Spans(rows[judged], start[judged], end[judged]), Spans(rows[other], start[other], end[other])

    def _find_windows(self) -> np.ndarray:
        """(start, end) of all that takes from the machine: reservations to come, and what the record says was away."""
        latest = self.tables.horizon + 2 * int(self.estimate.max(initial=0))
        found = [
            window
            for rule in self.requests.cluster.reservations
            for window in takewhile(lambda pair: pair[0] <= latest, occurrences(rule))
        ]
        told = self.tables.outages
        if told is not None:
            start, end = (ticks(told[name], NEVER) for name in ("start", "end"))
            notice = max((microseconds(rule.notice or 0) for rule in self.requests.cluster.failures), default=0)
            found += zip((start - notice).tolist(), end.tolist(), strict=True)
        return np.array(sorted(found), np.int64).reshape(-1, 2)

    def _choose_instants(self) -> np.ndarray:
        """When there was a pass, as far as jobs waited: where something began or ended; the first of them each."""
        waits = self.waiting
        edges = (self.tables.begin, self.tables.stop, waits.start, waits.end, self.windows[:, 1])
        times = np.concatenate(edges)
        times = np.unique(times[(times >= 0) & (times <= self.tables.horizon)])
        if self.rhythm.name == "periodic":
            step = microseconds(self.rhythm.parameters.get("bf_interval", 30))
            times = np.unique(-(-times // step) * step)
            brief = self.tables.begin[self.tables.begin == self.tables.stop]  # of no length: gone, but not at the pass
            times = times[~np.isin(times, brief)]
        count = np.searchsorted(np.sort(waits.start), times, "right") - np.searchsorted(
            np.sort(waits.end), times, "right"
        )
        times = times[count > 0]
        for start, end in self.windows.tolist():
            times = times[(times < start) | (times >= end)]
        if len(times) > LOOKS:
            times = times[np.linspace(0, len(times) - 1, LOOKS).astype(np.int64)]
        return times

    # ---- what

    def find(self) -> Iterator[Violation]:
        """The first REPORTED jobs that are left waiting, each once."""
        told: set[int] = set()
        for time in self._choose_instants().tolist():
            gone, new = self.running.at(time)
            self.waiting.at(time)
            self.others.at(time)
            if self.room is not None:
                self.room.change(self.running.row[gone], self.running.row[new])
            row = self._find_left(time)
            if row is not None and row not in told:
                told.add(row)
                yield Violation("waiting", int(self.tables.job_id[row]), time / SECOND, LEFT)
                if len(told) == REPORTED:
                    return

    def _find_left(self, time: int) -> int | None:
        """A job that should not wait any more after the pass of this instant; None where there is none."""
        held, jobs = self.running.row[self.running.now], self.waiting.row[self.waiting.now]
        users = self.tables.row[held]
        unknown = len(self.others.now)
        for quota in self.quotas:
            jobs = jobs[quota.admits(jobs, users)]
        if not len(jobs) or not self._looked_at(time):
            return None
        free = self.total - int(self.tables.taken[held].sum())
        fits = self.requests.cores[jobs] <= free if self.room is None else self.room.fits(jobs, free)
        window = self.windows[self.windows[:, 0] > time]
        if len(window):
            fits &= self.sure & (time + self.estimate[jobs] <= window[0, 0])
        if not fits.any():
            return None
        # A start of this pass may have brought the head to a limit; its reservation stands until the pass is over.
        unknown += (len(self.waiting.now) - len(jobs)) * self._started(time)
        return self._choose(time, held, jobs, fits, free, len(window) == 0 and unknown == 0)

    def _choose(
        self, time: int, held: np.ndarray, jobs: np.ndarray, fits: np.ndarray, free: int, complete: bool
    ) -> int | None:
        """One of those that fit and that the policy would have started; `complete`: the head is one of the jobs."""
        name = self.policy.name
        if name == "aggressive":
            return _first(jobs, fits)
        complete &= self.rhythm.name != "periodic"
        if name not in PROMISES and complete:
            head = self._head(jobs)
            if fits[head] if head is not None else fits.all():
                return _first(jobs, fits) if head is None else int(jobs[head])
        if name == "none" or not self.sure or (name in PROMISES and self.quotas):
            return None
        ends = self._expected_ends(held, time)
        moved = name in PROMISES and self.room is not None and self._started(time) > 0  # holds may change nodes
        if not moved:
            mine = time + self.estimate[jobs]
            if self.rhythm.name == "periodic":  # a plan rounds ends up
                step = microseconds(self.rhythm.parameters.get("bf_resolution", 60))
                mine = -(-mine // step) * step
            short = fits & (mine <= ends.min(initial=NEVER))
            if short.any():
                return _first(jobs, short)
        one = name in ("easy", "lookahead") or (name == "depth" and self.policy.parameters.get("depth", 1) == 1)
        if one and self.room is None and complete and not self.checkpoints:
            return self._step_three(time, held, ends, jobs, fits, free)
        return None

    def _step_three(
        self, time: int, held: np.ndarray, ends: np.ndarray, jobs: np.ndarray, fits: np.ndarray, free: int
    ) -> int | None:
        """A job that passes EASY's step 3 whichever job is the head."""
        head = self._head(jobs)
        heads = np.flatnonzero(~fits) if head is None else np.array([head])
        if len(heads) > HEADS:
            return None
        order = np.argsort(ends, kind="stable")
        ends, given = ends[order], free + np.cumsum(self.tables.taken[held][order])
        cores, passing = self.requests.cores[jobs], fits
        for place in heads.tolist():
            enough = int(np.searchsorted(given, cores[place]))
            if enough == len(ends):
                return None  # it can never start, as far as this shows
            shadow = ends[enough]
            extra = given[np.searchsorted(ends, shadow, "right") - 1] - cores[place]
            passing = fits & ((time + self.estimate[jobs] <= shadow) | (cores <= extra))
            if not passing.any():
                return None
        return _first(jobs, passing)

    def _head(self, jobs: np.ndarray) -> int | None:
        """The place of the first job in the queue, where its order is known."""
        if not self.in_order:
            return None
        rows = self.requests.rows[jobs]
        return int(np.lexsort((rows, self.tables.time["submit"][jobs], self.tables.time["eligible"][jobs]))[0])

    def _expected_ends(self, held: np.ndarray, time: int) -> np.ndarray:
        """When the scheduler expects the running jobs to end; of a job that goes on from a checkpoint, no earlier."""
        jobs = self.tables.row[held]
        first = self.tables.begin[held] + np.maximum(self.estimate[jobs] - self.tables.restart[jobs], 1)
        late = np.maximum(time - first, -1)  # outlived by so much
        step = np.searchsorted(CORRECTIONS, late, "right")
        ends = first + CORRECTIONS[np.minimum(step, len(CORRECTIONS) - 1)]
        again = self.checkpoints & (self.tables.attempt[held] > 0)
        return np.asarray(np.where(again, time, ends))

    def _started(self, time: int) -> int:
        return int(np.searchsorted(self.starts, time, "right") - np.searchsorted(self.starts, time, "left"))

    def _looked_at(self, time: int) -> bool:
        """Whether the pass looked at all that waited."""
        most, few = NEVER, 0
        if self.rhythm.name == "periodic":
            most = self.rhythm.parameters.get("bf_max_job_test", 500)
            few = self.rhythm.parameters.get("bf_max_job_user", 0)
        if self.policy.name == "lookahead":
            most = min(most, self.policy.parameters.get("depth", 50))
        count = len(self.waiting.now) + len(self.others.now) + self._started(time)
        return bool(count <= most and (few == 0 or count <= few))


class Quota:
    """One cap: how much of it running jobs use, and which waiting jobs would go beyond it."""

    def __init__(self, counted: Counted, requests: Requests, queue: np.ndarray) -> None:
        order = np.argsort(counted.places, kind="stable")
        self.entity = counted.entity[order]
        self.most = counted.most
        jobs = np.arange(len(queue))
        self.first = np.searchsorted(counted.places[order], jobs)
        self.count = np.bincount(counted.places, minlength=len(jobs))
        nodes = requests.count_nodes(jobs, queue if requests.cluster.queues else np.full(len(jobs), -1))
        if counted.cap in ("running_gpus", "running_memory"):
            self.amount = requests.total(counted.cap.removeprefix("running_"), jobs, nodes)
        else:
            self.amount = requests.cores if counted.cap == "running_cores" else np.ones(len(jobs), np.int64)
        self.used = np.zeros(int(self.entity.max(initial=0)) + 1, np.int64)

    def admits(self, jobs: np.ndarray, running: np.ndarray) -> np.ndarray:
        """Which of the waiting jobs it lets start beside those that run."""
        good = np.ones(len(jobs), np.bool_)
        place, entry = self._entries(jobs)
        user, used = self._entries(running)
        self.used[:] = 0
        np.add.at(self.used, self.entity[used], self.amount[running[user]])
        good[place[self.used[self.entity[entry]] + self.amount[jobs[place]] > self.most]] = False
        return good

    def _entries(self, jobs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(place among the jobs, entry of theirs): a job may count for several."""
        first, count = self.first[jobs], self.count[jobs]
        place = np.repeat(np.arange(len(jobs)), count)
        offset = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        return place, first[place] + offset


class Room:
    """The free cores of each node, where only cores are counted."""

    def __init__(self, requests: Requests, tables: Tables, rows: np.ndarray) -> None:
        assert requests.layout is not None
        self.requests = requests
        self.size = np.asarray(requests.layout.cores(), np.int64)
        self.whole = requests.layout.whole
        self.free = self.size.copy()
        placed = Placements(tables.texts, rows)
        order = np.argsort(placed.of, kind="stable")
        self.of, self.node, self.cores = placed.of[order], placed.node[order], placed.cores[order]

    def change(self, gone: np.ndarray, new: np.ndarray) -> None:
        """Allocations have ended, and others have begun."""
        for rows, sign in ((gone, 1), (new, -1)):
            first, last = (np.searchsorted(self.of, rows, side) for side in ("left", "right"))
            places = np.repeat(first - (np.cumsum(last - first) - (last - first)), last - first)
            places = places + np.arange(len(places))
            np.add.at(self.free, self.node[places], sign * self.cores[places])

    def fits(self, jobs: np.ndarray, free: int) -> np.ndarray:
        """Which of the jobs find their nodes, or their cores anywhere."""
        room = np.where(self.free == self.size, self.size, 0) if self.whole else self.free
        count = self.requests.told[jobs]
        each = self.requests.share("cores", jobs, np.maximum(count, 1))
        enough = len(room) - np.searchsorted(np.sort(room), each)
        found = np.where(count > 0, enough >= count, self.requests.cores[jobs] <= room.sum())
        for index in np.flatnonzero(self.requests.parted[jobs]):
            wanted = sizes_of(self.requests.parts_of(int(jobs[index])))
            found[index] = len(wanted) <= len(room) and bool((np.sort(room)[::-1][: len(wanted)] >= wanted).all())
        return np.asarray(found)


def _first(jobs: np.ndarray, chosen: np.ndarray) -> int:
    return int(jobs[np.flatnonzero(chosen)[0]])
