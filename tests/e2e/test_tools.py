"""The tools that measure for minutes can at least be started: they are run seldom, and nothing else imports them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment

TOOLS = sorted(
    path for path in (Path(__file__).parents[2] / "tools").glob("*.py") if "argparse.ArgumentParser" in path.read_text()
)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda path: path.name)
def test_a_tool_says_what_it_takes(tool: Path) -> None:
    done = subprocess.run([sys.executable, tool, "--help"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
