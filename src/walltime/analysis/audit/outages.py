"""Does a schedule respect what got in its way: reservations, maintenance, failures, and the account of lost work?

Rules, by their names in a Violation:
reservation (nothing in a reservation or a maintenance window that is not its own, and its own nowhere else), failure
(nothing runs on what has failed), pause (a job that was put back does not start again too soon), outages (the table of
outages says what the scenario says), lost (what interruptions have cost is what the intervals say).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.audit.tables import REPORTED, Tables, Violation, goes_on, report
from walltime.analysis.intervals import ABSENT
from walltime.cluster.failures import renewals
from walltime.core.tables import OUTCOMES, ticks
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Scenario
from walltime.scenario.execution import PROGRAMS
from walltime.scenario.outages import (
    failing_groups,
    occurrences,
    reserved_cores,
    reserved_nodes,
    told_failures,
)

NEVER = 1 << 62


def find_disturbed(
    tables: Tables, scenario: Scenario | None, workload: Workload | None, rows: np.ndarray | None
) -> Iterator[Violation]:
    """Every breach of these rules; `rows` are the jobs' rows of the workload, where that is known."""
    yield from _check_lost(tables, scenario)
    for number, name in enumerate(tables.clusters):
        down = _Down(tables, name, "failure")
        yield from _check_failures(tables, number, down)
        if scenario is not None and number < len(scenario.clusters):
            cluster = scenario.clusters[number]
            yield from _check_pauses(tables, number, cluster)
            bonds = _find_bonds(tables, workload, rows)
            yield from _check_reservations(tables, number, cluster, bonds)
            yield from _check_told(tables, cluster, name, scenario)


def _check_pauses(tables: Tables, number: int, cluster: Cluster) -> Iterator[Violation]:
    """The next attempt of a job that was put back here begins after the pause; an engine with slack counts seconds."""
    pause = microseconds(cluster.requeue_delay) - tables.early
    order = tables.order[tables.row[tables.order] >= 0]
    before, after = order[:-1], order[1:]
    again = (tables.row[before] == tables.row[after]) & (tables.attempt[before] < tables.attempt[after])
    early = again & (tables.where[before] == number) & (tables.begin[after] < tables.stop[before] + pause)
    if tables.foreign:  # Slurm has no pause for a job all of whose several nodes have failed at once
        several = tables.texts.str.contains("[-,]").fill_null(False).to_numpy()
        early &= ~(tables.is_outcome("requeued") & several)[before]
    found: list[Violation] = []
    if cluster.requeue_delay:
        report(found, "pause", early, tables.owner[after], tables.begin[after], "starts again before its pause is over")
    yield from found


class _Down:
    """The outages of one kind of one cluster, as the record tells them: times, nodes (a row each), or cores."""

    def __init__(self, tables: Tables, cluster: str, kind: str) -> None:
        told = tables.outages
        chosen = None if told is None else told.filter((pl.col("cluster") == cluster) & (pl.col("kind") == kind))
        self.start, self.end = (
            np.zeros(0, np.int64) if chosen is None else ticks(chosen[name], ABSENT) for name in ("start", "end")
        )
        self.end = np.where(self.end == ABSENT, NEVER, self.end)
        self.cores = np.zeros(0, np.int64) if chosen is None else chosen["cores"].to_numpy()
        texts = pl.Series([], dtype=pl.String) if chosen is None else chosen["nodes"]
        placed = Placements(texts, np.arange(len(self.start)))
        self.of, self.node = placed.of, placed.node


# ---- failures


def _check_failures(tables: Tables, number: int, down: _Down) -> Iterator[Violation]:
    mine = np.flatnonzero((tables.where == number) & (tables.row >= 0))
    if not len(down.start) or not len(mine):
        return
    if tables.texts.gather(mine).null_count() == len(mine):
        message = "runs though more cores have failed than it leaves"
        yield from _check_pool(tables, number, "failure", (down.start, down.end, down.cores), mine, message)
        return
    placed = Placements(tables.texts, mine)
    bad = _meets(
        (placed.node, tables.begin[placed.of], tables.stop[placed.of]),
        (down.node, down.start[down.of], down.end[down.of]),
    )
    yield from _blame(tables, "failure", placed.of[bad], "runs on a node that has failed")


