"""A package of its own: installed, used by its names, and checked; broken variants of it are found out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import environment
from warm import Warm

Run = Callable[..., str]
EXAMPLE = Path(__file__).parents[2] / "examples/plugin"
PEEK = """
from walltime import pipeline


class Thrift(Order):
    def key(self, jobs, slot):
        return int(lengths[-1][int(jobs.job_id[slot]) - 1])


lengths = []
run = pipeline.Prepared.run


def listen(self, *rest, **named):
    lengths.append(self.workload.columns["run_time"])
    return run(self, *rest, **named)


pipeline.Prepared.run = listen
"""
DRAW = """
import random


class Thrift(Order):
    def key(self, jobs, slot):
        return random.randrange(1000)
"""
STARVE = """
def modest(p):
    for slot in p.waiting():
        if p.cores(slot) == 1 and p.fits(slot):
            p.start(slot)
"""
RAISE = """
def read_joblines(path):
    return Workload.from_columns(submit=[int(path.read_bytes()[0])], run_time=[1], requested_time=[1], cores=[1])
"""
COUNT = """
asked = []


def patience(result):
    asked.append(result)
    return {"asked": len(asked)}
"""
BROKEN = {
    "an order that draws": ("parts", DRAW, "order.thrift", "gave two schedules for the same jobs"),
    "an order that peeks": ("parts", PEEK, "order.thrift", "looks at actual run times"),
    "a policy that starves": ("parts", STARVE, "backfill.modest", "never starts job"),
    "a format with unnamed errors": ("formats", RAISE, "joblines", "IndexError: index out of range for a file (empty)"),
    "an analysis that remembers": ("analyses", COUNT, "patience", "gave two answers for the same results"),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed."""
    home = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, home / "source")
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(home / "site"), str(home / "source")]
    subprocess.run(command, check=True, cwd=home)
    return home / "site"


@pytest.fixture
def run(warm: Warm) -> Run:
    """What a command prints that finds packages in this folder too."""

    def start(site: Path, folder: Path, *words: str, code: int = 0) -> str:
        env = environment()
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(site), env.get("PYTHONPATH")]))
        done, out, err = warm.run(["-m", "walltime", *words], folder, env)
        assert done == code, out + err
        return out

    return start


def test_the_example_is_used_by_its_names_and_passes_its_check(installed: Path, tmp_path: Path, run: Run) -> None:
    jobs = [(7 * i, 40 + 37 * i % 90, 60 + 53 * i % 300, 1 + i % 4) for i in range(60)]
    (tmp_path / "log.joblines").write_text("".join(" ".join(map(str, job)) + "\n" for job in jobs))
    scenario = {
        "workload": "log.joblines",
        "clusters": [
            {"name": name, "cores": 8, "scheduler": {"order": {"name": "thrift", "size": 2}, "backfill": "modest"}}
            for name in ("a", "b")
        ],
        "broker": "emptiest",
    }
    (tmp_path / "scenario.yaml").write_text(json.dumps(scenario))
    run(installed, tmp_path, "run", "scenario.yaml", "--output", "out")
    run(installed, tmp_path, "audit", "out")
    figures = json.loads(run(installed, tmp_path, "analyse", "patience", "out", "--json"))["results"][0]["figures"]
    assert figures["jobs"] == len(jobs)
    run(installed, tmp_path, "plot", "waits-by-cores", "out", "-o", "waits.svg")
    assert "Mean wait by cores" in (tmp_path / "waits.svg").read_text()

    found = json.loads(run(installed, tmp_path, "check-plugin", "walltime_example", "--json"))
    assert found["well"]
    assert len(found["findings"]) == 6


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_variant_is_found_out(name: str, installed: Path, tmp_path: Path, run: Run) -> None:
    module, source, point, problem = BROKEN[name]
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    with (site / f"walltime_example/{module}.py").open("a") as file:
        file.write(source)
    offered = next(site.glob("*.dist-info/entry_points.txt"))
    group, lines = "", []
    for line in offered.read_text().splitlines():
        group = line if line.startswith("[") else group
        lines += [group, line] if line.startswith(point) else []
    offered.write_text("\n".join(lines) + "\n")
    printed = run(site, tmp_path, "check-plugin", "walltime-example", code=3)
    assert problem in printed
    assert printed.count("\n") == 1
