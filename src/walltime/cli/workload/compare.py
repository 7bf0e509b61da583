"""`walltime workload compare`: two workloads side by side, such as a log and what a model makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from walltime.cli.terminal.console import emit, out, say
from walltime.cli.trace import Collections, Format, Host, LogOptions, Map, Timezone, refuse_existing
from walltime.cli.workload.model_options import AsJson, Force, Seed

if TYPE_CHECKING:
    from rich.table import Table

    from walltime.core.workload import Workload
    from walltime.workload.compare import WorkloadComparison


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A trace, or a model file (.json).")],
    second: Annotated[Path, typer.Argument(metavar="B", help="A trace, or a model file (.json).")],
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Write the pictures: .html (one file with everything), .svg, .png, .pdf."),
    ] = None,
    seed: Seed = "0",
    force: Force = False,
    as_json: AsJson = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
) -> None:
    """Compare two workloads, such as a log with what a model makes of it: distances, quantiles, rhythm, correlations.

    A model file stands for jobs drawn from it, over as many days as the other side has.

    Example: walltime workload compare site.sacct site.json --page fit.html
    """
    from walltime.workload.compare import compare_workloads
    from walltime.workload.compare_page import check_page, write_page

    if page is not None:
        check_page(page)
        refuse_existing(page, force)
    from walltime.core.random import read_seed

    sides = _read_sides(first, second, read_seed(seed), LogOptions(input_format, timezone, map_, collections, host))
    comparison = compare_workloads(*sides, names=(str(first), str(second)))
    if page is not None:
        write_page(comparison, page)
    if as_json:
        emit(comparison.as_data())
        return
    _show_comparison(comparison)
    if page is not None:
        say(f"Pictures in {page}")


def _read_side(path: Path, how: LogOptions) -> Workload:
    """One side; what is said of a log's zone and columns counts for a log that can have them."""
    from walltime.workload.formats import find_format, takes_zone

    kind = find_format(path, how.format)
    foreign = how.columns if kind == "table" else None
    zone = how.timezone if takes_zone(kind, dict.fromkeys(foreign or ())) else None
    collections = how.collections if kind in ("dslab", "google") else None
    host = how.host if kind in ("google", "alibaba") else None
    return LogOptions(how.format, zone, foreign, collections, host).read(path)


def _is_model(path: Path) -> bool:
    """Whether a file is a model: JSON that is no workload of another simulator's. What cannot be read is told later."""
    from walltime.core.errors import InputError
    from walltime.core.reading import reading
    from walltime.workload.formats.batsim import is_batsim
    from walltime.workload.formats.dslab import is_dslab

    if path.suffix.lower() != ".json":
        return False
    try:
        with reading(path) as file:
            data = file.json()
    except InputError:
        return True
    return not is_batsim(data) and not is_dslab(data)


def _read_sides(first: Path, second: Path, seed: int, how: LogOptions) -> tuple[Workload, Workload]:
    """Both workloads; a model is drawn over as many days as the other side, or the log that it was fitted to."""
    from walltime.core.time import SECOND
    from walltime.workload.models.empirical import FittedModel
    from walltime.workload.models.file import read_model
    from walltime.workload.synthesis import SynthesisPlan, synthesize

    models = {path: _is_model(path) for path in (first, second)}
    known: list[Workload | None] = []
    for path in (first, second):
        known.append(None if models[path] else _read_side(path, how))
    sides = []
    for path, side, other in zip((first, second), known, reversed(known), strict=True):
        if side is None:
            file = read_model(path)
            submit = None if other is None else other.column("submit")
            days = file.source.days if submit is None else max(float(submit[-1] - submit[0]) / SECOND / 86_400, 0.01)
            sizes = file.variables["cores"]
            largest = max(file.source.machine_cores or 1, round((max(sizes.bins)[0] + 1) * sizes.width))
            plan = SynthesisPlan(cores=largest, days=days, seed=seed, stabilization=0.0)
            side = synthesize(FittedModel(file), plan)
        sides.append(side)
    return sides[0], sides[1]


def _show_comparison(comparison: WorkloadComparison) -> None:
    out().print(_variable_table(comparison))
    out().print(_other_table(comparison))


def _variable_table(comparison: WorkloadComparison) -> Table:
    from rich import box
    from rich.table import Table

    from walltime.workload.compare_page import show_value

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"A: {comparison.jobs[0]:,} jobs\nB: {comparison.jobs[1]:,} jobs", no_wrap=True)
    for heading in ("KS\ndistance", "Wasserstein\n/ mean of A", "median\nA", "\nB", "mean\nA", "\nB", "95 %\nA", "\nB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for variable in comparison.variables:
        quantiles = variable.quantiles()
        cells = [show_value(variable, value) for key in ("50%", "mean", "95%") for value in quantiles[key]]
        relative = "–" if variable.relative is None else f"{variable.relative:.3f}"
        table.add_row(variable.name.replace("_", " "), f"{variable.ks:.3f}", relative, *cells)
    return table


def _other_table(comparison: WorkloadComparison) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in ("total variation", "A", "B"):
        table.add_column(heading, justify="right")
    for name, value in (comparison.rhythm | {f"{key} shares": v for key, v in comparison.labels.items()}).items():
        table.add_row(name, f"{value:.3f}", "", "")
    for name, (a, b) in comparison.correlations.items():
        table.add_row(f"rank correlation {name.replace('_', ' ')}", "", f"{a:.2f}", f"{b:.2f}")
    for name, (left, right) in comparison.autocorrelations.items():
        table.add_row(f"autocorrelation of {name.replace('_', ' ')}, lag 1", "", f"{left[0]:.2f}", f"{right[0]:.2f}")
    return table
