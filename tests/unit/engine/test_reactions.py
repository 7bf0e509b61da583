"""What users do besides: each reaction by a schedule worked out by hand; parts in Python; none by default."""

from __future__ import annotations

import pytest

from walltime import Reaction, Workload, api
from walltime.core.errors import InputError, PolicyError


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
    with pytest.raises(InputError, match="cannot change this job"):
        run(Halves(), jobs=log(dependencies=["", "afterok:1", "", "", ""], cores=[1, 2, 1, 1, 1]))


def test_at_the_limit_users_look_again_later():
    result, jobs = run({"name": "stop-at-limit", "jobs": 1, "again": 100})
    assert [jobs[number]["submit"] for number in (2, 3, 4)] == [10, 1120, 1220]
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


ROUTED = {
    "cores": 2,
    "queues": {"long": {"max_cores": 1, "running_jobs": 1}, "short": {"max_cores": 1}},
    "routes": [{"queue": "short", "users": ["cy"]}, {"queue": "long"}],
    "scheduler": {"order": "fcfs", "backfill": "aggressive"},
}
LEAVES = {
    "user": ["bo", "ann", "cy", "ann", "ann"],
    "submit": [0, 10, 20, 30, 5000],
    "run_time": [1000] * 5,
    "requested_time": [1000] * 5,
}
"""Jobs that name no queue. The third is in the short one and starts at once; the second and fourth wait 990 s and
1,970 s in the long one, in which the fifth would be."""


@pytest.mark.parametrize(
    ("more", "queue"),
    [
        ({"cluster": ROUTED}, "short"),
        ({"clusters": [ROUTED | {"name": "a"}], "broker": "first"}, "short"),
        (
            {
                "clusters": [ROUTED | {"name": "a"}, {"name": "b", "cores": 9}],
                "broker": {"name": "first", "bind": [{"clusters": ["a"]}]},
            },
            "short",
        ),
        (
            {
                "clusters": [ROUTED | {"name": "a"}, ROUTED | {"name": "b", "routes": [{"queue": "short"}]}],
                "broker": "first",
            },
            "long",  # ann's job has no queue to be waited in before it has a cluster
        ),
    ],
)
def test_a_job_that_names_no_queue_leaves_the_one_to_which_it_would_be_sent(more, queue):
    jobs = Workload.from_columns(**LEAVES, recorded_wait=[0] * 5)
    _, told = run({"name": "other-queue", "gain": 60}, jobs=jobs, cores=None, policy=None, **more)
    assert [told[number]["queue"] for number in (1, 2, 3, 4)] == ["long", "long", "short", "long"]
    assert told[5]["queue"] == queue


def test_a_job_without_a_name_has_none_whatever_is_submitted_beside_it():
    """The second job is split, and its parts have names; the first asks for less, and has none."""

    class Less(Reaction):
        def submit(self, job):
            job.requested_time -= 1

    columns = {"submit": [0, 10], "run_time": [50, 300], "requested_time": [60, 400], "user": ["ann", "bo"]}
    jobs = Workload.from_columns(**columns, recorded_wait=[0, 0])
    result, _ = run(Less(), {"name": "split", "time": 100}, jobs=jobs)
    assert result.jobs["name"].to_list()[0] is None
    assert result.jobs["name"].to_list()[1] == "2.1"


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


def test_a_queue_is_known_by_its_name_wherever_it_stands():
    """As in the test of the short wait, with the queues of the cluster in another order than those of the log."""
    jobs = log(queue=["long", "long", "short", "long", "long"])
    queues = {"short": {"max_cores": 1}, "other": {}, "long": {"max_cores": 1}}
    limits = [{"queue": "long", "running_jobs": 1}]
    cluster = {"cores": 2, "queues": queues, "limits": limits, "scheduler": {"order": "fcfs", "backfill": "aggressive"}}
    _, told = run({"name": "other-queue", "gain": 60}, jobs=jobs, cores=None, policy=None, cluster=cluster)
    assert told[5]["queue"] == "short"