def _meets(held: tuple[np.ndarray, ...], away: tuple[np.ndarray, ...]) -> np.ndarray:
    """For each (node, begin, stop) whether it shares time with one of the other (node, start, end)."""
    moments = np.unique(np.concatenate((*held[1:], *away[1:])))
    size = len(moments) + 1
    begin, stop, start, end = (np.searchsorted(moments, times) for times in (*held[1:], *away[1:]))
    order = np.argsort(away[0] * size + start, kind="stable")
    keys = (away[0] * size + start)[order]
    latest = np.maximum.accumulate((away[0] * size + end)[order])  # of all that began, the last end on the same node
    index = np.searchsorted(keys, held[0] * size + stop, "left") - 1
    if not len(keys):
        return np.zeros(len(begin), np.bool_)
    return np.asarray((index >= 0) & (latest[np.maximum(index, 0)] > held[0] * size + begin))


def _check_pool(
    tables: Tables,
    number: int,
    rule: str,
    away: tuple[np.ndarray, np.ndarray, np.ndarray],
    mine: np.ndarray,
    message: str,
) -> Iterator[Violation]:
    """At every moment the cores of the allocations `mine` and those that are away are no more than there are."""
    capacity = list(tables.clusters.values())[number]
    lasting = mine[tables.stop[mine] > tables.begin[mine]]
    begin, stop, taken = (values[lasting] for values in (tables.begin, tables.stop, tables.taken))
    times = np.unique(np.concatenate((begin, away[0])))
    used = _sum_at(times, begin, stop, taken)
    gone = _sum_at(times, *away)
    told: set[int] = set()
    for time in times[(used > 0) & (used + gone > capacity)][:REPORTED].tolist():
        there = lasting[(begin <= time) & (time < stop)]
        row = int(there[np.argmax(tables.begin[there])])
        if row not in told:
            told.add(row)
            yield Violation(rule, int(tables.owner[row]), time / SECOND, message)


