"""A site with queues and limits through the command line: what it prints, what it writes, and the audit of that."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from command_line import Command

SITE = """workload: {trace: jobs.csv}
cluster:
  cores: 4
  queues:
    short: {max_time: 1h, default: true}
  limits:
    - {per: user, running_jobs: 1}
    - {group: atlas, submitted_jobs: 3}
"""
JOBS = """submit,run_time,requested_time,cores,user,group,account,qos,gpus,memory,constraint
0,3600,3600,1,ann,atlas,higgs,low,1,1073741824,ib
0,3600,3600,1,ann,atlas,higgs,low,,,
1,7200,7200,1,bo,cms,top,,,2147483648,
2,60,60,1,bo,atlas,higgs,,,,
3,60,60,1,cy,atlas,higgs,,,,
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "site.yaml").write_text(SITE)
    return tmp_path


def test_what_a_run_tells(command: Command, site: Path) -> None:
    done = command("run", "site.yaml", "--output", "out").done()
    reasons = "more time than queue short gives (1:00 h): 1; group atlas has 3 of 3 jobs in the system: 1"
    assert f"Rejected: 2 jobs ({reasons})." in " ".join(done.out.split())
    assert "Kept waiting by limits: 1:00 h, over all jobs (user ann 1:00 h)." in done.out
    summary = json.loads((site / "out" / "summary.json").read_text())
    assert summary["held"] == {"user ann": pytest.approx(1)}
    assert sum(summary["rejected_reasons"].values()) == summary["rejected"] == 2
    assert "legal: 5 jobs" in command("audit", "out").done().out


def test_what_differs_between_policies_is_told_for_each(command: Command, site: Path) -> None:
    """Short jobs first: then the long one is the one that the limit keeps waiting."""
    rows = ["submit,run_time,requested_time,cores,user", "0,7200,7200,1,ann", "0,3600,3600,1,ann", "0,60,9000,1,bo"]
    (site / "jobs.csv").write_text("\n".join(rows) + "\n")
    (site / "site.yaml").write_text(SITE.partition("    - {group")[0].replace("1h", "2h"))
    done = command("run", "site.yaml", "--policy", "fcfs,sjf").done()
    assert "Kept waiting by limits under fcfs: 2:00 h, over all jobs (user ann 2:00 h)." in done.out
    assert "Kept waiting by limits under sjf: 1:00 h, over all jobs (user ann 1:00 h)." in done.out
    assert "Rejected: 1 job (more time than queue short gives (2:00 h): 1)." in done.out


def test_a_schedule_that_breaks_a_limit_is_not_legal(command: Command, site: Path) -> None:
    """The same tables under a tighter limit, the digest untouched."""
    command("run", "site.yaml", "--output", "out").done()
    scenario = site / "out" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("submitted_jobs: 3", "submitted_jobs: 2"))
    outcome = command("audit", "out")
    assert outcome.code == 3
    assert "quota: job 4 at 2 s: group atlas has 3 of 2 jobs in the system" in outcome.out
    listed = json.loads(command("audit", "out", "--json").out)
    assert listed["violations"][0]["rule"] == "quota"


def test_an_audit_without_its_workload_refuses_to_judge(command: Command, site: Path) -> None:
    command("run", "site.yaml", "--output", "out").done()
    (site / "jobs.csv").unlink()
    command("audit", "out").refused("jobs.csv", "reads the workload again")


def test_a_workload_that_changed_is_noticed(command: Command, site: Path) -> None:
    command("run", "site.yaml", "--output", "out").done()
    (site / "jobs.csv").write_text(JOBS.replace("1,bo,cms", "2,bo,cms"))
    outcome = command("audit", "out")
    assert outcome.code == 3
    assert "request: job 3: has another number of cores than in the workload" in outcome.out


def test_what_workload_info_shows(command: Command, site: Path) -> None:
    shown = " ".join(command("workload", "info", "jobs.csv").done().out.split())
    assert "accounts 2" in shown
    assert "qualities of service 1" in shown
    assert "jobs that ask for memory 2, GPUs 1, properties 1" in shown
    assert "1 GiB" in shown
    facts = json.loads(command("workload", "info", "jobs.csv", "--json").done().out)
    assert facts["requests"] == {"memory": 2, "gpus": 1, "constraint": 1}
    assert facts["memory"]["max"] == 2**31
    assert pl.read_csv(site / "jobs.csv").height == facts["jobs"]


SLURM = """SelectType=select/cons_tres
NodeName=n[1-2] CPUs=2
PartitionName=short Nodes=n[1-2] Default=YES MaxTime=60
"""


def test_the_files_of_a_site_run_in_one_step(command: Command, site: Path) -> None:
    (site / "slurm.conf").write_text(SLURM)
    done = command("run", "slurm.conf", "jobs.csv", "--label", "as it is", "--output", "out").done()
    assert "as it is" in done.out
    assert "more time than queue short gives (1:00 h): 1" in " ".join(done.out.split())
    assert "are honoured exactly" in done.out
    alone = command("run", "slurm.conf")
    assert alone.code == 2
    assert "the jobs are missing" in " ".join(alone.err.split())
    several = command("run", "site.yaml", "jobs.csv")
    assert several.code == 2
    assert "none of these is its slurm.conf" in " ".join(several.err.split())


def test_what_a_replay_cannot_show_of_another_limit_is_said(command: Command, site: Path) -> None:
    said = "no user reacts"
    assert said not in command("run", "site.yaml").done().out
    longer = ("run", "site.yaml", "--set", "cluster.queues.short.max_time=3h")
    assert said in command(*longer).done().out
    assert said not in command(*longer, "--set", "workload.adjust.run_on=true").done().out
    assert said in command(*longer, "--set", "workload.adjust.shake=1m").done().out


def test_every_command_that_reads_a_trace_has_the_same_options_for_it() -> None:
    """Where one of them is there all are."""
    from typer.main import get_command

    from walltime.cli.app import app

    def walk(command, path=""):
        for name, inner in command.commands.items():
            if hasattr(inner, "commands"):
                yield from walk(inner, f"{path}{name} ")
            else:
                yield f"{path}{name}", inner

    wanted = {"--input-format", "--timezone", "--map", "--collections", "--host"}
    readers = {}
    for name, command in walk(get_command(app)):
        options = {option for parameter in command.params for option in parameter.opts}
        told = " ".join((getattr(one, "help", "") or "") for one in command.params if one.param_type_name == "argument")
        if options & wanted or "trace" in told.lower():
            readers[name] = wanted - options
    assert set(readers) >= {"run", "calibrate", "site import", "workload info", "workload compare", "workload fit"}
    assert set(readers) >= {"slurm run", "slurm shell", "slurm compare-releases"}
    assert {name: lacking for name, lacking in readers.items() if lacking} == {}
