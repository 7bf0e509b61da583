"""Fixtures of the tests that need Slurm's controller."""

import pytest

from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation


@pytest.fixture(scope="session")
def slurm():
    """The installation; skips where Slurm is absent."""
    try:
        return find_installation()
    except InputError as error:
        pytest.skip(str(error))
