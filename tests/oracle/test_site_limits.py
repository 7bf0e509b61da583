"""Limits and quotas: a few jobs each, whose schedule was worked out by hand.

In the drawings time runs to the right. All jobs are submitted at 0 unless the text says otherwise; A is the first.
"""

from __future__ import annotations

from site_schedule import job

TREE = {
    "root": {},
    "physics": {"parent": "root"},
    "higgs": {"parent": "physics"},
    "top": {"parent": "physics"},
    "bio": {"parent": "root", "users": ["di"]},
}


def site(cores, *limits, backfill="easy", **cluster):
    return {"cores": cores, "limits": list(limits), "scheduler": {"backfill": backfill}} | cluster


def test_a_job_at_a_limit_holds_no_reservation(schedule):
    """8 cores; ann may have one job. B (ann, all 8 cores) is at the limit until 10, then it waits for its cores.

    ::
        0    10   20                 100
        A----                        B      C (bo, 100 s) overtakes nobody: B is not in the line yet. D (bo, 6 cores,
        C----------------------------       from 20 to 70) does, and B's place at 100 stands.
                  D-------------
    """
    got = schedule(
        site(8, {"user": "ann", "running_jobs": 1}),
        job(0, 10, 2, user="ann"),
        job(0, 10, 8, user="ann"),
        job(0, 100, 2, user="bo"),
        job(20, 50, 6, user="bo"),
    )
    assert got.starts == [0, 100, 0, 20]
    assert got.backfilled == [False, False, False, True]


def test_a_reservation_is_lost_when_its_job_comes_to_a_limit(schedule):
    """5 cores; ann may have one job. B (ann, 5 cores) has its place at 10, and C (ann, 1 core, 5 s) overtakes it.

    ::
        0 1  5    10        21
        A---------          B     So B is at the limit when D (bo, 1 core, 20 s) arrives at 1: D starts, and overtakes
        C----                     nobody. At 5 B is in the line again, and waits for D.
          D----------------
    """
    got = schedule(
        site(5, {"user": "ann", "running_jobs": 1}),
        job(0, 10, 3, user="bo"),
        job(0, 10, 5, user="ann"),
        job(0, 5, 1, user="ann"),
        job(1, 20, 1, user="bo"),
    )
    assert got.starts == [0, 21, 0, 1]
    assert got.backfilled == [False, False, True, False]


def test_cores_of_a_group(schedule):
    """atlas may have 4 cores: A has 3, B (2) waits for it, C (1) fits. cms has no limit."""
    got = schedule(
        site(16, {"group": "atlas", "running_cores": 4}),
        job(0, 10, 3, group="atlas"),
        job(0, 5, 2, group="atlas"),
        job(0, 20, 1, group="atlas"),
        job(0, 5, 8, group="cms"),
        job(0, 5, 5, group="atlas"),
    )
    assert got.starts == [0, 10, 0, 0, None]
    assert got.backfilled == [False] * 5
    if got.reasons is not None:
        assert got.reasons[4] == "it asks for 5 cores, group atlas may have 4"


def test_two_groups_together_and_each_apart(schedule):
    """atlas and cms may have 3 jobs together, and each of them 2: A, B and C run; D (atlas) and E (cms) wait.

    B ends at 5 (atlas 1, together 2): D starts. E is again one too many until 10.
    """
    got = schedule(
        site(16, {"group": ["atlas", "cms"], "running_jobs": 3}, {"per": "group", "running_jobs": 2}),
        job(0, 10, group="atlas"),
        job(0, 5, group="atlas"),
        job(0, 10, group="cms"),
        job(0, 10, group="atlas"),
        job(0, 10, group="cms"),
        job(0, 10),
    )
    assert got.starts == [0, 0, 0, 5, 10, 0]


