"""Every order, estimate and rule of backfilling gives the same schedule in the engine and in its slow twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from twin import reference
from twin.jobs import Job, read_jobs
from twin.parts import Order
from twin.site import Site
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload
from walltime.policy import registry

FORMULAS = (
    {"name": "formula", "value": "(wait / requested_time) ** 3 * cores"},
    {"name": "formula", "value": "log10(estimate) * cores + 870 * log10(submit + 1)", "first": "lowest"},
    {"name": "formula", "value": "sqrt(wait) - max(cores, 3, nodes * 0 + 1) / estimate + priority", "first": "lowest"},
    {"name": "formula", "value": "log2(wait / (cores - 2)) % 3 + exp(-priority) + min(deadline, 1e9)"},
    {"name": "formula", "value": "(eligible - requested_time) ** (-cores / 2) - abs(now) * 0", "first": "lowest"},
)
STATIC = ("fcfs", "sjf", "ljf", "smallest", "largest", "smallest-area", "largest-area", "edf", "priority", "f1", "f2")
STATIC += ("f3", "f4")
DYNAMIC = ("expansion", "wfp3", "unicef", *FORMULAS)
ORDERS = (*STATIC, *DYNAMIC)
ESTIMATES = ("request", "perfect", "last-two", {"name": "factor", "factor": 0.3}, {"name": "factor", "factor": 2})
BACKFILLS = (
    "none",
    "easy",
    "aggressive",
    {"name": "aggressive", "candidates": "largest"},
    {"name": "easy", "candidates": "sjf"},
    {"name": "easy", "candidates": "wfp3"},
    {"name": "easy", "candidates": {"name": "formula", "value": "wait * cores"}},
    {"name": "easy", "alpha": 0.5},
    {"name": "easy", "alpha": 1.7, "candidates": "smallest-area"},
    {"name": "depth", "depth": 1},
    {"name": "depth", "depth": 2},
    {"name": "depth", "depth": 5},
    {"name": "depth", "depth": 2, "candidates": "sjf"},
    "lookahead",
    {"name": "lookahead", "depth": 3},
    "conservative",
    {"name": "conservative", "candidates": "sjf"},
)


@dataclass(frozen=True)
class Case:
    """One simulation: everything that both engines are told."""

    workload: Workload
    cores: int
    parts: Mapping[str, Any]
    overrun: str

    def __repr__(self) -> str:
        columns = {name: values.tolist() for name, values in self.workload.columns.items()}
        return f"Case({self.cores} cores, {dict(self.parts)}, {self.overrun}, {columns})"


def draw_jobs(random: np.random.Generator, most: int) -> tuple[Workload, int]:
    """Small whole numbers and so many ties; some jobs of no length, over-long, held, cancelled or too wide."""
    size, cores = int(random.integers(2, most + 1)), int(random.choice([2, 3, 5, 8, 24]))
    unit = int(random.choice([1, SECOND, 40 * SECOND, 1800 * SECOND]))
    run = random.integers(0, 10, size)
    requested = np.where(random.random(size) < 0.7, run + random.integers(0, 9, size), random.integers(0, 10, size))
    submit = np.sort(random.integers(0, int(random.choice([1, 6, 40])), size))
    times = {
        "submit": submit,
        "run_time": run,
        "requested_time": requested,
        "deadline": np.where(random.random(size) < 0.6, random.integers(0, 30, size), MISSING),
    }
    columns = {
        "cores": random.integers(1, cores + 1, size),
        "priority": random.integers(-2, 3, size),
        "nodes": np.where(random.random(size) < 0.8, random.integers(1, 4, size), MISSING),
        "user": random.integers(-1, 3, size).astype(np.int32),
    }
    if random.random() < 0.3:
        times["begin"] = np.where(random.random(size) < 0.3, submit + random.integers(0, 9, size), MISSING)
        times["cancel"] = np.where(random.random(size) < 0.2, submit + random.integers(0, 30, size), MISSING)
        columns["cores"] = np.where(random.random(size) < 0.05, cores + 1, columns["cores"])
    columns |= {name: np.where(values < 0, MISSING, values * unit) for name, values in times.items()}
    return Workload(columns, {"user": ["ann", "bo", "cy"]}), cores


def draw_case(seed: int, most: int = 25, **parts: Any) -> Case:
    """A workload under the given parts; what is not given is drawn."""
    random = stream(seed, "orders")
    workload, cores = draw_jobs(random, most)
    drawn = {
        "order": ORDERS[random.integers(len(ORDERS))],
        "backfill": BACKFILLS[random.integers(len(BACKFILLS))],
        "estimate": ESTIMATES[random.integers(len(ESTIMATES))],
    }
    return Case(workload, cores, drawn | parts, str(random.choice(["kill", "extend"])))


def simulate(case: Case) -> api.Result:
    return api.simulate(case.workload, cores=case.cores, policy=case.parts, overrun=case.overrun)


def fast_rows(result: api.Result) -> list[tuple[object, ...]]:
    return result.jobs.select("job_id", "state", "start", "end", "backfilled").rows()


def slow_rows(case: Case) -> list[tuple[object, ...]]:
    outcomes = reference.simulate_cores(case.workload, case.cores, case.parts, case.overrun)

    def seconds(time: int | None) -> float | None:
        return None if time is None else time / SECOND

    return [(job.job_id, job.state, seconds(job.start), seconds(job.end), job.backfilled) for job in outcomes]


def check_agreement(case: Case) -> api.Result:
    """The engine's result, on which the twin agrees."""
    result = simulate(case)
    fast, slow = fast_rows(result), slow_rows(case)
    if fast != slow:
        different = [pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1]]
        first = f"engine {different[0][0]}, twin {different[0][1]}"
        pytest.fail(f"{len(different)} jobs differ; first: {first}; {case!r:.3000}", pytrace=False)
    return result


