"""The wheel as a person gets it: installed from a folder into an empty environment, on a machine without a compiler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation

ROOT = Path(__file__).parents[2]
COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "x86_64-linux-gnu-gcc", "aarch64-linux-gnu-gcc")
SCENARIO = """\
workload: {generate: {jobs: 2000, cores: 64, load: 0.9}}
cluster:
  nodes: [{count: 16, cores: 4}]
  scheduler: {order: multifactor, backfill: easy}
"""
pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist, and a wheel for this Python."""
    folder = tmp_path_factory.mktemp("dist")
    version = "{}.{}".format(*sys.version_info)
    subprocess.run([sys.executable, ROOT / "tools/wheels.py", "--only", version, "--into", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def installed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of a shell in which the wheel is installed, and in which there is no compiler."""
    home = tmp_path_factory.mktemp("empty")
    tools = home / "tools"
    tools.mkdir()
    for place in ("/bin", "/usr/bin", "/sbin", "/usr/sbin"):
        for program in Path(place).iterdir():
            if program.name.split("-")[0] not in COMPILERS and program.name not in COMPILERS:
                link = tools / program.name
                if not link.is_symlink():
                    link.symlink_to(program)
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    settings = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    settings |= {"PATH": f"{home / 'venv/bin'}:{tools}", "CC": "/nonexistent", "PYTHONDONTWRITEBYTECODE": ""}
    assert all(shutil.which(name, path=settings["PATH"]) is None for name in COMPILERS)
    wheel = next(folder.glob("*.whl"))
    subprocess.run([home / "venv/bin/pip", "install", "--quiet", wheel], check=True, env=settings, cwd=home)
    return settings


def run(settings: dict[str, str], where: Path, *words: str) -> str:
    command = [shutil.which("walltime", path=settings["PATH"]) or "walltime", *words]
    done = subprocess.run(command, env=settings, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_says_which_systems_it_is_for(folder: Path):
    wheel = next(folder.glob("*.whl"))
    assert "manylinux_2_28" in wheel.name
    with tarfile.open(next(folder.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"LICENSE", "setup.py", "src/walltime/kernel/queue.pxd", "src/walltime/slurm/vtime/vtime.h"} <= names


def test_what_is_installed_does_its_work_and_has_the_same_digest(installed: dict[str, str], tmp_path: Path):
    assert "best of its column" in run(installed, tmp_path, "demo", "--output", "demo")
    run(installed, tmp_path, "report", "demo/fcfs", "demo/easy", "-o", "both.html")
    assert (tmp_path / "both.html").stat().st_size > 100_000
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    sweep = ("run", "scenario.yaml", "--policy", "fcfs,easy,conservative", "--json")
    here = subprocess.run(
        [sys.executable, "-m", "walltime", *sweep], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert _digests(run(installed, tmp_path, *sweep)) == _digests(here.stdout)


def _digests(printed: str) -> list[str]:
    found = [run["summary"]["digest"] for run in json.loads(printed)["runs"]]
    assert len(found) == 3
    return found


def test_the_slurm_engine_runs_from_the_wheel(installed: dict[str, str], tmp_path: Path):
    try:
        find_installation()
    except InputError as error:
        pytest.skip(str(error))
    (tmp_path / "scenario.yaml").write_text(SCENARIO.replace("jobs: 2000", "jobs: 40") + "engine: slurm\n")
    told = run(installed, tmp_path, "run", "scenario.yaml", "--json")
    assert json.loads(told)["runs"][0]["summary"]["jobs"] == 40
