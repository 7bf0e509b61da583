"""What every test may need: the external data, the refusal to test yesterday's build, what a run counts and measures.

A test that uses the fixture `slurm` or `browser`, or is marked so, needs a service: `make test-services` runs it.
"""

import collections
import contextlib
import importlib.machinery
import os
import pathlib
import resource

import pytest
from hypothesis import settings

import walltime

SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
ROOT = pathlib.Path(__file__).parent.parent
SERVICES = {"slurm", "browser", "postgres"}
MEMORY = 6 << 30  # of one process of a test; more is a fault, and must not end the whole run
OUTCOMES = ("passed", "failed", "error", "skipped")
ELSEWHERE = []  # functions that tell CPU seconds of processes which others start for a test

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


def pytest_configure(config):
    config.addinivalue_line("markers", "service: needs a browser, Slurm's controller or the like")


def pytest_addoption(parser):
    parser.addoption("--cpu", metavar="FILE", help="append the CPU seconds of each test to this file")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if SERVICES & set(getattr(item, "fixturenames", ())):
            item.add_marker("service")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Note what a test took, its fixtures and the processes that it started included."""
    before = _used()
    with _limited(None if item.get_closest_marker("service") else MEMORY):
        done = yield
    if path := item.config.getoption("--cpu"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{_used() - before:.2f} {item.nodeid}\n")
    return done


@contextlib.contextmanager
def _limited(memory):
    """So much memory at the most, for this process and those it starts; a browser reserves more than it uses."""
    usual = resource.getrlimit(resource.RLIMIT_DATA)
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, usual)


def _used():
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts) + sum(used() for used in ELSEWHERE)


def pytest_terminal_summary(terminalreporter):
    count = collections.Counter({name: len(terminalreporter.stats.get(name, [])) for name in OUTCOMES})
    ran = count["passed"] + count["failed"] + count["error"]
    terminalreporter.write_line(
        f"{ran} cases ran, {count['failed'] + count['error']} failed, {count['skipped']} were skipped for want of "
        f"something (-rs tells the reasons)"
    )


@pytest.fixture(scope="session")
def elsewhere():
    """Functions that tell CPU seconds of processes which others start for a test."""
    return ELSEWHERE


@pytest.fixture(scope="session")
def external():
    """A function from a relative path to a file of the external data; skips the test where it is absent."""

    def find(relative: str) -> pathlib.Path:
        path = data_folder() / relative
        if not path.exists():
            pytest.skip(f"no external data at {path} (set WALLTIME_DATA)")
        return path

    return find


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own, on the loopback interface."""
    from database_server import Server

    server = Server.find()
    if server is None:
        pytest.skip("no PostgreSQL, or no psycopg (make test-services installs both as root)")
    server.start()
    yield server
    server.end()
