"""Exits with 0 where the environment has what pyproject.toml asks for: then nothing need be installed again."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def is_there(requirement: str) -> bool:
    """Whether a version that meets the requirement is installed."""
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    return wanted.specifier.contains(version(wanted.name), prereleases=True)


def main() -> int:
    """1 where something is missing or too old."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], "walltime"]
    try:
        return 0 if all(map(is_there, wanted)) else 1
    except (ImportError, PackageNotFoundError):
        return 1


if __name__ == "__main__":
    sys.exit(main())
