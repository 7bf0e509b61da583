"""A synthetic workload for a machine, from a model: its phases, its load or pressure, and what is inserted.

The phases are ScSF's (Rodrigo et al., JSSPP 2017, Fig. 6): *fill*, small jobs that leave no core free;
*stabilization*, ordinary jobs that are not analysed; *experiment*; and *drain*, in which nothing is submitted any more,
and at whose end a run ends. Each job keeps the name of its phase. The stabilization begins on a Monday at 0:00, or so
long before a date that is told for the experiment; the trace's clock begins at the start of the fill.
"""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import read_seed, stream
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import Origin, Workload, sort_by_submission
from walltime.workload.joining import concatenate
from walltime.workload.models import PUBLISHED, load_model
from walltime.workload.models.file import ModelFile
from walltime.workload.models.sample import JobModel, Sample, between, join
from walltime.workload.models.tsafrir import estimate
from walltime.workload.synthesis.fill import WIDTH, fill_jobs, fill_length
from walltime.workload.synthesis.insertion import Insertion
from walltime.workload.synthesis.load_control import expected_time, hold, press, settle
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows

PHASES = ("fill", "stabilization", "experiment", "drain")
_DAY = 86_400
_MONDAY = 1_704_067_200  # 1 January 2024, 0:00 UTC
_MOST_JOBS = 20_000_000
_TRIAL = 20_000  # jobs drawn to learn how much work one is


@dataclass(frozen=True)
class SynthesisPlan:
    """What to make; durations in seconds, loads as shares of the machine."""

    cores: int
    days: float
    load: float | None = None
    """Offered load of stabilization and experiment, with the week's rhythm; None: whatever the model has by itself."""
    pressure: tuple[float, float] | None = None
    """In the place of a load, ScSF's job pressure: jobs are added below the first, dropped at the second and above."""
    seed: int = 0
    stabilization: float = float(_DAY)
    fill: float = 0.0
    """Hours of work for the whole machine in the fill jobs."""
    drain: float = 0.0
    start: float | None = None
    """When the experiment begins, in seconds since 1970 UTC; None: so that the stabilization begins on a Monday."""
    band: float = 0.05
    """How far the pressure may be from the load on the way."""
    node_cores: int = 1
    """Cores of a node: fill jobs have whole nodes."""
    fill_interval: float = 10.0
    fill_width: float = WIDTH
    """The share of the machine that a fill job has. Wide ones leave gaps when they end."""
    estimates: str = "model"
    """`model`: the model's own requested times; `tsafrir`: those of Tsafrir's model; `none`."""
    largest_estimate: float | None = None
    insertions: tuple[Insertion | Mix, ...] = ()
    """Jobs, and mixes of workflows, that are inserted into the experiment."""

    def __post_init__(self) -> None:
        if self.cores < 1:
            raise InputError("generate: cores must be at least 1", value=self.cores)
        if not 0 < self.days <= 36_600:
            raise InputError("generate: days must be above 0 and at most 36,600", value=self.days)
        if self.load is not None and not 0 < self.load <= 100:
            raise InputError("generate: load must be above 0 (1.0 fills the machine) and at most 100", value=self.load)
        for name, unit in (("stabilization", 1), ("fill", 3600), ("drain", 1)):
            if not 0 <= getattr(self, name) * unit <= 366 * _DAY:
                raise InputError(f"generate: {name} must be between 0 and a year", value=getattr(self, name))
        if self.pressure is not None and not 0 < self.pressure[0] <= self.pressure[1] <= 100:
            what = "generate: pressure must be two numbers above 0, the first no larger than the second"
            raise InputError(what, value=self.pressure)
        if self.pressure is not None and self.load is not None:
            raise InputError("generate: either a load or a pressure", value=self.load)
        if not 1 <= self.node_cores <= self.cores:
            raise InputError("generate: node_cores must be at least 1, and a node no larger than the machine",
                             value=self.node_cores)  # fmt: skip
        if not 0.005 <= self.band <= 10:
            raise InputError("generate: band must be between 0.005 and 10", value=self.band)
        if not 0 < self.fill_interval <= 3600:
            raise InputError("generate: fill_interval must be between 0 and an hour", value=self.fill_interval)
        if not 0 < self.fill_width <= 1:
            raise InputError("generate: fill_width must be above 0 and at most 1", value=self.fill_width)
        if self.largest_estimate is not None and self.estimates != "tsafrir":
            raise InputError("generate: a largest estimate is for estimates tsafrir", value=self.largest_estimate)
        if self.estimates not in ("model", "tsafrir", "none"):
            raise InputError("generate: unknown estimates", value=self.estimates, choices=("model", "tsafrir", "none"))

    @property
    def span(self) -> float:
        """Seconds in which ordinary jobs are submitted."""
        return self.stabilization + self.days * _DAY

    @property
    def lead(self) -> float:
        """Seconds from a Monday, 0:00, to the start of the stabilization."""
        return 0.0 if self.start is None else (self.start - self.stabilization - _MONDAY) % (7 * _DAY)


