"""One run: from its specification to its figures and to the files that are kept. Runs in a worker, touches no store."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.analyses import analyse
from walltime.analysis.metrics import by as group_by
from walltime.analysis.metrics import summarise
from walltime.analysis.weeks import each_week
from walltime.api import Result, describe_policy
from walltime.experiments.phases import mark_phases
from walltime.pipeline import Prepared, prepare
from walltime.scenario import Part, parse

if TYPE_CHECKING:
    import polars as pl

_NO_FIGURES = {"schema", "facts", "origin", "clusters", "skipped_reasons", "rejected_reasons", "cancelled_reasons"}


@dataclass(frozen=True)
class RunOutput:
    """What a run came to: numbers by name, files by name, and the digest of its tables."""

    figures: dict[str, float]
    digest: str
    files: dict[str, bytes] = field(default_factory=dict)


def prepare_run(specification: Mapping[str, Any], seed: int) -> Prepared:
    """The simulation that a specification and a seed stand for, ready to run; raises InputError."""
    prepared = prepare(parse(dict(specification["scenario"]) | {"seed": seed}))
    workload, until = mark_phases(prepared.workload, specification.get("phases") or {})
    if workload is prepared.workload:
        return prepared
    ends = [end for end in (until, prepared.scenario.until) if end is not None]
    return prepared.on(workload, min(ends) if ends else None)


def execute(specification: Mapping[str, Any], seed: int) -> RunOutput:
    """Run it and keep what is asked for; raises what the simulation raises."""
    prepared = prepare_run(specification, seed)
    result = Result(prepared.scenario, prepared.run(), describe_policy(prepared.scenario))
    keep = specification.get("keep") or {}
    groups = keep.get("groups", ())
    files = {f"by_{key}.parquet": _as_parquet(result.by(key)) for key in groups}
    if keep.get("weeks"):
        files |= {f"{name}.parquet": _as_parquet(table) for name, table in _find_weeks(result, groups).items()}
    if keep.get("tables"):
        files |= _result_files(result)
    found = analyse(result, [Part.model_validate(part) for part in specification.get("analyses") or ()])
    files |= {f"{name}.parquet": _as_parquet(table) for name, table in found.tables.items()}
    return RunOutput(find_figures(result.summary) | found.numbers, result.digest, files)


def _find_weeks(result: Result, groups: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Of each whole week the figures (`weeks`: week, figure, value) and the tables by group (`weeks_by_user`, ...)."""
    import polars as pl

    figures: list[tuple[int, str, float]] = []
    tables: dict[str, list[pl.DataFrame]] = {key: [] for key in groups}
    for week, own in each_week(result.record):
        figures += [(week, name, value) for name, value in find_figures(summarise(own, digested=False)).items()]
        for key, kept in tables.items():
            kept.append(group_by(own, key).with_columns(pl.lit(week, pl.Int64).alias("week")))
    kinds = {"week": pl.Int64, "figure": pl.String, "value": pl.Float64}
    found = {"weeks": pl.DataFrame(figures, schema=kinds, orient="row")}
    return found | {f"weeks_by_{key}": pl.concat(kept, how="vertical_relaxed") for key, kept in tables.items() if kept}


def find_figures(summary: Mapping[str, Any]) -> dict[str, float]:
    """Every number of a summary by its name; numbers inside a mapping as `window.mean_wait`, those of workflows by
    their name and way as `workflows.montage.single.median_wait`."""
    found: dict[str, float] = {}
    for name, value in summary.items():
        if name == "workflows":
            for row in value or ():
                own = ".".join(str(row[key]) for key in ("name", "way") if row.get(key) is not None)
                found |= _numbers(f"workflows.{own}", row)
        elif isinstance(value, Mapping):
            found |= {} if name in _NO_FIGURES else _numbers(name, value)
        elif name not in _NO_FIGURES:
            found |= _numbers("", {name: value})
    return found


def _numbers(prefix: str, values: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"{prefix}.{name}".lstrip("."): float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _as_parquet(table: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _result_files(result: Result) -> dict[str, bytes]:
    """The files of the result folder, below `result/`."""
    with tempfile.TemporaryDirectory(prefix="walltime-") as folder:
        written = result.save(Path(folder) / "result")
        return {f"result/{file.name}": file.read_bytes() for file in sorted(written.iterdir())}
