"""`walltime workload fit`, `generate` and `anonymise`: from a log to a model and back to jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, remark, say
from walltime.cli.trace import (
    Collections,
    Format,
    Host,
    LogOptions,
    Map,
    Timezone,
    Trace,
    refuse_existing,
    tell_missing,
)
from walltime.cli.workload import model_options as given

if TYPE_CHECKING:
    from walltime.core.workload import Workload
    from walltime.tuning import TunedWorkload
    from walltime.workload.models.clean import Removal
    from walltime.workload.models.file import ModelFile


def fit(
    trace: Trace,
    output: given.ModelFile,
    cores: given.LogCores = None,
    busy_users: given.BusyUsers = 100,
    node_cores: given.NodeCores = 1,
    request_bin: given.RequestBin = 60.0,
    accuracy_bin: given.AccuracyBin = 0.01,
    gap_bin: given.GapBin = 1.0,
    longest_gap: given.LongestGap = "30m",
    session_gap: given.SessionGap = "20m",
    flurry: given.Flurry = 5.0,
    keep_system_tests: given.KeepSystemTests = False,
    force: given.Force = False,
    as_json: given.AsJson = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
) -> None:
    """Fit a model to a log: what people submit, when, and how often again.

    The model is a small JSON file; `walltime workload generate` makes jobs from it. What cleaning removes is told.

    Example: walltime workload fit site.sacct -o site.json --cores 4096 --timezone Europe/Berlin
    """
    from walltime.core.time import parse_duration, seconds
    from walltime.workload.models.file import write_model
    from walltime.workload.models.fit import FitOptions, fit_and_report

    _check_model(output, force)
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
    log = LogOptions(input_format, timezone, map_, collections, host).read(trace)
    if cores is not None:
        log = log.replace(log.columns, machine_cores=cores)
    model, removals = fit_and_report(log, options)
    write_model(model, output)
    _show_fit(_describe_fit(log, model, removals), output, as_json)


def _check_model(output: Path, force: bool) -> None:
    """Raises InputError where no model can be written."""
    from walltime.core.errors import InputError

    if output.suffix.lower() != ".json":
        raise InputError("a model file ends in .json", value=output.name)
    refuse_existing(output, force)


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


def _show_fit(facts: dict[str, Any], output: Path, as_json: bool) -> None:
    """Prints what a fit found and removed."""
    if as_json:
        emit(facts)
        return
    say(f"{facts['jobs']:,} jobs of {facts['days']:,.1f} days in {output}: {facts['sentence']}")
    for line in facts["removed"]:
        say(f"• removed: {line}")
    for line in facts["dropped"]:
        say(f"• not read: {line}")


def generate(
    model: given.Model,
    output: given.NewTrace,
    cores: given.MachineCores,
    days: given.Days,
    load: given.Load = None,
    pressure: given.Pressure = None,
    seed: given.Seed = "0",
    stabilization: given.Stabilization = "1d",
    fill: given.Fill = "0",
    drain: given.Drain = "0",
    start: given.Start = None,
    band: given.Band = 0.05,
    node_cores: given.NodeSize = 1,
    insert: given.Insert = None,
    structure: given.Structure = "users",
    bins: given.Bins = None,
    estimates: given.Estimates = None,
    largest_estimate: given.LargestEstimate = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
    plugins: Plugins = None,
) -> None:
    """Generate a workload for a machine from a model: the same seed, the same jobs.

    The phases are fill, stabilization, experiment and drain; each job keeps the name of its phase in .parquet and .csv.

    Example: walltime workload generate site.json --cores 4096 --days 365 --load 0.9 -o year.parquet
    """
    from walltime.core.random import read_seed
    from walltime.core.time import parse_duration, seconds
    from walltime.workload.formats import check_suffix, write
    from walltime.workload.models import PUBLISHED, load_model
    from walltime.workload.synthesis.insertion_file import load_insertions
    from walltime.workload.synthesis.machine import SynthesisPlan, parse_date, synthesize

    check_suffix(output)
    refuse_existing(output, force)
    loaded = load_model(model, structure, bins)  # type: ignore[arg-type]
    plan = SynthesisPlan(
        cores=cores,
        days=days,
        load=load,
        pressure=None if pressure is None else _parse_pressure(pressure),
        seed=read_seed(seed, "--seed"),
        stabilization=seconds(parse_duration(stabilization)),
        fill=seconds(parse_duration(fill)) / 3600,
        drain=seconds(parse_duration(drain)),
        start=None if start is None else parse_date(start),
        band=band,
        node_cores=node_cores,
        estimates=estimates or ("tsafrir" if model in PUBLISHED else "model"),
        largest_estimate=None if largest_estimate is None else seconds(parse_duration(largest_estimate)),
        insertions=tuple(load_insertions(insert)) if insert else (),
    )
    jobs = synthesize(loaded, plan)
    lost = write(jobs, output)
    if as_json:
        emit({"jobs": len(jobs), **jobs.notes})
        return
    say(f"{len(jobs):,} jobs written to {output}: {loaded.title}, {cores:,} cores, seed {seed}")
    _show_plan(jobs.notes, lost)


def _parse_pressure(text: str) -> tuple[float, float]:
    """`1.0`, or `1.0:1.02`."""
    from walltime.core.errors import InputError

    first, colon, second = text.partition(":")
    try:
        low = float(first)
        return low, float(second) if colon else low + 0.1
    except ValueError:
        raise InputError("--pressure takes one number or two, such as 1.0:1.1", value=text) from None


def tune(
    model: given.Model,
    scenario: given.Machine,
    output: given.NewTrace,
    wait: given.Wait = "4h",
    within: given.Within = "1h",
    days: given.Days = 7.0,
    pressure: given.BaselinePressure = 1.0,
    seed: given.Seed = "0",
    stabilization: given.Stabilization = "1d",
    drain: given.Drain = "0",
    start: given.Start = None,
    structure: given.Structure = "users",
    bins: given.Bins = None,
    estimates: given.Estimates = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Find the fill and the job pressure that keep the median wait of every hour near a wanted one, by simulation.

    What is found is for the baseline, ordinary jobs alone, which is written; give both to `walltime workload generate`
    for the experiments that are compared with it.

    Example: walltime workload tune site.json machine.yaml --wait 4h --days 7 -o baseline.parquet
    """
    from walltime.core.time import parse_duration, seconds
    from walltime.tuning import tune_workload
    from walltime.workload.formats import check_suffix, write
    from walltime.workload.models import PUBLISHED, load_model

    check_suffix(output)
    refuse_existing(output, force)
    loaded = load_model(model, structure, bins)  # type: ignore[arg-type]
    tuned = tune_workload(
        loaded,
        scenario,
        wait=seconds(parse_duration(wait)),
        within=seconds(parse_duration(within)),
        pressure=pressure,
        days=days,
        seed=seed,
        stabilization=seconds(parse_duration(stabilization)),
        drain=seconds(parse_duration(drain)),
        start=start,
        estimates=estimates or ("tsafrir" if model in PUBLISHED else "model"),
    )
    lost = write(tuned.workload, output)
    if as_json:
        emit(tuned.as_data())
        return
    _show_tuned(tuned, output)
    _show_plan(tuned.workload.notes, lost)


