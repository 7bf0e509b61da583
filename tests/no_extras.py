"""A plug-in of pytest: every optional package is as if it were not installed (`make test-base`)."""

import os
import re
import sys
import tomllib
from pathlib import Path

PACKAGES = {"psycopg": "psycopg", "dask-jobqueue": "dask_jobqueue"}
"""What a distribution is imported as, where not by its own name."""


def optional() -> list[str]:
    """The modules of every extra in pyproject.toml."""
    with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    names = {re.split(r"[\[<>= ]", wanted)[0] for extra in extras.values() for wanted in extra}
    return sorted(PACKAGES.get(name, name) for name in names - {"walltime"})


for module in optional():
    sys.modules[module] = None  # type: ignore[assignment]
os.environ["WALLTIME_TESTED_WITHOUT_EXTRAS"] = "1"
