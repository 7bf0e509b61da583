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


STANDING = """JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|NODELIST
1|RUNNING|ann|8|2|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|n[3-4]
2|RUNNING|ann|4|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:31:00|n2
3|RUNNING|bo|4|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:32:00|elsewhere
4|PENDING|cy|8|2|1:00:00|2026-11-15T11:40:00|N/A|
"""


@pytest.mark.parametrize("text", [STANDING, STANDING.replace("NODELIST", "NODELIST(REASON)")])
def test_running_jobs_stand_on_the_nodes_that_squeue_lists(scenario, tmp_path, text):
    """Of n1 to n4, of 4 cores each, job 1 has the last two and job 2 the second; job 3 is on a node of another site."""
    (tmp_path / "squeue.txt").write_text(text)
    result = walltime.simulate(scenario | {"cluster": {"nodes": [{"name": "n[1-4]", "count": 4, "cores": 4}]}})
    places = dict(result.allocations.select("job_id", "nodes").rows())
    assert [places[number] for number in (1, 2, 3)] == ["2-3:4", "1:4", "0:4"]
    assert places[4] == "0-1:4"  # they become free first
    assert result.audit() == []


def test_a_core_on_a_node_is_not_a_whole_node(scenario, tmp_path):
    """Where squeue tells no cores a job has all of its node's; one that tells as many cores as nodes has these."""
    lines = ["JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME"]
    lines += [f"{job}|RUNNING|ann|1|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00" for job in range(1, 9)]
    (tmp_path / "squeue.txt").write_text("\n".join(lines) + "\n")
    result = walltime.simulate(scenario)
    assert result.jobs.filter(result.jobs["state"] != "rejected")["cores"].to_list() == [1] * 9
