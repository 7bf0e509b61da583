"""Runs that begin from a system as it stands: who goes first by what sshare told, computed by hand."""

from __future__ import annotations

import math

import pytest

import walltime
from walltime.core.errors import InputError

SQUEUE = """\
JOBID|STATE|USER|ACCOUNT|PARTITION|QOS|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|PRIORITY|REASON
1|RUNNING|ann|phys|long|normal|4|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|30:00|100|None
2|PENDING|ann|phys|long|normal|4|1|1:00:00|2026-11-15T11:40:00|N/A|0:00|90|Resources
3|PENDING|bo|phys|long|normal|4|1|1:00:00|2026-11-15T11:50:00|N/A|0:00|90|Priority
4|PENDING|cy|bio|long|normal|4|1|1:00:00|2026-11-15T11:55:00|N/A|0:00|90|Priority
"""
SSHARE = """\
Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
root||||165600||
 phys||1|0.5|21600||
 phys|ann|1|0.5|18000||
 phys|bo|1|0.5|3600||
 bio||1|0.5|144000||
 bio|cy|1|1|144000||
"""
START = 86_400.0  # noon, a day after time zero
FAIR_TREE = {"name": "fairshare", "formula": "fair-tree", "interval": 60}


@pytest.fixture
def site(tmp_path):
    """A scenario from today's files, by its order and further keys of `start`."""
    (tmp_path / "squeue.txt").write_text(SQUEUE, encoding="utf-8")
    (tmp_path / "sshare.txt").write_text(SSHARE, encoding="utf-8")
    (tmp_path / "log.csv").write_text(
        "submit,run_time,requested_time,cores,user\n90000,10,20,1,ann\n", encoding="utf-8"
    )

    def make(order, squeue=SQUEUE, **more):
        (tmp_path / "squeue.txt").write_text(squeue, encoding="utf-8")
        accounts = {"phys": {"shares": 1, "users": ["ann", "bo"]}, "bio": {"shares": 1, "users": "cy"}}
        start = {"time": "2026-11-15T12:00:00", "jobs": str(tmp_path / "squeue.txt")} | more
        cluster = {"cores": 4, "accounts": accounts, "scheduler": {"order": order, "backfill": "easy"}}
        return {"workload": {"trace": str(tmp_path / "log.csv")}, "cluster": cluster, "start": start}

    make.usage = str(tmp_path / "sshare.txt")
    return make


def starts(result):
    rows = result.jobs.filter(result.jobs["name"].is_in(["1", "2", "3", "4"])).sort("start")
    return dict(zip(rows["name"], rows["start"], strict=True))


def test_usage_decides_who_goes_first(site):
    """At 12:30 cores are free. Of 165,600 core-seconds (and 7,200 more by then) biology has used 87 % and physics 13 %,
    within physics ann 83 % and bo 17 %: bo, and an hour later, with bo's 14,400 more, ann; cy last. Without usage only
    what runs today counts: that is ann's, so cy, bo, ann. First come, first served: ann, bo, cy."""
    told = starts(walltime.simulate(site(FAIR_TREE, usage=site.usage)))
    assert list(told) == ["1", "3", "2", "4"]
    assert [time - START for time in told.values()] == [-1800, 1800, 5400, 9000]
    assert list(starts(walltime.simulate(site(FAIR_TREE)))) == ["1", "4", "3", "2"]
    assert list(starts(walltime.simulate(site("fcfs")))) == ["1", "2", "3", "4"]


def test_at_the_start_usage_is_what_sshare_told_and_decays_from_there(site):
    result = walltime.simulate(site(FAIR_TREE, usage=site.usage))
    usage = {(row[0], row[2]): row[3] for row in result.series.filter(series="usage").rows()}
    assert usage[START, "phys/ann"] == pytest.approx(18_000)
    assert usage[START, "phys/bo"] == pytest.approx(3_600)
    assert usage[START, "bio/cy"] == pytest.approx(144_000)
    week, later = 7 * 86_400, START + 1800
    left = 2 ** (-1800 / week)
    assert usage[later, "bio/cy"] == pytest.approx(144_000 * left)
    assert usage[later, "phys/ann"] == pytest.approx(18_000 * left + 4 * week / math.log(2) * (1 - left))


def test_multifactor_from_today_by_hand(site):
    """The classic factor: E = u + (E of the account - u) x share among its users; F = 2^-(E / S); and age since the
    submission of squeue, of a week at most."""
    order = {"name": "multifactor", "weights": {"age": 1000, "fairshare": 10_000}, "interval": 0}
    order["fairshare"] = {"formula": "classic"}
    result = walltime.simulate(site(order, usage=site.usage))
    whole, factors = 165_600, {}
    for name, used, account, among, share in (
        ("2", 18_000, 21_600, 0.5, 0.25),
        ("3", 3_600, 21_600, 0.5, 0.25),
        ("4", 144_000, 144_000, 1.0, 0.5),
    ):
        own = used / whole
        factors[name] = 2 ** -((own + (account / whole - own) * among) / share)
    for name, submitted in (("2", 1200), ("3", 600), ("4", 300)):
        told = walltime.explain(result, name)
        parts = next(one.parts for one in told.standings if one.time == START)
        assert parts["fairshare"] == pytest.approx(10_000 * factors[name], rel=1e-6)
        assert parts["age"] == pytest.approx(1000 * submitted / (7 * 86_400), rel=1e-6)
    assert list(starts(result)) == ["1", "3", "2", "4"]


