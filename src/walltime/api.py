"""What a notebook or a script uses: `simulate`, `load` and `Result`."""

from __future__ import annotations

import html
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from walltime.core.errors import InputError
from walltime.core.plugins import allow
from walltime.core.workload import Workload
from walltime.pipeline import prepare

if TYPE_CHECKING:
    import polars as pl

    from walltime.analysis.audit.schedule import Violation
    from walltime.analysis.plots import Plots
    from walltime.analysis.steady import Steady, Throughput
    from walltime.core.tables import Record
    from walltime.scenario import Scenario

_SCENARIO_FILES = (".yaml", ".yml")


class Observer(Protocol):
    """A function that follows a simulation; called about ten times a second."""

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """The simulated time in microseconds, and how many jobs were submitted and have ended."""


class Result:
    """One simulation: its scenario, and the tables that tell what happened. Figures are computed when asked for.

    `label` names it in tables and plots, `folder` is where it was loaded from or saved to.
    """

    def __init__(
        self,
        scenario: Scenario | None,
        record: Record,
        label: str = "result",
        *,
        summary: Mapping[str, Any] | None = None,
        series: pl.DataFrame | None = None,
        provenance: Mapping[str, Any] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.record = record
        self.label = label
        self.folder = folder
        self.provenance = dict(provenance) if provenance is not None else _describe_origin(record, label)
        if summary is not None:
            self.__dict__["summary"] = dict(summary)
        if series is not None:
            self.__dict__["series"] = series

    @property
    def jobs(self) -> pl.DataFrame:
        """A row for each job, times in seconds."""
        return self.record.jobs

    @property
    def allocations(self) -> pl.DataFrame:
        """A row for each interval in which a job held resources."""
        return self.record.allocations

    @property
    def outages(self) -> pl.DataFrame:
        """A row for each interval in which cores had failed, were maintained or reserved; often none."""
        import polars as pl

        from walltime.core.tables import OUTAGES

        return pl.DataFrame(schema=OUTAGES) if self.record.outages is None else self.record.outages

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The headline figures; means are over started jobs."""
        from walltime.analysis.metrics import summarise

        return summarise(self.record)

    @cached_property
    def series(self) -> pl.DataFrame:
        """Cores and jobs, running and waiting, over time: the mean of each interval."""
        from walltime.analysis.series import series
        from walltime.core.tables import Figures

        if isinstance(self.record, Figures):
            if self.record.series is None:
                what = "the run has kept no series (record: summary); give record an interval beside it"
                raise InputError(what, value="series")
            return self.record.series
        if self.scenario is None:
            return series(self.record)
        wanted = self.scenario.record
        layouts = {cluster.name: cluster.layout() for cluster in self.scenario.clusters}
        return series(self.record, interval=wanted.interval, by=wanted.by, layouts=layouts)

    @property
    def workflows(self) -> pl.DataFrame:
        """A row for each workflow: its wait, run, turnaround, stretch, and what a pilot held idle."""
        from walltime.analysis.workflows import find_workflows

        return find_workflows(self.record)

    @cached_property
    def digest(self) -> str:
        """The hash of the tables; two results with the same digest are the same."""
        from walltime.core.digest import digest
        from walltime.core.tables import Figures

        if "summary" in vars(self) or isinstance(self.record, Figures):
            return str(self.summary["digest"])
        return digest(self.record.jobs, self.record.allocations)  # without the figures of a summary

    @property
    def perfect_estimates(self) -> str | None:
        """The label that a result must carry where the scheduler knew run times in advance; None where it did not."""
        count, jobs = int(self.record.facts.get("perfect_estimates") or 0), int(self.summary["jobs"])
        if not count:
            return None
        return "perfect estimates" if count >= jobs else f"perfect estimates for {count} of {jobs} jobs"

    def observe(self, *, warmup: float | None = None, cooldown: float | None = None) -> Result:
        """The same result, its summary with another observation window.

        It begins `warmup` seconds after the first submission and ends `cooldown` seconds before the last one.
        """
        from walltime.analysis.metrics import summarise

        summary = summarise(self.record, warmup=warmup, cooldown=cooldown)
        kept: dict[str, Any] = {
            "series": self.__dict__.get("series"),
            "provenance": self.provenance,
            "folder": self.folder,
        }
        return Result(self.scenario, self.record, self.label, summary=summary, **kept)

    @property
    def plot(self) -> Plots:
        """The pictures of this result: `result.plot.utilization()`; `dir(result.plot)` lists them."""
        from walltime.analysis.plots import Plots

        return Plots(self)

    def report(self, path: str | Path, *beside: Result, **options: Any) -> Path:
        """Writes the report, one HTML file, of this result and others beside it; returns its path."""
        from walltime.analysis.report import write_report

        return write_report([self, *beside], path, **options)

    def write_monitoring(self, folder: str | Path) -> list[Path]:
        """Writes loads, queue lengths and dominant shares over time as CSV files in the columns of DSLab's monitor; the
        series of users and of groups of nodes have to be kept (`record.by`). Returns their paths."""
        from walltime.analysis.monitoring import write_monitoring

        return write_monitoring(self, folder)

    def by(self, key: str) -> pl.DataFrame:
        """Jobs, core-seconds, waits and slowdowns by user, group, account, queue, qos, size, resource or cluster."""
        from walltime.analysis.metrics import by

        return by(self.record, key)

    def use(self, key: str) -> pl.DataFrame:
        """What each group of jobs holds of each resource: cores, GPUs, memory, licences; keys as in `by`."""
        from walltime.analysis.resources import use_by

        window = self.summary["window"]
        return use_by(self.record, key, (window["start"], window["end"]))

    def steady(self, *others: Result, measure: str = "response", **options: Any) -> Steady:
        """The mean in steady state with an interval: of this run by batch means or windows, or, with `others` that
        differ in their seeds, over the runs. `options` are `settle`, `sample`, `separate` (seconds), `batches` and
        `confidence`."""
        from walltime.analysis.steady import find_steady

        return find_steady([self.record, *(other.record for other in others)], measure, **options)

    def throughput(self, start: float, length: float) -> Throughput:
        """The jobs that were finished, and the work that was done, in `length` seconds from `start`."""
        from walltime.analysis.steady import find_throughput

        work = (self.jobs["run_time"] * self.jobs["cores"]).to_numpy()
        return find_throughput(self.record, work, start, length)

    def audit(self, *, promise: bool = False) -> list[Violation]:
        """Every broken rule of the schedule; an empty list proves it legal. `promise` is for plain EASY.

        What jobs asked for is read again from the scenario's workload, where nodes, queues, limits, dependencies and
        the like depend on it.
        """
        from walltime.analysis.audit.schedule import audit

        workload = self._read_requests()
        return audit(self.record, promise=promise, workload=workload, scenario=self.scenario)

    def _read_requests(self) -> Workload | None:
        """The workload, where an audit needs more of it than the tables tell."""
        if self.scenario is None:
            return None
        rules = ("nodes", "queues", "limits", "reservations")
        ruled = any(getattr(cluster, rule) for cluster in self.scenario.clusters for rule in rules)
        bound = self.scenario.broker is not None and bool(self.scenario.broker.bind)
        closed = self.scenario.users is not None and self.scenario.users.reacts
        if not ruled and not bound and not closed and not self.record.facts.get("conditions"):
            return None
        try:
            return self.scenario.read_workload()
        except InputError as error:
            what = (
                f"an audit of nodes, queues, limits and dependencies reads the workload again, and cannot: {error.what}"
            )
            raise InputError(what, value=error.value, file=error.file, line=error.line) from None

    def save(self, path: str | Path, format: str = "parquet", force: bool = False) -> Path:
        """Writes the result folder, whole or not at all; `force` replaces a result that is there already."""
        from walltime.core import folder
        from walltime.core.tables import Figures

        if self.scenario is None:
            raise InputError("a result without a scenario cannot be saved")
        target = folder.check_target(path, force=force, format=format)
        contents = folder.Contents(_dump_scenario(self.scenario), self.summary, self.provenance)
        contents.write_workload = _workload_writer(self.scenario)
        if isinstance(self.record, Figures):
            contents.series = self.record.series
        else:
            contents.jobs, contents.allocations = self.jobs, self.allocations
            contents.series = self.series if self.scenario.record.series else None
            contents.outages, contents.resources = self.record.outages, self.record.resources
            contents.plans = self.record.plans
        self.folder = folder.write(target, contents, format=format, force=force)
        return self.folder

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self._headline().items())
        remark = f" ({self.perfect_estimates})" if self.perfect_estimates else ""
        return f"<Result {self.label}: {self.summary['jobs']} jobs, {figures}{remark}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in {"jobs": str(self.summary["jobs"]), **self._headline()}.items()
        )
        caption = self.label + (f" ({self.perfect_estimates})" if self.perfect_estimates else "")
        return f"<table><caption>{html.escape(caption)}</caption>{cells}</table>"

    def _headline(self) -> dict[str, str]:
        from walltime.analysis.headline import write_brief

        return write_brief(self.summary)


def simulate(
    workload_or_scenario: Workload | Scenario | Mapping[str, Any] | str | Path,
    *,
    cores: int | None = None,
    nodes: str | tuple[int, int] | None = None,
    policy: Any = None,
    seed: int | None = None,
    overrun: str | None = None,
    missing_request: str | None = None,
    until: str | float | None = None,
    observer: Observer | None = None,
    label: str | None = None,
    **settings: Any,
) -> Result:
    """Runs one simulation and returns its Result; raises InputError for anything that was given wrong.

    Takes a Workload, the path of a trace, the path of a scenario (.yaml), a Scenario or a mapping like one. What is
    not given is the scenario's, or else: policy "easy", seed 0, overrun "kill", missing_request "exact".

    `policy` is a preset's name, "module:attribute", a Policy class or object, a function of the pass, or a mapping of
    a scheduler's parts. `nodes` is "120x2" or (120, 2). `settings` are other keys of a scenario, dotted ones with two
    underscores: `cluster__scheduler__rhythm="event"`.

    >>> jobs = Workload.from_columns(submit=[0, 1], run_time=[10, 5], requested_time=[10, 5], cores=[3, 2])
    >>> simulate(jobs, cores=4, policy="fcfs").jobs["wait"].to_list()
    [0.0, 9.0]
    """
    given = {
        "cluster.scheduler": None if policy is None else _find_scheduler(policy),
        "seed": seed,
        "execution.overrun": overrun,
        "workload.missing_request": missing_request,
        "until": until,
    }
    chosen = _size_settings(cores, nodes) + [(key, value) for key, value in given.items() if value is not None]
    chosen += [(key.replace("__", "."), value) for key, value in settings.items()]
    allow([value for _, value in chosen])
    scenario = _compose(workload_or_scenario, chosen)
    allow_parts(scenario)
    prepared = prepare(scenario, streamed=True)
    label = label or (_name(policy) if policy is not None else None) or describe_policy(prepared.scenario)
    return Result(prepared.scenario, prepared.run(observer), label)


def allow_parts(scenario: Scenario) -> None:
    """Let the code be imported that a scenario names, if a program made it; one from a file is not asked."""
    if not scenario.is_from_file:
        allow([[part.name, part.parameters] for _, _, part in scenario.parts()])


def load(path: str | Path) -> Result:
    """The result in a folder that `save` or the command line wrote; raises InputError naming the file at fault."""
    from walltime.core import folder
    from walltime.core.tables import Figures, Record
    from walltime.scenario import load as load_scenario

    contents = folder.read(path)
    record: Record
    if contents.jobs is None or contents.allocations is None:
        record = Figures.of(contents.summary, contents.facts, contents.durations, contents.series)
    else:
        record = Record(
            contents.jobs,
            contents.allocations,
            contents.facts,
            contents.durations,
            contents.outages,
            resources=contents.resources,
            plans=contents.plans,
        )
    return Result(
        load_scenario(Path(path) / "scenario.yaml"),
        record,
        str(contents.provenance.get("label") or Path(path).resolve().name),
        summary=contents.summary,
        series=contents.series,
        provenance=contents.provenance,
        folder=Path(path),
    )


def describe_policy(scenario: Scenario) -> str:
    """A short name of how the scenario schedules: the preset's, where it is one, or its order and backfill."""
    from walltime.policy import registry
    from walltime.scenario import Scheduler

    if scenario.slurm is not None and scenario.slurm.conf is not None:
        return Path(scenario.slurm.conf).name
    names = []
    for cluster in scenario.clusters:
        known = (preset for preset in registry.presets() if Scheduler(**preset.parts) == cluster.scheduler)
        preset = next(known, None)
        order, backfill, estimate = (
            getattr(cluster.scheduler, kind).name for kind in ("order", "backfill", "estimate")
        )
        plain = [order, backfill] if estimate == "request" else [order, backfill, estimate]
        names.append(preset.name if preset else "+".join(plain))
    return ", ".join(dict.fromkeys(names))


def _compose(source: Any, settings: list[tuple[str, Any]]) -> Scenario:
    """The scenario that the source and the settings make together; the later setting of a key wins."""
    from walltime.scenario import Scenario, parse
    from walltime.scenario import load as load_scenario

    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.suffix.lower() in _SCENARIO_FILES:
            return load_scenario(path, settings)
        beside, settings = _beside(path, settings)
        return parse({"workload": {"trace": str(path)}} | beside, settings)
    if isinstance(source, Workload):
        return parse({"workload": {"table": source}}, settings)
    if isinstance(source, Scenario):
        made = parse({name: getattr(source, name) for name in source.model_fields_set}, settings)
        return made.placed_as(source)
    if isinstance(source, Mapping):
        allow(source)
        return parse(source, settings)
    raise InputError(
        "simulate takes a Workload, a Scenario, a mapping, or the path of a trace or scenario", value=source
    )


def _beside(trace: Path, settings: list[tuple[str, Any]]) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """The machine that Alea's files beside the trace tell, where nothing else tells its size; and the settings for
    it."""
    from walltime.scenario.reading.alea import find_data_set

    if any(key in ("cluster", "clusters", "cluster.cores", "cluster.nodes") for key, _ in settings):
        return {}, settings
    data_set = find_data_set(trace)
    if data_set is None:
        return {}, settings
    made: list[tuple[str, Any]] = []
    for key, value in settings:
        policy = data_set.several and key == "cluster.scheduler" and isinstance(value, Mapping)
        made += data_set.schedule(value) if policy else [(key, value)]
    return data_set.scenario, made


def _size_settings(cores: int | None, nodes: str | tuple[int, int] | None) -> list[tuple[str, Any]]:
    """The machine's size; the one that is given replaces whatever the scenario has."""
    if cores is not None and nodes is not None:
        raise InputError("give either cores or nodes, not both")
    if cores is not None:
        return [("cluster.nodes", None), ("cluster.cores", cores)]
    if nodes is not None:
        text = nodes if isinstance(nodes, str) else "x".join(str(number) for number in nodes)
        return [("cluster.cores", None), ("cluster.nodes", text)]
    return []


def _find_scheduler(policy: Any) -> dict[str, Any]:
    """The parts of a scheduler that a policy stands for; an object decides which jobs start, in order of arrival."""
    if isinstance(policy, str):
        from walltime.policy import registry

        return registry.preset(policy)
    return dict(policy) if isinstance(policy, Mapping) else {"order": "fcfs", "backfill": policy}


def _name(policy: Any) -> str | None:
    if isinstance(policy, str):
        return policy
    if isinstance(policy, Mapping):
        return None
    return str(getattr(policy, "__name__", type(policy).__name__))


def _dump_scenario(scenario: Scenario) -> str:
    """The scenario as YAML; a workload from memory is named as the file beside it."""
    import yaml

    from walltime.core.folder import WORKLOAD
    from walltime.scenario import dump

    text = dump(scenario)
    if scenario.workload.table is None:
        return text
    data = yaml.safe_load(text)
    data["workload"] = {"trace": WORKLOAD, **data["workload"]}
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))


def _workload_writer(scenario: Scenario) -> Any:
    table = scenario.workload.table
    if table is None:
        return None
    from walltime.workload.formats import write

    return lambda path: write(table, path)


def _describe_origin(record: Record, label: str) -> dict[str, Any]:
    """What may differ between two runs of the same scenario."""
    import walltime

    return {
        "label": label,
        "version": walltime.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "durations": dict(record.durations),
    }
