"""Which analysis a name means, and what it may give."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from walltime.analysis.analyses.jobs import count_distributions, describe_sizes
from walltime.analysis.analyses.overtime import measure_minutes, measure_use
from walltime.analysis.analyses.workflows import list_workflows
from walltime.analysis.monitoring import TABLES
from walltime.analysis.predictions import judge_intervals, judge_plans
from walltime.core.entry_points import installed
from walltime.core.errors import InputError
from walltime.core.plugins import check_function, import_target, require_allowed
from walltime.scenario import Part

if TYPE_CHECKING:
    import polars as pl

    from walltime.analysis.charts.quantities import Shown

GROUP = "walltime.analyses"
"""The entry points' group of packages that have analyses of their own."""
BUILT_IN: dict[str, Callable[..., Any]] = {
    "sizes": describe_sizes,
    "distributions": count_distributions,
    "workflows": list_workflows,
    "minutes": measure_minutes,
    "use": measure_use,
    "predictions": judge_plans,
    "intervals": judge_intervals,
    **TABLES,
}
"""The analyses that have a name of their own."""


@dataclass
class Found:
    """What analyses found: figures as `NAME.figure`, and tables by the analysis' name."""

    figures: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """The figures, and the tables as lists of rows, for JSON."""
        return {"figures": self.figures, "tables": {name: table.to_dicts() for name, table in self.tables.items()}}

    @property
    def numbers(self) -> dict[str, float]:
        """The figures that are numbers."""
        return {
            name: float(value)
            for name, value in self.figures.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }


def find_analysis(part: Part) -> Callable[[Shown], Any]:
    """The function that a part names, with its parameters; raises InputError for one that there is not."""
    label = f"analysis {part.name!r}"
    known = installed(GROUP)
    function: Any = BUILT_IN.get(part.name)
    if function is None and part.name in known:
        function = known[part.name].load()
    if function is None:
        if ":" not in part.name:
            choices = [*BUILT_IN, *known]
            raise InputError("unknown analysis (yours: module:attribute)", value=part.name, choices=choices)
        require_allowed(part.name, label)
        function = import_target(part.name, label)
        check_function(function, part.name, label)
    try:
        inspect.signature(function).bind(None, **part.parameters)
    except TypeError as error:
        raise InputError(f"{label} is called with the result and its parameters: {error}") from None
    return partial(function, **part.parameters)


def analyse(result: Shown, parts: Iterable[Part]) -> Found:
    """What the analyses find. A name is what follows the colon. Raises InputError for one that gives something else."""
    import polars as pl

    found = Found()
    for part in parts:
        name = part.name.rpartition(":")[2]
        given = find_analysis(part)(result)
        if isinstance(given, pl.DataFrame):
            found.tables[name] = given
        else:
            found.figures |= {f"{name}.{key}": value for key, value in _judge(part.name, given).items()}
    return found


def _judge(name: str, figures: Any) -> Mapping[str, Any]:
    if not isinstance(figures, Mapping) or not all(isinstance(key, str) for key in figures):
        what = f"analysis {name!r} gave a {type(figures).__name__}: an analysis gives figures by name, or a table"
        raise InputError(what)
    for key, value in figures.items():
        if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
            what = f"analysis {name!r}: {key} is neither a finite number, a text nor None"
            raise InputError(what, value=repr(value))
    return figures
