"""`walltime workload fit`, `generate`, `compare` and `anonymise`: from a log to a model and back to jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.trace import Format, Map, Timezone, Trace, read_trace, refuse_existing

if TYPE_CHECKING:
    from rich.table import Table

    from walltime.core.workload import Workload
    from walltime.workload.clean import Removal
    from walltime.workload.compare import Comparison
    from walltime.workload.models.file import ModelFile

Force = Annotated[bool, typer.Option("--force", help="Replace the output where it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Seed = Annotated[int, typer.Option(min=0, help="The seed of everything random.")]
_BINS, _CLEAN = "Bins", "Cleaning"
_PHASES, _JOBS = "Phases and load", "Jobs"


def fit(
    trace: Trace,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write (.json).")],
    cores: Annotated[
        int | None, typer.Option(min=1, help="Size of the machine, where the log does not tell it.")
    ] = None,
    busy_users: Annotated[int, typer.Option(min=0, help="Users that the model knows one by one.")] = 100,
    node_cores: Annotated[
        int, typer.Option(min=1, help="Width of the bins of cores: a node's.", rich_help_panel=_BINS)
    ] = 1,
    request_bin: Annotated[
        float, typer.Option(help="Width of the bins of requested time, in seconds.", rich_help_panel=_BINS)
    ] = 60.0,
    accuracy_bin: Annotated[
        float, typer.Option(help="Width of the bins of run time / requested time.", rich_help_panel=_BINS)
    ] = 0.01,
    gap_bin: Annotated[
        float, typer.Option(help="Width of the bins of gaps between submissions, in seconds.", rich_help_panel=_BINS)
    ] = 1.0,
    longest_gap: Annotated[
        str, typer.Option(help="Longer gaps are left out of their distribution.", rich_help_panel=_BINS)
    ] = "30m",
    session_gap: Annotated[str, typer.Option(help="A user who submits nothing for this long ends a session.")] = "20m",
    flurry: Annotated[
        float,
        typer.Option(
            help="A user's week with X times the others' usual jobs is removed as a flurry; 0 removes none.",
            rich_help_panel=_CLEAN,
        ),
    ] = 5.0,
    keep_system_tests: Annotated[
        bool, typer.Option("--keep-system-tests", help="Keep rare jobs on the whole machine.", rich_help_panel=_CLEAN)
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
) -> None:
    """Fit a model to a log: what people submit, when, and how often again.

    The model is a small JSON file; `walltime workload generate` makes jobs from it. What cleaning removes is told.

    Example: walltime workload fit site.sacct -o site.json --cores 4096 --timezone Europe/Berlin
    """
    from walltime.core.errors import InputError
    from walltime.core.time import parse_duration, seconds
    from walltime.workload.fit import FitOptions, fit_and_report
    from walltime.workload.models.file import write_model

    if output.suffix.lower() != ".json":
        raise InputError("a model file ends in .json", value=output.name)
    refuse_existing(output, force)
    options = FitOptions(
        cores_bin=node_cores,
        request_bin=request_bin,
        accuracy_bin=accuracy_bin,
        gap_bin=gap_bin,
        longest_gap=seconds(parse_duration(longest_gap)),
        session_gap=seconds(parse_duration(session_gap)),
        busy_users=busy_users,
        flurry=flurry,
        system_tests=not keep_system_tests,
    )
    log = read_trace(trace, input_format, timezone, map_)
    if cores is not None:
        log = log.replace(log.columns, machine_cores=cores)
    model, removals = fit_and_report(log, options)
    write_model(model, output)
    facts = _describe_fit(log, model, removals)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{facts['jobs']:,} jobs of {facts['days']:,.1f} days in {output}: {facts['sentence']}")
    for line in facts["removed"]:
        typer.echo(f"• removed: {line}")
    for line in facts["dropped"]:
        typer.echo(f"• not read: {line}")


def _describe_fit(log: Workload, model: ModelFile, removals: list[Removal]) -> dict[str, Any]:
    templates = sum(len(user.templates) for user in model.users)
    people = len(model.users) + len(model.others.users)
    load = model.rates.offered_load
    return {
        "jobs": model.source.jobs,
        "days": model.source.days,
        "users": people,
        "jobs_per_day": model.rates.jobs_per_day,
        "offered_load": load,
        "sentence": f"{model.rates.jobs_per_day:,.0f} jobs a day"
        + (f", offered load {load:.1%}" if load is not None else "")
        + f"; {len(model.users)} busy users with {templates} repeated jobs, {len(model.pool.jobs)} other requests",
        "removed": [
            f"{each.jobs:,} jobs, {each.core_hours:,.0f} core-hours: {each.what}"
            + (f" of {each.user}" if each.user else "")
            + (f" ({each.detail})" if each.detail else "")
            for each in removals
        ],
        "dropped": [f"{count:,} records: {reason}" for reason, count in log.notes.get("skipped", {}).items()],
    }


def generate(
    model: Annotated[
        str, typer.Argument(help="A model file (.json), or lublin, lublin-batch, lublin-interactive, lublin-mixed.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The trace to write: .parquet or .csv keep phases; .swf.")
    ],
    cores: Annotated[int, typer.Option(min=1, help="Size of the machine; no job is larger.")],
    days: Annotated[float, typer.Option(help="Length of the experiment.", rich_help_panel=_PHASES)],
    load: Annotated[
        float | None,
        typer.Option(
            help="Offered load, 1.0 fills the machine; by default what the model has.", rich_help_panel=_PHASES
        ),
    ] = None,
    seed: Seed = 0,
    stabilization: Annotated[
        str, typer.Option(help="Ordinary jobs before the experiment, not analysed.", rich_help_panel=_PHASES)
    ] = "1d",
    backlog: Annotated[
        str,
        typer.Option(
            help="Work for the whole machine that should wait at the start of the experiment, under FCFS: 4h. "
            "Made by a fill of small jobs.",
            rich_help_panel=_PHASES,
        ),
    ] = "0",
    drain: Annotated[
        str, typer.Option(help="Time after the last submission, told with the phases.", rich_help_panel=_PHASES)
    ] = "0",
    band: Annotated[
        float, typer.Option(help="How far the job pressure may be from the load on the way.", rich_help_panel=_PHASES)
    ] = 0.05,
    insert: Annotated[
        Path | None, typer.Option(help="A YAML file of jobs to insert, and when.", rich_help_panel=_JOBS)
    ] = None,
    structure: Annotated[
        str,
        typer.Option(help="users: sessions and habits; independent: each variable by itself.", rich_help_panel=_JOBS),
    ] = "users",
    bins: Annotated[
        str | None,
        typer.Option(help="Of independent variables: uniform, middle, low or high in a bin.", rich_help_panel=_JOBS),
    ] = None,
    estimates: Annotated[
        str | None,
        typer.Option(
            help="Requested times: model, tsafrir or none; by default the model's, Tsafrir's for lublin.",
            rich_help_panel=_JOBS,
        ),
    ] = None,
    largest_estimate: Annotated[
        str | None, typer.Option(help="The longest time that may be requested, for tsafrir.", rich_help_panel=_JOBS)
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Generate a workload for a machine from a model: the same seed, the same jobs.

    The phases are fill, stabilization, experiment and drain; each job keeps the name of its phase in .parquet and .csv.

    Example: walltime workload generate site.json --cores 4096 --days 365 --load 0.9 --backlog 4h -o year.parquet
    """
    from walltime.core.time import parse_duration, seconds
    from walltime.workload.formats import check_suffix, write
    from walltime.workload.insertion import load_insertions
    from walltime.workload.models import PUBLISHED, load_model
    from walltime.workload.synthesis import Plan, synthesize

    check_suffix(output)
    refuse_existing(output, force)
    loaded = load_model(model, structure, bins)  # type: ignore[arg-type]
    plan = Plan(
        cores=cores,
        days=days,
        load=load,
        seed=seed,
        stabilization=seconds(parse_duration(stabilization)),
        backlog=seconds(parse_duration(backlog)) / 3600,
        drain=seconds(parse_duration(drain)),
        band=band,
        estimates=estimates or ("tsafrir" if model in PUBLISHED else "model"),
        largest_estimate=None if largest_estimate is None else seconds(parse_duration(largest_estimate)),
        insertions=tuple(load_insertions(insert)) if insert else (),
    )
    jobs = synthesize(loaded, plan)
    lost = write(jobs, output)
    if as_json:
        typer.echo(json.dumps({"jobs": len(jobs), **jobs.notes}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{len(jobs):,} jobs written to {output}: {loaded.title}, {cores:,} cores, seed {seed}")
    for line in _tell_plan(jobs.notes):
        typer.echo(f"• {line}")
    if lost:
        typer.echo(f"This format has no place for: {', '.join(lost)}", err=True)


def _tell_plan(notes: dict[str, Any]) -> list[str]:
    """What a person should know of a generated workload."""
    from walltime.core.time import format_duration

    lengths = {name: end - begin for name, (begin, end) in notes["phases"].items() if end > begin}
    lines = ["phases: " + ", ".join(f"{name} {format_duration(length)}" for name, length in lengths.items())]
    loads = ", ".join(f"{name} {value:.1%}" for name, value in notes["offered_load"].items())
    lines.append(f"offered load: {loads}")
    if notes["added"] or notes["dropped"]:
        lines.append(f"to hold it, {notes['added']:,} jobs were added and {notes['dropped']:,} dropped")
    if notes["pressure"]:
        low, high = notes["pressure"]["lowest"], notes["pressure"]["highest"]
        lines.append(f"job pressure between {low:.2f} and {high:.2f} after the first day")
    if "backlog" in notes:
        found = notes["backlog"]
        lines.append(
            f"backlog at the start of the experiment under FCFS: {found['fcfs_hours']:.1f} h "
            f"({found['wanted_hours']:g} h wanted)"
        )
    if notes["inserted"]:
        lines.append(f"{notes['inserted']:,} jobs were inserted")
    if notes.get("raised_estimates"):
        lines.append(f"{notes['raised_estimates']:,} estimates had to be made longer than the model's")
    return lines


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A trace, or a model file (.json).")],
    second: Annotated[Path, typer.Argument(metavar="B", help="A trace, or a model file (.json).")],
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Write the pictures: .html (one file with everything), .svg, .png, .pdf."),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    timezone: Timezone = None,
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
    sides = _read_sides(first, second, seed, timezone)
    comparison = compare_workloads(*sides, names=(str(first), str(second)))
    if page is not None:
        write_page(comparison, page)
    if as_json:
        typer.echo(json.dumps(comparison.as_data(), indent=2, ensure_ascii=False))
        return
    _show_comparison(comparison)
    if page is not None:
        typer.echo(f"Pictures in {page}")


def _read_sides(first: Path, second: Path, seed: int, timezone: str | None) -> tuple[Workload, Workload]:
    """Both workloads; a model is drawn over as many days as the other side, or the log that it was fitted to."""
    from walltime.core.time import SECOND
    from walltime.workload.formats import find_format
    from walltime.workload.models.empirical import FittedModel
    from walltime.workload.models.file import read_model
    from walltime.workload.synthesis import Plan, synthesize

    models = {path: path.suffix.lower() == ".json" for path in (first, second)}
    known: list[Workload | None] = []
    for path in (first, second):
        zone = timezone if not models[path] and find_format(path) in ("sacct", "torque") else None
        known.append(None if models[path] else read_trace(path, None, zone))
    sides = []
    for path, side, other in zip((first, second), known, reversed(known), strict=True):
        if side is None:
            file = read_model(path)
            submit = None if other is None else other.column("submit")
            days = file.source.days if submit is None else max(float(submit[-1] - submit[0]) / SECOND / 86_400, 0.01)
            sizes = file.variables["cores"]
            largest = max(file.source.machine_cores or 1, round((max(sizes.bins)[0] + 1) * sizes.width))
            plan = Plan(cores=largest, days=days, seed=seed, stabilization=0.0)
            side = synthesize(FittedModel(file), plan)
        sides.append(side)
    return sides[0], sides[1]


def _show_comparison(comparison: Comparison) -> None:
    from walltime.cli.console import out

    out().print(_variable_table(comparison))
    out().print(_other_table(comparison))


def _variable_table(comparison: Comparison) -> Table:
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


def _other_table(comparison: Comparison) -> Table:
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


def anonymise(
    trace: Trace,
    output: Annotated[Path, typer.Argument(help="The file to write; its suffix chooses the format.")],
    seed: Seed = 0,
    keep_queues: Annotated[bool, typer.Option("--keep-queues", help="Keep the names of queues.")] = False,
    force: Force = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
) -> None:
    """Write a trace without names and dates, to be shared.

    Users, groups and the like become numbers, and the calendar moves by whole weeks. Sizes, times of day and week, and
    who submitted what together stay as they are.

    Example: walltime workload anonymise site.sacct shared.swf.gz --timezone Europe/Berlin
    """
    from walltime.workload.anonymise import anonymise as make_anonymous
    from walltime.workload.formats import check_suffix, write

    check_suffix(output)
    refuse_existing(output, force)
    jobs = make_anonymous(read_trace(trace, input_format, timezone, map_), seed, keep_queues)
    lost = write(jobs, output)
    typer.echo(f"{len(jobs):,} jobs written to {output}, without names and dates")
    if lost:
        typer.echo(f"This format has no place for: {', '.join(lost)}", err=True)