def _sum_at(times: np.ndarray, start: np.ndarray, end: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """What is there at each time, what begins with it included and what ends with it not."""
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    begun = np.r_[0, np.cumsum(amount[by_start])][np.searchsorted(start[by_start], times, "right")]
    ended = np.r_[0, np.cumsum(amount[by_end])][np.searchsorted(end[by_end], times, "right")]
    return np.asarray(begun - ended)


# ---- reservations


def _find_bonds(tables: Tables, workload: Workload | None, rows: np.ndarray | None) -> np.ndarray:
    """The name of the reservation that each job is bound to, empty for none."""
    bonds = np.full(len(tables.job_id), "", object)
    if workload is None or rows is None:
        return bonds
    names = workload.label_names("reservation")
    codes = np.append(workload.column("reservation"), -1)[rows]
    if names:
        bonds[codes >= 0] = np.array(names, object)[codes[codes >= 0]]
    return bonds


def _check_reservations(tables: Tables, number: int, cluster: Cluster, bonds: np.ndarray) -> Iterator[Violation]:
    mine = np.flatnonzero((tables.where == number) & (tables.row >= 0) & (tables.begin != ABSENT))
    if not len(mine):
        return
    last = int(tables.stop[mine].max())
    for reservation in cluster.reservations:
        times = np.array([*takewhile(lambda one: one[0] <= last, occurrences(reservation))], np.int64).reshape(-1, 2)
        own = bonds[tables.row[mine]] == reservation.name
        strangers, guests = mine[~own], mine[own]
        nodes = reserved_nodes(reservation, cluster)
        begins = np.minimum(times[:, 0] + tables.slack, times[:, 1])  # a job ended late is there a little longer
        what = f"maintenance {reservation.name}" if reservation.maintenance else f"reservation {reservation.name}"
        if nodes is None:
            away = (begins, times[:, 1], np.full(len(times), reserved_cores(reservation, cluster)))
            message = f"runs on cores that {what} has"
            yield from _check_pool(tables, number, "reservation", away, strangers, message)
        else:
            placed = Placements(tables.texts, strangers)
            kept = np.repeat(nodes, len(times))
            away = (kept, np.tile(begins, len(nodes)), np.tile(times[:, 1], len(nodes)))
            bad = _meets((placed.node, tables.begin[placed.of], tables.stop[placed.of]), away)
            yield from _blame(tables, "reservation", placed.of[bad], f"runs on a node that {what} has")
            there = Placements(tables.texts, guests)
            bad = ~np.isin(there.node, nodes)
            yield from _blame(tables, "reservation", there.of[bad], f"is bound to {what}, and not on its nodes")
        index = np.searchsorted(times[:, 0], tables.begin[guests], "right") - 1
        outside = index < 0
        if len(times):
            outside |= tables.stop[guests] > times[np.maximum(index, 0), 1] + tables.slack
        yield from _blame(tables, "reservation", guests[outside], f"is bound to {what}, and runs outside of it")


# ---- the table of outages


def _check_told(tables: Tables, cluster: Cluster, name: str, scenario: Scenario) -> Iterator[Violation]:
    """Before the end of the record everything is in the table of outages that the scenario says, and nothing else."""
    if not (cluster.failures or cluster.reservations) or (tables.outages is None and not len(tables.begin)):
        return
    last = tables.horizon if tables.over is None else min(tables.horizon, tables.over)
    for kind, wanted in (
        ("failure", _wanted_failures(cluster, scenario.seed, len(scenario.clusters) > 1, last)),
        ("window", _wanted_windows(cluster, last)),
    ):
        downs = [
            _Down(tables, name, one) for one in (("failure",) if kind == "failure" else ("maintenance", "reservation"))
        ]
        told = {
            (int(start), min(int(end), last))
            for down in downs
            for start, end in zip(down.start, down.end, strict=True)
            if start < last
        }
        for start, _ in sorted(wanted - told)[:REPORTED]:
            yield Violation("outages", None, start / SECOND, f"{name}: a {kind} is not in the table of outages")
        for start, _ in sorted(told - wanted)[:REPORTED]:
            yield Violation("outages", None, start / SECOND, f"{name}: a {kind} that the scenario does not have")


def _wanted_failures(cluster: Cluster, seed: int, several: bool, last: int) -> set[tuple[int, int]]:
    """(failure, return) of everything that fails before `last`; what is over later ends with it."""
    found = set()
    for number, source in enumerate(cluster.failures):
        found |= {(start, min(end, last)) for start, end, _ in told_failures(source, cluster) if start < last}
        if source.at is not None and source.length is not None and microseconds(source.at) < last:
            start = microseconds(source.at)
            found.add((start, min(start + microseconds(source.length), last)))
        for group in failing_groups(source, cluster) if source.between is not None else ():
            between: Any = source.between
            repair: Any = source.repair
            drawn = renewals(seed, number, int(group[0]), between, repair, cluster.name if several else "")
            found |= {(start, min(end, last)) for start, end in takewhile(lambda one: one[0] < last, drawn)}
    return found


def _wanted_windows(cluster: Cluster, last: int) -> set[tuple[int, int]]:
    return {
        (start, min(end, last))
        for reservation in cluster.reservations
        for start, end in takewhile(lambda one: one[0] < last, occurrences(reservation))
    }


# ---- lost work


def _check_lost(tables: Tables, scenario: Scenario | None) -> Iterator[Violation]:
    """Lost is what interrupted attempts held, or, where there are checkpoints, at most that.

    A program that fails has used what it held; of an interrupted one that is the last attempt it is lost.
    """
    size = len(tables.job_id)
    known = tables.order[tables.row[tables.order] >= 0]
    row, attempt = tables.row[known], tables.attempt[known]
    held = (tables.stop - tables.begin)[known]
    last = np.full(size, -1)
    last[row] = tables.outcome[known]  # in order of time, so that the last remains
    broken = tables.is_state("failed") | (tables.is_state("cancelled") & (last == OUTCOMES.index("preempted")))
    vain = (attempt < tables.restarts[row]) | ((attempt == tables.restarts[row]) & broken[row])
    most = np.bincount(row[vain], held[vain], size) * tables.cores / SECOND
    least = most
    if scenario is not None and scenario.execution.model.name == PROGRAMS:
        own = vain & ((attempt < tables.restarts[row]) | ~tables.is_state("failed")[row])
        least = np.bincount(row[own], held[own], size) * tables.cores / SECOND
    checkpoints = scenario is None or goes_on(scenario)
    slack = 1e-6 * np.maximum(tables.cores, 1)
    found: list[Violation] = []
    ends = np.where(tables.time["end"] == ABSENT, tables.time["submit"], tables.time["end"])
    report(found, "lost", tables.lost < 0, tables.job_id, ends, "has lost less than nothing")
    message = "has lost more work than its interrupted attempts held"
    report(found, "lost", tables.lost > most + slack, tables.job_id, ends, message)
    if not checkpoints:
        message = "has lost less work than its interrupted attempts held"
        report(found, "lost", tables.lost < least - slack, tables.job_id, ends, message)
    yield from found


def _blame(tables: Tables, rule: str, guilty: np.ndarray, message: str) -> Iterator[Violation]:
    for row in np.unique(guilty)[:REPORTED].tolist():
        yield Violation(rule, int(tables.owner[row]), int(tables.begin[row]) / SECOND, message)
