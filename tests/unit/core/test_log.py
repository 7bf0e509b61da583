"""What Walltime logs: heard by a program that listens, by nobody else."""

from __future__ import annotations

import logging
import subprocess
import sys

import walltime

JOBS = "walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])"


def test_a_program_hears_what_is_done(caplog, tmp_path):
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    with caplog.at_level(logging.INFO, "walltime"):
        walltime.simulate(jobs, cores=1).save(tmp_path / "out")
        walltime.load(tmp_path / "out")
    told = [(record.name, record.getMessage()) for record in caplog.records]
    assert ("walltime.core.folder", f"wrote the result {tmp_path / 'out'}") in told
    assert ("walltime.core.folder", f"reading the result {tmp_path / 'out'}") in told
    assert any(name == "walltime.pipeline" and text.startswith("simulated 1 jobs") for name, text in told)


def test_it_is_silent_unless_one_listens():
    code = (
        f"import logging, walltime; walltime.simulate({JOBS}, cores=1); logging.getLogger('walltime').error('heard?')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
