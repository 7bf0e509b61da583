"""Analyses of a run: functions from a result to figures or a table, ours by name, others' by `module:attribute`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError, PolicyError
from walltime.core.plugins import check_function, import_target, require_allowed
from walltime.scenario import Part

if TYPE_CHECKING:
    import polars as pl

    from walltime.api import Result

CORE_HOURS = {"below 48": 0.0, "48-960": 48.0, "960+": 960.0}
"""Classes of jobs by the core-hours that they used: ScSF's."""
_QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}


def find_analysis(part: Part) -> Callable[[Result], Any]:
    """The function that a part names, with its parameters; raises InputError for one that there is not."""
    label = f"analysis {part.name!r}"
    function: Any = BUILT_IN.get(part.name)
    if function is None:
        if ":" not in part.name:
            raise InputError("unknown analysis (yours: module:attribute)", value=part.name, choices=BUILT_IN)
        require_allowed(part.name, label)
        function = import_target(part.name, label)
        check_function(function, part.name, label)
    try:
        inspect.signature(function).bind(None, **part.parameters)
    except TypeError as error:
        raise InputError(f"{label} is called with the result and its parameters: {error}") from None
    return partial(function, **part.parameters)


def analyse(result: Result, parts: Iterable[Part]) -> tuple[dict[str, float], dict[str, pl.DataFrame]]:
    """What the analyses find: figures as `NAME.figure`, and tables by name. The name is what follows the colon."""
    import polars as pl

    figures: dict[str, float] = {}
    tables: dict[str, pl.DataFrame] = {}
    for part in parts:
        name = part.name.rpartition(":")[2]
        found = find_analysis(part)(result)
        if isinstance(found, pl.DataFrame):
            tables[name] = found
        elif isinstance(found, Mapping) and all(isinstance(value, int | float) for value in found.values()):
            figures |= {f"{name}.{key}": float(value) for key, value in found.items()}
        else:
            raise PolicyError(f"analysis {part.name!r} gave a {type(found).__name__}, not numbers by name or a table")
    return figures, tables


def find_sizes(result: Result) -> pl.DataFrame:
    """Wait, run time, request, accuracy, cores, turnaround and slowdown of the ended jobs, by classes of cores and of
    core-hours: how many, and how they are distributed. Fill, stabilization and drain are left out."""
    import polars as pl

    from walltime.analysis.metrics import SIZES, in_experiment, slowdown_column

    seen = in_experiment(result.record).jobs
    jobs = seen.with_columns(pl.Series("slowdown", slowdown_column(seen)))
    jobs = jobs.filter(pl.col("start").is_not_null(), pl.col("end").is_not_null())
    jobs = jobs.with_columns(
        accuracy=pl.col("run_time") / pl.col("requested_time"), turnaround=pl.col("end") - pl.col("submit")
    )
    hours = pl.col("cores") * pl.col("run_time") / 3600
    classes: dict[str, tuple[pl.Expr, Mapping[str, float]]] = {
        "cores": (pl.col("cores"), SIZES),
        "core-hours": (hours, CORE_HOURS),
    }
    names = ("wait", "run_time", "requested_time", "accuracy", "cores", "turnaround", "slowdown")
    found = []
    for kind, (value, bounds) in classes.items():
        for label, low in bounds.items():
            above = [bound for bound in bounds.values() if bound > low]
            mine = jobs.filter(value >= low, *([value < above[0]] if above else []))
            found += [_describe(kind, label, name, mine[name].cast(pl.Float64)) for name in names]
    return pl.DataFrame(found, infer_schema_length=None)


def _describe(kind: str, label: str, name: str, values: pl.Series) -> dict[str, Any]:
    """A row of the table; empty where a class has no jobs."""
    own: dict[str, Any] = {"by": kind, "class": label, "variable": name, "jobs": len(values)}
    own |= {"min": values.min(), "mean": values.mean(), "deviation": values.std(), "max": values.max()}
    return own | {key: values.quantile(share, "linear") for key, share in _QUANTILES.items()}


BUILT_IN: dict[str, Callable[..., Any]] = {"sizes": find_sizes}
"""The analyses that have a name of their own."""
