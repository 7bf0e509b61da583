"""Results in the tables of other programs: Batsim's jobs, and evalys' lines."""

import csv

import pytest

import walltime
from walltime.analysis.exports import OWF, export
from walltime.core.errors import InputError


@pytest.fixture
def result():
    jobs = walltime.Workload.from_columns(
        submit=[0, 1, 2, 3],
        run_time=[10, 30, 5, 5],
        requested_time=[20, 20, 10, 10],
        cores=[2, 2, 9, 1],
        nodes=[2, 1, 1, 1],
        user=["ann", "bo", "bo", None],
        name=["first", "", "", "a b"],
    )
    return walltime.simulate({"workload": {"table": jobs}, "cluster": {"nodes": "2x2"}})


def test_batsims_table_of_jobs(result, tmp_path):
    assert export(result, tmp_path / "jobs.csv") == 4
    with (tmp_path / "jobs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["job_id"] for row in rows] == ["first", "2", "3", "a b"]
    states = ["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED", "COMPLETED_SUCCESSFULLY"]
    assert [row["final_state"] for row in rows] == states
    assert [row["success"] for row in rows] == ["1", "0", "0", "1"]
    assert rows[0]["allocated_resources"] == "0-1"
    assert rows[2]["starting_time"] == rows[2]["execution_time"] == rows[2]["allocated_resources"] == ""
    for row in (rows[0], rows[1], rows[3]):
        start, end, submit = (float(row[name]) for name in ("starting_time", "finish_time", "submission_time"))
        assert float(row["execution_time"]) == end - start
        assert float(row["waiting_time"]) == start - submit
        assert float(row["stretch"]) == pytest.approx((end - submit) / (end - start))


def test_lines_of_an_owf_have_a_word_for_each_column(result, tmp_path):
    assert export(result, tmp_path / "x.owf") == 3  # the rejected job never ran
    head, *lines = [line for line in (tmp_path / "x.owf").read_text(encoding="utf-8").splitlines() if line[0] != ";"]
    assert head.split() == list(OWF)
    assert [len(line.split()) for line in lines] == [len(OWF)] * 3
    rows = [dict(zip(OWF, line.split(), strict=True)) for line in lines]
    assert [row["status"] for row in rows] == ["1", "0", "1"]
    assert [row["user"] for row in rows] == ["ann", "bo", "-1"]
    assert [row["name"] for row in rows] == ["first", "-1", "a_b"]
    assert float(rows[1]["stop_time"]) - float(rows[1]["start_time"]) == 20


def test_another_suffix_is_refused(result, tmp_path):
    with pytest.raises(InputError, match="no format of results has this suffix"):
        export(result, tmp_path / "x.txt")
    with pytest.raises(InputError, match="no format that results are written in"):
        export(result, tmp_path / "x.txt", "swf")
    assert list(tmp_path.iterdir()) == []


def test_dslabs_tables_are_a_folder(tmp_path):
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[10], requested_time=[10], cores=[2], user=["ann"])
    kept = {"interval": 10, "by": ["user", "node"]}
    made = walltime.simulate({"workload": {"table": jobs}, "cluster": {"nodes": "1x4"}, "record": kept})
    assert export(made, tmp_path / "monitor", "dslab") == 3
    lines = (tmp_path / "monitor" / "load.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["time,name,cpu_load,memory_load,disk_load", "0.0,n0,0.5,0.0,0.0", "0.0,TOTAL,0.5,0.0,0.0"]