def test_a_limit_on_an_account_counts_all_below_it(schedule):
    """root may have 6 cores, physics below it 4; higgs and top are below physics, bio below root.

    ::
        A higgs 3   physics 3, root 3                   B top 2   physics would have 5: at 10
        C top 1     physics 4, root 4                   D bio 3   root would have 7: at 10
        E bio 2     root 6                              F: di's jobs are bio's; root would have 7: at 10
    """
    got = schedule(
        site(16, {"account": "physics", "running_cores": 4}, {"account": "root", "running_cores": 6}, accounts=TREE),
        job(0, 10, 3, account="higgs"),
        job(0, 10, 2, account="top"),
        job(0, 10, 1, account="top"),
        job(0, 10, 3, account="bio"),
        job(0, 10, 2, account="bio"),
        job(0, 10, 1, user="di"),
    )
    assert got.starts == [0, 10, 0, 10, 0, 10]


def test_each_account_counts_what_is_below_it(schedule):
    """Every account may have 2 jobs: with A (higgs) and B (top), physics has 2 and so has root.

    C (bio) waits for root, D has no account, E (higgs) waits for physics; at 10 C and E are root's two.
    """
    got = schedule(
        site(16, {"per": "account", "running_jobs": 2}, accounts=TREE),
        job(0, 10, account="higgs"),
        job(0, 10, account="top"),
        job(0, 10, account="bio"),
        job(0, 10),
        job(0, 10, account="higgs"),
    )
    assert got.starts == [0, 0, 10, 0, 10]


def test_a_quality_of_service(schedule):
    """high may have one job, and each quality 4 cores: B waits for A, D (2 beside 3) for C; E has none."""
    got = schedule(
        site(16, {"qos": "high", "running_jobs": 1}, {"per": "qos", "running_cores": 4}),
        job(0, 10, 1, qos="high"),
        job(0, 10, 1, qos="high"),
        job(0, 10, 3, qos="low"),
        job(0, 10, 2, qos="low"),
        job(0, 10, 5),
    )
    assert got.starts == [0, 10, 0, 10, 0]


def test_gpus_and_memory_of_a_user(schedule):
    """ann may have 4 GPUs and 100 of memory. A has 3 and 50; B (2 GPUs) and C (60) wait; D (1 and 50) fits.

    E asks for 2 GPUs on each of 3 nodes, F for 51 with each of 2 cores: more than she may ever have.
    """
    got = schedule(
        site(16, {"user": "ann", "running_gpus": 4, "running_memory": 100}),
        job(0, 10, 1, user="ann", gpus=3, memory=50),
        job(0, 10, 1, user="ann", gpus=2),
        job(0, 10, 1, user="ann", memory=60),
        job(0, 10, 1, user="ann", gpus=1, memory=50),
        job(0, 10, 3, user="ann", gpus_per_node=2, nodes=3),
        job(0, 10, 2, user="ann", memory_per_core=51),
    )
    assert got.starts == [0, 10, 10, 0, None, None]
    if got.reasons is not None:
        assert got.reasons[4] == "it asks for 6 GPUs, user ann may have 4"


def test_one_job_too_many_in_the_system_is_rejected(schedule):
    """One core; every user may have 2 jobs waiting or running.

    ::
        0    5    10        20        30
        A---------B---------D---------E---    C arrives at 5, when ann has A and B; E at 10, when A has just ended.
    """
    got = schedule(
        site(1, {"per": "user", "submitted_jobs": 2}),
        job(0, 10, user="ann"),
        job(0, 10, user="ann"),
        job(5, 10, user="ann"),
        job(5, 10, user="bo"),
        job(10, 10, user="ann"),
    )
    assert got.starts == [0, 10, None, 20, 30]
    assert got.states[2] == "rejected"
    if got.reasons is not None:
        assert got.reasons[2] == "user ann has 2 of 2 jobs in the system"


