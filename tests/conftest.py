"""What every test may need: the external data, and the refusal to test yesterday's build."""

import importlib.machinery
import os
import pathlib

import pytest
from hypothesis import settings

import walltime

SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
ROOT = pathlib.Path(__file__).parent.parent

settings.register_profile("untimed", deadline=None)  # how long an example takes is the machine's business
settings.load_profile("untimed")


def data_folder() -> pathlib.Path:
    """Where external traces and schedules are: $WALLTIME_DATA, by default ../shared beside the project."""
    return pathlib.Path(os.environ.get("WALLTIME_DATA", ROOT.parent / "shared"))


def pytest_sessionstart(session):
    package = pathlib.Path(walltime.__file__).parent
    for binary in package.rglob("*" + SUFFIX):
        source = binary.with_name(binary.name.removesuffix(SUFFIX) + ".py")
        if source.exists() and source.stat().st_mtime > binary.stat().st_mtime:
            pytest.exit(f"{binary.name} is older than {source.name}: run `make build`", returncode=2)


def pytest_terminal_summary(terminalreporter):
    skipped = len(terminalreporter.stats.get("skipped", []))
    terminalreporter.write_line(f"{skipped} tests skipped for want of something (run with -rs for the reasons)")


@pytest.fixture(scope="session")
def external():
    """A function from a relative path to a file of the external data; skips the test where it is absent."""

    def find(relative: str) -> pathlib.Path:
        path = data_folder() / relative
        if not path.exists():
            pytest.skip(f"no external data at {path} (set WALLTIME_DATA)")
        return path

    return find
