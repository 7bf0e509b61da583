"""What pyproject.toml asks for: `installed.py [build|dev]` exits with 0 where all of it is there, `--list` prints it.

`build` is what Walltime is compiled with. Without a word it is that and what Walltime runs on; with `dev`, what it is
tested with as well.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def requirements(words: list[str]) -> list[str]:
    """The packages, as pip takes them."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    found = list(project["build-system"]["requires"])
    if "build" not in words:
        found += project["project"]["dependencies"]
    return [*found, *project["dependency-groups"]["dev"]] if "dev" in words else found


def is_there(requirement: str) -> bool:
    """Whether a version that meets the requirement is installed."""
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    return wanted.specifier.contains(version(wanted.name), prereleases=True)


def main(words: list[str]) -> int:
    """1 where something is missing or too old."""
    wanted = requirements(words)
    if "--list" in words:
        print("\n".join(wanted))
        return 0
    try:
        return 0 if all(map(is_there, [*wanted, "walltime"])) else 1
    except (ImportError, PackageNotFoundError):
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
