"""Fixtures of the tests that drive the real command."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Command, Outcome, crowd, environment, swf
from warm import Warm

from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation


@pytest.fixture
def slurm() -> None:
    """Skips where Slurm's controller is absent."""
    try:
        find_installation()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory, elsewhere: list[object]) -> Iterator[Warm]:
    """Python with Walltime imported already."""
    process = Warm(tmp_path_factory.mktemp("warm"), environment())
    elsewhere.append(process.used)
    yield process
    process.close()
    spent = process.used()
    elsewhere.append(lambda: -spent)  # it is among our own processes now


@pytest.fixture(scope="session")
def command_in(warm: Warm) -> Command:
    """Run `walltime ...` in a folder."""

    def run(folder: Path, *arguments: object) -> Outcome:
        return Outcome(*warm.run(["-m", "walltime", *map(str, arguments)], folder, environment()))

    return run


@pytest.fixture
def command(tmp_path: Path, command_in: Command) -> Command:
    """Run `walltime ...` in the test's folder."""
    return functools.partial(command_in, tmp_path)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A small trace with contention."""
    path = tmp_path / "log.swf"
    path.write_text(swf(crowd()))
    return path
