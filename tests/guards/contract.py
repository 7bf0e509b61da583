"""What others build on, as lines of text: names in Python, a policy's interface, scenario keys, commands, tables."""

from __future__ import annotations

import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

import walltime
from walltime.cli.app import app
from walltime.core.entry_points import GROUPS
from walltime.core.errors import WalltimeError
from walltime.core.tables import ALLOCATIONS, JOBS, OUTAGE_KINDS, OUTAGES, OUTCOMES, SERIES, STATES
from walltime.core.workload import COLUMNS
from walltime.experiments.definition import Experiment
from walltime.experiments.schema import metadata
from walltime.policy import registry
from walltime.policy.signatures import parameters_of
from walltime.scenario import Part, Scenario
from walltime.scenario.reading.problems import PYTHON_ONLY, model_of

INTERFACES = ("api", "views", "clusters", "preempt", "conformance", "hosts")
"""Modules of `walltime.policy` that a policy is written and checked with."""
TAUGHT = {
    "walltime.analysis.charts.chart": ("Axis", "Chart", "Line", "Panel"),
    "walltime.analysis.charts.palette": ("LIGHT",),
    "walltime.analysis.compare": ("compare_by",),
    "walltime.analysis.noise": ("Interval", "estimate"),
    "walltime.analysis.plots.style": ("settings",),
    "walltime.analysis.predictions": ("draw_errors", "judge_plans"),
    "walltime.analysis.verdict": ("SHAKEN", "Verdict", "judge_all"),
    "walltime.analysis.winners": ("Winners", "find_winners"),
    "walltime.core.random": ("stream",),
    "walltime.core.time": ("NEVER", "SECOND", "format_duration"),
    "walltime.core.workload": ("Workload",),
    "walltime.experiments.grouping": (
        *("compare_workflows", "group_jobs", "group_workflows", "merge_distributions", "read_kept"),
    ),
    "walltime.experiments.answers.choices": ("Choice",),
    "walltime.experiments.answers.points": ("Points",),
    "walltime.experiments.answers.solve": ("solve",),
    "walltime.experiments.answers.tune": ("Objective", "Wish", "tune"),
    "walltime.kernel.jobs": ("State",),
    "walltime.policy.optimise": ("Operator",),
    "walltime.programs": (
        *("Process", "Profile", "ProfileError", "StorageError"),
        *("gather", "race", "register", "timeout"),
    ),
    "walltime.programs.profiles": ("write_out",),
    "walltime.scenario": ("load", "load_cluster"),
    "walltime.site.importing.scenario": ("import_site",),
    "walltime.tuning": ("hourly_medians", "tune_workload"),
    "walltime.workload.formats": ("write",),
    "walltime.workload.formats.workflows": ("read_workflow", "write_manifest"),
    "walltime.workload.generate": ("Model", "generate"),
    "walltime.workload.models.sample": ("Sample",),
    "walltime.workload.synthesis.workflow_mix": ("Mix", "WAYS", "add_workflows"),
    "walltime.workload.presence": ("Mix", "WAYS", "add_workflows"),
    "walltime.workload.synthesis": ("synthesize",),
    "walltime.workload.transform": ("shake",),
    "walltime.workload.workflow": ("Task", "Workflow"),
}
"""Other names that the documents and examples import."""
ERRORS = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def lines() -> list[str]:
    """The contract, sorted."""
    sections = (
        python_names,
        policy_interface,
        scenario_keys,
        experiment_keys,
        parts,
        command_line,
        tables,
        store_tables,
        summary_keys,
        exit_codes,
        entry_points,
    )
    return sorted({line for section in sections for line in section()})


def python_names() -> Iterator[str]:
    for name in walltime.__all__:
        yield f"python walltime.{name}"
        thing = getattr(walltime, name)
        if inspect.isclass(thing):
            yield from (f"python walltime.{name}.{member}" for member in _members(thing))
        elif inspect.isroutine(thing):
            yield from (f"python walltime.{name}({parameter})" for parameter in inspect.signature(thing).parameters)

    for module, names in TAUGHT.items():
        yield from (f"python {module}.{name}" for name in names if hasattr(_find(module), name))


