"""A scenario's accounts, limits, caps and routes in Slurm's words: what is said, what is refused, what then happens."""

import re

import pytest

from walltime import Workload, simulate
from walltime.core.errors import InputError, UnsupportedError
from walltime.scenario import parse
from walltime.slurm.translate.quotas import spell_apart
from walltime.slurm.translate.routing import route
from walltime.slurm.translate.scenario import translate

PEOPLE = {
    "submit": [0] * 6,
    "run_time": [600] * 6,
    "requested_time": [600] * 6,
    "cores": [4, 4, 1, 2, 2, 1],
    "user": ["ann", "ann", "bo", "cy", "cy", "di"],
    "group": ["atlas", "atlas", "atlas", "bio", "bio", None],
}
CHARGED = PEOPLE | {"account": ["higgs", "higgs", "top", "genome", "genome", None], "qos": [None] * 5 + ["low"]}
TREE = {"site": {}, "physics": {"parent": "site"}, "higgs": {"parent": "physics"}, "top": {"parent": "physics"},
        "genome": {"parent": "site", "users": "di"}}  # fmt: skip


def made(columns=CHARGED, **cluster):
    jobs = Workload.from_columns(**columns)
    cluster = {"nodes": [{"count": 3, "cores": 4, "memory": "8G", "gpus": 2}]} | cluster
    scenario = parse({"workload": {"table": jobs}, "engine": "slurm", "cluster": cluster})
    return translate(scenario, route(scenario.clusters[0], jobs))


def limits(site):
    """The limits at every place that has some."""
    found = {}
    for entry in (site.associations.root, *site.associations.entries):
        if entry.limits:
            found[entry.user or entry.account] = dict(entry.limits)
    for quality in site.associations.qualities:
        rest = {name: value for name, value in quality.limits.items() if name != "Flags"}
        if rest:
            found[f"qos {quality.name}"] = rest
    return found


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([{"account": "physics", "running_cores": 5}], {"physics": {"GrpTRES": "cpu=5"}}),
        ([{"running_jobs": 9, "submitted_jobs": 20}], {"root": {"GrpJobs": "9", "GrpSubmitJobs": "20"}}),
        ([{"per": "user", "running_jobs": 2}, {"user": "ann", "running_jobs": 1}],
         {"ann": {"GrpJobs": "1"}, "bo": {"GrpJobs": "2"}, "cy": {"GrpJobs": "2"}, "di": {"GrpJobs": "2"}}),
        ([{"per": "account", "account": "physics", "running_gpus": 3}],
         {name: {"GrpTRES": "gres/gpu=3"} for name in ("physics", "higgs", "top")}),
        ([{"qos": "low", "running_core_minutes": 60, "running_memory": "4G"}],
         {"qos low": {"GrpTRESRunMins": "cpu=60", "GrpTRES": "mem=4096"}}),
        ([{"qos": "low", "per": "user", "running_cores": 4, "submitted_jobs": 2}],
         {"qos low": {"MaxTRESPU": "cpu=4", "MaxSubmitPU": "2"}}),
        ([{"per": "user", "account": "physics", "accruing_jobs": 3}, {"account": "physics", "accruing_jobs": 5}],
         {"ann": {"GrpJobsAccrue": "3"}, "bo": {"GrpJobsAccrue": "3"}, "physics": {"GrpJobsAccrue": "5"}}),
        ([{"qos": "low", "accruing_jobs": 4}, {"qos": "low", "per": "user", "accruing_jobs": 6}],
         {"qos low": {"GrpJobsAccrue": "4", "MaxJobsAccruePU": "6"}}),
        ([{"account": "physics", "per": "user", "running_jobs": 1}], {"ann": {"GrpJobs": "1"}, "bo": {"GrpJobs": "1"}}),
    ],
)  # fmt: skip
def test_limits_stand_where_slurm_counts_the_same_jobs(rules, told):
    assert limits(made(accounts=TREE, limits=rules)) == told


def test_caps_of_a_queue_are_a_quality_of_service_of_its_partition():
    queues = {
        "q": {"running_cores": 8, "per_user": {"running_jobs": 2}, "min_cores": 2, "accounts": "a", "default": True}
    }
    site = made(PEOPLE | {"account": list("aabbca")}, queues=queues, accounts={"a": {}, "b": {}})
    assert limits(site) == {"qos queue-q": {"GrpTRES": "cpu=8", "MaxJobsPU": "2", "MinTRES": "cpu=2"}}
    line = next(line for line in site.settings if line.startswith("PartitionName=q"))
    assert "QOS=queue-q" in line
    assert "AllowAccounts=a" in line.split()


