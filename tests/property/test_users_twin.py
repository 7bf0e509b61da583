"""Users who react: arrivals come back, move one way, and the engine agrees with its slow twin and the audit."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
import test_engine_twin as plain

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.random import stream
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import MISSING, Workload, encode_labels
from walltime.kernel.closed_loop import ClosedLoop
from walltime.scenario import parse
from walltime.workload.users.plan import Presence, make_plan
from walltime.workload.users.sessions import Thresholds, find_ends, infer_acts


def draw_log(seed: int, size: int, unit: int = 60 * SECOND) -> Workload:
    """A log of a few users, with ties, jobs without a user, jobs of no length, arrays and jobs cancelled early."""
    random = stream(seed, "users.log")
    submit = np.sort(random.integers(0, int(random.choice([20, 400, 5000])), size)) * unit
    columns = {
        "submit": submit,
        "run_time": random.integers(0, 40, size) * unit,
        "requested_time": random.integers(1, 60, size) * unit,
        "cores": random.integers(1, 5, size),
        "recorded_wait": random.integers(0, 30, size) * unit * int(random.choice([0, 1])),
    }
    labels = {}
    names = ["ann", "bo", "cy", "", "dee"]
    columns["user"], labels["user"] = encode_labels([names[code] for code in random.integers(0, 5, size)])
    if random.random() < 0.3:
        columns["array"], labels["array"] = encode_labels(
            [str(code) if code < 3 else "" for code in random.integers(0, 9, size)]
        )
    if random.random() < 0.3:
        gone = random.random(size) < 0.2
        columns["cancel"] = np.where(gone, submit + random.integers(0, 20, size) * unit, MISSING)
        columns["run_time"] = np.where(gone, MISSING, columns["run_time"])
    return Workload(columns, labels)


def draw_mode(seed: int) -> dict[str, object]:
    """Think times as recorded, drawn, or none, as Alea has it."""
    modes: tuple[dict[str, object], ...] = ({}, {"think": "drawn"}, {"mode": "alea"})
    return modes[seed % 3]


def draw_rules(seed: int) -> dict[str, object]:
    random = stream(seed, "users.rules")
    return {
        "overlap": str(random.choice(["last", "any"])),
        "hours": str(random.choice(["own", "any"])),
        "campaign": int(random.choice([0, 10, 120])),
        "session_gap": int(random.choice([300, 1200])),
    }


def plan_of(log: Workload, rules: dict[str, object]):
    acts = infer_acts(log, Thresholds(overlap=rules["overlap"], campaign=rules["campaign"]))
    return make_plan(acts, Presence.HOURS if rules["hours"] == "own" else Presence.ALWAYS)


def drive(plan, response: np.ndarray) -> np.ndarray:
    """When each job is submitted if it leaves so long after that: a scheduler whose answers are prescribed."""
    loop, came, ends = ClosedLoop(plan), np.full(len(response), -1, np.int64), []
    loop.begin()
    while loop.next < NEVER or ends:
        now = min(loop.next, ends[0][0] if ends else NEVER)
        while ends and ends[0][0] == now:
            loop.leave(heapq.heappop(ends)[1], now)
        while loop.next <= now:
            row = loop.pop()
            came[row] = now
            heapq.heappush(ends, (now + int(response[row]), row))
    return came


@pytest.mark.parametrize("part", range(2))
def test_with_the_recorded_responses_the_recorded_arrivals_come_back(part):
    for seed in range(part * 60, part * 60 + 60):
        log, rules = draw_log(seed, 60), draw_rules(seed)
        response = find_ends(log)[0] - log.column("submit")
        assert drive(plan_of(log, rules), response).tolist() == log.column("submit").tolist(), seed


def test_shorter_responses_never_give_later_submissions_nor_longer_ones_earlier():
    moved = 0
    for seed in range(120):
        log, rules, random = draw_log(seed, 60), draw_rules(seed), stream(seed, "users.responses")
        plan = plan_of(log, rules)
        response = random.integers(0, 50, 60) * 60 * SECOND
        longer = response + random.integers(0, 3, 60) * random.integers(0, 90, 60) * 60 * SECOND
        first, second = drive(plan, response), drive(plan, longer)
        assert np.all(second >= first), seed
        moved += int(np.count_nonzero(second > first))
    assert moved > 500


def test_per_user_order_and_gaps_inside_batches_are_kept():
    for seed in range(60):
        log, rules, random = draw_log(seed, 60), draw_rules(seed), stream(seed, "users.responses")
        acts = infer_acts(log, Thresholds(overlap=rules["overlap"], campaign=rules["campaign"]))
        came = drive(plan_of(log, rules), random.integers(0, 90, 60) * 60 * SECOND)
        begin = came[acts.order[acts.first[:-1]]]
        same = (acts.user[1:] == acts.user[:-1]) & (acts.user[1:] >= 0)
        assert np.all(np.diff(begin)[same] >= 0), seed
        offset = (log.column("submit")[acts.order] - np.repeat(acts.start, acts.sizes)).tolist()
        assert (came[acts.order] - np.repeat(begin, acts.sizes)).tolist() == offset


def slow_rows(scenario):
    rows = []
    for job in reference.simulate(scenario):
        times = (None if time is None else time / SECOND for time in (job.eligible, job.start, job.end, job.run))
        rows.append((job.job_id, job.state, *times, job.backfilled))
    return rows


@pytest.mark.parametrize("part", range(2))
def test_the_engine_agrees_with_its_twin_and_the_audit(part):
    moved = 0
    for seed in range(part * 25, part * 25 + 25):
        random = stream(seed, "users.case")
        log, rules = draw_log(seed, 40), draw_rules(seed)
        scheduler = {
            "order": str(random.choice(["fcfs", "sjf", "wfp3"])),
            "backfill": str(random.choice(["none", "easy", "conservative"])),
        }
        until = int(random.integers(100, 200_000)) if random.random() < 0.3 else None
        clusters = [{"name": "a", "cores": int(random.integers(4, 9)), "scheduler": scheduler}]
        site: dict[str, object] = {"seed": seed, "until": until, "users": rules | draw_mode(seed)}
        if seed % 4 == 3:
            clusters.append({"name": "b", "cores": int(random.integers(4, 6)), "scheduler": scheduler})
            site["broker"] = {"name": str(random.choice(["least-loaded", "round-robin"])), "hold": bool(seed % 8 == 3)}
        scenario = parse(site | {"workload": {"table": log}, "clusters": clusters})
        result = api.simulate(scenario)
        fast, slow = result.jobs.select(plain.FIELDS).rows(), slow_rows(scenario)
        if fast != slow:
            pairs = [pair for pair in zip(fast, slow, strict=False) if pair[0] != pair[1]]
            pytest.fail(f"seed {seed}: {len(fast)}, {len(slow)}: {pairs[:1]}; {rules} {scheduler}", pytrace=False)
        assert audit(result.record, workload=log, scenario=result.scenario) == [], seed
        recorded = dict(zip(log.column("job_id").tolist(), log.column("submit").tolist(), strict=True))
        moved += sum(
            recorded[job] != round(time * SECOND) for job, time in result.jobs.select("job_id", "submit").rows()
        )
    assert moved > 100


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "sjf"])
def test_the_schedule_that_the_log_recorded_is_made_again(policy):
    """A log whose waits this very scheduler made: with users who react, its replay comes out, to the byte."""
    for seed in range(8):
        drawn = draw_log(seed, 120)
        columns = {name: values for name, values in drawn.columns.items() if name != "cancel"}
        columns["run_time"] = np.clip(columns["run_time"], 0, columns["requested_time"])
        log = drawn.replace(columns)
        first = api.simulate(log, cores=6, policy=policy)
        waited = np.rint(first.jobs.sort("job_id")["wait"].to_numpy() * SECOND).astype(np.int64)
        told = log.replace(dict(log.columns) | {"recorded_wait": waited})
        replayed = api.simulate(told, cores=6, policy=policy)
        again = api.simulate(told, cores=6, policy=policy, users="feedback")
        assert again.digest == replayed.digest, (policy, seed)
        assert again.audit() == []
