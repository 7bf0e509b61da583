"""Analyses that installed packages offer: a function from a result to figures by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from walltime.core.entry_points import Point, installed
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown

GROUP = "walltime.analyses"
"""The entry points' group of packages that have analyses of their own."""


def find_analysis(name: str) -> Point:
    """The analysis of that name; raises InputError with the choices."""
    known = installed(GROUP)
    if name not in known:
        what = "unknown analysis" if known else "no installed package offers an analysis"
        raise InputError(what, value=name, choices=known)
    return known[name]


def analyse(name: str, results: Sequence[Shown]) -> list[dict[str, Any]]:
    """The figures of each result; raises InputError where the analysis gives what is neither a number nor a text."""
    found = find_analysis(name)
    function = found.load()
    return [_judge(found, function(result)) for result in results]


def _judge(found: Point, figures: Any) -> dict[str, Any]:
    label = f"the package {found.package}: {found.name}"
    if not isinstance(figures, Mapping) or not all(isinstance(name, str) for name in figures):
        raise InputError(f"{label}: an analysis gives figures by name", value=type(figures).__name__)
    for name, value in figures.items():
        if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
            raise InputError(f"{label}: {name} is neither a finite number, a text nor None", value=repr(value))
    return dict(figures)