def generate_workload(model: JobModel | ModelFile | str | Path, *, cores: int, days: float, **plan: Any) -> Workload:
    """Jobs from a model: a published one's name, a model file, what `fit_model` returned, or a JobModel of one's own.

    `plan` are the other fields of `SynthesisPlan`: load or pressure, seed, stabilization (seconds), fill (hours),
    insertions...
    A seed may be a text; `start` a date such as `2024-03-01`, or with a time.

    >>> jobs = generate_workload("lublin", cores=128, days=2, load=0.7, seed=1)
    >>> sorted(set(jobs.labels["phase"]))
    ['experiment', 'fill', 'stabilization']
    """
    from walltime.workload.models.empirical import FittedModel

    published = str(model) in PUBLISHED
    if isinstance(model, str | Path):
        model = load_model(model)
    elif isinstance(model, ModelFile):
        model = FittedModel(model)
    for name in plan:
        if name not in SynthesisPlan.__dataclass_fields__:
            raise InputError("generate: no such parameter", value=name, choices=SynthesisPlan.__dataclass_fields__)
    given = {"estimates": "tsafrir" if published else "model"} | plan
    given["seed"] = read_seed(given.get("seed", 0))
    if isinstance(given.get("start"), str):
        given["start"] = parse_date(given["start"])
    return synthesize(model, SynthesisPlan(cores=cores, days=days, **given))


def parse_date(text: str) -> float:
    """Seconds since 1970 of a date, `2024-03-01` or `2024-03-01T12:00:00`, in UTC where it has no zone."""
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError("not a date (2024-03-01, 2024-03-01T12:00:00)", value=text) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


def synthesize(model: JobModel, plan: SynthesisPlan) -> Workload:
    """The workload; the same model and plan give the same jobs, another seed gives others of the same statistics.

    `notes` tell the phases, the load and pressure, and what was added and dropped for them.
    """
    sample, notes = _draw(model, plan)
    sample = _give_requests(sample, plan, notes)
    fill = fill_jobs(plan.fill, plan.cores, plan.fill_interval, plan.node_cores, plan.fill_width)
    inserted = _insert(plan)
    offset = fill_length(fill, plan.fill_interval)
    workload, ordinary = _assemble(model, plan, fill, sample, inserted, offset)
    edges = np.cumsum([0.0, offset, plan.stabilization, plan.days * _DAY, plan.drain]).tolist()
    notes["phases"] = {name: [edges[i], edges[i + 1]] for i, name in enumerate(PHASES)}
    workload = _add_workflows(workload.replace(workload.columns, notes=notes), plan, ordinary)
    notes = workload.notes | {"lines": len(workload), "skipped": {}, "inserted": len(inserted)}
    return workload.replace(workload.columns, notes=notes | _loads(workload, plan, offset))


