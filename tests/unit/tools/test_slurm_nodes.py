"""Genuine nodes in real time, as `tools/slurm_fidelity.py real --slurmd` has them: jobs of a second, and a sweep whose
workers are jobs."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import walltime
from walltime import Workload
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.site.nodes import Node
from walltime.slurm.controller import Controller, Setting
from walltime.slurm.packages import find_installation
from walltime.slurm.site import Site
from walltime.slurm.translate.writing import write_conf

sys.path.append(str(Path(__file__).parents[3] / "tools"))

import slurm_nodes
import slurm_real

EXPERIMENT = """\
scenario:
  workload: {generate: {jobs: 30, cores: 8, load: 0.9}}
  cluster: {cores: 8}
grid: {policy: [fcfs, easy]}
repetitions: 2
"""
SITE = Site(
    "small",
    (
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SchedulerParameters=bf_interval=1",
        "NodeName=n[1-2] NodeAddr=127.0.0.1 CPUs=2 CoresPerSocket=2 RealMemory=4000 State=UNKNOWN",
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


@pytest.mark.service
def test_a_sweep_whose_workers_are_jobs_of_slurm(nodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's workers are submitted by Slurm's own sbatch, run on its nodes, and are cancelled when all is done."""
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "e.yaml").write_text(EXPERIMENT, encoding="utf-8")
    installation, programs = find_installation(), slurm_nodes.find_slurmd()
    text = slurm_nodes.rewrite(write_conf(SITE), SITE, slurm_nodes.choose_ports(len(SITE.nodes)))
    setting = Setting(conf=text, files=slurm_nodes.FILES, virtual=False)
    with Controller(installation, setting) as controller, slurm_nodes.Slurmds(controller, SITE, programs) as slurmds:
        slurmds.await_all()
        for name in ("sbatch", "scancel"):
            words = " ".join(installation.command(installation.clients / name))
            settings = f"LD_LIBRARY_PATH={installation.search_path} SLURM_CONF={controller.folder}/slurm.conf"
            (tmp_path / name).write_text(f'#!/bin/sh\nexec env {settings} {words} "$@"\n', encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setenv("PYTHONPATH", str(Path(walltime.__file__).parents[1]))  # a worker's folder is another one
        monkeypatch.chdir(tmp_path)
        arguments = ["sweep", "e.yaml", "--store", "store", "--dask", "slurm", "--workers", "2"]
        told = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert "4 of 4 runs are done" in told.output
        started = slurm_nodes.read_times(controller.log())
        assert len(started) == 2
        cancelled = [f"REQUEST_KILL_JOB JobId={job} uid" for job in started]
        assert all(word in controller.log() for word in cancelled)
    assert not find_processes(str(nodes))


def find_processes(folder: str) -> list[str]:
    """The command lines that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes().decode(errors="replace"))
    return [line for line in found if folder in line]
