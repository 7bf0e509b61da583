"""What pyproject.toml asks for: `installed.py [dev]` exits with 0 where the environment has it, `--list` prints it.

Without `dev` it is what Walltime is compiled with and what it runs on; with it, what it is tested with as well.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def requirements(dev: bool) -> list[str]:
    """The packages, as pip takes them."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    found = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    return [*found, *project["dependency-groups"]["dev"]] if dev else found


def is_there(requirement: str) -> bool:
    """Whether a version that meets the requirement is installed."""
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    return wanted.specifier.contains(version(wanted.name), prereleases=True)


def main(words: list[str]) -> int:
    """1 where something is missing or too old."""
    wanted = requirements("dev" in words)
    if "--list" in words:
        print("\n".join(wanted))
        return 0
    try:
        return 0 if all(map(is_there, [*wanted, "walltime"])) else 1
    except (ImportError, PackageNotFoundError):
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