def _draw(model: JobModel, plan: SynthesisPlan) -> tuple[Sample, dict[str, Any]]:
    """Ordinary jobs over stabilization and experiment, at the wanted load where there is one."""
    wanted = plan.load if plan.pressure is None else plan.pressure[0]
    if wanted is None:
        rate = model.jobs_per_day / _DAY
    else:
        trial = model.draw(_TRIAL, _TRIAL / model.jobs_per_day * _DAY, plan.cores, plan.seed, "trial")
        rate = wanted * plan.cores * SECOND / float(trial.work().mean())
    _check_size(rate * plan.span)
    drawn = _draw_from(model, plan, rate)
    if wanted is None:
        return drawn, {"added": 0, "dropped": 0}
    if plan.pressure is not None:
        return _press(model, plan, drawn)
    return _control(model, plan, drawn, _Spare(model, plan).draw(max(1000, round(rate * plan.span) // 2)))


def _draw_from(model: JobModel, plan: SynthesisPlan, rate: float) -> Sample:
    """The model's own jobs, `rate` a second; its clock begins on a Monday, and those before the start are cut."""
    count = max(1, round(rate * (plan.lead + plan.span)))
    drawn = model.draw(count, plan.lead + plan.span, plan.cores, plan.seed, "jobs")
    if not plan.lead:
        return drawn
    shift = round(plan.lead * SECOND)
    kept = drawn.take(np.flatnonzero(drawn.columns["submit"] >= shift))
    return Sample(kept.columns | {"submit": kept.columns["submit"] - shift}, kept.labels)


class _Spare:
    """Jobs of the model that may be added, in random order, as many as are asked for."""

    def __init__(self, model: JobModel, plan: SynthesisPlan) -> None:
        self.model = model
        self.plan = plan
        self.parts: list[Sample] = []

    def draw(self, count: int) -> Sample:
        """More of them."""
        name = f"spare.{len(self.parts)}" if self.parts else "spare"
        drawn = self.model.draw(count, self.plan.span, self.plan.cores, self.plan.seed, name)
        order = stream(self.plan.seed, f"{name}.order").permutation(len(drawn))
        self.parts.append(drawn.take(order))
        return self.parts[-1]

    def more(self, count: int) -> np.ndarray:
        """Core-seconds of each, when there are more than so many."""
        while count >= (drawn := sum(map(len, self.parts))):
            _check_size(2 * drawn)
            self.draw(1000 + drawn)
        return np.concatenate([part.work() / SECOND for part in self.parts])

    def first(self, count: int) -> Sample:
        """The first ones."""
        columns = {name: np.concatenate([part.columns[name] for part in self.parts]) for name in self.parts[0].columns}
        return Sample({name: values[:count] for name, values in columns.items()}, self.parts[0].labels)


def _press(model: JobModel, plan: SynthesisPlan, jobs: Sample) -> tuple[Sample, dict[str, Any]]:
    """The jobs under ScSF's pressure: those that are added come together with the one at which they are missing."""
    assert plan.pressure is not None
    spare = _Spare(model, plan)
    held = press(jobs.columns["submit"] / SECOND, jobs.work() / SECOND, spare.more, plan.cores, *plan.pressure)
    notes = {"added": len(held.added), "dropped": len(jobs) - len(held.kept)}
    kept = jobs.take(held.kept)
    if not len(held.added):
        return kept, notes
    added = spare.first(len(held.added))
    added.columns["submit"] = jobs.columns["submit"][held.added_at]
    return join([kept, added]), notes


def _check_size(jobs: float) -> None:
    if jobs > _MOST_JOBS:
        raise InputError(
            f"generate: this needs more than {_MOST_JOBS:,} jobs; fewer days, cores or load", value=int(jobs)
        )


def _control(model: JobModel, plan: SynthesisPlan, jobs: Sample, spare: Sample) -> tuple[Sample, dict[str, Any]]:
    """Holds the pressure in its band, then brings each phase to its load."""
    assert plan.load is not None
    edges = [0.0, *([plan.stabilization] if plan.stabilization else []), plan.span]
    hours = model.clock(int(-(-(plan.lead + plan.span) // _DAY)))
    times = jobs.columns["submit"] / SECOND
    work, reserve = jobs.work() / SECOND, spare.work() / SECOND
    expected = expected_time(times + plan.lead, hours, [plan.lead + edge for edge in edges]) - plan.lead
    held = hold(expected, work, reserve, plan.load, plan.cores, plan.band)
    added = spare.take(held.added)
    added.columns["submit"] = between(stream(plan.seed, "added"), jobs.columns["submit"], held.added_at)
    result = join([jobs.take(held.kept), added])
    notes = {"added": len(held.added), "dropped": len(jobs) - len(held.kept)}
    left = spare.take(np.arange(len(held.added), len(spare)))
    for index, (begin, end) in enumerate(itertools.pairwise(edges)):
        result, left = _settle(result, left, plan, begin, end, index, notes)
    return result, notes


def _settle(
    jobs: Sample, spare: Sample, plan: SynthesisPlan, begin: float, end: float, place: int, notes: dict[str, Any]
) -> tuple[Sample, Sample]:
    """One phase's sum of work brought to its load; added jobs come together with jobs that are there already."""
    assert plan.load is not None
    submit = jobs.columns["submit"] / SECOND
    inside = np.flatnonzero((submit >= begin) & (submit < end))
    random = stream(plan.seed, "settle", place)
    target = plan.load * plan.cores * (end - begin)
    drop, add = settle(jobs.work()[inside] / SECOND, target, spare.work() / SECOND, random)
    notes["dropped"] += len(drop)
    notes["added"] += len(add)
    kept = np.ones(len(jobs), np.bool_)
    kept[inside[drop]] = False
    more = spare.take(add)
    if len(add):
        moments = jobs.columns["submit"][inside] if len(inside) else np.array([int(begin * SECOND)])
        more.columns["submit"] = between(random, moments, random.integers(len(moments), size=len(add)))
    unused = np.ones(len(spare), np.bool_)
    unused[add] = False
    return join([jobs.take(np.flatnonzero(kept)), more]), spare.take(np.flatnonzero(unused))


def _give_requests(sample: Sample, plan: SynthesisPlan, notes: dict[str, Any]) -> Sample:
    columns = dict(sample.columns)
    if plan.estimates == "none":
        columns.pop("requested_time", None)
    elif plan.estimates == "tsafrir":
        columns["requested_time"], notes["raised_estimates"] = estimate(
            columns["run_time"], plan.largest_estimate, plan.seed
        )
    return Sample(columns, sample.labels)


def _insert(plan: SynthesisPlan) -> list[dict[str, Any]]:
    rows = []
    for insertion in plan.insertions:
        if isinstance(insertion, Mix):
            continue
        rows += insertion.rows(plan.stabilization, plan.span, plan.seed)
    for row in rows:
        if row["cores"] > plan.cores:
            raise InputError("an inserted job is larger than the machine; cores", value=row["cores"])
    return rows


def _assemble(
    model: JobModel, plan: SynthesisPlan, fill: Sample, sample: Sample, inserted: list[dict[str, Any]], offset: float
) -> tuple[Workload, np.ndarray]:
    """One table of all jobs, the clock of which begins with the fill; and which of them were not inserted."""
    shift = round(offset * SECOND)
    phase = np.where(sample.columns["submit"] < plan.stabilization * SECOND, 1, 2).astype(np.int32)
    parts: list[tuple[int, dict[str, Any], dict[str, list[str]]]] = []
    if len(fill):
        names: dict[str, list[str]] = {name: ["fill"] for name in ("user", "group") if name in sample.columns}
        extra: dict[str, Any] = {name: np.zeros(len(fill), np.int32) for name in names}
        parts.append((len(fill), fill.columns | extra | {"phase": np.zeros(len(fill), np.int32)}, names))
    moved = sample.columns | {"submit": sample.columns["submit"] + shift, "phase": phase}
    parts.append((len(sample), moved, sample.labels))
    if inserted:
        table = Workload.from_columns(**_rows_to_columns(inserted))
        columns = dict(table.columns) | {"submit": table.columns["submit"] + shift}
        columns.pop("job_id", None)
        columns["phase"] = np.full(len(table), 2, np.int32)
        parts.append((len(table), columns, table.labels))
    columns, labels = concatenate(parts)
    size = len(columns["submit"])
    columns["job_id"] = np.arange(1, size + 1, dtype=np.int64)  # what is inserted comes last: no other number changes
    labels["phase"] = list(PHASES[:3])
    if int(columns["submit"].max(initial=0)) > LATEST // 2:
        raise InputError("generate: this spans more time than fits; fewer days")
    columns = sort_by_submission(columns)
    ordinary = columns["job_id"] <= size - len(inserted)
    begin = _MONDAY if plan.start is None else plan.start - plan.stabilization
    workload = Workload(
        columns,
        labels,
        origin=Origin(begin - offset, "UTC"),
        machine_cores=plan.cores,
        source=f"generated: {model.title}, {plan.cores} cores, {plan.days:g} days, seed {plan.seed}",
    )
    return workload, ordinary


def _add_workflows(workload: Workload, plan: SynthesisPlan, ordinary: np.ndarray) -> Workload:
    """The workload with the mixes of workflows; where one is a share, only ordinary jobs make room for it."""
    mixes = [insertion for insertion in plan.insertions if isinstance(insertion, Mix)]
    if not mixes:
        return workload
    spare = set(workload.column("job_id")[ordinary].tolist())
    for mix in mixes:
        workload = add_workflows(workload, mix, plan.seed, spare=spare)
    return workload.replace(sort_by_submission(dict(workload.columns)))


def _rows_to_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _loads(workload: Workload, plan: SynthesisPlan, offset: float) -> dict[str, Any]:
    """Offered load of each phase, and the highest and lowest pressure after the first day."""
    phase, submit = workload.column("phase"), workload.column("submit") / SECOND
    work = workload.column("cores") * (workload.column("run_time") / SECOND)
    loads = {}
    for code, length in ((1, plan.stabilization), (2, plan.days * _DAY)):
        if length:
            loads[PHASES[code]] = float(work[phase == code].sum()) / (plan.cores * length)
    ordinary = phase > 0
    elapsed = submit[ordinary] - offset
    pressure = np.cumsum(work[ordinary]) / (plan.cores * np.maximum(elapsed, 1.0))
    settled = np.append(elapsed[1:] > elapsed[:-1], True) & (elapsed >= min(_DAY, plan.span / 2))  # after an instant
    late = pressure[settled]
    return {
        "offered_load": loads,
        "pressure": {"lowest": float(late.min()), "highest": float(late.max())} if len(late) else None,
    }
