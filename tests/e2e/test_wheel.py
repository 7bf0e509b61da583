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

ROOT = Path(__file__).parents[2]
COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "x86_64-linux-gnu-gcc", "aarch64-linux-gnu-gcc")
SCENARIO = """\
workload: {generate: {jobs: 2000, cores: 64, load: 0.9}}
cluster:
  nodes: [{count: 16, cores: 4}]
  scheduler: {order: multifactor, backfill: easy}
"""
pytestmark = pytest.mark.usefixtures("slurm")


def make_wheel(folder: Path) -> Path:
    """An sdist, and a wheel for this Python."""
    version = "{}.{}".format(*sys.version_info)
    subprocess.run([sys.executable, ROOT / "tools/wheels.py", "--only", version, "--into", folder], check=True)
    return next(folder.glob("*.whl"))


def install(wheel: Path, home: Path) -> dict[str, str]:
    """The settings of a shell in which the wheel is installed, and in which there is no compiler."""
    tools = home / "tools"
    tools.mkdir(parents=True)
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
    subprocess.run([home / "venv/bin/pip", "install", "--quiet", wheel], check=True, env=settings, cwd=home)
    return settings


def run(settings: dict[str, str], where: Path, *words: str) -> str:
    command = [shutil.which("walltime", path=settings["PATH"]) or "walltime", *words]
    done = subprocess.run(command, env=settings, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel(tmp_path: Path) -> None:
    """All of it in one test, because the wheel takes minutes to make."""
    wheel = make_wheel(tmp_path / "dist")
    assert "manylinux_2_28" in wheel.name
    check_sdist(next(wheel.parent.glob("*.tar.gz")))
    settings = install(wheel, tmp_path / "empty")
    work = tmp_path / "work"
    work.mkdir()
    assert "best of its column" in run(settings, work, "demo", "--output", "demo")
    run(settings, work, "report", "demo/fcfs", "demo/easy", "-o", "both.html")
    assert (work / "both.html").stat().st_size > 100_000
    check_digests(settings, work)
    check_slurm(settings, work)


def check_sdist(path: Path) -> None:
    """What is compiled, and what it is compiled with, is there."""
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"LICENSE", "setup.py", "src/walltime/kernel/queue/waiting.pxd", "src/walltime/slurm/vtime/vtime.h"} <= names


def check_digests(settings: dict[str, str], work: Path) -> None:
    """Schedules do not depend on the compiler of the core."""
    (work / "scenario.yaml").write_text(SCENARIO)
    sweep = ("run", "scenario.yaml", "--policy", "fcfs,easy,conservative", "--json")
    here = subprocess.run(
        [sys.executable, "-m", "walltime", *sweep], cwd=work, capture_output=True, text=True, check=True
    )
    assert digests(run(settings, work, *sweep)) == digests(here.stdout)


def digests(printed: str) -> list[str]:
    found = [run["summary"]["digest"] for run in json.loads(printed)["runs"]]
    assert len(found) == 3
    return found


def check_slurm(settings: dict[str, str], work: Path) -> None:
    """The library for Slurm's controller came with the wheel."""
    (work / "slurm.yaml").write_text(SCENARIO.replace("jobs: 2000", "jobs: 40") + "engine: slurm\n")
    told = run(settings, work, "run", "slurm.yaml", "--json")
    assert json.loads(told)["runs"][0]["summary"]["jobs"] == 40