def test_users_go_to_the_site_where_the_wait_is_short():
    """The broker sends all to the first; bound to the second, bo's last job has taught that it is empty."""
    jobs = Workload.from_columns(
        user=["ann", "ann", "bo", "ann", "bo", "cy"],
        submit=[0, 10, 20, 30, 100, 3000],
        run_time=[1000] * 6,
        requested_time=[1000] * 6,
        recorded_wait=[0] * 6,
    )
    clusters = [{"name": "a", "cores": 1}, {"name": "b", "cores": 4}]
    broker = {"name": "first", "bind": [{"users": ["bo"], "clusters": ["b"]}, {"users": ["ann"], "clusters": ["a"]}]}
    settings = {"cores": None, "policy": None, "clusters": clusters, "broker": broker}
    _, plain = run(jobs=jobs, **settings)
    result, told = run({"name": "other-site", "gain": 60}, jobs=jobs, **settings)
    assert (plain[6]["cluster"], told[6]["cluster"]) == ("a", "b")
    assert [told[number]["cluster"] for number in range(1, 6)] == ["a", "a", "b", "a", "b"]  # bound ones stay
    assert result.record.facts["users"]["changed"] == 1


def test_a_site_that_a_job_may_not_go_to_is_refused():
    class Strays(Reaction):
        def submit(self, job) -> None:
            job.cluster = "b"

    clusters = [{"name": "a", "cores": 1}, {"name": "b", "cores": 4}]
    broker = {"name": "first", "bind": [{"users": ["ann"], "clusters": ["a"]}]}
    with pytest.raises(PolicyError, match="to b, not one of"):
        run(Strays(), cores=None, policy=None, clusters=clusters, broker=broker)


def test_a_long_job_is_split_into_parts_that_follow_each_other():
    """Bo's 1,000 s become three parts of up to 400 s; ann's jobs, which ask for no more, run between them."""
    result, jobs = run({"name": "split", "time": 400})
    assert sorted(jobs) == [1, 2, 3, 4, 5, 6, 7]
    assert [jobs[number]["run_time"] for number in (1, 6, 7)] == pytest.approx([333.333334, 333.333333, 333.333333])
    assert [jobs[number]["requested_time"] for number in (1, 6, 7)] == pytest.approx([333.333334] * 3)
    assert jobs[6]["submit"] == jobs[1]["end"]
    assert jobs[7]["submit"] == jobs[6]["end"]
    assert (jobs[6]["start"], jobs[6]["user"], jobs[6]["name"]) == (jobs[4]["end"], "bo", "1.2")
    facts = result.record.facts["users"]
    assert (facts["split"], facts["not_submitted"]) == (1, 0)
    assert facts["acts"]["split"] == [[1, [6, 7], "time"]]


def test_what_is_left_of_a_split_job_is_given_up_with_a_part_of_it():
    def submit(self, job) -> None:
        job.patience = 200 if job.user == "bo" else None

    _, jobs = run({"name": "split", "time": 400}, type("Impatient", (Reaction,), {"submit": submit})())
    assert sorted(jobs) == [1, 2, 3, 4, 5, 6]
    assert (jobs[6]["state"], jobs[6]["end"]) == ("cancelled", pytest.approx(jobs[6]["submit"] + 200))


def test_a_wide_job_is_split_into_parts_beside_each_other():
    wide = log(cores=[5, 1, 1, 1, 1])
    _, jobs = run({"name": "split", "cores": 2}, jobs=wide, cores=2)
    assert [(jobs[number]["cores"], jobs[number]["run_time"]) for number in (1, 6, 7)] == [
        (2, 1000),
        (2, 1000),
        (1, 1000),
    ]
    assert {jobs[number]["submit"] for number in (1, 6, 7)} == {0}
    assert jobs[5]["submit"] > max(jobs[number]["end"] for number in (2, 3, 4))


def test_short_jobs_of_a_batch_are_merged():
    """Ann's three jobs become one of 300 s; her next one comes a think time after it."""
    result, jobs = run({"name": "merge", "jobs": 3, "below": "10m"})
    assert sorted(jobs) == [1, 2, 5]
    assert (jobs[2]["run_time"], jobs[2]["requested_time"], jobs[2]["start"]) == (300, 1200, 1000)
    assert jobs[5]["submit"] == 1300 + 1870
    facts = result.record.facts["users"]
    assert (facts["merged"], facts["not_submitted"]) == (2, 0)
    with pytest.raises(InputError, match="not so many jobs"):
        run(type("Greedy", (Reaction,), {"submit": lambda self, job: job.merge(9)})())


