"""The Workload table: its defaults, its order, and what it refuses to hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walltime.core.digest import digest_workload
from walltime.core.errors import InputError
from walltime.core.workload import COLUMNS, MISSING, Workload, encode_labels
from walltime.workload.formats import read, write


def test_from_columns():
    jobs = Workload.from_columns(
        submit=[0, 1.5], run_time=[2, None], requested_time=[None, 9], user=["ann", None], name=["a", None]
    )
    assert jobs.column("submit").tolist() == [0, 1_500_000]
    assert jobs.column("run_time").tolist() == [2_000_000, MISSING]
    assert jobs.column("requested_time").tolist() == [MISSING, 9_000_000]
    assert jobs.column("user").tolist() == [0, MISSING]
    assert jobs.labels == {"user": ["ann"]}
    assert jobs.column("name") == ["a", ""]


def test_defaults_of_absent_columns():
    jobs = Workload.from_columns(submit=[0, 0, 0], run_time=[1, 1, 1])
    assert jobs.column("job_id").tolist() == [1, 2, 3]
    for name in set(COLUMNS) - {"job_id", "submit", "run_time"}:
        assert not jobs.has(name)
        assert list(jobs.column(name)) == [COLUMNS[name].default] * 3


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_submissions_are_sorted_stably(submits):
    jobs = Workload.from_columns(
        submit=submits, run_time=[1] * len(submits), name=[str(i) for i in range(len(submits))]
    )
    expected = sorted(range(len(submits)), key=lambda i: submits[i])
    assert jobs.column("job_id").tolist() == [i + 1 for i in expected]
    assert jobs.column("name") == [str(i) for i in expected]


@given(st.integers(1, 40), st.integers(1, 50))
def test_batches_are_the_whole(size, rows):
    jobs = Workload.from_columns(submit=range(size), run_time=[1] * size, user=[f"u{i % 3}" for i in range(size)])
    batches = list(jobs.batches(rows))
    assert [len(batch) for batch in batches[:-1]] == [rows] * (len(batches) - 1)
    for name in ("job_id", "submit", "user"):
        joined = np.concatenate([batch.column(name) for batch in batches])
        assert joined.tolist() == jobs.column(name).tolist()


def test_select_keeps_what_belongs_to_the_jobs():
    jobs = Workload.from_columns(submit=[0, 1, 2], run_time=[1, 2, 3], job_id=[7, 8, 9], name=["a", "b", "c"])
    jobs = jobs.replace(jobs.columns, machine_cores=5, source="s")
    for rows in (np.array([True, False, True]), np.array([0, 2])):
        part = jobs.select(rows)
        assert part.column("job_id").tolist() == [7, 9]
        assert part.column("name") == ["a", "c"]
        assert (part.machine_cores, part.source) == (5, "s")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"submit": [0], "run_time": [1], "core": [1]}, "did you mean 'cores'"),
        ({"submit": [0]}, "run_time"),
        ({"run_time": [1]}, "submit"),
        ({"submit": [-1], "run_time": [1]}, "submit is negative"),
        ({"submit": [0], "run_time": [-2]}, "run_time is negative"),
        ({"submit": [0], "run_time": [1], "cores": [0]}, "cores is not positive"),
        ({"submit": [0, 1], "run_time": [1]}, "has 1 values"),
        ({"submit": ["soon"], "run_time": [1]}, "submit"),
        ({"submit": [1e12], "run_time": [1]}, "out of range"),
        ({"submit": [0], "run_time": [1], "cores": ["many"]}, "cores"),
    ],
)
def test_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Workload.from_columns(**columns)


@pytest.mark.parametrize(
    ("columns", "message", "value"),
    [
        ({"submit": [0, 1], "run_time": [1, 1], "cores": [2, 1.5]}, "column cores: not an integer", 1.5),
        ({"submit": [0, None], "run_time": [1, 1]}, "job 2: submit is not told", None),
    ],
)
def test_a_half_core_and_a_missing_submission_are_told_as_such(columns, message, value):
    """Half a core was cut off, and a submission that is not told was -1e-06."""
    with pytest.raises(InputError, match=message) as error:
        Workload.from_columns(**columns)
    assert error.value.value == value


def test_whole_numbers_may_be_floats():
    assert Workload.from_columns(submit=[0], run_time=[1], cores=[4.0]).column("cores").tolist() == [4]


def test_the_job_with_the_problem_is_named():
    with pytest.raises(InputError, match="job 41: cores"):
        Workload.from_columns(submit=[0, 1], run_time=[1, 1], job_id=[40, 41], cores=[1, -3])


def test_codes_need_names():
    with pytest.raises(InputError, match="without a name"):
        Workload({"submit": np.array([0]), "run_time": np.array([1]), "user": np.array([0], np.int32)})


def test_labels_are_coded_in_order_of_appearance():
    codes, names = encode_labels(["b", None, "a", "b", ""])
    assert (codes.tolist(), names) == ([0, MISSING, 1, 0, MISSING], ["b", "a"])


def test_to_polars():
    jobs = Workload.from_columns(submit=[0, 1], run_time=[2.5, None], requested_time=[3, 3], user=[None, "ann"])
    table = jobs.to_polars()
    assert table.columns == ["submit", "run_time", "requested_time", "user"]
    assert table["run_time"].to_list() == [2.5, None]
    assert table["user"].to_list() == [None, "ann"]


def test_the_digest_is_of_the_jobs_not_of_how_they_are_kept(tmp_path):
    jobs = Workload.from_columns(submit=[0, 1.000001], run_time=[9, 4], user=["b", None], name=["x", ""])
    write(jobs, tmp_path / "jobs.parquet")
    codes = jobs.replace(dict(jobs.columns) | {"user": np.array([1, -1])}, labels={"user": ["unused", "b"]})
    full = jobs.replace(dict(jobs.columns) | {"cores": np.array([1, 1]), "job_id": np.array([1, 2])})
    assert {digest_workload(one) for one in (read(tmp_path / "jobs.parquet"), codes, full)} == {digest_workload(jobs)}
    for other in ({"submit": [0, 1.000002]}, {"cores": [1, 2]}, {"user": ["b", "b"]}, {"name": ["x", "y"]}):
        usual = {"submit": [0, 1.000001], "run_time": [9, 4], "user": ["b", None], "name": ["x", ""]}
        assert digest_workload(Workload.from_columns(**usual | other)) != digest_workload(jobs)


def test_a_workload_shows_itself_shortly():
    times = {"run_time": [5, 5], "requested_time": [9, 9]}
    many = Workload.from_columns(submit=[0, 90], cores=[3, 2], user=["<b>", "x"], **times)
    assert repr(many) == "<Workload: 2 jobs, up to 3 cores, submitted within 1:30 min>"
    shown = many._repr_html_()
    assert "2 jobs, up to 3 cores" in shown
    assert "<table" in shown
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
