"""What users do besides: each reaction by a schedule worked out by hand; parts in Python; none by default."""

from __future__ import annotations

import pytest

from walltime import Reaction, Workload, api
from walltime.core.errors import InputError, PolicyError, UnsupportedError


def log(**more) -> Workload:
    """Ann submits three jobs at once, then one after they have ended; bo one that takes the machine."""
    columns = {
        "user": ["bo", "ann", "ann", "ann", "ann"],
        "submit": [0, 10, 20, 30, 2000],
        "run_time": [1000, 100, 100, 100, 100],
        "requested_time": [1000, 400, 400, 400, 400],
        "cores": [1, 1, 1, 1, 1],
        "recorded_wait": [0, 0, 0, 0, 0],
    }
    return Workload.from_columns(**columns | more)


def run(*reactions, jobs: Workload | None = None, **settings):
    users = {"mode": "feedback", "hours": "any", "overlap": "any", "reactions": list(reactions)}
    result = api.simulate(jobs or log(), **{"cores": 1, "policy": "fcfs", "users": users} | settings)
    assert result.audit() == []
    return result, {row["job_id"]: row for row in result.jobs.iter_rows(named=True)}


def test_none_changes_nothing():
    plain, _ = run()
    idle, _ = run(type("Idle", (Reaction,), {"submit": lambda self, job: None})())
    assert plain.digest == idle.digest


def test_who_gives_up_goes_on_with_what_comes_next():
    result, jobs = run({"name": "give-up", "after": 500})
    assert [jobs[number]["state"] for number in (1, 2, 3, 4)] == ["completed"] + ["cancelled"] * 3
    assert jobs[2]["end"] == 510
    assert jobs[5]["submit"] == 530 + 1870  # ann's think time after the last of hers was gone
    assert jobs[2]["user"] == "ann"
    assert result.summary["closed_loop"]["abandoned"] == 3
    assert result.summary["closed_loop"]["sessions"] == 3
    assert result.record.facts["users"]["not_submitted"] == 0


def test_jobs_with_dependencies_may_be_given_up_but_not_changed():
    waits = log(dependencies=["", "afterok:1", "", "", ""])
    _, jobs = run({"name": "give-up", "after": 500}, jobs=waits)
    assert (jobs[2]["state"], jobs[2]["end"]) == ("cancelled", 510)
    with pytest.raises(InputError, match="cannot have dependencies"):
        run(Halves(), jobs=log(dependencies=["", "afterok:1", "", "", ""], cores=[1, 2, 1, 1, 1]))


def test_at_the_limit_users_look_again_later():
    result, jobs = run({"name": "stop-at-limit", "jobs": 1, "again": 100})
    assert [jobs[number]["submit"] for number in (2, 3, 4)] == [10, 1120, 1230]
    assert result.record.facts["users"]["put_off"] == 2


def test_work_is_abandoned_while_waits_are_long():
    result, jobs = run({"name": "abandon", "wait": 300})
    assert sorted(jobs) == [1, 2, 3, 4]
    assert (result.record.facts["users"]["not_submitted"], result.record.facts["users"]["abandoned"]) == (0, 1)
    assert result.summary["closed_loop"]["abandoned"] == 1


def test_users_go_where_the_wait_is_short():
    """The long queue has one core and is full; what came before has taught that the short one is empty."""
    jobs = log(queue=["long", "long", "short", "long", "long"])
    queues = {"long": {"max_cores": 1}, "short": {"max_cores": 1}}
    limits = [{"queue": "long", "running_jobs": 1}]
    cluster = {"cores": 2, "queues": queues, "limits": limits, "scheduler": {"order": "fcfs", "backfill": "aggressive"}}
    result, told = run({"name": "other-queue", "gain": 60}, jobs=jobs, cores=None, policy=None, cluster=cluster)
    assert told[5]["queue"] == "short"
    assert told[4]["queue"] == "long"  # nothing was known yet
    assert result.record.facts["users"]["changed"] == 1


def test_users_learn_to_ask_for_less():
    result, jobs = run({"name": "ask-for-less", "margin": 1.5, "jobs": 3})
    assert [jobs[number]["requested_time"] for number in (2, 3, 4, 5)] == [400, 400, 400, 150]
    assert jobs[5]["state"] == "completed"
    assert result.record.facts["users"]["changed"] == 1


class Halves(Reaction):
    """Asks for half the cores, and notes what it hears."""

    def __init__(self) -> None:
        self.heard = []

    def submit(self, job) -> None:
        job.cores = max(1, job.cores // 2)

    def left(self, job) -> None:
        self.heard.append((job.job_id, job.user, job.wait, job.ran, job.completed))


def test_a_part_of_ones_own():
    part = Halves()
    _, jobs = run(part, jobs=log(cores=[1, 4, 2, 1, 1]), cores=2)
    assert [jobs[number]["cores"] for number in (1, 2, 3, 4, 5)] == [1, 2, 1, 1, 1]
    assert len(part.heard) == 5
    assert (1, "bo", 0.0, 1000.0, True) in part.heard


def test_what_is_wrong_is_refused():
    def broken(text):
        def submit(self, job):
            exec(text)  # a fault of the part

        return type("Broken", (Reaction,), {"submit": submit})()

    with pytest.raises(PolicyError, match="Broken: ZeroDivisionError at job 1"):
        run(broken("1 / 0"))
    with pytest.raises(PolicyError, match="asks for 0 cores"):
        run(broken("job.cores = 0"))
    with pytest.raises(InputError, match="more than 0 seconds"):
        run(broken("job.put_off(0)"))
    with pytest.raises(InputError, match="unknown users part"):
        run("give-in")
    with pytest.raises(InputError, match="which a replay has not"):
        api.simulate(log(), cores=1, users={"mode": "replay", "reactions": ["give-up"]})
    with pytest.raises(UnsupportedError, match="reactions"):
        api.simulate(log(), cores=1, engine="slurm", users={"mode": "feedback", "reactions": ["give-up"]})
