"""The figures of a run that keeps no row of its jobs: added up piece by piece, the same as those of the tables.

Sums and counts are kept; what a median or the observation window asks for, which are known at the end only, is put
aside in a temporary file, some 70 bytes a job.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.intervals import Held, find_capacity, find_down, find_held, find_latest, is_cut_off
from walltime.analysis.metrics import (
    EDGES,
    choose_window,
    count_states,
    find_areas,
    find_available,
    find_rate,
    find_responses,
    find_waits,
    group_codes,
    jain_index,
    slowdown_column,
    starvation,
    sum_work,
)
from walltime.analysis.resources import CORES, find_offered, find_parts, find_uses, note_resources
from walltime.analysis.statistics import exact_sum
from walltime.analysis.streamed.series import SeriesTally
from walltime.analysis.streamed.spill import Spill, find_quantile
from walltime.core.errors import InputError
from walltime.core.tables import ALLOCATIONS, JOBS, SCHEMA, STATES, Record, ticks
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import MISSING, Workload
from walltime.scenario import Scenario

_WHOLE = ("phase", "workflow")
"""Columns whose figures need all jobs at once."""


class Tally:
    """Takes a run apart into its figures. `add` the jobs that have left, `close` it, then `summarise`."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        layouts = {cluster.name: cluster.layout() for cluster in scenario.clusters}
        clusters = {cluster.name: cluster.total_cores for cluster in scenario.clusters}
        facts = {"clusters": clusters, "nodes": {name: one.facts() for name, one in layouts.items() if one}}
        none = Workload({"submit": np.zeros(0, np.int64), "run_time": np.zeros(0, np.int64)})
        empty = Record(pl.DataFrame(schema=JOBS), pl.DataFrame(schema=ALLOCATIONS), facts)
        self.record = note_resources(empty, none, scenario)
        """All but the jobs: what there is, and what was down."""
        self.others = [name for name in find_uses(self.record) if name != CORES]
        self.states: Counter[str] = Counter()
        self.sums: Counter[str] = Counter()
        self.weights = np.zeros(3)  # slowdowns; slowdowns by area, areas
        self.longest: dict[str, float] = {}
        self.people: dict[str, np.ndarray] = {}
        self.times: dict[str, int | None] = dict.fromkeys(("latest", "first", "last", "end", "wait", "recorded"))
        self.jobs = Spill(("submit", "wait", "slowdown"))
        self.both = Spill(("recorded", "wait"))
        self.held = Spill(("start", "end", "cores", *self.others))
        self.lost = 0.0
        wanted = scenario.record
        timed = wanted.series and wanted.interval is not None
        self.series = SeriesTally(wanted.interval or 0.0, wanted.by) if timed else None

    # Pieces

    def add(self, jobs: pl.DataFrame, allocations: pl.DataFrame, workload: Workload) -> None:
        """Jobs that have left, or are still there at the end; all their allocations; what the workload says of them."""
        for name in _WHOLE:
            if workload.has(name) and np.any(workload.column(name) != MISSING):
                what = f"record: summary of a stream of jobs, which have a {name}; all of them are needed at once"
                raise InputError(what, file=workload.source or None)
        piece = replace(self.record, jobs=jobs, allocations=allocations, resources=None)
        self._note("latest", max, find_latest(piece))
        piece.horizon = self._horizon(cut=is_cut_off(piece))
        piece = note_resources(piece, workload, self.scenario)
        self._add_jobs(piece)
        self._add_held(piece)
        if self.series is not None:
            self.series.add(piece)

    def _horizon(self, *, cut: bool) -> int | None:
        """Where the run ended; pieces that come before the end do not ask."""
        until = self.scenario.until
        return microseconds(until) if cut and until is not None else self.times["latest"]

    def _note(self, name: str, better: Any, value: int | None) -> None:
        before = self.times[name]
        if value is not None:
            self.times[name] = int(value) if before is None else int(better(before, value))

    def _add_jobs(self, piece: Record) -> None:
        jobs, submit = piece.jobs, ticks(piece.jobs["submit"])
        waits, responses = find_waits(piece), find_responses(piece)
        self.states.update({name: count for name, count in count_states(piece).items() if name in STATES})
        self.sums["jobs"] += jobs.height
        self.sums["backfilled"] += int(jobs["backfilled"].sum() or 0)
        self.sums["waits"] += len(waits)
        self.sums["wait"] += exact_sum(waits)
        self.sums["responses"] += len(responses)
        self.sums["response"] += exact_sum(responses)
        self.sums["work"] += sum_work(piece)
        self.lost += float(jobs["lost_core_seconds"].sum() or 0.0)
        self._note("wait", max, waits.max() if len(waits) else None)
        self._note("first", min, submit.min() if len(submit) else None)
        self._note("last", max, submit.max() if len(submit) else None)
        slowdown = slowdown_column(jobs)
        known = ~np.isnan(slowdown)
        self.sums["slowdowns"] += int(np.count_nonzero(known))
        values, area = find_areas(piece)
        self.weights += (slowdown[known].sum(), (values * area).sum(), area.sum())
        for size, _, waited, _ in starvation(piece).iter_rows():
            self.longest[size] = max(waited, self.longest.get(size, waited))
        self._add_people(jobs, slowdown, known)
        wait = np.where(jobs["start"].is_not_null().to_numpy(), ticks(jobs["wait"]), MISSING)
        self.jobs.add(submit=submit, wait=wait, slowdown=np.where(known, slowdown.view(np.int64), MISSING))
        both = jobs.select("start", "wait", "recorded_wait").drop_nulls()
        recorded, simulated = ticks(both["recorded_wait"]), ticks(both["wait"])
        self.sums["recorded"] += exact_sum(recorded)
        self.sums["simulated"] += exact_sum(simulated)
        self._note("recorded", max, recorded.max() if len(recorded) else None)
        self.both.add(recorded=recorded, wait=simulated)

    def _add_people(self, jobs: pl.DataFrame, slowdown: np.ndarray, known: np.ndarray) -> None:
        """The users' slowdowns and how many there are."""
        if not jobs["user"].count():
            return
        codes, names = group_codes(jobs, "user")
        sums = np.bincount(codes[known], slowdown[known], len(names))
        counts = np.bincount(codes[known], minlength=len(names))
        for name, pair in zip(names, np.column_stack([sums, counts]), strict=True):
            if name is not None:
                self.people[name] = self.people.get(name, np.zeros(2)) + pair

    def _add_held(self, piece: Record) -> None:
        held, uses = find_held(piece), find_uses(piece)
        self._note("end", max, held.end.max() if len(held.end) else None)
        amounts = {name: np.asarray(uses[name].held, np.float64).view(np.int64) for name in self.others}
        self.held.add(start=held.start, end=held.end, cores=held.cores, **amounts)

    def close(self, record: Record) -> None:
        """The run is over: what its record tells beside the tables."""
        cut = bool(self.states["running"] or self.states["waiting"])
        horizon = self._horizon(cut=cut)
        facts = record.facts | self.record.facts
        self.record = replace(
            self.record,
            facts=facts,
            durations=record.durations,
            outages=record.outages,
            samples=record.samples,
            horizon=horizon,
        )

    # Figures

    def summarise(self, warmup: float | None = None, cooldown: float | None = None) -> dict[str, Any]:
        """The summary, as `metrics.summarise` has it of tables; there is no digest of them."""
        facts, sums, times = self.record.facts, self.sums, self.times
        skipped = dict(facts.get("skipped") or {})
        states = {state: self.states[state] for state in STATES}
        slow = sums["slowdowns"]
        return {
            "schema": SCHEMA,
            "jobs": sums["jobs"],
            "started": sums["waits"],
            **states,
            "killed": states["timeout"],
            "skipped": sum(skipped.values()),
            "skipped_reasons": skipped,
            "rejected_reasons": dict(facts.get("rejected_reasons") or {}),
            "cancelled_reasons": dict(facts.get("cancelled_reasons") or {}),
            "deadlines": (facts.get("conditions") or {}).get("deadlines"),
            "workflows": [],
            "closed_loop": None,
            "held": None if facts.get("held") is None else dict(facts["held"]),
            "backfilled": sums["backfilled"],
            "perfect_estimates": int(facts.get("perfect_estimates") or 0),
            **self._measure_use(self._window(warmup, cooldown)),
            "means_over": "started jobs",
            "mean_wait": _mean(sums["wait"], sums["waits"]),
            "median_wait": self._wait(0.5),
            "p95_wait": self._wait(0.95),
            "max_wait": _seconds(times["wait"]),
            "mean_response": _mean(sums["response"], sums["responses"]),
            "mean_bounded_slowdown": self.weights[0] / slow if slow else None,
            "median_bounded_slowdown": self._slowdown(0.5),
            "p95_bounded_slowdown": self._slowdown(0.95),
            "area_weighted_bounded_slowdown": self.weights[1] / self.weights[2] if self.weights[2] else None,
            "jain_fairness": self._jain(),
            "longest_wait_by_size": self._starved(),
            "recorded": self._compare_recorded(),
            "longest_queue": facts.get("longest_queue"),
            "overrun": facts.get("overrun"),
            "origin": facts.get("origin"),
            "clusters": find_capacity(self.record),
            "resources": self._sum_up_resources(self._window(warmup, cooldown)),
            "digest": None,
            "facts": facts,
        }

    def find_series(self) -> pl.DataFrame | None:
        """The series by interval, where they were asked for."""
        if self.series is None or self.times["first"] is None:
            return None
        return self.series.table(self.record, self.times["first"])

    def _wait(self, fraction: float) -> float | None:
        found = find_quantile(lambda: _known(self.jobs, "wait"), self.sums["waits"], fraction)
        return None if found is None else found / SECOND

    def _slowdown(self, fraction: float) -> float | None:
        return find_quantile(lambda: _known(self.jobs, "slowdown"), self.sums["slowdowns"], fraction, np.float64)

    def _window(self, warmup: float | None, cooldown: float | None) -> tuple[int, int] | tuple[None, None]:
        first, last = self.times["first"], self.times["last"]
        if first is None or last is None:
            return None, None
        submits = [
            find_quantile(lambda: (piece[0] for piece in self.jobs.pieces("submit")), self.jobs.rows, edge)
            for edge in EDGES
        ]
        inner = [int(np.rint(one)) for one in submits if one is not None]
        return choose_window(inner, (first, last), warmup, cooldown)

    def _measure_use(self, window: tuple[int | None, int | None]) -> dict[str, Any]:
        capacity, down = sum(find_capacity(self.record).values()), list(find_down(self.record).values())
        first, last = self.times["first"], self.times["end"]
        whole = find_available(capacity, down, first, last)
        inside = find_available(capacity, down, *window)
        good = whole * find_rate(self.record)
        return {
            "makespan": None if first is None or last is None else (last - first) / SECOND,
            "utilization": self._core_time(first, last) / whole if whole > 0 else None,
            "utilization_window": self._core_time(*window) / inside if inside > 0 else None,
            "goodput": self.sums["work"] / good if good > 0 else None,
            "down_core_seconds": sum(one.core_sum(first, last) for one in down) / SECOND,
            "window": self._describe_window(*window),
            "core_seconds": self._core_time(None, None) / SECOND,
            "lost_core_seconds": self.lost,
            "first_submit": _seconds(first),
            "last_end": _seconds(last),
        }

    def _core_time(self, first: int | None, last: int | None) -> int:
        held = (Held(*piece) for piece in self.held.pieces("start", "end", "cores"))
        return sum(one.core_sum(first, last) for one in held)

    def _describe_window(self, first: int | None, last: int | None) -> dict[str, Any]:
        if first is None or last is None:
            return {"start": None, "end": None, "jobs": 0, "mean_wait": None, "mean_bounded_slowdown": None}
        jobs = started = waited = ended = 0
        slowdowns = 0.0
        for submit, wait, bits in self.jobs.pieces("submit", "wait", "slowdown"):
            inside = (submit >= first) & (submit <= last)
            mine, slow = wait[inside & (wait != MISSING)], bits[inside & (bits != MISSING)].view(np.float64)
            jobs += int(np.count_nonzero(inside))
            started, waited = started + len(mine), waited + exact_sum(mine)
            ended, slowdowns = ended + len(slow), slowdowns + float(slow.sum())
        return {
            "start": first / SECOND,
            "end": last / SECOND,
            "jobs": jobs,
            "mean_wait": _mean(waited, started),
            "mean_bounded_slowdown": slowdowns / ended if ended else None,
        }

    def _jain(self) -> float | None:
        if not self.people:
            return None
        return jain_index([total / count for total, count in self.people.values() if count])

    def _starved(self) -> dict[str, float]:
        from walltime.analysis.metrics import SIZES

        return {size: self.longest[size] for size in SIZES if size in self.longest}

    def _compare_recorded(self) -> dict[str, Any]:
        count = self.both.rows

        def find(name: str, fraction: float) -> float | None:
            found = find_quantile(lambda: (piece[0] for piece in self.both.pieces(name)), count, fraction)
            return None if found is None else found / SECOND

        return {
            "jobs": count,
            "mean_wait": _mean(self.sums["recorded"], count),
            "median_wait": find("recorded", 0.5),
            "p95_wait": find("recorded", 0.95),
            "max_wait": _seconds(self.times["recorded"]),
            "simulated_mean_wait": _mean(self.sums["simulated"], count),
            "simulated_median_wait": find("wait", 0.5),
            "simulated_p95_wait": find("wait", 0.95),
        }

    def _sum_up_resources(self, window: tuple[int | None, int | None]) -> dict[str, dict[str, float | None]]:
        uses = find_uses(self.record)
        if len(uses) == 1:
            return {}
        outages, parts = find_down(self.record), find_parts(self.record)
        whole = self.times["first"], self.times["end"]
        spans = {"seconds": (None, None), "utilization": whole, "utilization_window": window}
        found: dict[str, dict[str, float | None]] = {}
        for name, use in uses.items():
            held = {key: self._amount_time(name, *span) for key, span in spans.items()}
            found[name] = {"total": sum(use.total.values()), "seconds": held["seconds"] / SECOND}
            for key in ("utilization", "utilization_window"):
                there = find_offered(use, parts, outages, spans[key])
                found[name][key] = held[key] / there if there > 0 else None
        return found

    def _amount_time(self, name: str, first: int | None, last: int | None) -> float:
        total = 0.0
        for start, end, amount in self.held.pieces("start", "end", name):
            amounts = amount if name == CORES else amount.view(np.float64)
            total += float(np.sum(Held(start, end, amounts).core_time(first, last) * amounts))
        return total


def _known(spill: Spill, name: str) -> Any:
    """The numbers of a column that are there."""
    return (piece[piece != MISSING] for (piece,) in spill.pieces(name))


def _mean(total: int, count: int) -> float | None:
    return total / (count * SECOND) if count else None


def _seconds(time: int | None) -> float | None:
    return None if time is None else time / SECOND