def test_core_minutes_let_a_job_in_by_time_alone(schedule):
    """ann may have 10 core-minutes, that is 600 core-seconds, still to run. A: 2 cores for 300 s: all of them.

    B (1 core, 60 s) starts when 2 (300 - t) + 60 = 600: at 30, though nothing happens then. C (1 core, 121 s) when
    2 (300 - t) + (90 - t) + 121 = 600: at 211 / 3 = 70.333..., rounded up. D (660 core-seconds) never.
    """
    got = schedule(
        site(8, {"user": "ann", "running_core_minutes": 10}),
        job(0, 300, 2, user="ann"),
        job(0, 60, 1, user="ann"),
        job(0, 121, 1, user="ann"),
        job(0, 660, 1, user="ann"),
    )
    assert got.starts == [0, 30, 70.333334, None]
    assert got.backfilled == [False] * 4


def test_core_minutes_let_a_job_overtake_by_time_alone(schedule):
    """The same behind a blocked job: A as before, B (bo) wants all 8 cores and has its place at 300.

    C (ann, 1 core, 60 s) is let in at 30, and ends before 300.
    """
    got = schedule(
        site(8, {"user": "ann", "running_core_minutes": 10}),
        job(0, 300, 2, user="ann"),
        job(0, 10, 8, user="bo"),
        job(0, 60, 1, user="ann"),
    )
    assert got.starts == [0, 300, 30]
    assert got.backfilled == [False, False, True]


def test_core_minutes_wake_also_for_a_job_that_does_not_fit(schedule):
    """4 cores, 240 core-seconds for all. A: 2 cores, asks for 21 s, ends after 7. B (3 cores, 56 s) has a place at 21.

    C (1 core, 70 s) starts beside it; with 42 + 70 core-seconds in use B (168) is at the limit, and has no place any
    more from the next pass on. E (4 cores, 35 s: 140) is let in when 12 of them are gone, at 4: that pass is the next,
    and D (1 core, 42 s), which was in B's way, starts. At 18 D ends, and B is let in: 52 + 168 = 220.
    """
    got = schedule(
        site(4, {"running_core_minutes": 4}),
        job(0, 21, 2, run_time=7),
        job(0, 56, 3, run_time=0),
        job(0, 70, 1, run_time=56),
        job(0, 42, 1, run_time=14),
        job(0, 35, 4, run_time=20),
    )
    assert got.starts == [0, 18, 0, 4, 56]


LARGEST_FACTOR = {"order": "expansion", "backfill": "none"}
"""By (wait + estimate) / estimate: which job is first changes while nothing happens."""


def test_core_minutes_do_not_wake_for_a_job_that_another_limit_refuses(schedule):
    """4 cores; ann may have one job, and 240 core-seconds. A (ann) has 200 of these, on 2 cores until 100.

    C (ann, 140 core-seconds) would be let in at 50 by them, but is not before 100. So there is no pass at 50. At 40 B
    (factor 1.4) is before D (1.0); at 50 D would be before B. At 100 D starts, then B, and C behind them.
    """
    got = schedule(
        site(4, {"user": "ann", "running_core_minutes": 4, "running_jobs": 1}, scheduler=LARGEST_FACTOR),
        job(0, 100, 2, user="ann"),
        job(0, 100, 4, user="bo"),
        job(0, 140, 1, user="ann"),
        job(40, 10, 2, user="bo"),
    )
    assert got.starts == [0, 110, 210, 100]


def test_core_minutes_do_not_wake_for_a_job_that_has_gone(schedule):
    """The same without the limit of one job. C was to be let in at 50, and is withdrawn at 42: then B (1.42) is still
    before D (1.2), and there is no pass at 50."""
    got = schedule(
        site(4, {"user": "ann", "running_core_minutes": 4}, scheduler=LARGEST_FACTOR),
        job(0, 100, 2, user="ann"),
        job(0, 100, 4, user="bo"),
        job(0, 140, 1, user="ann", cancel=42),
        job(40, 10, 2, user="bo"),
    )
    assert got.starts == [0, 110, None, 100]


