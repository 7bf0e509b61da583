"""Workloads as Parquet and CSV: exact round trips, and errors that name the column and the cell."""

import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.errors import InputError
from walltime.core.workload import COLUMNS, MISSING, Origin, Workload
from walltime.workload.formats import read, read_batches, write

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=6)


@st.composite
def workloads(draw):
    """Any columns, any values that a Workload may hold (times below 71 years, where seconds in a float are exact)."""
    size = draw(st.integers(1, 6))
    chosen = draw(st.sets(st.sampled_from(sorted(set(COLUMNS) - {"submit", "run_time", "requested_time"}))))
    columns, labels = {}, {}
    time = st.integers(0, 2**51 - 1)
    for name in ("submit", "run_time", "requested_time", *sorted(chosen)):
        kind = COLUMNS[name].kind
        if kind == "time":
            drawn = st.integers(1, 2**51 - 1) if name == "patience" else time
            optional = drawn if name in ("submit", "requested_time") else st.one_of(drawn, st.just(MISSING))
            values = np.array(draw(st.lists(optional, min_size=size, max_size=size)), np.int64)
            columns[name] = np.sort(values) if name == "submit" else values
        elif kind == "integer":
            least = MISSING if COLUMNS[name].default == MISSING else 1
            columns[name] = np.array(draw(st.lists(st.integers(least, 2**60), min_size=size, max_size=size)), np.int64)
        elif kind == "label":
            labels[name] = draw(st.lists(NAMES, max_size=3, unique=True))
            codes = st.integers(MISSING, len(labels[name]) - 1)
            columns[name] = np.array(draw(st.lists(codes, min_size=size, max_size=size)), np.int32)
        else:
            columns[name] = draw(st.lists(st.one_of(st.just(""), NAMES), min_size=size, max_size=size))
    return Workload(columns, labels)


def meaning(workload):
    """The columns with labels as names."""
    table = {}
    for name, values in workload.columns.items():
        if COLUMNS[name].kind == "label":
            names = workload.label_names(name)
            table[name] = [None if code < 0 else names[code] for code in values]
        else:
            table[name] = list(values)
    return table


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@settings(deadline=None, max_examples=150)
@given(workload=workloads())
def test_what_is_written_is_read(tmp_path_factory, suffix, workload):
    path = tmp_path_factory.mktemp("table") / f"t.{suffix}"
    assert write(workload, path) == []
    again = read(path)
    assert meaning(again) == meaning(workload)
    if suffix == "parquet":
        assert again.labels == workload.labels


def test_parquet_keeps_what_belongs_to_the_jobs(tmp_path):
    jobs = Workload.from_columns(submit=[0], run_time=[1.5])
    jobs = jobs.replace(
        jobs.columns,
        origin=Origin(7.0, "UTC"),
        machine_cores=12,
        header={"Note": "x"},
        notes={"skipped": {"why": 3}, "unsorted": False},
    )
    write(jobs, tmp_path / "t.parquet")
    again = read(tmp_path / "t.parquet")
    assert (again.origin, again.machine_cores) == (Origin(7.0, "UTC"), 12)
    assert (again.header, again.notes) == (jobs.header, jobs.notes)


def test_a_table_from_elsewhere(tmp_path):
    (tmp_path / "t.csv").write_text("submit,run_time,cores,user\n5,1.25,2,bo\n3,2,,\n")
    jobs = read(tmp_path / "t.csv")
    assert jobs.column("submit").tolist() == [3_000_000, 5_000_000]
    assert jobs.column("run_time").tolist() == [2_000_000, 1_250_000]
    assert jobs.column("cores").tolist() == [1, 2]
    assert jobs.column("job_id").tolist() == [2, 1]
    assert jobs.column("user").tolist() == [MISSING, 0]
    assert jobs.notes["unsorted"]


def test_other_number_types_are_taken(tmp_path):
    table = pl.DataFrame(
        {"submit": [1, 2], "run_time": pl.Series([1, 2], dtype=pl.UInt8), "cores": [2.0, 4.0], "user": ["a", "b"]}
    )
    table.write_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").column("cores").tolist() == [2, 4]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("submit,run_tme\n1,2\n", "run_time", None),
        ("submit\n1\n", "needs the column", None),
        ("submit,run_time\n", "no jobs", None),
        ("submit,run_time\n1,2\n1,soon\n", "run_time is not a number", 3),
        ("submit,run_time\n,2\n", "submit is empty", 2),
        ("submit,run_time\n1,1e300\n", "out of range", 2),
        ("submit,run_time,cores\n1,1,2.5\n", "cores is not a whole number", 2),
        ("submit,run_time,cores\n1,1,1e30\n", "cores is out of range", 2),
        ("submit,run_time,cores\n1,1,0\n", "cores is not positive", None),
        ("submit,run_time\n-1,1\n", "submit is negative", None),
        ("submit,run_time\n1,-3\n", "run_time is negative", None),
        ("submit,run_time\n1,\n", "no requested_time", 2),
        ("submit,run_time,job_id\n1,1,\n", "job_id is empty", 2),
    ],
)
def test_errors_in_a_csv(tmp_path, text, message, line):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_a_wrong_type_in_parquet(tmp_path):
    pl.DataFrame({"submit": [True], "run_time": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="Boolean"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_unreadable_files(tmp_path, name):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / name)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError):
        read(tmp_path / name)
    (tmp_path / name).write_bytes(np.random.default_rng(2).bytes(3000))
    with pytest.raises(InputError):
        read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="folder"):
        read(tmp_path / name)


def test_batches_of_a_table(tmp_path):
    jobs = Workload.from_columns(submit=range(5), run_time=[1] * 5)
    write(jobs, tmp_path / "t.parquet")
    assert [batch.column("job_id").tolist() for batch in read_batches(tmp_path / "t.parquet", 2)] == [
        [1, 2],
        [3, 4],
        [5],
    ]
    with pytest.raises(InputError, match="at least one job"):
        read_batches(tmp_path / "t.parquet", 0)


def test_formats_agree(tmp_path):
    jobs = Workload.from_columns(submit=[0, 1.5], run_time=[3, 4.000001], cores=[1, 2], user=["4", "9"])
    for name in ("a.swf", "a.swf.gz", "a.parquet", "a.csv", "a.txt"):
        write(jobs, tmp_path / name)
        again = read(tmp_path / name)
        assert {key: meaning(again)[key] for key in jobs.columns} == meaning(jobs)
    assert gzip.decompress((tmp_path / "a.swf.gz").read_bytes()) == (tmp_path / "a.txt").read_bytes()


def test_a_table_without_dates_says_so(tmp_path):
    plain = Workload.from_columns(submit=[0.0], run_time=[1.0])
    dated = Workload(plain.columns, origin=Origin(1_704_067_200.0, "Europe/Prague"))
    assert write(dated, tmp_path / "t.csv") == ["dates"]
    assert read(tmp_path / "t.csv").origin.epoch is None
    assert write(dated, tmp_path / "t.parquet") == []
    assert read(tmp_path / "t.parquet").origin == dated.origin
    assert write(plain, tmp_path / "u.csv") == []
