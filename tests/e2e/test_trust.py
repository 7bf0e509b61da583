"""Files of strangers run no code: every command on scenarios, results and folders that were made to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Command, crowd, environment, swf

CANARY = "ran"
EVIL = f"open({CANARY!r}, 'a').write(__name__)\n"
POLICY = EVIL + "from walltime import Policy\n\nclass Mine(Policy):\n    def schedule(self, p):\n        pass\n"
ATTACKS = {
    "a program": {"estimate": {"name": "subprocess:Popen", "args": f"touch {CANARY}", "shell": True}},
    "a function": {"backfill": "os:system"},
    "an instance": {"estimate": {"name": "x", "instance": {"args": f"touch {CANARY}"}}},
    "a module beside": {"backfill": "stranger:Mine"},
    "a part of a part": {"backfill": {"name": "easy", "candidates": "stranger:Mine"}},
    "a place": {"place": "stranger:Mine"},
    "a limit": {"admit": ["stranger:Mine"]},
    "a rhythm": {"rhythm": "stranger:Mine"},
    "preemption": {"preempt": "stranger:Mine"},
    "of ours, but no part": {"backfill": "walltime.__main__:main"},
    "of ours, but not for files": {"backfill": {"name": "walltime.policy.api:FunctionPolicy", "function": "print"}},
}


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder that somebody sent: a trace, and modules that would tell if they were imported."""
    (tmp_path / "log.swf").write_text(swf(crowd(20)))
    (tmp_path / "stranger.py").write_text(POLICY)
    return tmp_path


def write(folder: Path, scheduler: object, **others: object) -> None:
    cluster = {"cores": 16, "scheduler": scheduler}
    (folder / "s.yaml").write_text(json.dumps({"workload": "log.swf", "cluster": cluster, **others}))


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_scenario_alone_runs_nothing(command: Command, stranger: Path, attack: str) -> None:
    write(stranger, ATTACKS[attack])
    command("run", "s.yaml").refused()
    assert not (stranger / CANARY).exists()


@pytest.mark.parametrize(
    "others",
    [
        {"broker": "stranger:Mine"},
        {"broker": {"name": "first", "order": "stranger:Mine"}},
        {"broker": {"name": "first", "queues": {"q": {"broker": "stranger:Mine"}}}},
        {"execution": {"model": "stranger:Mine"}},
        {"users": "stranger:Mine"},
    ],
)
def test_other_parts_of_a_scenario(command: Command, stranger: Path, others: dict[str, object]) -> None:
    write(stranger, {}, **others)
    command("run", "s.yaml").refused()
    assert not (stranger / CANARY).exists()


def test_clusters_of_another_file_and_settings(command: Command, stranger: Path) -> None:
    (stranger / "c.yaml").write_text("cores: 16\nscheduler: {backfill: stranger:Mine}\n")
    (stranger / "grid.yaml").write_text("clusters: [{name: a, cores: 16, scheduler: {backfill: stranger:Mine}}]\n")
    command("run", "log.swf", "--cluster", "c.yaml").refused("stranger:Mine", "--plugins")
    command("run", "log.swf", "--cluster", "grid.yaml").refused("stranger:Mine", "--plugins")
    command("run", "log.swf", "--set", "cluster.scheduler.backfill=stranger:Mine").refused("--plugins")
    (stranger / "insert.yaml").write_text("- {trigger: 'stranger:Mine', jobs: [{cores: 1, run_time: 1}]}\n")
    generate = ["workload", "generate", "lublin", "--cores", 8, "--days", 1, "-o", "x.csv", "--insert", "insert.yaml"]
    command(*generate).refused("stranger:Mine", "--plugins")
    assert not (stranger / CANARY).exists()


def test_a_result_alone_runs_nothing(command: Command, stranger: Path) -> None:
    command("run", "log.swf", "--output", "out").done()
    folder = stranger / "out"
    text = (folder / "scenario.yaml").read_text()
    assert "backfill: easy" in text
    (folder / "scenario.yaml").write_text(text.replace("backfill: easy", "backfill: stranger:Mine"))
    command("explain", "out", "--job", 3).refused("stranger:Mine", "--plugins")
    command("run", "out/scenario.yaml").refused("stranger:Mine", "--plugins")
    for arguments in (
        ["audit", "out"],
        ["compare", "out", "out"],
        ["report", "out", "-o", "r.html"],
        ["plot", "utilization", "out"],
        ["workflows", "out"],
        ["steady", "out"],
    ):
        command(*arguments)
    (stranger / "today.csv").write_text("job_id,state,cores,requested_time\n1,R,1,60\n")
    (stranger / "p.yaml").write_text(text.replace("backfill: easy", "backfill: stranger:Mine") + "start: today.csv\n")
    command("predict", "p.yaml", "--cores", 1, "--time", 60).refused()
    assert not (stranger / CANARY).exists()