def label(part: Any) -> str:
    return part if isinstance(part, str) else "-".join(str(value) for value in part.values())


# ------------------------------------------------------------------------------------------------ the same schedule


@pytest.mark.parametrize("order", [*ORDERS, "submission"], ids=label)
def test_every_order_agrees_with_the_twin(order):
    for seed in range(25):
        for backfill in ("none", "easy"):
            check_agreement(draw_case(seed, order=order, backfill=backfill))


@pytest.mark.parametrize("backfill", BACKFILLS, ids=label)
def test_every_rule_of_backfilling_agrees_with_the_twin(backfill):
    for seed in range(1000, 1030):
        check_agreement(draw_case(seed, backfill=backfill))
        check_agreement(draw_case(seed, backfill=backfill, order="fcfs"))


@pytest.mark.parametrize("estimate", ESTIMATES, ids=label)
def test_every_estimate_agrees_with_the_twin(estimate):
    for seed in range(2000, 2050):
        check_agreement(draw_case(seed, estimate=estimate))


def test_any_combination_agrees_with_the_twin():
    """Others each day: soak_twins.py."""
    for seed in range(3000, 3250):
        check_agreement(draw_case(seed))


@pytest.mark.parametrize("order", ["sjf", "wfp3", "f2"])
@pytest.mark.parametrize(
    "backfill", [{"name": "easy", "alpha": 0.5, "candidates": "sjf"}, {"name": "depth", "depth": 4}]
)
def test_long_queues_agree_with_the_twin(order, backfill):
    for seed in range(4000, 4004):
        check_agreement(draw_case(seed, 200, order=order, backfill=backfill))


@pytest.mark.parametrize(
    "preset", [preset.name for preset in registry.presets() if "fairshare" not in str(preset.parts["order"])]
)
def test_every_preset_agrees_with_the_twin_and_passes_the_audit(preset):
    for seed in range(5000, 5030):
        case = draw_case(seed, **{"estimate": "request"} | registry.preset(preset))
        assert audit(check_agreement(case)) == []


# ------------------------------------------------------------------------------------------------------- properties


def test_a_depth_of_one_is_easy():
    for seed in range(6000, 6200):
        deep = draw_case(seed, backfill={"name": "depth", "depth": 1})
        easy = replace(deep, parts=deep.parts | {"backfill": "easy"})
        assert fast_rows(simulate(deep)) == fast_rows(simulate(easy))


def test_submission_is_first_come_where_jobs_are_eligible_at_once():
    alike = 0
    for seed in range(60):
        first, second = (simulate(draw_case(seed, order=order)) for order in ("fcfs", "submission"))
        if first.jobs.filter(first.jobs["eligible"] > first.jobs["submit"]).is_empty():
            alike += 1
            assert first.jobs.equals(second.jobs), seed
            assert first.allocations.equals(second.allocations), seed
    assert 20 < alike < 60


