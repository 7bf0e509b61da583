"""Simulations that begin from a system as it stands: schedules worked out by hand, in hours from the start."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import InputError

HOUR = 3600
NOON = "2026-11-15T12:00:00"
SQUEUE = """\
JOBID|STATE|USER|ACCOUNT|PARTITION|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|REASON
101|RUNNING|ann|phys|long|6|1-00:00:00|2026-11-14T20:00:00|2026-11-15T06:00:00|6:00:00|None
102|RUNNING|bo|bio|long|2|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|30:00|None
103|PENDING|cy|bio|long|8|1:00:00|2026-11-15T10:00:00|N/A|0:00|Resources
104|PENDING|ann|phys|long|2|1:00:00|2026-11-15T11:59:00|N/A|0:00|Priority
"""


@pytest.fixture
def today(tmp_path):
    """8 cores. 101 has 6 of them for 18 hours more, 102 two for 1.5 hours; 103 wants all 8, 104 two for an hour."""
    (tmp_path / "squeue.txt").write_text(SQUEUE, encoding="utf-8")

    def run(jobs=((1.0, 1.0, 2),), squeue=None, **cluster):
        """With jobs to come as (hours after noon, hours, cores)."""
        if squeue is not None:
            (tmp_path / "squeue.txt").write_text(squeue, encoding="utf-8")
        submit, time, cores = zip(*jobs, strict=True)
        hours = [value * HOUR for value in time]
        table = walltime.Workload.from_columns(
            name=[f"new{number}" for number in range(len(jobs))],
            submit=[value * HOUR for value in submit],
            run_time=hours,
            requested_time=hours,
            cores=cores,
        )
        scenario = {
            "workload": {"table": table},
            "cluster": {"cores": 8} | cluster,
            "start": {"time": NOON, "jobs": str(tmp_path / "squeue.txt")},
        }
        result = walltime.simulate(scenario)
        noon = result.record.facts["start"]["time"]
        return result, {row["name"]: (row["start"] - noon) / HOUR for row in result.jobs.iter_rows(named=True)}

    return run


def test_running_jobs_keep_what_they_have_and_the_waiting_are_scheduled_from_the_start_on(today):
    """Until 1.5 everything is taken. Then 104 starts (103's place is at 18), and at 2.5 the job that came at 1."""
    result, start = today()
    assert start == {"101": -6, "102": -0.5, "103": 18, "104": 1.5, "new0": 2.5}
    ends = dict(result.jobs.select("name", "end").rows())
    noon = result.record.facts["start"]["time"]
    assert (ends["101"] - noon) / HOUR == 18
    assert result.record.facts["start"] == {
        "time": 86_400.0,
        "running": 2,
        "waiting": 2,
        "left_out": {},
        "submission_unknown": 0,
    }
    assert not result.audit()


def test_what_waits_has_waited_already(today):
    """Longest wait over request first: 103 (1 h, waits since 10) is before 104; a new job of 8 cores is behind both."""
    result, start = today(((0.0, 1.0, 8),), scheduler={"order": "wfp3", "backfill": "none"})
    assert (start["103"], start["104"], start["new0"]) == (18, 20, 19)
    eligible = dict(result.jobs.select("name", "eligible").rows())
    assert result.record.facts["start"]["time"] - eligible["103"] == 2 * HOUR


def test_nobody_decides_before_the_start(today):
    """On 100 cores 103 and 104 would have started when they were submitted; they start at noon."""
    _, start = today(cores=100)
    assert (start["103"], start["104"], start["new0"]) == (0, 0, 1)


def test_in_slurms_rhythm_the_first_pass_is_at_the_start(today):
    _, start = today(scheduler={"backfill": "easy", "rhythm": {"name": "periodic", "bf_resolution": 1}})
    assert start["104"] == pytest.approx(1.5, abs=0.01)
    assert start["103"] == 18


def test_limits_do_not_stop_what_runs_already(today):
    """ann may have one running job, and has two. They run on, and her 104 waits for the ends of both; then 103 is
    first."""
    text = SQUEUE.replace("|bo|bio|", "|ann|phys|")
    _, start = today(squeue=text, limits=[{"user": "ann", "running_jobs": 1}])
    assert (start["101"], start["102"], start["103"], start["104"]) == (-6, -0.5, 18, 19)


def test_running_jobs_that_a_rule_would_never_let_in_are_refused(today):
    with pytest.raises(InputError, match="rule") as caught:
        today(limits=[{"user": "ann", "running_cores": 4}])
    assert caught.value.value == "101"
    with pytest.raises(InputError, match="rule") as caught:  # its place in the order of submission is the second
        today(squeue=SQUEUE.replace("102|", "102_7|"), limits=[{"user": "bo", "running_cores": 1}])
    assert caught.value.value == "102_7"


def test_running_jobs_that_do_not_fit_are_refused(today):
    with pytest.raises(InputError, match="do not all fit") as caught:
        today(squeue=SQUEUE.replace("102|", "102_7|"), cores=7)
    assert caught.value.value == "102_7"


def test_a_job_without_a_limit_needs_one_from_its_queue(today):
    text = SQUEUE.replace("|1:00:00|2026-11-15T10", "|UNLIMITED|2026-11-15T10")
    with pytest.raises(InputError, match="max_time nor default_time"):
        today(squeue=text)
    _, start = today(squeue=text, queues={"long": {"max_time": "1d", "default": True}})
    assert start["103"] == 18


def test_a_prediction_is_the_same_for_the_same_seed_and_knows_what_it_cannot_know(today, tmp_path):
    result, _ = today(((0.0, 1.0, 1), (2.0, 0.5, 1)))
    scenario = result.scenario
    first = walltime.predict(scenario, cores=8, time="1h", runs=10, arrivals=False)
    again = walltime.predict(scenario, cores=8, time="1h", runs=10, arrivals=False)
    assert first.waits == again.waits
    assert first.runs == first.started == 10
    # Run times are exact in this workload, so 101 runs to its limit: 103 starts at 18 h, this job at 19.
    assert set(first.waits) == {19 * HOUR}
    assert first.quantile(0.5) == 19 * HOUR
    late = walltime.predict(scenario, cores=8, time="1h", runs=3, arrivals=False, horizon="10h")
    assert late.started == 0
    assert late.quantile(0.5) is None


def test_a_prediction_has_an_interval_from_how_wrong_plans_of_the_log_were(today):
    """By the requests 103 starts when 101 ends, at 18 h, and one of 8 cores behind it at 19 h; 104 starts at 1.5 h, and
    one of 2 cores behind it at 2.5 h.

    In the log every four hours a job has all cores for two hours and asks for four, and another comes soon after it: it
    is planned to wait for 3.9 hours, and starts two hours sooner."""
    jobs = [(4.0 * n + k / 8, 2.0 if k == 0 else 1.0, 8) for n in range(60) for k in range(2)]
    result, _ = today(jobs=jobs)
    table = result.scenario.workload.table
    columns = dict(table.columns) | {"requested_time": 2 * table.column("run_time")}
    workload = result.scenario.workload.model_copy(update={"table": table.replace(columns)})
    scenario = result.scenario.model_copy(update={"workload": workload})
    told = walltime.predict(scenario, cores=8, time="1h", runs=1, arrivals=False).interval
    assert told.planned == 19 * HOUR
    assert told.least is None
    assert told.past == 0  # no job of the log was planned to wait for that long
    soon = walltime.predict(scenario, cores=2, time="1h", runs=1, arrivals=False).interval
    assert soon.planned == 2.5 * HOUR  # behind 104, which has the cores of 102 from 1.5 h on
    assert soon.past == 60
    assert (soon.least, soon.most) == (0.5 * HOUR, 0.5 * HOUR)  # two hours sooner
    assert soon.coverage == 1.0
    assert walltime.predict(scenario, cores=2, time="1h", runs=1, interval=False).interval is None


def test_of_a_long_log_the_newest_jobs_are_replayed_and_the_first_of_these_not_learned_from(today):
    """As above. Of the newest 60 of 120 jobs the first 60 / 8 = 7 are left out, so 27 of the 30 that were planned to
    wait remain. The last job waits for the first of the log, which is not among them."""
    jobs = [(4.0 * n + k / 8, 2.0 if k == 0 else 1.0, 8) for n in range(60) for k in range(2)]
    result, _ = today(jobs=jobs)
    table = result.scenario.workload.table
    last = [""] * (len(table) - 1) + [f"afterany:{table.column('job_id')[0]}"]
    columns = dict(table.columns) | {"requested_time": 2 * table.column("run_time"), "dependencies": last}
    workload = result.scenario.workload.model_copy(update={"table": table.replace(columns)})
    scenario = result.scenario.model_copy(update={"workload": workload})
    asked = {"cores": 2, "time": "1h", "runs": 1, "arrivals": False}
    newest = walltime.predict(scenario, **asked, replay=60).interval
    assert (newest.replayed, newest.logged, newest.past) == (60, 120, 27)
    assert (newest.least, newest.most) == (0.5 * HOUR, 0.5 * HOUR)
    whole = walltime.predict(scenario, **asked).interval
    assert (whole.replayed, whole.logged, whole.past) == (120, 120, 60)
    with pytest.raises(InputError, match="at least one job"):
        walltime.predict(scenario, **asked, replay=0)


def test_a_prediction_for_a_job_that_can_never_run_is_refused(today):
    result, _ = today()
    with pytest.raises(InputError, match="rejected"):
        walltime.predict(result.scenario, cores=9, time="1h", runs=2)
    with pytest.raises(InputError, match="no `start`"):
        walltime.predict(result.scenario.model_copy(update={"start": None}), cores=1, time="1h", runs=2)