def test_core_minutes_wake_earlier_when_a_job_ends_elsewhere(schedule):
    """ann may have 240 core-seconds: A (60) and B (180) have them, in one queue. C (1 core, 110 s) waits in another,
    which shares no node with the first, until 27.5: then 4 x 27.5 = 110 are gone.

    A ends early, at 10. Of B's 180 there are 150 left, so C is 20 too many, and let in 20 / 3 s later.
    """
    nodes = [{"name": "a", "cores": 4, "count": 1}, {"name": "b", "cores": 4, "count": 1}]
    queues = {"left": {"nodes": "a"}, "right": {"nodes": "b"}}
    got = schedule(
        {"nodes": nodes, "queues": queues, "limits": [{"user": "ann", "running_core_minutes": 4}]},
        job(0, 60, 1, user="ann", queue="left", run_time=10),
        job(0, 60, 3, user="ann", queue="left"),
        job(0, 110, 1, user="ann", queue="right"),
    )
    assert got.starts == [0, 0, 16.666667]


def test_a_limit_by_name_takes_the_place_of_one_for_each(schedule):
    """Every user may have 1 job, ann 2: A and B run, C waits. bo may not have more for it: his limit says less.

    It names a quality of service as well, so it is not one that says the same of the others.
    """
    got = schedule(
        site(
            16,
            {"per": "user", "running_jobs": 1},
            {"user": "ann", "running_jobs": 2},
            {"user": "bo", "qos": "high", "running_jobs": 5},
        ),
        job(0, 10, user="ann"),
        job(0, 10, user="ann"),
        job(0, 10, user="ann"),
        job(0, 10, user="bo", qos="high"),
        job(0, 10, user="bo", qos="high"),
    )
    assert got.starts == [0, 0, 10, 0, 10]


def test_only_the_caps_that_it_gives_take_another_s_place(schedule):
    """Every user may have 1 job and 2 cores; ann 3 jobs: A and B, but C would be her third core."""
    got = schedule(
        site(16, {"per": "user", "running_jobs": 1, "running_cores": 2}, {"user": "ann", "running_jobs": 3}),
        job(0, 10, user="ann"),
        job(0, 10, user="ann"),
        job(0, 10, user="ann"),
        job(0, 10, user="bo"),
        job(0, 10, user="bo"),
    )
    assert got.starts == [0, 0, 10, 0, 10]


def test_the_cap_of_a_queue_for_each_user_gives_way_to_a_name(schedule):
    """In q every user may have 1 job, ann 2. In r, where nothing is said, she may have more."""
    got = schedule(
        site(
            16,
            {"user": "ann", "queue": "q", "running_jobs": 2},
            queues={"q": {"per_user": {"running_jobs": 1}}, "r": {}},
        ),
        job(0, 10, user="ann", queue="q"),
        job(0, 10, user="ann", queue="q"),
        job(0, 10, user="ann", queue="q"),
        job(0, 10, user="bo", queue="q"),
        job(0, 10, user="bo", queue="q"),
        job(0, 10, user="ann", queue="r"),
    )
    assert got.starts == [0, 0, 10, 0, 10, 0]


def test_an_exclusive_job_counts_the_cores_that_it_asks_for(schedule):
    """ann may have 2 cores: two jobs of 1 core, each with a node of 4 for itself, are no more than that."""
    cluster = {
        "nodes": [{"count": 3, "cores": 4, "features": ["any"]}],
        "limits": [{"user": "ann", "running_cores": 2}],
        "scheduler": {"place": "first-fit"},
    }
    got = schedule(cluster, *(job(0, 10, 1, user="ann", exclusive=1) for _ in range(3)))
    assert got.starts == [0, 0, 10]
    assert got.nodes == ["0:4", "1:4", "0:4"]


def test_without_backfilling_a_job_at_a_limit_blocks_nobody(schedule):
    """4 cores; ann may have 2. B (ann) is at her limit until 10, so C (bo) starts.

    ::
        0         10   15   20
        A---------B----          At 10 B comes first again. D (4 cores) waits for it, and E (1 core) for D: nobody
        C---------     D----E    overtakes here.
    """
    got = schedule(
        site(4, {"user": "ann", "running_cores": 2}, backfill="none"),
        job(0, 10, 2, user="ann"),
        job(0, 5, 1, user="ann"),
        job(0, 10, 2, user="bo"),
        job(0, 5, 4, user="bo"),
        job(0, 1, 1, user="bo"),
    )
    assert got.starts == [0, 10, 0, 15, 20]


