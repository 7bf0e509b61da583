"""`walltime run` and what comes after it, as a person uses them."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import Command, crowd, names, swf

FILES = {"scenario.yaml", "jobs.parquet", "allocations.parquet", "series.parquet", "summary.json", "provenance.json"}


def summary(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return data


def test_table_is_printed_and_nothing_written(command: Command, trace: Path) -> None:
    outcome = command("run", "log.swf").done()
    assert "easy" in outcome.out
    assert "60 jobs on 16 cores" in outcome.out
    assert "in the trace" in outcome.out
    assert outcome.err == ""  # no progress in a pipe
    assert "\x1b" not in outcome.out
    assert names(trace.parent) == {"log.swf"}


def test_output_folder_is_complete(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--output", "out").done()
    folder = trace.parent / "out"
    assert names(folder) == FILES
    jobs = pl.read_parquet(folder / "jobs.parquet")
    assert jobs.height == summary(folder)["jobs"] == 60
    assert names(trace.parent) == {"log.swf", "out"}
    command("audit", "out").done()


def test_result_can_be_run_again_from_its_scenario(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--policy", "fcfs", "--cores", 20, "--seed", 3, "--output", "out").done()
    command("run", "out/scenario.yaml", "--output", "again").done()
    assert summary(trace.parent / "out")["digest"] == summary(trace.parent / "again")["digest"]


def test_same_run_same_digest(command: Command, trace: Path) -> None:
    digests = set()
    for name in ("a", "b"):
        command("run", "log.swf", "--output", name).done()
        digests.add(summary(trace.parent / name)["digest"])
    assert len(digests) == 1
    command("run", "log.swf", "--policy", "fcfs", "--output", "c").done()
    assert summary(trace.parent / "c")["digest"] not in digests


def test_force_replaces_a_result(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--policy", "fcfs", "--output", "out").done()
    command("run", "log.swf", "--policy", "easy", "--output", "out", "--force").done()
    command("run", "log.swf", "--policy", "easy", "--output", "easy").done()
    assert summary(trace.parent / "out")["digest"] == summary(trace.parent / "easy")["digest"]
    assert names(trace.parent) == {"log.swf", "out", "easy"}


def test_csv(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--output", "out", "--format", "csv").done()
    command("run", "log.swf", "--output", "other").done()
    folder = trace.parent / "out"
    assert names(folder) == {name.replace(".parquet", ".csv") for name in FILES}
    assert pl.read_csv(folder / "jobs.csv").height == 60
    assert summary(folder)["digest"] == summary(trace.parent / "other")["digest"]
    command("compare", "out", "other").done()


def test_several_policies_are_compared_and_written_side_by_side(command: Command, trace: Path) -> None:
    outcome = command("run", "log.swf", "--policy", "fcfs,aggressive,easy", "--output", "out").done()
    lines = [line.split()[0] for line in outcome.out.splitlines() if line.strip()]
    assert [word for word in lines if word in ("fcfs", "aggressive", "easy")] == ["fcfs", "aggressive", "easy"]
    assert "*" in outcome.out
    folder = trace.parent / "out"
    assert names(folder) == {"fcfs", "aggressive", "easy"}
    alone = command("run", "log.swf", "--policy", "aggressive", "--output", "alone").done()
    assert alone.code == 0
    assert summary(folder / "aggressive")["digest"] == summary(trace.parent / "alone")["digest"]
    compared = command("compare", "out").done()
    for name in ("fcfs", "aggressive", "easy"):
        assert name in compared.out
    command("run", "log.swf", "--policy", "fcfs,easy", "--output", "out").refused("--force")
    command("run", "log.swf", "--policy", "fcfs,easy", "--output", "alone").refused("alone")


def test_backfilling_shortens_the_waits(command: Command, trace: Path) -> None:
    data = json.loads(command("run", "log.swf", "--policy", "fcfs,easy", "--json").done().out)
    waits = {run["policy"]: run["summary"]["mean_wait"] for run in data["runs"]}
    assert waits["easy"] < waits["fcfs"]
    assert all(run["output"] is None for run in data["runs"])


def test_job_larger_than_the_machine_is_rejected_and_counted(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(swf([*crowd(5), (6, 50, 10, 99, 20)]))
    outcome = command("run", "log.swf", "--output", "out").done()
    assert "Rejected: 1 job" in outcome.out
    assert summary(tmp_path / "out")["rejected"] == 1
    command("audit", "out").done()


def test_killed_jobs_and_overrun(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(swf([(1, 0, 100, 4, 60), (2, 1, 10, 4, 60)]))
    killed = command("run", "log.swf", "--output", "kill").done()
    assert "Killed at the requested time: 1 job" in killed.out
    extended = command("run", "log.swf", "--overrun", "extend", "--output", "extend").done()
    assert "Killed" not in extended.out
    ends = {name: pl.read_parquet(tmp_path / name / "jobs.parquet")["end"][0] for name in ("kill", "extend")}
    assert ends == {"kill": 60.0, "extend": 100.0}


def test_perfect_estimates_are_labelled(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(swf([(1, 0, 100, 4, -1), (2, 1, 10, 4, 60)]))
    outcome = command("run", "log.swf").done()
    assert "Perfect estimates" in outcome.out
    assert "1 of 2 jobs" in outcome.out
    assert "Perfect estimates" not in command("run", "log.swf", "--missing-request", "max").done().out


def test_skipped_jobs_are_counted_with_the_reason(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(swf([*crowd(5), (6, 50, -1, 2, 20)]))
    outcome = command("run", "log.swf").done()
    assert "Skipped: 1 job" in outcome.out


def test_until_cuts_off(command: Command, trace: Path) -> None:
    outcome = command("run", "log.swf", "--until", "200", "--output", "out").done()
    assert "Still" in outcome.out
    figures = summary(trace.parent / "out")
    assert figures["running"] + figures["waiting"] > 0


def test_scenario_with_options_on_top(command: Command, trace: Path) -> None:
    (trace.parent / "s.yaml").write_text("workload: log.swf\ncluster:\n  cores: 16\n  scheduler: {backfill: none}\n")
    data = json.loads(command("run", "s.yaml", "--json").done().out)
    assert data["runs"][0]["policy"] == "fcfs"
    larger = json.loads(command("run", "s.yaml", "--nodes", "20x2", "--set", "seed=4", "--json").done().out)
    assert list(larger["runs"][0]["summary"]["clusters"].values()) == [40]
    (trace.parent / "c.yaml").write_text("name: seth\ncores: 24\n")
    other = json.loads(command("run", "log.swf", "--cluster", "c.yaml", "--json").done().out)
    assert other["runs"][0]["summary"]["clusters"] == {"seth": 24}


POLICY = """
from walltime import Policy

