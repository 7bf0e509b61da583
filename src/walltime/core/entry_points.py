"""What installed packages offer by entry points: groups, names, and the import of what a name leads to.

A person who installs a package has allowed its code. Nothing of it is imported before its name is asked for.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from walltime.core.errors import InputError
from walltime.core.plugins import import_target

GROUPS = {
    "walltime.parts": "a part of a scheduler or a broker, named kind.name",
    "walltime.formats": "a function from a path to a Workload; its name is also the suffix of its files",
    "walltime.analyses": "a function from a result to figures by name",
    "walltime.pictures": "a function from results to a Chart",
}
"""The groups that packages register in, and what each name in one leads to."""


@dataclass(frozen=True)
class Point:
    """One thing that a package offers."""

    group: str
    name: str
    target: str
    package: str

    def load(self) -> Any:
        """What it leads to; raises InputError, which names the package, where that cannot be imported."""
        return import_target(self.target, f"the package {self.package}: {self.name}")


@functools.cache
def installed(group: str) -> dict[str, Point]:
    """What is registered in a group, by name; raises InputError where two packages want one name."""
    from importlib.metadata import entry_points

    found: dict[str, Point] = {}
    for entry in entry_points(group=group):
        point = Point(group, entry.name, entry.value, entry.dist.name if entry.dist else entry.value)
        taken = found.setdefault(point.name, point)
        if taken.target != point.target:
            packages = f"{taken.package} and {point.package}"
            raise InputError(f"two packages want the same name in {group}, {packages}", value=point.name)
    return found