def test_who_asks_gets_it(command: Command, stranger: Path) -> None:
    write(stranger, {"backfill": "stranger:Mine", "estimate": "subprocess:Popen"})
    command("run", "s.yaml", "--plugins", ".").refused("subprocess:Popen", "is not in")
    command("run", "s.yaml", "--plugins", ".", "--plugins", "subprocess").refused("Popen is not a walltime")
    write(stranger, {"backfill": "stranger:Mine"})
    command("run", "s.yaml", "--plugins", "stranger", "--output", "out").done()
    assert (stranger / CANARY).exists()
    (stranger / CANARY).unlink()
    command("audit", "out").done()
    command("explain", "out", "--job", 3).refused("--plugins")
    assert not (stranger / CANARY).exists()
    command("explain", "out", "--job", 3, "--plugins", ".").done()
    command("run", "s.yaml", "--plugins", "nowhere").refused("nowhere", "neither")
    command("run", "s.yaml", "--plugins", "stranger.py").refused("the folder of this file")


def test_plugins_offer_what_they_define_and_no_more(command: Command, stranger: Path) -> None:
    (stranger / "tools.py").write_text("import subprocess\nfrom os import system\nfrom subprocess import getoutput\n")
    for name in ("tools:subprocess.getoutput", "tools:system", "tools:getoutput"):
        write(stranger, {"backfill": name})
        command("run", "s.yaml", "--plugins", ".").refused(name)


def test_every_command_with_a_scenario_or_a_result_has_plugins(command: Command) -> None:
    for name in (
        *(["run"], ["compare"], ["explain"], ["predict"], ["report"], ["plot"], ["workflows"], ["steady"], ["audit"]),
        *(["slurm", "run"], ["slurm", "shell"], ["slurm", "continue"], ["workload", "generate"]),
    ):
        assert "--plugins" in command(*name, "--help").done().out


def test_the_current_folder_is_no_place_for_imports(command: Command, stranger: Path) -> None:
    """Libraries try to import what may not be there, and look for plug-ins of installed packages."""
    (stranger / "stranger.py").unlink()
    for name in ("IPython", "pandas", "pyarrow", "attr", "sitecustomize", "typer", "rich", "numpy", "evil"):
        (stranger / f"{name}.py").write_text(EVIL)
    info = stranger / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[walltime.parts]\nbackfill.evil = evil:x\n[pydantic]\nevil = evil:x\n")
    (stranger / "matplotlibrc").write_text("backend: module://evil\ntext.usetex: True\n")
    write(stranger, {"backfill": "easy"})
    command("run", "s.yaml", "--output", "out").done()
    command("plot", "utilization", "out").done()
    command("report", "out").done()
    write(stranger, {"backfill": "evil"})
    command("run", "s.yaml").refused("unknown backfill part")
    assert not (stranger / CANARY).exists()


def test_python_trusts_what_it_is_handed_and_no_file(stranger: Path) -> None:
    write(stranger, {"backfill": "stranger:Mine"})
    program = """
import sys
import pathlib
import walltime
sys.path.append(".")
for _ in range(2):
    try:
        walltime.simulate("s.yaml")
    except walltime.InputError as error:
        assert "walltime.allow_plugins" in str(error), error
    else:
        raise SystemExit("a file was trusted")
from walltime.scenario import load
try:
    walltime.simulate(load("s.yaml"), seed=3)
except walltime.InputError as error:
    assert "allow_plugins" in str(error)
else:
    raise SystemExit("a file was trusted")
assert not pathlib.Path("ran").exists()
walltime.simulate("log.swf", cores=16, policy="stranger:Mine")
assert pathlib.Path("ran").exists()
walltime.simulate({"workload": "log.swf", "cluster": {"cores": 16, "scheduler": {"backfill": "stranger:Mine"}}})
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=stranger, env=environment(), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
