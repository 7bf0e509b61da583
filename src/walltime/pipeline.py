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

_log = logger(__name__)


@dataclass(frozen=True)
class Prepared:
    """A scenario that is ready to run: its parts and keys are honoured, its jobs read, its clusters' sizes known."""

    scenario: Scenario
    workload: Workload

    def on(self, workload: Workload, until: float | None = None) -> Prepared:
        """The same clusters with other jobs, such as a repetition with noise; `until` replaces the scenario's."""
        scenario = self.scenario if until is None else self.scenario.model_copy(update={"until": until})
        return replace(self, scenario=scenario, workload=workload)

    def run(self, observer: Any = None, **options: Any) -> Record:
        """Simulate it; `options` are the engine's own."""
        from walltime.analysis.calibration.file import note_calibration
        from walltime.analysis.resources import note_resources

        engine = self.scenario.engine
        with timed(_log, f"simulated {len(self.workload)} jobs with the engine {engine}"):
            record: Record = find_engine(engine).run(self.scenario, self.workload, observer, **options)
        record.facts |= _note_behaviour(self.scenario, self.workload)
        return note_calibration(note_resources(record, self.workload, self.scenario), self.scenario)


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


def prepare(scenario: Scenario, workload: Workload | None = None) -> Prepared:
    """The scenario ready to run, its jobs read unless they are given; raises InputError."""
    from walltime.scenario import resolve

    check(scenario)
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
