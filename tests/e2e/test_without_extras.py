"""What `pip install walltime` brings is enough to run, compare, report and sweep on one machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment

TESTS = Path(__file__).parents[1]
BASE = ("e2e/test_sweep_command.py", "unit/experiments/test_store.py", "unit/experiments/test_dask_clusters.py")
"""A quick selection; `make test-base` runs all."""


@pytest.mark.skipif("WALLTIME_TESTED_WITHOUT_EXTRAS" in os.environ, reason="this is that run")
def test_the_base_suite_needs_no_extra() -> None:
    path = os.pathsep.join([str(TESTS), environment().get("PYTHONPATH", "")])
    files = [str(TESTS / name) for name in BASE]
    command = [sys.executable, "-m", "pytest", "-p", "no_extras", "-m", "not service", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        command, cwd=TESTS.parent, env=environment() | {"PYTHONPATH": path}, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
    told = re.search(r"(\d+) cases ran, 0 failed", done.stdout)
    assert told is not None
    assert int(told[1]) > 20
