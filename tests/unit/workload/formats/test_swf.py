"""Reading SWF: the rules for untidy records, every error with its line, and what the file tells beside the jobs."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.workload import MISSING, Origin, Workload
from walltime.workload.formats import read, read_batches
from walltime.workload.formats.swf import read_swf, read_swf_batches, write_swf

DATA = Path(os.environ.get("WALLTIME_DATA", Path(__file__).parents[5] / "shared")) / "traces"


def record(job=1, **other):
    """One line of SWF, tidy except for what is given by name."""
    fields = {
        "job": job,
        "submit": 0,
        "wait": 5,
        "run": 100,
        "allocated": 4,
        "cpu": -1,
        "used_memory": -1,
        "cores": 4,
        "request": 200,
        "memory": -1,
        "status": 1,
        "user": 7,
        "group": 3,
        "executable": -1,
        "queue": 2,
        "partition": -1,
        "preceding": -1,
        "think": -1,
    }
    assert set(other) <= set(fields)
    return " ".join(str(value) for value in (fields | other).values())


def swf(folder, *lines, name="t.swf", end="\n"):
    path = folder / name
    path.write_bytes(("\n".join(lines) + end).encode())
    return path


def error(path):
    with pytest.raises(InputError) as caught:
        read_swf(path)
    assert caught.value.file == str(path)
    with pytest.raises(InputError) as streamed:
        list(read_swf_batches(path, 2))
    assert str(streamed.value) == str(caught.value)
    return caught.value


def one(folder, **fields):
    """The only job of a file, as a dictionary of what its columns mean."""
    jobs = read_swf(swf(folder, record(1, **fields)))
    assert len(jobs) == 1
    return {
        name: jobs.column(name)[0] for name in ("submit", "run_time", "requested_time", "cores", "memory", "cancel")
    }


def skipped(folder, **fields):
    """Why the record is left out, beside a good one."""
    jobs = read_swf(swf(folder, record(1), record(2, **fields)))
    assert jobs.column("job_id").tolist() == [1]
    assert jobs.notes["lines"] == 2
    (reason,) = jobs.notes["skipped"]
    assert jobs.notes["skipped"] == {reason: 1}
    assert jobs.skipped_at[reason].tolist() == [jobs.column("submit")[0]]
    return reason


def test_a_tidy_record(tmp_path):
    jobs = read_swf(swf(tmp_path, record(9, submit=17, wait=3, memory=2048, preceding=8, think=60)))
    assert {name: jobs.column(name).tolist() for name in jobs.columns} == {
        "job_id": [9],
        "submit": [17_000_000],
        "run_time": [100_000_000],
        "requested_time": [200_000_000],
        "cores": [4],
        "memory": [2048 * 1024 * 4],
        "recorded_wait": [3_000_000],
        "preceding_job": [8],
        "think_time": [60_000_000],
        "user": [0],
        "group": [0],
        "queue": [0],
    }
    assert jobs.labels == {"user": ["7"], "group": ["3"], "queue": ["2"]}


def test_columns_without_a_value_are_absent(tmp_path):
    fields = {"wait": -1, "request": -1, "user": -1, "group": -1, "queue": -1}
    jobs = read_swf(swf(tmp_path, record(1, **fields), record(2, **fields)))
    assert set(jobs.columns) == {"job_id", "submit", "run_time", "cores"}
    assert jobs.labels == {}
    assert jobs.notes["missing_request"] == 2


@pytest.mark.parametrize(("cores", "allocated", "expected"), [(8, 4, 8), (-1, 4, 4), (0, 4, 4), (8, -1, 8)])
def test_cores_are_requested_else_allocated(tmp_path, cores, allocated, expected):
    assert one(tmp_path, cores=cores, allocated=allocated)["cores"] == expected


@pytest.mark.parametrize("status", [2, 3, 4])
def test_partial_records_are_skipped(tmp_path, status):
    assert "partial" in skipped(tmp_path, status=status)


@pytest.mark.parametrize("run", [-1, 0, "0.0000001", -17])
@pytest.mark.parametrize("status", [-1, 0, 1])
def test_a_job_without_a_run_time_is_skipped(tmp_path, run, status):
    assert "run time" in skipped(tmp_path, run=run, status=status)


@pytest.mark.parametrize(("cores", "allocated"), [(0, 0), (-1, -1), (0, -1)])
def test_a_job_without_cores_is_skipped(tmp_path, cores, allocated):
    assert "cores" in skipped(tmp_path, cores=cores, allocated=allocated)


@pytest.mark.parametrize(("wait", "cancel"), [(30, 40), (0, 10), (-1, 10)])
@pytest.mark.parametrize("run", [-1, 0])
def test_status_5_without_a_start_is_a_cancellation(tmp_path, wait, cancel, run):
    job = one(tmp_path, status=5, run=run, submit=10, wait=wait)
    assert job["run_time"] == MISSING
    assert job["cancel"] == cancel * 1_000_000


def test_a_cancellation_without_a_request_is_skipped(tmp_path):
    assert skipped(tmp_path, status=5, run=-1, request=-1) == "cancelled, without a request"


def test_status_5_with_a_run_time_is_an_ordinary_job(tmp_path):
    job = one(tmp_path, status=5, run=50)
    assert (job["run_time"], job["cancel"]) == (50_000_000, MISSING)


@pytest.mark.parametrize("request_", [0, -1, -5])
def test_a_request_that_is_not_positive_is_missing(tmp_path, request_):
    assert one(tmp_path, request=request_)["requested_time"] == MISSING


def test_overlong_jobs_are_counted(tmp_path):
    jobs = read_swf(swf(tmp_path, record(1, run=201), record(2, run=200), record(3, run=300, request=-1)))
    assert (jobs.notes["overlong"], jobs.notes["missing_request"]) == (1, 1)


def test_memory_that_cannot_be_is_missing_and_counted(tmp_path):
    jobs = read_swf(swf(tmp_path, record(1, memory=10**17)))
    assert not jobs.has("memory")
    assert jobs.notes["unusable_memory"] == 1


def test_unsorted_submissions_are_sorted_stably(tmp_path):
    path = swf(tmp_path, *(record(i, submit=s) for i, s in enumerate([5, 3, 5, 3, 0])))
    jobs = read_swf(path)
    assert jobs.column("job_id").tolist() == [4, 1, 3, 0, 2]
    assert jobs.notes["unsorted"]
    with pytest.raises(InputError, match="before the one above") as caught:
        list(read_swf_batches(path, 100))
    assert caught.value.line == 2


def test_duplicate_numbers_are_allowed_and_told(tmp_path):
    jobs = read_swf(swf(tmp_path, *(record(job) for job in (0, 1, 1, 2, 1))))
    assert jobs.column("job_id").tolist() == [0, 1, 1, 2, 1]
    assert jobs.notes["duplicate_ids"] == 2


def test_extra_columns_are_ignored_and_told(tmp_path):
    jobs = read_swf(swf(tmp_path, record(1), record(2) + " {1,2} q_1d 1:ppn=2"))
    assert (len(jobs), jobs.notes["extra_columns"]) == (2, 3)


def test_blank_lines_tabs_crlf_and_comments(tmp_path):
    text = f"; MaxProcs: 8\r\n\r\n  ; a remark\r\n\t{record(1)}\t \r\n\n;between\r\n{record(2)}".replace(" ", "\t")
    (tmp_path / "t.swf").write_bytes(text.encode())
    jobs = read_swf(tmp_path / "t.swf")
    assert (jobs.column("job_id").tolist(), jobs.notes["lines"]) == ([1, 2], 2)


def test_byte_order_mark(tmp_path):
    (tmp_path / "t.swf").write_bytes(b"\xef\xbb\xbf" + record(3).encode())
    assert read_swf(tmp_path / "t.swf").column("job_id").tolist() == [3]


def test_header(tmp_path):
    jobs = read_swf(
        swf(
            tmp_path,
            "; Version: 2.2",
            ";MaxNodes: 120",
            "; MaxProcs: 240 (two a node)",
            "; UnixStartTime: 1027839845",
            "; TimeZoneString: Europe/Stockholm",
            "; Note: one",
            "; see http://somewhere/",
            "; Note: two",
            "; Queue:",
            record(1),
            "; MaxProcs: 7",
        )
    )
    assert list(jobs.header) == ["Version", "MaxNodes", "MaxProcs", "UnixStartTime", "TimeZoneString", "Note", "Queue"]
    assert jobs.header["Note"] == "one; two"
    assert jobs.machine_cores == 240
    assert jobs.origin == Origin(1027839845.0, "Europe/Stockholm")


@pytest.mark.parametrize(
    ("lines", "cores"),
    [(["; MaxNodes: 12"], 12), (["; MaxProcs: -1", "; MaxNodes: 12"], 12), ([], None), (["; MaxProcs: 1,024"], None)],
)
def test_machine_size(tmp_path, lines, cores):
    assert read_swf(swf(tmp_path, *lines, record(1))).machine_cores == cores


def test_header_in_latin_1(tmp_path):
    (tmp_path / "t.swf").write_bytes("; Acknowledge: Åke\n".encode("latin-1") + record(1).encode())
    assert read_swf(tmp_path / "t.swf").header["Acknowledge"] == "Åke"


def test_a_word_in_a_number(tmp_path):
    problem = error(swf(tmp_path, "; c", record(1), record(2, run="soon")))
    assert problem.line == 3
    assert "run time" in str(problem)
    assert "'soon'" in str(problem)


@pytest.mark.parametrize(
    "value", ["1.2.3", "--1", "1e", "e5", ".", "-", "0x10", "nan", "inf", "1,5", "1;", "12a", "1e+"]
)
def test_what_is_not_a_number(tmp_path, value):
    assert "not a number" in str(error(swf(tmp_path, record(1), record(2, wait=value))))


def test_ignored_fields_must_be_numbers_too(tmp_path):
    assert "average cpu time (field 6)" in str(error(swf(tmp_path, record(1), record(2, cpu="x"))))


def test_long_values_are_shortened(tmp_path):
    problem = error(swf(tmp_path, record(1), record(2, run="x" * 5000)))
    assert len(str(problem).removeprefix(str(tmp_path))) < 120


@pytest.mark.parametrize("kept", [1, 2, 17])
def test_a_truncated_line(tmp_path, kept):
    problem = error(swf(tmp_path, record(1), " ".join(record(2).split()[:kept]), record(3)))
    assert problem.line == 2
    assert f"has {kept} field" in str(problem)


def test_a_file_cut_off_in_its_last_line(tmp_path):
    assert error(swf(tmp_path, record(1), record(2)[:20], end="")).line == 2


def test_binary_noise(tmp_path):
    (tmp_path / "t.swf").write_bytes(np.random.default_rng(1).bytes(10_000))
    assert "does not look like an SWF file" in str(error(tmp_path / "t.swf"))


def test_binary_noise_among_records(tmp_path):
    (tmp_path / "t.swf").write_bytes(f"{record(1)}\n".encode() + b"\x00\x01\x02 3\n")
    problem = error(tmp_path / "t.swf")
    assert "does not look like an SWF file" in str(problem)
    assert problem.line == 2


def test_a_line_without_end(tmp_path):
    (tmp_path / "t.swf").write_bytes(b"\x00" * 9_000_000)
    assert "does not look like an SWF file" in str(error(tmp_path / "t.swf"))


def test_another_text_file(tmp_path):
    assert "does not look like an SWF file" in str(error(swf(tmp_path, "job,submit,run", "1,2,3")))


@pytest.mark.parametrize("text", ["", "\n\n", "; only: comments\n"])
def test_no_jobs(tmp_path, text):
    (tmp_path / "t.swf").write_text(text)
    assert ("empty" if not text else "no jobs") in str(error(tmp_path / "t.swf"))


def test_no_usable_jobs(tmp_path):
    assert "run time unknown or zero" in str(error(swf(tmp_path, record(1, run=-1), record(2, run=0))))


def test_folder_and_missing_file(tmp_path):
    (tmp_path / "t.swf").mkdir()
    assert "folder" in str(error(tmp_path / "t.swf"))
    assert "no such file" in str(error(tmp_path / "gone.swf"))


@pytest.mark.parametrize("damage", [lambda b: b[:-20], lambda b: b[:40] + b"\xff" * 30 + b[70:], lambda b: b[:5]])
def test_damaged_gzip(tmp_path, damage):
    packed = gzip.compress("\n".join(record(i, submit=i * i) for i in range(500)).encode())
    (tmp_path / "t.swf.gz").write_bytes(damage(packed))
    assert "damaged gzip" in str(error(tmp_path / "t.swf.gz"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("submit", "9007199255"),
        ("run", "1e40"),
        ("request", "9" * 400),
        ("job", "9" * 19),
        ("cores", "2147483648"),
        ("user", "1e19"),
    ],
)
def test_out_of_range(tmp_path, field, value):
    path = swf(tmp_path, record(1), record(2, **{field: value}) if field != "job" else record(value))
    problem = error(path)
    assert "out of range" in str(problem)
    assert problem.line == 2


@pytest.mark.parametrize("submit", ["-1", "-0.5", "-1e5"])
def test_negative_submission(tmp_path, submit):
    problem = error(swf(tmp_path, record(1), record(2, submit=submit)))
    assert "submit time is negative" in str(problem)
    assert problem.line == 2


def test_negative_job_number(tmp_path):
    assert "job number" in str(error(swf(tmp_path, record(1), record(-1))))


def test_a_fraction_of_a_core(tmp_path):
    assert "not a whole number" in str(error(swf(tmp_path, record(1), record(2, cores="2.5"))))
    assert one(tmp_path, cores="20e-1")["cores"] == 2


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("552.21", 552_210_000),
        ("1e2", 100_000_000),
        ("1.5E+1", 15_000_000),
        ("+7", 7_000_000),
        ("0.0000005", 1),
        ("0.00000149999999999999999999", 1),
        ("3.", 3_000_000),
        (".5", 500_000),
        ("123456789.123456499999", 123456789_123456),
        ("0000000000000000000000000012", 12_000_000),
        ("12" + "." + "0" * 500 + "1", 12_000_000),
        ("9007199254.740992", 1 << 53),
    ],
)
def test_numbers(tmp_path, text, microseconds):
    assert one(tmp_path, run=text)["run_time"] == microseconds


def test_no_batch_is_lost_at_its_edge(tmp_path):
    lines = [record(i, submit=i) for i in range(4)] + [record(9, run=-1), "; end"]
    batches = list(read_swf_batches(swf(tmp_path, *lines), 2))
    assert [len(batch) for batch in batches] == [2, 2]
    assert [batch.notes["lines"] for batch in batches] == [2, 3]
    assert batches[1].notes["skipped"] == {"run time unknown or zero": 1}


def test_labels_mean_the_same_in_every_batch(tmp_path):
    users = [5, 70_000, 5, 9, 70_000, 10**12]
    path = swf(tmp_path, *(record(i, submit=i, user=user) for i, user in enumerate(users)))
    last = list(read_swf_batches(path, 2))[-1].label_names("user")
    names = [last[code] for batch in read_batches(path, 2) for code in batch.column("user")]
    assert names == [str(user) for user in users]


def test_a_stream_starts_before_the_file_is_read(tmp_path):
    lines = [record(i, submit=i) for i in range(100_000)] + ["broken"]
    batches = read_swf_batches(swf(tmp_path, *lines), 10)
    assert next(batches).column("job_id").tolist() == list(range(10))
    with pytest.raises(InputError, match="not a number"):
        list(batches)


def test_batches_need_rows(tmp_path):
    with pytest.raises(InputError, match="at least one job"):
        list(read_swf_batches(swf(tmp_path, record(1)), 0))


@pytest.mark.parametrize(
    ("name", "jobs", "skips"), [("hpc2n-3k", 3145, 25), ("lublin-256", 10_000, 0), ("wagap-2013", 17_898, 2)]
)
def test_known_traces(name, jobs, skips):
    path = DATA / f"{name}.swf"
    if not path.exists():
        pytest.skip(f"{path} is not there (WALLTIME_DATA)")
    rows = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith(";")]
    usable = [row for row in rows if float(row[3]) > 0 and (float(row[7]) > 0 or float(row[4]) > 0)]
    trace = read(path)
    assert (len(rows) - len(usable), len(usable)) == (skips, jobs)
    assert len(trace) == jobs
    assert sum(trace.notes["skipped"].values()) == skips
    cores = [float(row[7]) if float(row[7]) > 0 else float(row[4]) for row in usable]
    assert trace.column("cores").tolist() == cores
    assert (trace.column("run_time") / 1e6).tolist() == [float(row[3]) for row in usable]
    assert (trace.column("submit") / 1e6).tolist() == [float(row[1]) for row in usable]
    overlong = sum(0 < float(row[8]) < float(row[3]) for row in usable)
    assert trace.notes["overlong"] == overlong
    assert trace.notes["missing_request"] == sum(float(row[8]) <= 0 for row in usable)


def test_gzip_is_read_the_same(tmp_path):
    jobs = read_swf(swf(tmp_path, *(record(i, submit=i) for i in range(50))))
    write_swf(jobs, tmp_path / "t.swf.gz")
    packed = (tmp_path / "t.swf.gz").read_bytes()
    write_swf(jobs, tmp_path / "u.swf")
    assert gzip.decompress(packed) == (tmp_path / "u.swf").read_bytes()
    again = read(tmp_path / "t.swf.gz")
    assert all(np.array_equal(again.column(name), jobs.column(name)) for name in jobs.columns)
    write_swf(jobs, tmp_path / "t.swf.gz")
    assert (tmp_path / "t.swf.gz").read_bytes() == packed


def test_writing_names_and_what_is_left_behind(tmp_path):
    jobs = Workload.from_columns(
        submit=[0, 1], run_time=[5, 5], cores=[1, 2], user=["ann", "bo"], qos=["high", "low"], memory=[1, 3000]
    )
    assert write_swf(jobs, tmp_path / "t.swf") == ["qos"]
    again = read_swf(tmp_path / "t.swf")
    assert again.header["User"] == "1 ann; 2 bo"
    assert again.labels["user"] == ["1", "2"]
    assert again.column("memory").tolist() == [1024, 4096]  # rounded up to a KB for each processor


def test_the_header_is_brought_up_to_date(tmp_path):
    jobs = read_swf(swf(tmp_path, "; MaxJobs: 99", "; MaxProcs: 8", "; Note: kept", record(1)))
    write_swf(jobs.replace(jobs.columns, machine_cores=16, origin=Origin(5.0, "UTC")), tmp_path / "u.swf")
    again = read_swf(tmp_path / "u.swf")
    assert (again.machine_cores, again.origin) == (16, Origin(5.0, "UTC"))
    assert (again.header["MaxJobs"], again.header["Note"]) == ("1", "kept")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = swf(tmp_path, record(1))
    before = path.read_bytes()
    endless = Workload.from_columns(submit=[0], run_time=[None], requested_time=[5])
    with pytest.raises(InputError, match="run time"):
        write_swf(endless, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.swf"]


def test_writing_to_nowhere(tmp_path):
    jobs = read_swf(swf(tmp_path, record(1)))
    with pytest.raises(InputError, match="cannot be written"):
        write_swf(jobs, tmp_path / "no" / "folder.swf")
    with pytest.raises(InputError, match="folder"):
        write_swf(jobs, tmp_path)


@pytest.mark.parametrize("text", ["", "3\n"])
def test_a_document_that_is_no_workload(tmp_path, text):
    (tmp_path / "jobs.json").write_text(text)
    with pytest.raises(InputError, match="neither Batsim's jobs"):
        read(tmp_path / "jobs.json")


def test_unknown_suffix(tmp_path):
    with pytest.raises(InputError, match=r"\.swf") as caught:
        read(tmp_path / "t.xlsx")
    assert caught.value.value == ".xlsx"
