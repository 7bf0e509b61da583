"""The one way from a scenario to the record of its simulation: check, read, resolve, run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from walltime.core.errors import UnsupportedError
from walltime.core.log import logger, timed

if TYPE_CHECKING:
    from walltime.core.tables import Record
    from walltime.core.workload import Workload
    from walltime.scenario import Scenario
    from walltime.scenario.workload.jobs import Stream

_log = logger(__name__)


@dataclass(frozen=True)
class Prepared:
    """A scenario that is ready to run: its parts and keys are honoured, its jobs read, its clusters' sizes known."""

    scenario: Scenario
    workload: Workload
    stream: Stream | None = None
    """All jobs, of which the workload has only the first then: a trace that is read as it is needed."""

    def on(self, workload: Workload, until: float | None = None) -> Prepared:
        """The same clusters with other jobs, such as a repetition with noise; `until` replaces the scenario's."""
        scenario = self.scenario if until is None else self.scenario.model_copy(update={"until": until})
        return replace(self, scenario=scenario, workload=workload, stream=None)

    def run(self, observer: Any = None, **options: Any) -> Record:
        """Simulate it; `options` are the engine's own."""
        from walltime.analysis.calibration.file import note_calibration
        from walltime.analysis.resources import note_resources

        engine = self.scenario.engine
        if self.stream is not None:
            return self._run_stream(self.stream, observer, **options)
        with timed(_log, f"simulated {len(self.workload)} jobs with the engine {engine}"):
            record: Record = find_engine(engine).run(self.scenario, self.workload, observer, **options)
        record.facts |= _note_behaviour(self.scenario, self.workload)
        record = note_calibration(note_resources(record, self.workload, self.scenario), self.scenario)
        return _keep_figures(record, self.scenario) if self.scenario.record.keep == "summary" else record

    def _run_stream(self, stream: Stream, observer: Any, **options: Any) -> Record:
        """Simulate it, and keep the figures alone."""
        from walltime.analysis.calibration.file import note_calibration
        from walltime.analysis.streamed.tally import Tally
        from walltime.core.tables import Figures

        tally = Tally(self.scenario)
        engine = find_engine(self.scenario.engine)
        with timed(_log, "simulated a stream of jobs"):
            record = engine.run(self.scenario, stream, observer, sink=tally.add, **options)
        record.facts |= _note_behaviour(self.scenario, stream.first)
        tally.close(note_calibration(record, self.scenario))
        return Figures(tally.summarise, tally.record, tally.find_series())


def _keep_figures(record: Record, scenario: Scenario) -> Record:
    """What `record: summary` leaves of a run of which all jobs were in memory."""
    from functools import partial

    from walltime.analysis.metrics import summarise
    from walltime.analysis.series import series
    from walltime.core.tables import Figures

    wanted, found = scenario.record, None
    if wanted.series and wanted.interval is not None:
        layouts = {cluster.name: cluster.layout() for cluster in scenario.clusters}
        found = series(record, interval=wanted.interval, by=wanted.by, layouts=layouts)
    return Figures(partial(summarise, record, digested=False), record, found)


def _note_behaviour(scenario: Scenario, workload: Workload) -> dict[str, Any]:
    """The time limits that jobs of a log meet, and what their users are taken to have done about them."""
    limits = {
        name: queue.max_time
        for cluster in scenario.clusters
        for name, queue in cluster.queues.items()
        if queue.max_time is not None
    }
    told = {"time_limits": limits} if limits and scenario.workload.trace is not None else {}
    return told | ({"adjusted": workload.notes["adjusted"]} if "adjusted" in workload.notes else {})


def prepare(scenario: Scenario, workload: Workload | None = None, *, streamed: bool = False) -> Prepared:
    """The scenario ready to run, its jobs read unless they are given; raises InputError.

    Where it wants a summary alone and its trace can be read as it is needed, only the beginning is read if `streamed`.
    """
    from walltime.scenario import resolve
    from walltime.scenario.workload.jobs import open_stream

    check(scenario)
    if streamed and workload is None and scenario.record.keep == "summary":
        stream = open_stream(scenario)
        if stream is not None:
            scenario = resolve(scenario, stream.first, whole=False)
            return Prepared(scenario, stream.first, stream)
    if workload is None:
        with timed(_log, "read or generated the workload"):
            workload = scenario.read_workload()
        _log.info("%d jobs", len(workload))
    return Prepared(resolve(find_engine(scenario.engine).complete(scenario), workload), workload)


def check(scenario: Scenario) -> None:
    """Raise InputError for a part that does not exist or a key that the engine cannot honour, before any long work."""
    from walltime.policy import registry

    registry.check(scenario)
    engine = find_engine(scenario.engine)
    if problems := engine.unsupported(scenario):
        raise UnsupportedError(engine.NAME, problems)


def find_engine(name: str) -> Any:
    """The engine of that name: a module with `NAME`, `unsupported(scenario)`, `complete(scenario)`, `run(...)`."""
    if name == "slurm":
        from walltime.slurm import engine

        return engine
    from walltime.engine import native

    return native