class Last(Policy):
    "Whatever fits, the last first."
    def __init__(self, most=1000):
        self.most = most
    def schedule(self, p):
        for slot in reversed(p.waiting()[:self.most]):
            if p.fits(slot):
                p.start(slot)

def first(p):
    while p.head() >= 0 and p.fits(p.head()):
        p.start(p.head())

def careless(p):
    for slot in p.waiting():
        p.start(slot)

def broken(p):
    return 1 / 0
"""


@pytest.fixture
def own(trace: Path) -> Path:
    (trace.parent / "own_policy.py").write_text(POLICY)
    return trace.parent


def test_own_policy_from_the_current_folder(command: Command, own: Path) -> None:
    outcome = command("run", "log.swf", "--policy", "fcfs,own_policy:first,own_policy:Last", "--output", "out").done()
    assert "own_policy:first" in outcome.out
    assert names(own / "out") == {"fcfs", "own_policy-first", "own_policy-Last"}
    assert summary(own / "out" / "fcfs")["digest"] == summary(own / "out" / "own_policy-first")["digest"]
    command("audit", "out/own_policy-Last").done()
    again = ["run", "out/own_policy-Last/scenario.yaml", "--set", "cluster.scheduler.backfill.most=3"]
    command(*again).refused("own_policy:Last", "--plugins")
    command(*again, "--plugins", ".").done()


def test_own_policy_that_breaks_the_rules(command: Command, own: Path) -> None:
    outcome = command("run", "log.swf", "--policy", "own_policy:careless", "--output", "out")
    assert outcome.code == 1
    assert "Traceback" not in outcome.err
    assert "careless" in outcome.err
    assert "does not fit" in outcome.err
    assert "out" not in names(own)


def test_own_policy_that_fails(command: Command, own: Path) -> None:
    outcome = command("run", "log.swf", "--policy", "own_policy:broken", "--output", "out")
    assert outcome.code == 1
    assert "ZeroDivisionError" in outcome.err
    assert "Traceback" not in outcome.err
    assert "out" not in names(own)
    command("run", "log.swf", "--policy", "own_policy:brokn").refused("did you mean 'broken'")


def test_shake_tells_noise_from_difference(command: Command, trace: Path) -> None:
    outcome = command("run", "log.swf", "--policy", "fcfs,easy", "--shake", "20", "--seeds", "4").done()
    assert "4 repetitions" in outcome.out
    assert "noise floor" in outcome.out
    assert "±" not in outcome.out  # shaken submissions give no interval
    data = json.loads(
        command("run", "log.swf", "--policy", "fcfs,easy", "--shake", 20, "--seeds", 4, "--json").done().out
    )
    assert data["seeds"] == 4
    (verdict,) = data["verdicts"]
    assert (verdict["subject"], verdict["baseline"], verdict["difference"]["low"]) == ("easy", "fcfs", None)
    assert verdict["outcome"] in ("noise floor", "the same")
    assert {row["repetitions"] for row in data["estimates"]} == {4}
    assert all(row["lowest"] <= row["mean"] <= row["highest"] for row in data["estimates"])
    command("run", "log.swf", "--shake", "20", "--output", "out").refused("--output")
    command("run", "log.swf", "--policy", "fcfs,easy", "--cores", 1, "--until", 7, "--shake", 1, "--seeds", 2).done()


def test_quiet_and_json(command: Command, trace: Path) -> None:
    quiet = command("run", "log.swf", "--quiet", "--output", "out").done()
    assert (quiet.out, quiet.err) == ("", "")
    data = json.loads(command("run", "log.swf", "--json", "--output", "other").done().out)
    assert data["runs"][0]["output"] == "other"
    assert data["runs"][0]["summary"]["digest"] == summary(trace.parent / "out")["digest"]


def test_compare_by_and_json(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--policy", "fcfs,easy", "--output", "out").done()
    shown = command("compare", "out/fcfs", "out/easy", "--by", "user").done()
    assert "easy against fcfs" in shown.out
    assert "Who gains and who loses by user, easy against fcfs" in shown.out
    assert re.search(r"^Of \d+ users, \d+ wait less \(\d+ clearly\) and \d+ more", shown.out, re.M)
    alone = command("compare", "out/easy", "--by", "user", "--top", "1").done()
    assert re.search(r"^2 of \d+ \(--top", alone.out, re.M)
    data = json.loads(command("compare", "out/fcfs", "out/easy", "--by", "size", "--json").done().out)
    assert [item["label"] for item in data["results"]] == ["fcfs", "easy"]
    assert data["by"]["key"] == "size"
    (change,) = data["by"]["changes"]
    assert (change["before"], change["after"]) == ("fcfs", "easy")
    compared = sum(row["compared"] for row in change["groups"])
    assert compared == change["balance"]["jobs"] == data["results"][0]["summary"]["started"]
    means = {row["metric"]: row["easy difference"] for row in data["comparison"]}
    assert change["balance"]["effect"] / compared == pytest.approx(means["mean_wait"])
    assert {row["metric"] for row in data["comparison"]} >= {"mean_wait", "utilization"}


def test_results_of_one_policy_are_called_by_their_folders(command: Command, trace: Path) -> None:
    command("run", "log.swf", "--output", "now").done()
    command("run", "log.swf", "--cores", "400", "--output", "larger").done()
    assert "larger against now: " in command("compare", "now", "larger").done().out
    assert "easy (2) against easy: " in command("compare", "now", "now").done().out


def test_audit_finds_a_forged_schedule(command: Command, trace: Path) -> None:
    from walltime.core.digest import digest

    command("run", "log.swf", "--output", "out").done()
    folder = trace.parent / "out"
    tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in ("jobs", "allocations")}
    tables["allocations"] = tables["allocations"].with_columns(pl.col("cores") * 5)
    tables["allocations"].write_parquet(folder / "allocations.parquet")
    forged = summary(folder) | {"digest": digest(tables["jobs"], tables["allocations"])}
    (folder / "summary.json").write_text(json.dumps(forged))
    assert "changed after the result was written" in command("audit", "out").err
    (folder / "provenance.json").write_text("{}")  # a forger would see to the checksums too
    outcome = command("audit", "out")
    assert outcome.code == 3
    assert "NOT legal" in outcome.out
    data = json.loads(command("audit", "out", "--json").out)
    assert data["legal"] is False
    assert {item["rule"] for item in data["violations"]} >= {"capacity"}


def test_policies_lists_what_run_takes(command: Command, trace: Path) -> None:
    data = json.loads(command("policies", "--json").done().out)
    presets = [item["name"] for item in data["presets"]]
    assert {"fcfs", "easy", "aggressive"} <= set(presets)
    assert {(part["kind"], part["name"]) for part in data["parts"]} >= {("backfill", "easy"), ("order", "fcfs")}
    text = command("policies").done().out
    assert "Lifka" in text
    command("run", "log.swf", "--policy", ",".join(presets)).done()


def test_demo(command: Command, tmp_path: Path) -> None:
    outcome = command("demo", "--jobs", 300).done()
    for word in ("fcfs", "aggressive", "easy", "Try next"):
        assert word in outcome.out
    assert names(tmp_path) == set()


def test_what_the_demo_suggests_works(command: Command, tmp_path: Path) -> None:
    outcome = command("demo", "--jobs", 300, "--output", "demo").done()
    suggested = [line.split()[1:] for line in outcome.out.splitlines() if line.startswith("  walltime ")]
    assert len(suggested) == 4
    for arguments in suggested:
        command(*arguments).done()
    command("demo", "--output", "demo").refused("demo")


def test_help_and_version(command: Command) -> None:
    assert command("--version").done().out.startswith("walltime ")
    for name in ("run", "compare", "policies", "audit", "demo", "workload"):
        assert name in command("--help").done().out
        assert "Usage" in command(name, "--help").done().out


def test_reader_of_the_pipe_may_leave(trace: Path) -> None:
    import subprocess

    from command_line import start

    process = start(trace.parent, "policies", "--json", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.wait()


def test_the_scheduler_of_a_cluster_file_is_used(command: Command, trace: Path) -> None:
    (trace.parent / "cluster.yaml").write_text("cores: 16\nscheduler: {order: sjf, backfill: none}\n")
    assert "sjf+none" in command("run", "log.swf", "--cluster", "cluster.yaml").done().out


def test_a_second_demo_in_the_same_folder_needs_force(command: Command) -> None:
    command("demo", "--jobs", 50, "--output", "d").done()
    command("demo", "--jobs", 50, "--output", "d").refused("--force")
    command("demo", "--jobs", 50, "--output", "d", "--force").done()


def test_a_cut_off_before_the_first_job_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "late.swf").write_text(swf([(1, 1_000_000, 10, 1, 10)]))
    command("run", "late.swf", "--cores", 8, "--until", "1h").refused("before the first submission", "1e+06 s")


def test_a_comparison_tells_noise_and_jobs_that_are_missing(command: Command, tmp_path: Path) -> None:
    """As the report does, in the same words; users whose jobs still wait are among the last of the table."""
    command("demo", "--jobs", "600", "--output", "demo", "--no-report").done()
    command("run", "demo/workload.swf", "--policy", "easy,sjf", "--until", "4d", "--output", "out").done()
    shown = command("compare", "out", "--by", "user", "--top", "2").done().out
    command("report", "out", "-o", "report.html").done()
    page = html.unescape((tmp_path / "report.html").read_text())
    sentences = [line for line in shown.splitlines() if re.match(r"This is sensitivity|Of [\d,]+ jobs", line)]
    assert len(sentences) == 2
    warnings = [line for line in shown.splitlines() if line.startswith("Careful: ") and "difference" not in line]
    assert "unfinished or rejected jobs are missing from the means" in warnings[0]
    for sentence in (*sentences, *warnings):
        assert sentence in page
    assert re.search(r"^Careful: [\d,]+ users? have jobs that still wait at the end: ", shown, re.M)
    data = json.loads(command("compare", "out", "--json").done().out)
    assert data["headline"][0]["after"] == "sjf"
    assert {change["key"] for change in data["headline"][0]["changes"]} >= {"mean_wait", "utilization_window"}