def test_the_same_limit_of_a_queue_and_of_a_qos_is_refused_only_where_a_job_has_both():
    queues = {"q": {"running_cores": 8, "default": True}, "r": {}}
    rules = [{"qos": "low", "running_cores": 4}]
    site = made(CHARGED | {"queue": ["q"] * 5 + ["r"]}, queues=queues, limits=rules)
    assert limits(site) == {"qos queue-q": {"GrpTRES": "cpu=8"}, "qos low": {"GrpTRES": "cpu=4"}}
    for queue in ("q", "r,q", None):
        with pytest.raises(UnsupportedError, match="not at both"):
            made(CHARGED | {"queue": ["q"] * 5 + [queue]}, queues=queues, limits=rules)


def test_groups_are_accounts_where_there_are_none():
    site = made(PEOPLE, limits=[{"group": "atlas", "running_cores": 5}, {"per": "group", "running_jobs": 3}])
    assert limits(site) == {"atlas": {"GrpJobs": "3", "GrpTRES": "cpu=5"}, "bio": {"GrpJobs": "3"}}
    assert site.charges == "group"


def test_the_tree_is_the_scenarios():
    site = made(accounts=TREE)
    parents = {entry.account: entry.parent for entry in site.associations.entries if entry.user is None}
    assert parents == {"site": "root", "physics": "site", "higgs": "physics", "top": "physics", "genome": "site"}
    homes = {entry.user: entry.account for entry in site.associations.entries if entry.user and entry.is_default}
    assert homes == {"ann": "higgs", "bo": "top", "cy": "genome", "di": "genome"}


@pytest.mark.parametrize(
    ("cluster", "columns", "words"),
    [
        ({"limits": [{"group": "atlas", "running_jobs": 1}], "accounts": TREE}, CHARGED, ("limits.0", "groups")),
        ({"limits": [{"user": ["ann", "bo"], "running_jobs": 1}]}, CHARGED, ("limits.0", "together")),
        ({"limits": [{"user": "ann", "qos": "low", "running_jobs": 1, "optional": True}]}, CHARGED, ("limits.0",)),
        ({"limits": [{"per": "user", "running_jobs": 1}]}, CHARGED | {"account": list("abcdef")}, ("limits.0", "ann")),
        ({"limits": [{"qos": "low", "running_jobs": 1}], "queues": {"q": {"running_jobs": 2}}}, CHARGED,
         ("limits.0", "not at both")),
        ({"limits": [{"running_cores": 8}], "nodes": "3x4", "sharing": "whole"}, CHARGED, ("limits.0", "whole")),
        ({"limits": [{"running_cores": 8}], "nodes": "3x4", "queues": {"q": {"sharing": "whole", "default": True}}},
         CHARGED, ("limits.0", "whole")),
        ({"limits": [{"running_memory": "1G"}], "nodes": "3x4"}, CHARGED, ("limits.0", "memory")),
        ({"queues": {"q": {"per_account": {"running_jobs": 1}, "default": True}}, "accounts": TREE}, CHARGED,
         ("queues.q.per_account", "below")),
        ({"queues": {"q": {"groups": "atlas", "default": True}}}, PEOPLE | {"user": ["ann"] * 6},
         ("queues.q.groups", "ann")),
    ],
)  # fmt: skip
def test_what_slurm_cannot_count_is_refused_by_its_key(cluster, columns, words):
    with pytest.raises(UnsupportedError) as error:
        made(columns, **cluster)
    assert all(word in str(error.value) for word in words)


def test_names_that_slurm_could_not_tell_apart():
    assert spell_apart(["A", "a", "b c", "root"]) == {"A": "a", "a": "a_", "b c": "b_c", "root": "root_"}


def test_a_queue_of_nobody_is_an_error():
    with pytest.raises(InputError, match="'night'"):
        made(PEOPLE | {"queue": ["night"] * 6}, queues={"day": {}})


