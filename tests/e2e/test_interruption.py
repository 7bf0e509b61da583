"""A run that is stopped leaves nothing half-written."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import Command, names, start

POLICY = """
import pathlib, time
from walltime.policies.backfill.easy import Easy

class Marked(Easy):
    "EASY that says when the simulation has begun."
    def schedule(self, p):
        pathlib.Path("begun").touch()
        return Easy.schedule(self, p)

class Slow(Marked):
    def schedule(self, p):
        pathlib.Path("begun").touch()
        time.sleep(0.05)
        return Easy.schedule(self, p)
"""
SCENARIO = "workload: {{generate: {{jobs: {jobs}, cores: 64, load: 1.2}}}}\n"


def wait_for(condition: object, process: subprocess.Popen[str]) -> None:
    """Wait until the condition holds; fails if the process ends before."""
    while not condition():  # type: ignore[operator]
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "marked.py").write_text(POLICY)
    (tmp_path / "s.yaml").write_text(SCENARIO.format(jobs=20_000))
    (tmp_path / "large.yaml").write_text(SCENARIO.format(jobs=600_000))
    return tmp_path


@pytest.mark.parametrize("policy", ["marked:Marked", "marked:Slow"])
def test_interrupt_ends_the_run_and_leaves_nothing(folder: Path, policy: str) -> None:
    before = names(folder)
    process = start(folder, "run", "large.yaml", "--policy", policy, "--output", "out")
    wait_for((folder / "begun").exists, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out == ""
    assert names(folder) - {"begun"} == before


@pytest.mark.parametrize("delay", [0.1, 0.4, 0.8, 1.6])
def test_interrupt_at_any_moment(folder: Path, delay: float) -> None:
    before = names(folder)
    process = start(folder, "run", "large.yaml", "--policy", "marked:Slow", "--output", "out")
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode != 0  # 130, or whatever Python makes of it before our first line
    assert names(folder) - {"begun"} == before


def test_kill_during_the_simulation_leaves_no_result(folder: Path, command: Command) -> None:
    process = start(folder, "run", "s.yaml", "--policy", "marked:Slow", "--output", "out")
    wait_for((folder / "begun").exists, process)
    process.kill()
    process.communicate()
    assert "out" not in names(folder)
    command("run", "s.yaml", "--output", "out").done()
    command("audit", "out").done()


def test_kill_during_the_writing_leaves_no_result(folder: Path, command: Command) -> None:
    process = start(folder, "run", "large.yaml", "--output", "out")
    wait_for(lambda: any(name.startswith(".out.partial") for name in names(folder)), process)
    process.kill()
    process.communicate()
    assert "out" not in names(folder)
    command("run", "s.yaml", "--output", "out").done()
    command("audit", "out").done()
    assert not [name for name in names(folder) if "partial" in name]


def test_kill_while_replacing_keeps_the_old_result(folder: Path, command: Command) -> None:
    command("run", "s.yaml", "--output", "out").done()
    before = (folder / "out" / "summary.json").read_bytes()
    process = start(folder, "run", "large.yaml", "--output", "out", "--force")
    wait_for(lambda: any(name.startswith(".out.partial") for name in names(folder)), process)
    process.kill()
    process.communicate()
    assert (folder / "out" / "summary.json").read_bytes() == before
    command("audit", "out").done()


def test_progress_is_shown_on_a_terminal_only(folder: Path) -> None:
    controller, terminal = pty.openpty()
    process = start(folder, "run", "s.yaml", "--policy", "marked:Slow", stderr=terminal, stdout=subprocess.DEVNULL)
    os.close(terminal)
    seen = b""
    while b"jobs/s" not in seen:
        seen += os.read(controller, 4096)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            if not os.read(controller, 4096):
                break
        except OSError:
            break
    os.close(controller)
    assert process.wait() == 130
