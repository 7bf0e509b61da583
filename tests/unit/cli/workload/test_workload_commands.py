"""`walltime workload info` and `convert`, run as a user would."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from walltime import simulate
from walltime.cli.app import app as whole_app
from walltime.cli.workload.commands import app
from walltime.core.errors import InputError
from walltime.workload.formats import read, write
from walltime.workload.generate import generate


@pytest.fixture
def trace(tmp_path):
    write(generate(300, 64, 0.8, seed=1), tmp_path / "t.swf")
    return tmp_path / "t.swf"


def run(*arguments):
    """The output; what the command raises is raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def test_info_for_a_person(trace):
    text = run("info", trace)
    for word in ("300", "64 cores", "offered load", "80.", "median", "busiest users", "08–10", "killed at their limit"):
        assert word in text


def test_info_for_a_program(trace):
    facts = json.loads(run("info", trace, "--json", "--cores", 128))
    assert facts["jobs"] == 300
    assert facts["offered_load"] == pytest.approx(0.4, abs=0.01)


def test_convert_picks_then_changes(trace, tmp_path):
    out = tmp_path / "o.parquet"
    picks = ["--from", "1h", "--to", "2d", "--user", "1", "--user", "2", "--max-cores", 16, "--min-cores", 2]
    run("convert", trace, out, *picks, "--scale-time", 2)
    before, after = read(trace), read(out)
    hour = 3_600_000_000
    expected = [
        job
        for job, submit, cores, user in zip(
            *(before.column(name).tolist() for name in ("job_id", "submit", "cores", "user")), strict=True
        )
        if hour <= submit < 48 * hour and 2 <= cores <= 16 and before.label_names("user")[user] in ("1", "2")
    ]
    assert expected
    assert after.column("job_id").tolist() == expected
    run_times = dict(zip(before.column("job_id").tolist(), before.column("run_time").tolist(), strict=True))
    assert after.column("run_time").tolist() == [2 * run_times[job] for job in expected]
    assert after.machine_cores == 64


def test_convert_first_load_and_cores(trace, tmp_path):
    run("convert", trace, tmp_path / "o.csv", "--first", 10, "--scale-load", 2, "--scale-cores", 3, "--queue", 1)
    before, after = read(trace), read(tmp_path / "o.csv")
    rows = np.flatnonzero(before.column("queue") == before.label_names("queue").index("1"))[:10]
    chosen = before.select(rows)
    gaps = np.diff(chosen.column("submit"))
    assert np.abs(2 * np.diff(after.column("submit")) - gaps).max() <= 2
    assert after.column("cores").tolist() == (3 * chosen.column("cores")).tolist()


def test_a_part_of_a_trace_does_not_tell_what_was_skipped_elsewhere(tmp_path):
    record = "{} {} -1 {} 2 -1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    week = 7 * 86_400
    log = tmp_path / "month.swf"
    log.write_text("".join(record.format(i + 1, i * week, 50 if i < 2 else 0) for i in range(4)))
    told = run("convert", log, tmp_path / "all.parquet")
    assert "2 records skipped: run time" in told
    assert read(tmp_path / "all.parquet").notes["skipped"] == {"run time unknown or zero": 2}
    assert "skipped" not in run("convert", log, tmp_path / "week.parquet", "--to", "7d")
    assert read(tmp_path / "week.parquet").notes["skipped"] == {}
    assert simulate(str(tmp_path / "week.parquet"), cores=4).summary["skipped"] == 0
    assert "1 record skipped: run time" in run("convert", log, tmp_path / "weeks.parquet", "--to", "21d")
    assert simulate(str(tmp_path / "weeks.parquet"), cores=4).summary["skipped"] == 1
    told = run("convert", log, tmp_path / "first.parquet", "--to", "21d", "--first", 1)
    assert "1 record skipped in all of that time: run time" in told
    assert read(tmp_path / "first.parquet").notes["skipped"] == {}


def test_convert_refuses_to_overwrite(trace, tmp_path):
    out = tmp_path / "o.csv"
    out.write_text("precious")
    assert "--force" in refused("convert", trace, out)
    assert out.read_text() == "precious"
    run("convert", trace, out, "--force")
    assert len(read(out)) == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--user", "nobody"], "nobody"),
        (["--from", "soon"], "duration"),
        (["--min-cores", "1000"], "no job"),
        (["--scale-load", "0"], "factor"),
    ],
)
def test_convert_refuses_and_writes_nothing(trace, tmp_path, options, message):
    assert message in refused("convert", trace, tmp_path / "o.swf", *options)
    assert not (tmp_path / "o.swf").exists()


def test_convert_picks_by_dates(tmp_path):
    """Of a log that tells when its jobs were submitted, in its time zone."""
    log = tmp_path / "log.sacct"
    days = [f"{day}|ann|2026-10-0{day}T09:00:00|2026-10-0{day}T09:00:00|2026-10-0{day}T10:00:00|4" for day in (5, 6, 7)]
    log.write_text("\n".join(["JobID|User|Submit|Start|End|AllocCPUS", *days]) + "\n")
    run(
        "convert",
        log,
        tmp_path / "o.parquet",
        "--timezone",
        "Europe/Prague",
        "--from",
        "2026-10-06",
        "--to",
        "2026-10-07T09:00",
    )
    assert read(tmp_path / "o.parquet").column("job_id").tolist() == [6]
    assert "time zero" in refused("convert", log, tmp_path / "p.parquet", "--from", "2026-09-01")


def test_unknown_suffixes_and_files(trace, tmp_path):
    assert "suffix" in refused("convert", trace, tmp_path / "o.xlsx")
    assert "no such file" in refused("info", tmp_path / "gone.swf")


def test_a_workload_in_json_is_compared_as_one_and_not_as_a_model(tmp_path):
    jobs = [{"id": str(n), "subtime": n, "res": 1 + n % 3, "profile": "wait"} for n in range(40)]
    data = {"nb_res": 4, "jobs": jobs, "profiles": {"wait": {"type": "delay", "delay": 7}}}
    (tmp_path / "w.json").write_text(json.dumps(data), encoding="utf-8")
    arguments = ["workload", "compare", str(tmp_path / "w.json"), str(tmp_path / "w.json"), "--json"]
    told = json.loads(CliRunner().invoke(whole_app, arguments, catch_exceptions=False).output)
    assert told["jobs"] == [40, 40]