@pytest.mark.usefixtures("slurm")
def test_every_limit_is_kept():
    jobs = Workload.from_columns(
        name=["Alpha", "Beta", "Gamma", "Delta", "Eta", "Fi", "Gimel", "Het", "Iota", "Jot"],
        submit=[0, 0, 0, 60, 60, 120, 120, 180, 180, 240],
        run_time=[600, 600, 360, 300, 480, 240, 240, 120, 300, 120],
        requested_time=[600, 600, 360, 300, 480, 240, 3600, 120, 300, 120],
        cores=[4, 4, 1, 2, 10, 2, 2, 1, 1, 1],
        user=["ann", "ann", "bo", "cy", "ann", "cy", "cy", "cy", "di", "cy"],
        account=["higgs", "higgs", "top", "genome", "higgs", "genome", "genome", "genome", None, "genome"],
        qos=[None] * 5 + ["low", "low"] + [None] * 3,
    )
    rules = [
        {"account": "physics", "running_cores": 5},
        {"account": "site", "running_cores": 9},
        {"per": "user", "running_jobs": 2, "submitted_jobs": 3},
        {"user": "ann", "running_jobs": 1},
        {"qos": "low", "running_core_minutes": 10},
    ]
    settings = {"cluster": {"cores": 12, "accounts": TREE, "limits": rules}}
    slurm, native = (simulate(jobs, engine=engine, **settings) for engine in ("slurm", "native"))
    assert slurm.audit() == []
    rejected = [[job["name"] for job in result.jobs.iter_rows(named=True) if job["state"] == "rejected"]
                for result in (slurm, native)]  # fmt: skip
    assert rejected[0] == rejected[1] == ["Eta", "Gimel", "Jot"]
    start = dict(zip(slurm.jobs["name"], slurm.jobs["start"], strict=True))
    assert start["Beta"] >= 600  # of physics' five cores Alpha has four
    assert start["Het"] >= 240  # and of the site's nine, nine are in use
    both = slurm.jobs.join(native.jobs, on="job_id").filter(slurm.jobs["state"] == "completed")
    assert (both["start"] - both["start_right"]).abs().max() <= 90  # the controller's own beats


@pytest.mark.usefixtures("slurm")
def test_routes_access_and_caps_of_queues():
    jobs = Workload.from_columns(
        name=["Alloy", "Bond", "Core", "Dust", "Echo", "Flow", "Glow", "Haze", "Iron", "Jade", "Kilo"],
        submit=[0, 0, 60, 60, 120, 120, 180, 180, 240, 240, 240],
        run_time=[600, 360, 240, 1200, 300, 240, 180, 300, 300, 300, 300],
        requested_time=[600, 3600, 300, 1800, 300, 240, 180, 300, 4200, 300, 300],
        cores=[8, 4, 2, 4, 4, 8, 8, 1, 8, 1, 1],
        queue=[None, None, "debug", None, "debug,fast", None, "fast", "debug", "fast", "long", "long"],
        user=["ann", "ann", "bo", "bo", "ann", "cy", "cy", "cy", "bo", "cy", "cy"],
    )
    cluster = {
        "nodes": [{"count": 2, "cores": 4, "name": "a"}, {"count": 1, "cores": 4, "name": "d"}],
        "queues": {
            "debug": {"nodes": "d", "max_time": "10m", "max_cores": 4, "priority": 10, "users": ["ann", "bo"]},
            "fast": {"nodes": "a", "max_time": "1h", "priority": 5},
            "long": {"nodes": "a", "priority": 1, "per_user": {"running_jobs": 1}},
        },
        "routes": [{"queue": "fast", "max_time": "20m"}, {"queue": "long"}],
    }
    result = simulate(jobs, engine="slurm", cluster=cluster)
    assert result.audit() == []
    ran = dict(zip(result.jobs["name"], result.jobs["queue"], strict=True))
    assert (ran["Alloy"], ran["Bond"], ran["Echo"]) == ("fast", "long", "debug")
    states = dict(zip(result.jobs["name"], result.jobs["state"], strict=True))
    assert [name for name, state in states.items() if state == "rejected"] == ["Haze", "Iron"]
    reasons = " ".join(result.record.facts["rejected_reasons"])
    assert re.search("group", reasons)
    assert re.search("time", reasons)


@pytest.mark.usefixtures("slurm")
def test_where_nothing_is_limited_no_limit_stops_a_queue():
    jobs = Workload.from_columns(submit=[0, 0], run_time=[60, 60], requested_time=[60, 60], cores=[4, 4])
    scheduler = {"rhythm": {"name": "slurm", "assoc_limit_stop": True}, "backfill": "conservative"}
    cluster = {"nodes": "1x4", "scheduler": scheduler}
    assert set(simulate(jobs, engine="slurm", cluster=cluster).jobs["state"]) == {"completed"}
    told = made(accounts=TREE, scheduler=scheduler).settings
    assert any("assoc_limit_stop" in line for line in told)


def test_usage_that_is_never_forgotten_is_a_half_life_of_zero():
    order = {"name": "multifactor", "weights": {"fairshare": 10}, "fairshare": {"half_life": "0s"}}
    settings = made(accounts=TREE, scheduler={"order": order}).settings
    assert {"PriorityDecayHalfLife=0", "PriorityUsageResetPeriod=NOW"} <= {*settings}
    with pytest.raises(InputError, match="whole minutes"):
        made(accounts=TREE, scheduler={"order": order | {"interval": "0s"}})