def test_a_prediction_with_fair_share_depends_on_who_asks(site):
    """Bo's job goes before those of everybody but his own; cy, who has used most, waits for all of them."""
    scenario = site(FAIR_TREE, usage=site.usage)
    waits = {}
    for user, account in (("bo", "phys"), ("cy", "bio")):
        asked = {"cores": 4, "time": "1h", "user": user, "account": account, "runs": 3, "arrivals": False}
        waits[user] = walltime.predict(scenario, **asked).quantile(0.5)
    assert waits["bo"] < waits["cy"]


def test_a_name_that_the_cluster_does_not_have_is_refused(site):
    scenario = site({"name": "multifactor", "weights": {"qos": 1}, "qos": {"normal": 1, "high": 2}})
    scenario["cluster"]["queues"] = {"long": {"default": True}, "gpu": {}}
    asked = {"cores": 4, "time": "1h", "runs": 1, "arrivals": False}
    for given in ({"queue": "gpuu"}, {"queue": "long,gpuu"}, {"account": "bioo"}, {"qos": "hihg"}):
        (name,) = given
        with pytest.raises(InputError, match=f"the clusters have no such {name}"):
            walltime.predict(scenario, **asked, **given)
    walltime.predict(scenario, **asked, queue="long,gpu", account="bio", qos="high")
    scenario["cluster"] |= {"queues": {"long": {}}, "routes": [{"queue": "long"}]}
    walltime.predict(scenario, **asked, queue="other")


@pytest.mark.parametrize("own", [{}, {"timezone": "America/New_York"}])
def test_dates_without_a_zone_are_of_the_start_else_of_the_scenario(site, own):
    scenario = site("fcfs", **own) | {"timezone": "Asia/Kolkata"}
    origin = walltime.simulate(scenario).summary["origin"]
    hours = {"Asia/Kolkata": -5.5, "America/New_York": 5}
    zone = own.get("timezone", "Asia/Kolkata")
    assert origin == {"epoch": 1794657600.0 + 3600 * hours[zone], "timezone": zone}
    told = walltime.predict(scenario, cores=4, time="1h", runs=1, arrivals=False)
    assert told.date(0) == "2026-11-15 12:00:00"


def test_an_hour_that_summer_time_leaves_out_is_no_start(site):
    with pytest.raises(InputError, match="no such hour in Europe/Prague"):
        walltime.simulate(site("fcfs", time="2026-03-29T02:30") | {"timezone": "Europe/Prague"})


def test_an_array_of_which_some_tasks_run_keeps_its_limit(site):
    squeue = SQUEUE.splitlines()[0] + "\n"
    squeue += "9_1|RUNNING|ann|phys|long|normal|1|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|30:00|1|None\n"
    squeue += "9_[2-4%2]|PENDING|ann|phys|long|normal|1|1|1:00:00|2026-11-15T11:00:00|N/A|0:00|1|JobArrayTaskLimit\n"
    result = walltime.simulate(site("fcfs", squeue=squeue))
    begun = {name: start - START for name, start in result.jobs.select("name", "start").rows() if "_" in name}
    assert begun == {"9_1": -1800, "9_2": 0, "9_3": 1800, "9_4": 3600}


def test_a_begin_time_of_squeue_holds(site):
    squeue = SQUEUE.splitlines()[0] + "\n"
    squeue += "5|PENDING|bo|phys|long|normal|1|1|1:00:00|2026-11-15T11:00:00|2026-11-15T13:00:00|0:00|1|BeginTime\n"
    result = walltime.simulate(site("fcfs", squeue=squeue))
    assert result.jobs.filter(result.jobs["name"] == "5")["start"][0] == START + 3600


def test_without_a_limit_the_queue_must_have_one(site):
    unlimited = SQUEUE.replace("|1:00:00|2026-11-15T11:00", "|UNLIMITED|2026-11-15T11:00")
    with pytest.raises(InputError, match="max_time"):
        walltime.simulate(site("fcfs", squeue=unlimited))
    scenario = site("fcfs", squeue=unlimited)
    scenario["cluster"]["queues"] = {"long": {"default_time": "1h", "default": True}}
    with pytest.raises(InputError, match="max_time"):  # the default is for jobs that say nothing
        walltime.simulate(scenario)
    scenario = site("fcfs", squeue=unlimited)
    scenario["cluster"]["queues"] = {"long": {"max_time": "2h", "default": True}}
    result = walltime.simulate(scenario)
    assert result.jobs.filter(result.jobs["name"] == "1")["end"][0] == START - 1800 + 7200


@pytest.mark.parametrize("time", ["2026-11-15", "2026-11-15T11:14:00", "2026-11-15T12:00:00+01:00"])
def test_a_snapshot_of_after_the_start_is_refused(site, time):
    """Its jobs were taken for jobs of that very moment: another day, or another zone, changed the answer unsaid."""
    with pytest.raises(InputError, match=r"after start\.time"):
        walltime.simulate(site("fcfs", time=time))


def test_a_snapshot_is_taken_about_when_somebody_said(site):
    assert starts(walltime.simulate(site("fcfs", time="2026-11-15T11:50:00")))["1"] == START - 1200


def test_a_date_without_quotation_marks_is_one(site, tmp_path):
    made = site("fcfs")
    file = tmp_path / "site.yaml"
    lines = ["workload: log.csv", "cluster: {cores: 4}", "start: {time: 2026-11-15T12:00:00, jobs: squeue.txt}"]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert starts(walltime.simulate(file)) == starts(walltime.simulate(made | {"cluster": {"cores": 4}}))
