"""No argument that a part in Python gives, of any type, ends the process: every public method, asked by introspection.

The hostile parts run in a process of their own, so that a crash is seen.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SYSTEMS = ("cores", "plan", "nodes", "vectors", "queues", "domains", "clusters")


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_argument_ends_the_process(system: str, tmp_path: Path) -> None:
    command = [sys.executable, "-X", "faulthandler", str(HERE / "hostile_parts.py"), system]
    done = subprocess.run(command, text=True, capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[:3000]}"  # the stack comes first
    asked, passes = map(int, done.stdout.split()[-2:])
    assert asked > 2000
    assert passes > 20