def _find(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


def policy_interface() -> Iterator[str]:
    for module in INTERFACES:
        for name, thing in vars(importlib.import_module(f"walltime.policy.{module}")).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != f"walltime.policy.{module}":
                continue
            yield f"policy {module}.{name}"
            if inspect.isclass(thing):
                yield from (f"policy {module}.{name}.{member}" for member in _members(thing))


def scenario_keys() -> Iterator[str]:
    yield "scenario cluster"
    yield from _keys(Scenario, "")


def _keys(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name in PYTHON_ONLY:
            continue
        yield f"scenario {prefix}{name}"
        for value in _choices(field.annotation):
            yield f"scenario {prefix}{name}: {value}"
        inner = model_of(field.annotation)
        if inner is not None and inner is not Part:
            yield from _keys(inner, f"{prefix}{name}.")


def _choices(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) is typing.Literal:
        yield from typing.get_args(annotation)
    else:
        for inner in typing.get_args(annotation):
            yield from _choices(inner)


def experiment_keys() -> Iterator[str]:
    yield from (line.replace("scenario", "experiment", 1) for line in _keys(Experiment, ""))


def store_tables() -> Iterator[str]:
    for table in metadata.sorted_tables:
        yield from (f"store {table.name}.{column.name}" for column in table.columns)


def parts() -> Iterator[str]:
    for entry in registry.entries():
        yield f"part {entry.kind}.{entry.name}"
        yield from (f"part {entry.kind}.{entry.name}({name})" for name in entry.parameters())
    yield from (f"policy name {preset.name}" for preset in registry.presets())


def command_line() -> Iterator[str]:
    yield from _options(typer.main.get_command(app), "walltime")


def _options(command: Any, path: str) -> Iterator[str]:
    yield f"command {path}"
    for parameter in command.params:
        names = [*parameter.opts, *parameter.secondary_opts] if parameter.param_type_name == "option" else []
        yield from (f"command {path} {name}" for name in names or [f"<{parameter.name}>"])
    for name, inner in getattr(command, "commands", {}).items():
        yield from _options(inner, f"{path} {name}")


def tables() -> Iterator[str]:
    for table, schema in (("jobs", JOBS), ("allocations", ALLOCATIONS), ("outages", OUTAGES), ("series", SERIES)):
        yield from (f"result {table}.{name}: {kind}" for name, kind in schema.items())
    for column, values in (("jobs.state", STATES), ("allocations.outcome", OUTCOMES), ("outages.kind", OUTAGE_KINDS)):
        yield from (f"result {column}: {value}" for value in values)
    yield from (f"workload {name}: {column.kind}" for name, column in COLUMNS.items())


def summary_keys() -> Iterator[str]:
    jobs = walltime.Workload.from_columns(submit=[0, 1], run_time=[10, 5], requested_time=[10, 5], cores=[3, 2])
    result = walltime.simulate(jobs, cores=4)
    yield from (f"summary {name}" for name in result.summary)
    yield from (f"summary facts.{name}" for name in result.record.facts)
    yield from (f"provenance {name}" for name in result.provenance)


def exit_codes() -> Iterator[str]:
    """Those that the errors say, and those that the reference lists."""
    for error in [WalltimeError, *_subclasses(WalltimeError)]:
        yield f"exit code {error.exit_code}: {error.__name__}"
    table = ERRORS.read_text(encoding="utf-8").partition("## Exit codes")[2].partition("\n## ")[0]
    yield from (f"exit code {code}" for code in re.findall(r"^\| (\d+) \|", table, re.M))


def entry_points() -> Iterator[str]:
    yield from (f"entry points {group}" for group in GROUPS)


def _subclasses(kind: type) -> Iterator[Any]:
    for inner in kind.__subclasses__():
        if inner.__module__.startswith("walltime."):
            yield inner
            yield from _subclasses(inner)


def _members(kind: type) -> Iterator[str]:
    """Public names of a class, and what a caller may pass to them."""
    for name in dir(kind):
        if name.startswith("_") or any(hasattr(base, name) for base in (int, Exception, BaseModel)):
            continue
        yield name
        member = getattr(kind, name, None)
        if callable(member) and not inspect.isclass(member):
            try:
                accepted = parameters_of(member)
            except (TypeError, ValueError):
                continue
            yield from (f"{name}({parameter})" for parameter in accepted if parameter != "self")