def test_fewer_cores_where_small_jobs_start_sooner():
    """Jobs of two cores have waited for 590 s, those of one core not at all: half the cores for twice the time."""
    jobs = Workload.from_columns(
        user=["ann", "bo", "cy", "dee"],
        submit=[0, 10, 30, 2000],
        run_time=[600, 100, 100, 100],
        requested_time=[600, 100, 100, 100],
        cores=[1, 2, 1, 2],
        recorded_wait=[0] * 4,
    )
    for serial, run_time in ((0.0, 200), (0.5, 133.333333)):
        _, told = run({"name": "fewer-cores", "gain": 60, "serial": serial}, jobs=jobs, cores=2, policy="easy")
        assert (told[4]["cores"], told[4]["run_time"]) == (1, pytest.approx(run_time))
        assert told[4]["requested_time"] == pytest.approx(run_time)
    _, told = run({"name": "fewer-cores", "gain": 600}, jobs=jobs, cores=2, policy="easy")
    assert told[4]["cores"] == 2


def test_jobs_that_others_wait_for_stay_as_they_are():
    """Else what waits for them would wait for ever."""
    waits = log(dependencies=["", "", "", "afterok:2", ""])
    for part in ({"name": "abandon", "wait": 0}, {"name": "ask-for-less", "jobs": 1}, {"name": "split", "time": 60}):
        _, jobs = run(part, jobs=waits)
        assert (jobs[2]["requested_time"], jobs[4]["state"]) == (400, "completed")
    before = log(preceding_job=[None, None, None, 2, None])
    for counts, asked in ((False, 200), (True, 400)):
        _, jobs = run({"name": "split", "time": 200}, jobs=before, dependencies={"preceding": counts})
        assert jobs[2]["requested_time"] == asked
    with pytest.raises(InputError, match="cannot drop this job"):
        run(type("Drops", (Reaction,), {"submit": lambda self, job: job.job_id == 2 and job.drop()})(), jobs=waits)


def test_a_changed_job_keeps_its_shape_on_nodes():
    jobs = log(nodes=[1, 2, -1, -1, -1], cores_per_node=[1, 2, -1, -1, -1], cores=[1, 4, 3, 1, 1])
    cluster = {"nodes": [{"count": 2, "cores": 2, "name": "n", "memory": "8G"}]}
    result, told = run(Halves(), jobs=jobs, cores=None, policy=None, cluster=cluster)
    held = dict(result.allocations.select("job_id", "nodes").rows())
    assert (told[2]["cores"], told[2]["run_time"]) == (2, 200)
    assert held[2] in ("0:2", "1:2")


@pytest.mark.parametrize(("part", "what"), [("other-queue", "queues"), ("other-site", "clusters")])
def test_a_choice_where_there_is_none_is_refused(part, what):
    with pytest.raises(InputError, match=f"there are not several {what}"):
        run(part)


@pytest.mark.parametrize(
    "part",
    [
        {"name": "split"},
        {"name": "split", "time": 60, "cores": 1},
        {"name": "split", "cores": 0},
        {"name": "split", "time": 0},
        {"name": "merge", "jobs": 1},
        {"name": "fewer-cores", "serial": 2},
        {"name": "ask-for-less", "margin": 0.5},
        {"name": "stop-at-limit", "jobs": 0},
    ],
)
def test_parameters_that_mean_nothing_are_refused(part):
    with pytest.raises(InputError):
        run(part)


def test_users_who_would_look_again_for_ever_do_not():
    """Ann's second job waits for ever for the first to complete, which is cut off; the third is never submitted."""
    jobs = Workload.from_columns(
        user=["ann"] * 3,
        submit=[0, 10, 20],
        run_time=[100, 10, 10],
        requested_time=[50, 50, 50],
        recorded_wait=[0] * 3,
        dependencies=["", "afterok:1", ""],
    )
    part = {"name": "stop-at-limit", "jobs": 1, "again": 100}
    result, told = run(part, jobs=jobs, dependencies={"never": "stay"})
    assert (told[1]["state"], told[2]["state"]) == ("timeout", "waiting")
    assert result.record.facts["users"]["not_submitted"] == 1
    assert result.jobs.height == 2


def test_jobs_with_a_choice_of_queues_are_told_in_the_one_they_came_to():
    """One job is asked for otherwise, and all run two by two, one in each queue."""
    queues = {"x": {"running_jobs": 1}, "y": {"running_jobs": 1}}
    cluster = {"cores": 4, "queues": queues, "scheduler": {"order": "fcfs", "backfill": "aggressive"}}
    jobs = log(queue=["y,x"] * 5, cores=[1, 2, 1, 1, 1])
    _, told = run(Halves(), jobs=jobs, cores=None, policy=None, cluster=cluster)
    assert told[2]["cores"] == 1
    assert {told[1]["queue"], told[2]["queue"]} == {"x", "y"}
    assert [told[number]["queue"] for number in (3, 4)] == [told[2]["queue"]] * 2  # bo's keeps the other
