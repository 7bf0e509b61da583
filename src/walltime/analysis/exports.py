"""A result in the tables of other programs: its jobs as Batsim's `jobs.csv`, or as the `.owf` that evalys reads; what a
monitor sees in DSLab's three tables, a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from walltime.analysis.monitoring import write_monitoring
from walltime.core.errors import InputError
from walltime.core.files import replacing
from walltime.core.spreadsheet import guard
from walltime.core.tables import find_whole

_STATES = {
    "completed": "COMPLETED_SUCCESSFULLY",
    "failed": "COMPLETED_FAILED",
    "timeout": "COMPLETED_WALLTIME_REACHED",
    "cancelled": "COMPLETED_KILLED",
    "rejected": "REJECTED",
}
OWF = (
    *("job_id", "submission_time", "start_time", "stop_time", "walltime", "nb_default_ressources"),
    *("nb_extra_ressources", "status", "user", "command", "queue", "name", "array", "type", "reservation", "cigri_id"),
)
"""The columns of a `.owf`, separated by spaces."""


def export(result: Any, path: str | Path, format: str | None = None) -> int:
    """Write the jobs of a result, all or nothing, in the format, or in that of the suffix; how many were written. In
    DSLab's, how many tables."""
    if find_export(path, format) == DSLAB:
        return len(write_monitoring(result, path))
    made = FORMATS[find_export(path, format)](result)
    with replacing(path) as draft:
        draft.write_text(made[0], encoding="utf-8")
    return made[1]


def find_export(path: str | Path, format: str | None = None) -> str:
    """The format by its name or by the suffix of the file; raises InputError."""
    if format is not None:
        if format not in (*FORMATS, DSLAB):
            raise InputError("no format that results are written in", value=format, choices=[*FORMATS, DSLAB])
        return format
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError("no format of results has this suffix; --format names one", value=suffix, choices=SUFFIXES)
    return SUFFIXES[suffix]


def _batsim(result: Any) -> tuple[str, int]:
    """Batsim's jobs: those that are over, in its columns; what it is not told stays empty."""
    table = _jobs(result).filter(pl.col("state").is_in(list(_STATES)))
    ran = pl.col("start").is_not_null()
    ended = pl.col("end") - pl.col("start")
    state = pl.col("state").replace_strict(_STATES, return_dtype=pl.String)
    columns = {
        "job_id": _label(),
        "workload_name": pl.lit("w0"),
        "profile": pl.lit(None, pl.String),
        "submission_time": pl.col("submit"),
        "requested_number_of_resources": pl.coalesce("nodes", "cores") if _is_on_nodes(result) else pl.col("cores"),
        "requested_time": pl.col("requested_time"),
        "success": (pl.col("state") == "completed").cast(pl.Int8),
        "final_state": pl.when(ran | (pl.col("state") == "rejected")).then(state).otherwise(pl.lit("REJECTED")),
        "starting_time": pl.col("start"),
        "execution_time": pl.when(ran).then(ended),
        "finish_time": pl.when(ran).then(pl.col("end")),
        "waiting_time": pl.col("start") - pl.col("submit"),
        "turnaround_time": pl.when(ran).then(pl.col("end") - pl.col("submit")),
        "stretch": pl.when(ran & (ended > 0)).then((pl.col("end") - pl.col("submit")) / ended),
        "allocated_resources": pl.col("held"),
        "consumed_energy": pl.lit(-1),
        "metadata": pl.lit(""),
    }
    made = table.select(expression.alias(name) for name, expression in columns.items())
    return guard(made).write_csv(), len(made)


def _owf(result: Any) -> tuple[str, int]:
    """The jobs that started and ended, a line each; status 1 for one that completed, 0 for another."""
    table = _jobs(result).filter(pl.col("start").is_not_null() & pl.col("end").is_not_null())
    word = {name: pl.col(name).cast(pl.String).str.replace_all(r"\s+", "_") for name in ("user", "queue")}
    columns = {
        "job_id": pl.col("job_id"),
        "submission_time": pl.col("submit"),
        "start_time": pl.col("start"),
        "stop_time": pl.col("end"),
        "walltime": pl.col("requested_time"),
        "nb_default_ressources": pl.col("cores"),
        "nb_extra_ressources": pl.lit(0),
        "status": (pl.col("state") == "completed").cast(pl.Int8),
        **word,
        "name": pl.col("name").str.replace_all(r"\s+", "_"),
    }
    named = {name: columns.get(name, pl.lit(None, pl.String)) for name in OWF}
    made = table.select(
        pl.when(expression.cast(pl.String).fill_null("") == "")
        .then(pl.lit("-1"))
        .otherwise(expression.cast(pl.String))
        .alias(name)
        for name, expression in named.items()
    )
    cores = sum(result.summary["clusters"].values())
    head = f"; MaxProcs: {cores}\n; UnixStartTime: {int(result.summary['origin']['epoch'] or 0)}\n"
    return head + made.write_csv(separator=" ", quote_style="never"), len(made)


FORMATS: dict[str, Callable[[Any], tuple[str, int]]] = {"batsim": _batsim, "owf": _owf}
SUFFIXES = {".csv": "batsim", ".owf": "owf"}
DSLAB = "dslab"


def _jobs(result: Any) -> pl.DataFrame:
    """The jobs with the nodes of their last allocation, as `0-3 7`: empty in a pool of cores."""
    table = result.allocations
    resized = (table["outcome"].cast(pl.String) == "resized").to_numpy()
    whole = find_whole(table["job_id"].to_numpy(), table["attempt"].to_numpy(), resized)
    table = table.with_columns(table["nodes"].gather(whole))
    last = table.group_by("job_id", maintain_order=True).agg(pl.col("nodes").last().alias("held"))
    last = last.with_columns(pl.col("held").str.replace_all(r":\d+", "").str.replace_all(",", " "))
    jobs: pl.DataFrame = result.jobs
    return jobs.join(last, on="job_id", how="left", maintain_order="left")


def _label() -> pl.Expr:
    return pl.when(pl.col("name").fill_null("") == "").then(pl.col("job_id").cast(pl.String)).otherwise(pl.col("name"))


def _is_on_nodes(result: Any) -> bool:
    return bool(result.summary.get("nodes"))