def _show_tuned(tuned: TunedWorkload, output: Path) -> None:
    """Prints what was found, and with which options the same ordinary jobs come again."""
    from walltime.core.time import format_duration

    facts, plan = tuned.as_data(), tuned.plan
    low, high = plan.pressure or (0.0, 0.0)
    inside = facts["hours"] - facts["outside"]
    say(f"{len(tuned.workload):,} jobs written to {output}, after {tuned.runs} simulations")
    lowest, highest, least, most = (
        format_duration(value) for value in (facts["lowest"], facts["highest"], tuned.low, tuned.high)
    )
    say(f"• hourly median wait {lowest} to {highest}; {inside} of {facts['hours']} hours are in {least} to {most}")
    band = f"--pressure {low:g}:{high:g}"
    say(f"• frozen: --cores {plan.cores} {band} --fill {plan.fill:g}h --node-cores {plan.node_cores}")


def _show_plan(notes: dict[str, Any], lost: list[str]) -> None:
    """Prints what a person should know of a generated workload."""
    for line in _tell_plan(notes):
        say(f"• {line}")
    if lost:
        remark(f"This format has no place for: {', '.join(lost)}")


def _tell_plan(notes: dict[str, Any]) -> list[str]:
    """What a person should know of a generated workload."""
    from walltime.core.time import format_duration

    lengths = {name: end - begin for name, (begin, end) in notes["phases"].items() if end > begin}
    lines = ["phases: " + ", ".join(f"{name} {format_duration(length)}" for name, length in lengths.items())]
    if "drain" in lengths:
        lines.append(f"a run ends with the drain, at {notes['phases']['drain'][1]:.0f} s")
    loads = ", ".join(f"{name} {value:.1%}" for name, value in notes["offered_load"].items())
    lines.append(f"offered load: {loads}")
    if notes["added"] or notes["dropped"]:
        lines.append(f"to hold it, {notes['added']:,} jobs were added and {notes['dropped']:,} dropped")
    if notes["pressure"]:
        low, high = notes["pressure"]["lowest"], notes["pressure"]["highest"]
        lines.append(f"job pressure between {low:.2f} and {high:.2f} after the first day")
    if notes["inserted"]:
        lines.append(f"{notes['inserted']:,} jobs were inserted")
    if flows := notes.get("workflows"):
        work = sum(flow["work"] for flow in flows.values()) / 3600
        lines.append(f"{len(flows):,} workflows were inserted, {work:,.0f} core-hours of work")
    if notes.get("raised_estimates"):
        lines.append(f"{notes['raised_estimates']:,} estimates had to be made longer than the model's")
    return lines


