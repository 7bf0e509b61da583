"""Dates of a scenario on the clock of its workload, and nodes under their own names."""

import pytest

from walltime.api import simulate
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.explaining import explain
from walltime.scenario import parse, resolve


@pytest.fixture
def log(tmp_path):
    """Two jobs of ten minutes on four cores, at 14:00 and 14:01 in Prague, in summer."""
    path = tmp_path / "log.sacct"
    path.write_text(
        "JobID|Submit|Start|End|Timelimit|ReqCPUS|NNodes|State\n"
        "1|2026-10-14T14:00:00|2026-10-14T14:00:00|2026-10-14T14:10:00|00:10:00|4|1|COMPLETED\n"
        "2|2026-10-14T14:01:00|2026-10-14T14:10:00|2026-10-14T14:20:00|00:10:00|4|1|COMPLETED\n"
    )
    return str(path)


def scenario(log, **others):
    cluster = {
        "nodes": {"name": "cn[08-09]", "cores": 4},
        "reservations": [{"name": "m", "start": "2026-10-14T14:00:30", "length": "1h", "nodes": "cn09"}],
    }
    return parse({"workload": {"trace": log}, "timezone": "Europe/Prague", "cluster": cluster} | others)


def test_a_reservation_begins_at_its_date(log):
    given = scenario(log)
    resolved = resolve(given, given.read_workload())
    assert resolved.clusters[0].reservations[0].start == 14 * 3600 + 30  # after the midnight of the first day
    assert simulate(given).jobs["start"].to_list() == [14 * 3600, 14 * 3600 + 600]  # cn09 is shut for the second


def test_until_a_date(log):
    assert simulate(scenario(log, until="2026-10-14T14:05")).jobs["state"].to_list() == ["running", "waiting"]


def test_a_date_without_a_clock_is_refused():
    jobs = Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    given = parse({"workload": jobs, "cluster": {"cores": 4}, "until": "2026-10-14T14:05"})
    with pytest.raises(InputError, match="until: a date, but the workload does not say when"):
        resolve(given, jobs)


def test_a_date_before_the_log_names_its_key(log):
    reservations = [{"name": "m", "start": "2025-01-01", "length": 60}]
    given = scenario(log, cluster={"cores": 4, "reservations": reservations})
    with pytest.raises(InputError, match=r"cluster\.reservations\.0\.start: a date before the workload's time zero"):
        resolve(given, given.read_workload())


def test_failures_that_are_over_before_the_log_are_left_out(log):
    """Zero is midnight of the 14th; the second has half an hour left then, the third is not over."""
    ats = ("2026-10-13T12:00", "2026-10-13T23:30", "2026-10-14T14:05")
    failures = [{"nodes": "cn09", "at": at, "length": "1h"} for at in ats]
    given = scenario(log, cluster={"nodes": {"name": "cn[08-09]", "cores": 4}, "failures": failures})
    found = resolve(given, given.read_workload()).clusters[0].failures
    assert [(one.at, one.length) for one in found] == [(0, 1800), (14 * 3600 + 300, 3600)]


def test_from_today_reservations_that_are_over_are_left_out_too(log, tmp_path):
    (tmp_path / "q.txt").write_text(
        "JOBID|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME\n9|RUNNING|4|1:00:00|2026-10-14T12:00|2026-10-14T12:00\n"
    )
    times = (("a", "2026-10-12", "1d"), ("b", "2026-10-13T11:00", "2h"), ("c", "2026-10-15", "1h"))
    reservations = [{"name": name, "start": start, "length": length, "nodes": "cn09"} for name, start, length in times]
    cluster = {"nodes": {"name": "cn[08-09]", "cores": 4}, "reservations": reservations}
    given = scenario(log, cluster=cluster, start={"time": "2026-10-14T12:30", "jobs": str(tmp_path / "q.txt")})
    found = resolve(given, given.read_workload()).clusters[0].reservations
    assert [(one.name, one.start, one.length) for one in found] == [("b", 0, 1800), ("c", 127_800, 3600)]
    weekly = [{"name": "m", "start": "2026-10-01", "length": 60, "every": "7d", "nodes": "cn09"}]
    given = scenario(log, cluster=cluster | {"reservations": weekly}, start=given.start.model_dump(exclude_unset=True))
    with pytest.raises(InputError, match=r"reservations\.0\.start: a date before"):
        resolve(given, given.read_workload())


def test_a_log_is_read_in_the_scenarios_zone(log):
    assert scenario(log).read_workload().origin.timezone == "Europe/Prague"


def test_nodes_have_the_names_that_their_group_spells_out():
    cluster = parse({"workload": "x", "cluster": {"nodes": [{"name": "cn[08-11]", "cores": 4}, "2x4"]}}).clusters[0]
    layout = cluster.layout()
    assert layout.names() == ["cn08", "cn09", "cn10", "cn11", "n0", "n1"]
    assert layout.select(["cn[09-10]", "n"]).tolist() == [False, True, True, False, True, True]
    assert layout.select(["cn[08-11]"]).sum() == 4


@pytest.mark.parametrize("name", ["cn[08-11]", "cn[8-", "cn[9-8]"])
def test_a_count_that_is_not_that_of_the_names_is_refused(name):
    with pytest.raises(InputError, match=r"names in|brackets|not a range"):
        parse({"workload": "x", "cluster": {"nodes": {"name": name, "cores": 4, "count": 3}}})


def test_an_explanation_names_jobs_as_the_log_does_and_tells_dates(log):
    with open(log, "a") as file:
        file.write("7_3|2026-10-14T14:02:00|2026-10-14T14:20:00|2026-10-14T14:30:00|00:10:00|4|1|COMPLETED\n")
    result = simulate(scenario(log))
    told = explain(result, "7_3", at="2026-10-14T14:03:00")
    assert told.job == "7_3"
    assert "submitted at 2026-10-14 14:02:00" in str(told)
    assert "started   at 2026-10-14 14:20:00" in str(told)
    assert "At 2026-10-14 14:03:00: 1 before it, of 2 waiting" in str(told)
    later = explain(result, "2")
    assert {one.job for one in later.overtakers} <= {"1", "7_3"}
    with pytest.raises(InputError, match="did not wait for the scheduler at: '2026-10-14 14:25:00'"):
        explain(result, "7_3", at="2026-10-14T14:25")
