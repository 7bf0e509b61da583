"""`walltime sweep` and `walltime store` as a person types them: what is printed, what is written, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from command_line import Command, crowd, names, swf

EXPERIMENT = """\
scenario:
  workload: {generate: {jobs: 30, cores: 8, load: 0.9}}
  cluster: {cores: 8}
grid:
  policy: [easy, 'moody:schedule']
repetitions: 2
"""
MOODY = "def schedule(p):\n    raise ValueError('not today')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(EXPERIMENT, encoding="utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "moody.py").write_text(MOODY, encoding="utf-8")
    return tmp_path


def test_a_dry_run_tells_and_writes_nothing(folder: Path, command: Command) -> None:
    before = names(folder)
    told = json.loads(command("sweep", "study.yaml", "--plugins", "own", "--dry-run", "--json").done().out)
    assert (told["cells"], told["runs"], told["done"], told["tried"]) == (2, 4, 0, 4)
    assert told["seconds_low"] <= told["seconds"] <= told["seconds_high"]
    assert len(told["errors"]) == 1
    assert names(folder) == before


def test_code_that_a_file_names_is_not_imported_unasked(folder: Path, command: Command) -> None:
    command("sweep", "study.yaml").refused("study.yaml:5", "--plugins")
    assert not (folder / "walltime-store").exists()


def test_a_sweep_with_failures_ends_with_code_3_and_keeps_their_logs(folder: Path, command: Command) -> None:
    swept = command("sweep", "study.yaml", "--plugins", "own", "--workers", "1")
    assert swept.code == 3
    assert "study: 2 of 4 runs are done" in swept.out
    (listed,) = json.loads(command("store", "ls", "--json").done().out)
    assert listed["runs"] == {"waiting": 0, "running": 0, "done": 2, "failed": 2}
    failed = command("store", "show", "study", "--failed").done().out.splitlines()
    assert failed[0] == "study: 2 failed runs"
    assert "not today" in failed[1]
    assert "in schedule" in command("store", "show", "--run", failed[1].split()[0]).done().out
    command("store", "export", "study", "runs.parquet").done()
    assert pl.read_parquet(folder / "runs.parquet")["state"].to_list() == ["done", "done", "failed", "failed"]
    command("store", "export", "study", "runs.parquet").refused("--force")
    command("store", "export", "study", "runs.txt").refused(".csv or a .parquet")
    command("store", "show", "study", "--cell", "policy=esay").refused("did you mean 'easy'")
    command("store", "show").refused("name an experiment")
    command("store", "rm", "study").refused("--force")
    assert "clean" in command("store", "verify").done().out


def test_what_is_no_store_and_no_number_of_workers(folder: Path, command: Command) -> None:
    command("store", "ls").refused("there is no store here")
    command("store", "restore", "nothing", "--store", "new").refused("there is no store here")
    assert not (folder / "new").exists()
    command("sweep", "study.yaml", "--plugins", "own", "--workers", "0").refused("between 1 and 4096")
    command("sweep", "nothing.yaml").refused("no such file")


def test_both_engines_in_one_sweep(folder: Path, command: Command, slurm: None) -> None:
    text = EXPERIMENT.replace("cluster: {cores: 8}", "cluster: {nodes: 2x4}")
    text = text.replace("policy: [easy, 'moody:schedule']", "engine: [native, slurm]").replace("tions: 2", "tions: 1")
    (folder / "both.yaml").write_text(text, encoding="utf-8")
    command("sweep", "both.yaml", "--workers", "1", "--quiet").done()
    runs = json.loads(command("store", "show", "both", "--json").done().out)["runs"]
    assert [(run["engine"], run["state"], run["jobs"]) for run in runs] == [
        ("native", "done", 30.0),
        ("slurm", "done", 30.0),
    ]


LIMITS = """\
base: now.yaml
grid:
  limit:
    combinations:
      now: {}
      longer: {cluster.queues.q.max_time: 2h}
      react: {cluster.queues.q.max_time: 2h, workload.adjust.run_on: true}
"""


def test_trust_and_limits_to_which_no_user_reacts_stand_below_the_answers(tmp_path: Path, command: Command) -> None:
    """Of a site that was calibrated, in `sweep`, in `compare` of cells and of scenarios, and in the report."""
    (tmp_path / "log.swf").write_text(swf(crowd(30)), encoding="utf-8")
    cluster = "{name: site, cores: 16, queues: {q: {max_time: 1h, default: true}}}"
    (tmp_path / "now.yaml").write_text(f"workload: log.swf\ncluster: {cluster}\n", encoding="utf-8")
    (tmp_path / "limits.yaml").write_text(LIMITS, encoding="utf-8")
    command("calibrate", "now.yaml").done()
    trust, behaviour = "a replay of log.swf has so much of its waiting", "no user reacts"
    for words in (["sweep", "limits.yaml"], ["compare", "limits:limit=now", "limits:limit=longer"]):
        text = " ".join(command(*words).done().out.split())
        assert trust in text
        assert behaviour in text
    text = " ".join(command("compare", "limits:limit=now", "limits:limit=react").done().out.split())
    assert trust in text
    assert behaviour not in text
    assert trust in " ".join(command("compare", "now.yaml", "now.yaml").done().out.split())
    text = " ".join(command("compare", "limits.yaml").done().out.split())
    assert trust in text
    assert behaviour in text
    command("report", "limits", "-o", "page.html").done()
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert trust in page
    assert behaviour in page