@pytest.mark.parametrize("order", STATIC)
def test_without_backfilling_jobs_start_in_the_sequence_of_the_order(order):
    """Of two jobs that both wait, the one before the other in the order starts no later."""
    for seed in range(7000, 7040):
        case = draw_case(seed, order=order, backfill="none", estimate="request")
        ranks = Order(order)
        rows = read_jobs(case.workload)
        result = simulate(case).jobs
        for job in rows:
            job.requested = job.estimate = job.requested_time
            job.queued = round((result["eligible"][job.row] or 0) * SECOND)
        entered = sorted(
            (job for job in rows if result["eligible"][job.row] is not None),
            key=lambda job: (job.eligible, job.row),
        )
        rank = {job.row: ranks.rank(job, 0) for job in entered}
        started = [(result["start"][job.row], job) for job in entered if result["start"][job.row] is not None]
        for start, job in started:
            for other in entered:
                before = rank[other.row] < rank[job.row] and other.eligible / SECOND < start
                gone = (
                    result["start"][other.row] if result["start"][other.row] is not None else result["end"][other.row]
                )
                assert not before or (gone is not None and gone <= start), (case, job.job_id, other.job_id)


@pytest.mark.parametrize("order", [*ORDERS, "submission"], ids=label)
def test_exchanging_equal_jobs_changes_nothing_but_their_names(order):
    """Jobs of the same instant that are alike in everything: whichever stands first in the table starts first."""
    for seed in range(8000, 8010):
        case = draw_case(seed, order=order, estimate="request")
        twice = np.repeat(np.arange(len(case.workload)), 2)
        alike = case.workload.select(twice)
        names = np.arange(1, len(alike) + 1).reshape(-1, 2)
        one, other = (
            fast_rows(simulate(replace(case, workload=alike.replace(alike.columns | {"job_id": ids.reshape(-1)}))))
            for ids in (names, names[:, ::-1])
        )
        assert [row[1:] for row in one] == [row[1:] for row in other]
        starts = [row[2] for row in one]
        for first, second in zip(starts[::2], starts[1::2], strict=True):
            assert second is None or first <= second


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0, 3.0])
def test_easy_delays_the_head_by_at_most_alpha_times_its_estimate(alpha):
    """The first promise is what EASY itself would have promised at that instant."""
    late = 0
    for seed in range(9000, 9150):
        workload, cores = draw_jobs(stream(seed, "orders"), 25)
        whole = {name: values for name, values in workload.columns.items() if name not in ("begin", "cancel")}
        whole["requested_time"] = np.maximum(whole["requested_time"], 1)  # no instant with several passes
        whole["run_time"] = np.clip(whole["run_time"], 1, whole["requested_time"])
        whole["cores"] = np.minimum(whole["cores"], cores)
        case = Case(Workload(whole, workload.labels), cores, {"backfill": {"name": "easy", "alpha": alpha}}, "kill")
        promised = first_promises(case)
        jobs = simulate(case).jobs
        for row, promise in promised.items():
            bound = promise + int(alpha * int(whole["requested_time"][row]))
            assert round(jobs["start"][row] * SECOND) <= bound, (case, row, promise)
            late += round(jobs["start"][row] * SECOND) > promise
    assert (late > 0) == (alpha > 0), "the slack is used, and only where there is some"


def first_promises(case: Case) -> dict[int, int]:
    """By row: the earliest start of each job at the pass in which it first was the blocked head, by the twin."""
    promises: dict[int, int] = {}
    reserve = Site.reserve

    def watch(site: Site, job: Job) -> None:
        reserve(site, job)
        promises.setdefault(job.row, next(hold.start for hold in site.ledger.holds if hold.job is job))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "reserve", watch)
        reference.simulate_cores(case.workload, case.cores, case.parts)
    return promises


def test_the_same_case_twice_gives_the_same_digest():
    for seed in range(9500, 9540):
        case = draw_case(seed)
        assert simulate(case).digest == simulate(case).digest


def test_under_fcfs_without_backfilling_starts_never_decrease():
    for seed in range(9600, 9640):
        jobs = simulate(draw_case(seed, order="fcfs", backfill="none")).jobs.with_row_index("row")
        starts = jobs.filter(jobs["start"].is_not_null()).sort("eligible", "row")["start"].to_list()
        assert all(first <= second for first, second in pairwise(starts))
