"""Reactions of users over random logs and sites: the audit finds nothing, no job is lost, and one that never has a
reason to act changes no schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_users_twin import draw_log, draw_rules

from walltime import Reaction, api
from walltime.core.random import stream
from walltime.core.workload import Workload, encode_labels
from walltime.scenario import parse


class Gather(Reaction):
    """Takes along whatever can be."""

    def submit(self, job) -> None:
        job.merge(len(job.coming(3)))


QUEUES = ("fast", "slow", "any")
PARTS: tuple[Any, ...] = (
    Gather(),
    {"name": "give-up", "after": 600},
    {"name": "stop-at-limit", "jobs": 2, "again": 90},
    {"name": "abandon", "wait": 120},
    {"name": "ask-for-less", "margin": 1, "jobs": 2},
    {"name": "fewer-cores", "gain": 0},
    {"name": "fewer-cores", "gain": 60, "serial": 0.4},
    {"name": "split", "time": 900},
    {"name": "split", "cores": 2},
    {"name": "merge", "jobs": 3, "below": "1h"},
)
IDLE: tuple[dict[str, Any], ...] = (
    {"name": "give-up", "after": "9999d"},
    {"name": "stop-at-limit", "jobs": 10_000},
    {"name": "abandon", "wait": "9999d"},
    {"name": "ask-for-less", "margin": 1e6},
    {"name": "fewer-cores", "gain": "9999d"},
    {"name": "split", "time": "9999d"},
    {"name": "split", "cores": 10_000},
    {"name": "merge", "below": 0},
)


def draw_case(seed: int) -> tuple[dict[str, Any], Workload]:
    """A site of one of four kinds with a scheduler, and its log."""
    random = stream(seed, "reactions.case")
    log = draw_log(seed, 40)
    kind = ("cores", "queues", "nodes", "several")[seed % 4]
    scheduler = {
        "order": str(random.choice(["fcfs", "sjf", "wfp3"])),
        "backfill": str(random.choice(["none", "easy", "conservative"])),
    }
    cores = int(random.integers(4, 9))
    site: dict[str, Any] = {"users": draw_rules(seed)}
    if kind == "several":
        sizes = {"a": cores, "b": int(random.integers(4, 6))}
        site["clusters"] = [{"name": name, "cores": size, "scheduler": scheduler} for name, size in sizes.items()]
        site["broker"] = str(random.choice(["least-loaded", "earliest-start", "round-robin"]))
    elif kind == "nodes":
        site["cluster"] = {"nodes": [{"count": 3, "cores": 3, "name": "n"}], "scheduler": scheduler}
    else:
        site["cluster"] = {"cores": cores, "scheduler": scheduler}
    if kind == "queues":
        site["cluster"]["queues"] = {"slow": {"running_cores": 4}, "fast": {"priority": 1}, "any": {"default": True}}
        codes, labels = encode_labels([QUEUES[code] for code in random.integers(0, 3, len(log))])
        log = log.replace(dict(log.columns) | {"queue": codes}, labels=log.labels | {"queue": labels})
    if random.random() < 0.3:
        site["until"] = int(random.integers(500, 100_000))
    return site, log


def simulate(site: dict[str, Any], log: Workload, *parts: Any) -> api.Result:
    users = site["users"] | {"reactions": list(parts)}
    return api.simulate(parse(site | {"workload": {"table": log}, "users": users}))


def choices_of(site: dict[str, Any], gain: str | int) -> list[dict[str, Any]]:
    """The choices that there are on a site."""
    several = [{"name": "other-site", "gain": gain}] if "clusters" in site else []
    queues = "queues" in site.get("cluster", {})
    return several + ([{"name": "other-queue", "gain": gain}] if queues else [])


@pytest.mark.parametrize("part", range(2))
def test_whatever_users_do_is_legal_and_loses_no_job(part):
    done: dict[str, int] = {}
    for seed in range(part * 28, part * 28 + 28):
        random = stream(seed, "reactions.parts")
        site, log = draw_case(seed)
        pool = [*PARTS, *choices_of(site, 0), *choices_of(site, 0)]
        others = [pool[int(place)] for place in random.permutation(len(pool))[: seed // 4 % 3]]
        parts = [pool[seed % len(pool)], *others]  # each is in its turn
        result = simulate(site, log, *parts)
        assert result.audit() == [], (seed, parts)
        if seed % 4 == 0:
            assert simulate(site, log, *parts).digest == result.digest, seed
        facts = result.record.facts["users"]
        acts = facts.get("acts", {})
        lost = [job for job, _ in acts.get("abandoned", ())] + [
            one for _, some in acts.get("merged", ()) for one in some
        ]
        made = [one for _, some, _ in acts.get("split", ()) for one in some]
        seen = result.jobs["job_id"].to_list()
        assert len(seen) == len(set(seen))
        assert not set(seen) & set(lost)
        assert len([job for job in seen if job not in made]) + len(lost) + facts["not_submitted"] == len(log), seed
        for name in ("put_off", "changed", "abandoned", "merged", "split"):
            done[name] = done.get(name, 0) + facts.get(name, 0)
    assert min(done.values()) > 4, done


def test_a_reaction_without_a_reason_changes_no_schedule():
    for seed in range(12):
        site, log = draw_case(seed)
        plain = simulate(site, log)
        for part in [*IDLE, *choices_of(site, "9999d")]:
            assert simulate(site, log, part).digest == plain.digest, (seed, part)


def test_think_times_and_draws_are_the_users_own_whatever_the_system_does():
    """With drawn think times, under two schedulers: what lies between an end and the batch that waited for it is the
    same, batch by batch."""
    seen = 0
    for seed in range(6):
        log = draw_log(seed, 60)
        users = {"mode": "feedback", "hours": "any", "think": "drawn"}
        gaps = []
        for policy, cores in (("fcfs", 5), ("conservative", 9)):
            result = api.simulate(log, cores=cores, policy=policy, users=users, seed=3)
            assert result.audit() == []
            gaps.append(find_gaps(result, log))
        assert gaps[0] == gaps[1]
        seen += len(gaps[0])
    assert seen > 30


def find_gaps(result: api.Result, log: Workload) -> dict[int, int]:
    """For each batch that reacts, from the last end of what it waited for to its beginning, in microseconds."""
    from walltime.workload.users.sessions import infer_acts

    acts = infer_acts(log)
    number = log.column("job_id")
    submit, end = (
        {job: np.rint(time * 1e6) for job, time in result.jobs.select("job_id", name).rows() if time is not None}
        for name in ("submit", "end")
    )
    found = {}
    for batch in np.flatnonzero((acts.after >= 0) & (acts.before < 0)).tolist():
        rows = acts.order[acts.first[acts.after[batch]] : acts.first[acts.after[batch] + 1]]
        ends = [end.get(number[row], submit[number[row]]) for row in rows]
        found[batch] = int(submit[number[acts.order[acts.first[batch]]]] - max(ends))
    return found
