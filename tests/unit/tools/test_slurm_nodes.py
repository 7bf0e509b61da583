"""Genuine nodes in real time, as `tools/slurm_fidelity.py real --slurmd` has them; jobs of a second."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from walltime import Workload
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.site.nodes import Node
from walltime.slurm.packages import find_installation
from walltime.slurm.site import Site

sys.path.append(str(Path(__file__).parents[3] / "tools"))

import slurm_nodes
import slurm_real

SITE = Site(
    "small",
    (
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SchedulerParameters=bf_interval=1",
        "NodeName=n[1-2] NodeAddr=127.0.0.1 CPUs=2 CoresPerSocket=2 State=UNKNOWN",
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
    ),
    (Node("n1", 2, cores=2), Node("n2", 2, cores=2)),
)


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for runs; skips where Debian's slurmd of the usual release is not to be had."""
    try:
        find_installation("22.05")
        slurm_nodes.find_slurmd()
    except InputError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("WALLTIME_SLURM_RELEASE", "22.05")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # nodes make sockets, whose names are short
        monkeypatch.setenv("WALLTIME_RUNS", folder)
        yield Path(folder)


@pytest.mark.service
def test_genuine_nodes(nodes: Path) -> None:
    """They run jobs one after the other, and nothing of them is left."""
    jobs = Workload.from_columns(submit=[0, 0], run_time=[1, 2], requested_time=[60, 60], cores=[4, 4], nodes=[2, 2])
    before = int(time.time()) * SECOND
    found, began = slurm_real.run_genuine(SITE, jobs, before)
    (_, first, extra), (_, second, _) = found
    assert before <= began < first
    assert extra > 0  # launching a script and telling its end take time
    assert second >= first + SECOND + extra
    assert list(nodes.iterdir()) == []
    assert not find_processes(str(nodes))


def find_processes(folder: str) -> list[str]:
    """The command lines that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes().decode(errors="replace"))
    return [line for line in found if folder in line]
