"""Fixtures of the tests that drive the real command."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command, Outcome, crowd, start, swf

from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation


@pytest.fixture
def slurm() -> None:
    """Skips where Slurm's controller is absent."""
    try:
        find_installation()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `walltime ...` in the test's folder."""

    def run(*arguments: object) -> Outcome:
        process = start(tmp_path, *arguments)
        out, err = process.communicate()
        return Outcome(process.returncode, out, err)

    return run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A small trace with contention."""
    path = tmp_path / "log.swf"
    path.write_text(swf(crowd()))
    return path