def recipe(
    name: Annotated[str, typer.Argument(metavar="RECIPE", help="montage, blast, ...; `list` prints their names.")],
    output: Annotated[Path | None, typer.Argument(help="The file to write, a workflow's manifest.")] = None,
    tasks: Annotated[int, typer.Option(min=1, help="About so many tasks.")] = 100,
    seed: given.Seed = "0",
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Make a workflow like those of a scientific application, by a recipe of WfCommons.

    Needs the package wfcommons (pip install 'walltime[workflows]'). The file is for `workflows` of a scenario, or of
    `walltime workload generate --insert`.

    Example: walltime workload recipe montage montage.json --tasks 200
    """
    from walltime.core.errors import InputError
    from walltime.core.random import read_seed
    from walltime.workload.formats.workflows import write_manifest
    from walltime.workload.recipes import draw_workflow, list_recipes

    if name == "list":
        names = list_recipes()
        if as_json:
            emit({"recipes": names})
        else:
            say("\n".join(names))
        return
    if output is None:
        raise InputError("a recipe needs a file to write to", value=name)
    refuse_existing(output, force)
    flow = draw_workflow(name, tasks, read_seed(seed, "--seed"))
    write_manifest(flow, output)
    if as_json:
        figures = {"critical_path": flow.critical_path, "widest": flow.widest}
        emit({"written": str(output), "tasks": len(flow.tasks), **figures})
        return
    say(
        f"{len(flow.tasks):,} tasks written to {output}: critical path {flow.critical_path:,.0f} s, "
        f"{flow.widest:,} cores at the widest"
    )


def anonymise(
    trace: Trace,
    output: Annotated[Path, typer.Argument(help="The file to write; its suffix chooses the format.")],
    seed: given.Seed = "0",
    keep_queues: Annotated[bool, typer.Option("--keep-queues", help="Keep the names of queues.")] = False,
    force: given.Force = False,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
    as_json: given.AsJson = False,
) -> None:
    """Write a trace without names and dates, to be shared.

    Users, groups and the like become numbers, and the calendar moves by whole weeks. Sizes, times of day and week, and
    who submitted what together stay as they are.

    Example: walltime workload anonymise site.sacct shared.swf.gz --timezone Europe/Berlin
    """
    from walltime.core.random import read_seed
    from walltime.workload.anonymise import anonymise as make_anonymous
    from walltime.workload.formats import check_suffix, write

    check_suffix(output)
    refuse_existing(output, force)
    source = LogOptions(input_format, timezone, map_, collections, host).read(trace)
    jobs = make_anonymous(source, read_seed(seed, "--seed"), keep_queues)
    lost = write(jobs, output)
    if as_json:
        emit({"written": str(output), "jobs": len(jobs), "left_out": lost})
        return
    say(f"{len(jobs):,} jobs written to {output}, without names and dates")
    tell_missing(source.notes, lost)
