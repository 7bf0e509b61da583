"""From a scenario's `workload` to the jobs themselves, also as users might have asked for them: its key `adjust`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import microseconds
from walltime.core.workload import MISSING, Workload
from walltime.scenario.values import Count, Duration, Flag, Model, Name, Names

if TYPE_CHECKING:
    from walltime.scenario.model import Scenario
    from walltime.scenario.workload.source import Generate, WorkloadSource


def read_workload(scenario: Scenario) -> Workload:
    """The jobs, read, generated or given, each with a requested time; raises InputError.

    A job without one gets its queue's `default_time`; where there is none, what `missing_request` says. The notes tell
    how many requests were filled in (`filled_requests`), and for how many of them the run time itself was taken
    (`perfect_estimates`). Jobs that share a number with one before them get numbers of their own (`renumbered`).
    """
    from walltime.workload.numbering import tell_apart
    from walltime.workload.requests import fill_requests

    spec = scenario.workload
    workload, defaulted = _with_defaults(_source(scenario), scenario)
    if spec.workflows:
        workload = _with_workflows(workload, scenario)
    if scenario.users is not None and scenario.users.population is not None:
        from walltime.workload.users.population import resample

        workload = resample(workload, scenario.users.population, scenario.seed)
    if scenario.cancellations is not None:
        from walltime.workload.cancellations import draw_cancellations

        workload = draw_cancellations(workload, scenario.seed, **scenario.cancellations.model_dump())
    filled, count = fill_requests(workload, spec.missing_request, scenario.seed)
    if spec.adjust is not None:
        filled = adjust_jobs(filled, scenario)
        workload = workload.replace(workload.columns, notes=filled.notes)
    if scenario.start is not None:
        from walltime.scenario.start import begin_from

        filled = begin_from(scenario, filled)
        workload = workload.replace(workload.columns, notes=filled.notes)
    notes = workload.notes | {
        "filled_requests": count + defaulted,
        "perfect_estimates": count if spec.missing_request == "exact" else 0,
    }
    return tell_apart(filled.replace(filled.columns, notes=notes))


class Stream:
    """The jobs of a trace in batches, of which the `first` is at hand; `notes` count what reading did so far.

    It can be gone through as often as wanted, and is read again each time but the first.
    """

    ROWS = 50_000

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._opened: Iterator[Workload] | None = self._read()
        self.first = next(self._opened)
        self.origin = self.first.origin

    def __iter__(self) -> Iterator[Workload]:
        opened, self._opened = self._opened, None
        return self._read() if opened is None else chain([self.first], opened)

    def _read(self) -> Iterator[Workload]:
        from walltime.workload.formats import find_format, read_batches
        from walltime.workload.requests import fill_requests

        spec = self.scenario.workload
        kind = find_format(str(spec.trace), spec.format)
        self.notes: dict[str, Any] = {"skipped": {}, "perfect_estimates": 0}
        options = {"format": kind, "collections": spec.collections, "host": spec.host}
        last = None
        for batch in read_batches(str(spec.trace), self.ROWS, **options):
            numbers = batch.column("job_id")
            if len(batch) and (np.any(np.diff(numbers) <= 0) or (last is not None and numbers[0] <= last)):
                what = "the jobs' numbers do not rise, which record: summary needs of a trace; job"
                bad = int(np.argmax(np.diff(numbers, prepend=numbers[0] - 1 if last is None else last) <= 0))
                raise InputError(what, value=int(numbers[bad]), file=batch.source)
            last = int(numbers[-1]) if len(batch) else last
            told = batch.notes.get("skipped", {})
            self.notes["skipped"] = _add_counts(self.notes["skipped"], told) if kind == "swf" else told
            filled, count = fill_requests(_with_defaults(batch, self.scenario)[0])
            self.notes["perfect_estimates"] += count
            yield filled


def _add_counts(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in dict.fromkeys([*one, *other])}


_AT_ONCE = ("dependencies", "array", "preceding_job", "workflow", "phase", "started", "profile")
"""Columns that say something of several jobs, or of all."""


def open_stream(scenario: Scenario) -> Stream | None:
    """The jobs as a stream; None where they are not those of a trace, as it is, in a format that can be read so."""
    from walltime.workload.formats import find_format

    spec = scenario.workload
    changed = (spec.mix, spec.workflows, spec.columns, spec.adjust, scenario.start, scenario.cancellations)
    if spec.trace is None or any(changed) or spec.missing_request != "exact" or scenario.engine != "native":
        return None
    if scenario.dependencies.preceding or scenario.users is not None or scenario.execution.model.name != "trace":
        return None
    if {"node", "node-group"} & set(scenario.record.by):
        return None
    kind = find_format(str(spec.trace), spec.format)
    if kind == "table" and str(spec.trace).lower().endswith(".parquet"):
        from walltime.workload.formats.parquet import read_names

        return None if set(_AT_ONCE) & set(read_names(spec.trace)) else Stream(scenario)
    return Stream(scenario) if kind in ("swf", "google", "alibaba") else None


def _with_defaults(workload: Workload, scenario: Scenario) -> tuple[Workload, int]:
    """The workload with the default times of the queues that its jobs name, or of the default queue; how many."""
    queues = scenario.clusters[0].queues if len(scenario.clusters) == 1 else {}
    times = {name: queue.default_time for name, queue in queues.items() if queue.default_time is not None}
    if not times or not len(workload):
        return workload, 0
    default = next((name for name, queue in queues.items() if queue.default), None)
    names = [name if name in queues else default for name in workload.label_names("queue")]
    by_code = np.array([microseconds(times[name]) if name in times else MISSING for name in [*names, default]])
    wanted = by_code[workload.column("queue")]
    request = workload.column("requested_time")
    filled = np.where((request == MISSING) & (wanted != MISSING), wanted, request)
    count = int(np.count_nonzero(filled != request))
    return (workload.replace(dict(workload.columns) | {"requested_time": filled}) if count else workload), count


def _with_workflows(workload: Workload, scenario: Scenario) -> Workload:
    """The workload with its workflows; a task that no machine is large enough for is told by file and task."""
    from walltime.workload.formats.workflows import read_workflow
    from walltime.workload.synthesis.workflow_mix import Mix, add_workflows

    sizes = [cluster.total_cores or workload.machine_cores or 0 for cluster in scenario.clusters]
    cores = max(sizes) if all(sizes) else None
    for number, spec in enumerate(scenario.workload.workflows):
        flows = [read_workflow(manifest.file) for manifest in spec.manifests]
        named = {"user": spec.user, "account": spec.account, "queue": spec.queue, "priority": spec.priority}
        mix = Mix(
            flows,
            spec.submit,
            spec.every,
            spec.share,
            [manifest.weight for manifest in spec.manifests],
            spec.first or 0.0,
            {key: value for key, value in named.items() if value},
        )
        workload = add_workflows(workload, mix, scenario.seed, f"workflows.{number}", cores=cores)
    return workload


def _source(scenario: Scenario) -> Workload:
    spec = scenario.workload
    if isinstance(spec.table, Workload):
        return spec.table
    if not spec.mix:
        return _read_source(spec, scenario, scenario.seed)
    from walltime.workload.joining import mix_workloads

    seeds = [int(stream(scenario.seed, "workload.mix", index).integers(1 << 48)) for index in range(len(spec.mix))]
    return mix_workloads([_read_source(one, scenario, seed) for one, seed in zip(spec.mix, seeds, strict=True)])


def _read_source(spec: WorkloadSource, scenario: Scenario, seed: int) -> Workload:
    """The jobs of one source."""
    if spec.generate is not None:
        return _generate(spec.generate, seed)
    if spec.synthetic is not None:
        return spec.synthetic.draw(seed)
    if spec.model is not None:
        sizes = [cluster.total_cores for cluster in scenario.clusters]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        nodes = scenario.clusters[0].nodes
        return spec.model.draw(total, nodes[0].cores if nodes else 1, seed)
    from walltime.workload.formats import find_format, read, takes_zone

    kind = find_format(str(spec.trace), spec.format)
    zone = scenario.timezone if takes_zone(kind, spec.columns) else None
    return read(
        str(spec.trace),
        format=kind,
        timezone=zone,
        columns=spec.columns or None,
        collections=spec.collections,
        host=spec.host,
    )


def _generate(spec: Generate, seed: int) -> Workload:
    from walltime.workload.generate import Model, generate

    return generate(spec.jobs, spec.cores, spec.load, seed, Model(**spec.model))


# How users might react


class Move(Model):
    """Jobs of some queues that go to another one: those within the bounds that its limits allow."""

    sources: Names = Field(description="The queues that the log names.")
    to: Name = Field(description="Where the jobs go.")
    min_cores: Count | None = Field(default=None, description="At least so many cores.")
    max_cores: Count | None = Field(default=None, description="At most so many cores.")
    min_time: Duration | None = Field(default=None, description="A requested time of at least this.")
    max_time: Duration | None = Field(
        default=None, description="A requested time of at most this; left out, what the new queue gives."
    )


class Adjustment(Model):
    """Jobs of a log as they might have been under the limits of this scenario, where their users do not react."""

    run_on: Flag = Field(
        default=False,
        description="Jobs that were cut off at their limit, where their queue now gives more, ask for all of it and "
        "run on to a length drawn from longer jobs of the log.",
    )
    moves: tuple[Move, ...] = Field(
        default=(), description="Jobs of other queues that go where they fit now; the first rule that fits counts."
    )
    alike: Flag = Field(
        default=False,
        description="Jobs whose nodes differ have as many alike ones, and in all what they asked for; `rhythm: slurm` "
        "and the slurm engine take no others.",
    )
    shake: Duration | None = Field(
        default=None,
        description="Every submission is moved by a draw of up to half of this either way: with several seeds, the "
        "noise that a difference must exceed.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.run_on and not self.moves and not self.alike and self.shake is None:
            raise PydanticCustomError("adjust", "needs run_on, moves, alike or shake")
        return self


def adjust_jobs(workload: Workload, scenario: Scenario) -> Workload:
    """The jobs as users might have asked for them; the notes tell how many changed. Raises InputError."""
    from walltime.workload.adjustments import make_alike, move, run_on
    from walltime.workload.transform import shake

    spec = scenario.workload.adjust
    if spec is None:
        return workload
    queues = {name: queue for cluster in scenario.clusters for name, queue in cluster.queues.items()}
    limits = {name: None if queue.max_time is None else microseconds(queue.max_time) for name, queue in queues.items()}
    rules = []
    for rule in spec.moves:
        if rule.to not in queues:
            raise InputError("workload.adjust.moves: no such queue", value=rule.to, choices=queues)
        own = None if rule.max_time is None else microseconds(rule.max_time)
        bounds = [limit for limit in (own, limits[rule.to]) if limit is not None]
        low = None if rule.min_time is None else microseconds(rule.min_time)
        spans = {"cores": (rule.min_cores, rule.max_cores), "time": (low, min(bounds, default=None))}
        rules.append({"sources": rule.sources, "to": rule.to, **spans})
    moved, count = move(make_alike(workload) if spec.alike else workload, rules)
    longer, cut = run_on(moved, limits, scenario.seed) if spec.run_on else (moved, 0)
    if spec.run_on or spec.moves:
        longer = longer.replace(longer.columns, notes=longer.notes | {"adjusted": {"run_on": cut, "moved": count}})
    return longer if spec.shake is None else shake(longer, spec.shake, scenario.seed)
