"""From today with GPUs: what running jobs hold is not free, and a prediction asks for what the job asks for."""

import pytest

import walltime
from walltime.core.errors import InputError

SQUEUE = """JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TRES_PER_NODE|MIN_MEMORY
1|RUNNING|ann|2|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|gres:gpu:4|1G
2|PENDING|bo|2|1|1:00:00|2026-11-15T11:40:00|N/A|gres:gpu:4|1G
3|PENDING|cy|2|1|1:00:00|2026-11-15T11:50:00|N/A|N/A|1G
"""


@pytest.fixture
def scenario(tmp_path):
    """One node with 4 GPUs, all of them in use until 13:30."""
    (tmp_path / "squeue.txt").write_text(SQUEUE)
    (tmp_path / "log.csv").write_text("submit,run_time,requested_time,cores\n0,3600,3600,1\n")
    return {
        "workload": str(tmp_path / "log.csv"),
        "cluster": {"nodes": {"count": 1, "cores": 8, "gpus": 4, "memory": "8G"}},
        "start": {"time": "2026-11-15T12:00:00", "jobs": str(tmp_path / "squeue.txt")},
    }


def test_a_job_with_gpus_waits_for_them_and_one_without_does_not(scenario):
    result = walltime.simulate(scenario)
    jobs = {row["job_id"]: row for row in result.jobs.iter_rows(named=True)}
    begun = {number: row["start"] - jobs[1]["start"] for number, row in jobs.items() if number in (2, 3)}
    assert begun == {2: 2 * 3600, 3: 1800}  # at the end of job 1, and at the opening


def test_a_prediction_depends_on_the_gpus(scenario):
    asked = {"cores": 1, "time": "1h", "runs": 2, "arrivals": False}
    without, with_gpus = (walltime.predict(scenario, **asked, **more).waits for more in ({}, {"gpus": 4}))
    assert without == (0.0, 0.0)
    assert with_gpus == (2.5 * 3600, 2.5 * 3600)  # after jobs 1 and 2; every job of the log ran for its whole request
    assert walltime.predict(scenario, **asked, memory="7G").waits[0] == 3600  # when job 3, with 1 GiB, has ended
    with pytest.raises(InputError, match="memory is not an amount of memory"):
        walltime.predict(scenario, **asked, memory="much")