def test_a_promise_is_lost_at_a_limit(schedule):
    """Conservative, 4 cores; ann may have one job. Nobody of ann's runs when B and C are promised 10.

    ::
        0         10 12 13       20
        A---------B---------          A: bo, all cores. At 10 B starts, and C is at its limit: the promise is lost. E
        A---------  ED----       C    (1 s) comes at 12 and finds room. D, promised 20, moves when E ends: to 13.
    """
    got = schedule(
        site(4, {"user": "ann", "running_jobs": 1}, backfill="conservative"),
        job(0, 10, 4, user="bo"),
        job(0, 10, 2, user="ann"),
        job(0, 10, 2, user="ann"),
        job(0, 5, 2, user="bo"),
        job(12, 1, 1, user="bo"),
    )
    assert got.starts == [0, 10, 20, 13, 12]
    assert got.backfilled == [False, False, False, False, True]  # D waits before E


def test_a_promise_is_lost_at_the_pass_after_a_start_elsewhere(schedule):
    """Conservative; ann may have 5 cores. `right` and `left` share no node, and `right` is looked at first.

    A and B wait in `left`, 4 cores: A (ann, 2 cores) runs to 4, and B (ann, 3 cores) is promised 4. At 3 D (ann, 2
    cores) starts in `right`. So B is at the limit in the pass of `left` that follows, and C (bo, 2 cores) starts at 3.
    At 4 ann has 2 cores, and B is promised the end of C.
    """
    nodes = [{"name": "a", "cores": 4, "count": 1}, {"name": "b", "cores": 4, "count": 1}]
    queues = {"right": {"nodes": "b"}, "left": {"nodes": "a"}}
    got = schedule(
        {
            "nodes": nodes,
            "queues": queues,
            "limits": [{"user": "ann", "running_cores": 5}],
            "scheduler": {"backfill": "conservative"},
        },
        job(0, 4, 2, user="ann", queue="left"),
        job(0, 9, 3, user="ann", queue="left"),
        job(3, 7, 2, user="bo", queue="left"),
        job(3, 8, 2, user="ann", queue="right"),
    )
    assert got.starts == [0, 10, 3, 3]


def test_a_limit_that_moves_elsewhere_lets_in_a_job_with_a_choice_of_queues(schedule):
    """ann may have one job: A, in `right`. B (ann) may run in `left` or `also`, which share no node with it. When A
    ends, at 10, nothing happens where B waits but that its limit has moved."""
    nodes = [{"name": "a", "cores": 4, "count": 1}, {"name": "b", "cores": 4, "count": 1}]
    queues = {"left": {"nodes": "a"}, "also": {"nodes": "a"}, "right": {"nodes": "b"}}
    got = schedule(
        {"nodes": nodes, "queues": queues, "limits": [{"user": "ann", "running_jobs": 1}]},
        job(0, 10, 1, user="ann", queue="right"),
        job(1, 10, 1, user="ann", queue="left,also"),
    )
    assert got.starts == [0, 10]


def test_a_promise_whose_queue_is_at_a_limit_is_lost_where_another_queue_has_no_room(schedule):
    """`small` may have one job; it has four cores, as `large`. A and B have their places there at 0, C its own in
    `large`. A fills the limit, and C keeps `large`: so B, which may be in either, waits until 10."""
    nodes = [{"name": "s", "cores": 4, "count": 1}, {"name": "l", "cores": 4, "count": 1}]
    queues = {"small": {"nodes": "s", "running_jobs": 1}, "large": {"nodes": "l"}}
    got = schedule(
        {"nodes": nodes, "queues": queues, "scheduler": {"backfill": "conservative"}},
        *[job(0, 10, cores, queue="small,large") for cores in (2, 2, 4)],
    )
    assert got.starts == [0, 10, 0]
