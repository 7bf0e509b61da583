"""Fixtures of the tests that need Slurm's controller."""

import pytest

from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation
from walltime.slurm.protocol.releases import DIALECTS


def find_or_skip(release=None):
    try:
        return find_installation(release)
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def slurm():
    """The installation; skips where Slurm is absent. $WALLTIME_SLURM_RELEASE chooses among several."""
    return find_or_skip()


@pytest.fixture(scope="module", params=DIALECTS)
def each(request, slurm):
    """The installation of each release that is spoken, one after the other; skips one that is absent."""
    return find_or_skip(request.param)
