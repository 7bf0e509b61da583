"""Alea's files of sessions and batches: written, read again, and refused where they are wrong."""

from __future__ import annotations

import pytest
from test_inference import generate, log

from walltime import api
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.workload.users.alea import read_batches, read_files, read_sessions, wait_without_thinking, write_files
from walltime.workload.users.plan import find_sessions
from walltime.workload.users.sessions import infer_acts

SMALL = (("a", 0, 0, 10), ("a", 5, 0, 10), ("a", 20, 0, 1), ("a", 90, 0, 1))


def test_the_files_of_a_small_log(tmp_path):
    write_files(infer_acts(log(*SMALL)), tmp_path / "set")
    assert (tmp_path / "set_a_sessions").read_text() == "1\t0\t1200\t1260\n2\t5400\t5400\t5460\n"
    assert (tmp_path / "set_a_batches").read_text().splitlines() == [
        "1\t1\t0\t900\tjob:1\tjob:2",
        "1\t2\t1200\t1260\tafter_completion:1|1\tjob:3",
        "2\t3\t5400\t5460\tafter_completion:1|2\tjob:4",
    ]


def test_what_is_written_is_read_again(tmp_path):
    jobs, _ = generate(2, users=5)
    jobs = jobs.replace({name: values // SECOND * SECOND if name in ("submit", "run_time", "recorded_wait") else values
                         for name, values in jobs.columns.items()})  # fmt: skip
    acts = infer_acts(jobs)
    write_files(acts, tmp_path / "set")
    again, waits, sessions = read_files(jobs, tmp_path / "set")
    for name in ("order", "first", "user", "start", "last", "end", "session"):
        assert getattr(again, name).tolist() == getattr(acts, name).tolist(), name
    told = wait_without_thinking(acts)
    assert sorted(zip(waits.source, waits.target, waits.what, strict=True)) == sorted(
        zip(told.source, told.target, told.what, strict=True)
    )
    for name in ("first", "start", "last"):
        assert getattr(sessions, name).tolist() == getattr(find_sessions(acts), name).tolist()
    inferred = api.simulate(jobs, cores=4, users="alea")
    told = api.simulate(jobs, cores=4, users={"mode": "alea", "files": str(tmp_path / "set")})
    assert inferred.digest == told.digest
    assert inferred.audit() == []


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("sessions", "1\t0\t1200\t1260", "1\t0\t1200", "3 fields, not 4"),
        ("sessions", "1\t0\t", "1\tx\t", "not a whole number"),
        ("sessions", "5400\t5400", "5400\t540", "order of time"),
        ("batches", "job:4", "task:4", "not a part of a batch"),
        ("batches", "job:4", "job:9", "not a job of this user"),
        ("batches", "job:4", "job:3", "in a batch already"),
        ("batches", "after_completion:1|2", "after_completion:2|3", "no batch before it"),
        ("batches", "after_completion:1|2", "after_completion:12", "not a part of a batch"),
        ("batches", "job:1\tjob:2", "job:2", "in no batch"),
        ("batches", "2\t3\t5400", "7\t3\t5400", "of no session"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, name, old, new, words):
    jobs = log(*SMALL)
    write_files(infer_acts(jobs), tmp_path / "set")
    path = tmp_path / f"set_a_{name}"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=words):
        read_files(jobs, tmp_path / "set")


def test_missing_and_empty_files_are_refused(tmp_path):
    jobs = log(*SMALL)
    with pytest.raises(InputError, match="no such file"):
        read_files(jobs, tmp_path / "set")
    (tmp_path / "empty").write_text("")
    for read in (read_sessions, read_batches):
        with pytest.raises(InputError, match="there are no"):
            read(tmp_path / "empty")
    with pytest.raises(InputError, match="name of this user"):
        write_files(infer_acts(log(("a/b", 0, 0, 1))), tmp_path / "set")


def test_alea_submits_in_sessions_then_the_next_day_from_nine(tmp_path):
    """By hand. One core; the first job takes twelve hours more than it did in the log."""
    (tmp_path / "set_a_sessions").write_text("1\t36000\t43200\t50000\n2\t122400\t129600\t130000\n")
    (tmp_path / "set_a_batches").write_text(
        "1\t1\t36000\t36100\tjob:1\n"
        "1\t2\t36200\t36300\tafter_completion:1|1\tjob:2\n"
        "1\t3\t40000\t40100\tafter_completion:1|2\tjob:3\n"
        "2\t4\t129600\t129700\tafter_completion:1|3\tjob:4\n"
        "2\t5\t129700\t129800\tafter_completion:2|4\tjob:5\tjob:6\n"
    )
    told = ((36000, 100), (36200, 43_200), (40000, 100), (129600, 20_000), (129700, 50), (129760, 50))
    jobs = log(*(("a", submit / 60, 0, run / 60) for submit, run in told))
    result = api.simulate(jobs, cores=1, users={"mode": "alea", "files": str(tmp_path / "set")})
    submit = dict(result.jobs.select("job_id", "submit").rows())
    assert submit[1] == 36_000  # its session's beginning
    assert submit[2] == 36_100  # at once: the session accepts
    assert submit[3] == 122_400  # ready at 79,300, when the first session is over: in the second
    assert submit[4] == 122_500  # which accepts until 127,500
    assert submit[5] == 2 * 86_400 + 9 * 3600  # ready at 142,500: no session is left
    assert submit[6] == submit[5] + 60  # the gap inside a batch stays
    assert result.jobs["wait"].to_list() == [0.0] * 6  # counted from the moved submission
