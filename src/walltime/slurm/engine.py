"""The slurm engine: a scenario in, a Record out, decided by the real controller."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.errors import InputError, UnsupportedError
from walltime.core.tables import Record
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Scenario
from walltime.slurm.controller import Controller, ControllerError, Setting
from walltime.slurm.packages import find_installation
from walltime.slurm.record import LIMIT_SLACK, build_tables
from walltime.slurm.simulation import Progress, Simulation
from walltime.slurm.site import Site, write_conf
from walltime.slurm.submission import Job, People, make_jobs
from walltime.slurm.translate import translate, unsupported

NAME = "slurm"
EPOCH = 1_704_067_200
"""2024-01-01 UTC: the zero of a trace that does not say when it was."""
WARM_UP = 120 * SECOND
"""From the controller's start to the trace's first job: nodes report, and every thread has found its rhythm."""
TRIES = 5

__all__ = ["NAME", "Options", "Run", "run", "start", "unsupported"]


@dataclass(frozen=True)
class Options:
    """How to run, as opposed to what: nothing here changes a decision but `cost`."""

    cost: float = 0.0
    port: int | None = None


@dataclass
class Run:
    """A controller in the middle of a simulation, at a simulated instant."""

    controller: Controller
    simulation: Simulation
    site: Site
    jobs: list[Job]
    workload: Workload
    base: int

    def record(self, scenario: Scenario, began: tuple[float, float]) -> Record:
        """What has happened so far, as a result keeps it."""
        self.simulation.note_backfilled()
        durations = {
            "wall": time.perf_counter() - began[0],
            "cpu": time.process_time() - began[1],
            "controller_cpu": self.controller.cpu_seconds(),
            "simulated": (self.simulation.link.now - self.base) / SECOND,
        }
        name = scenario.clusters[0].name
        jobs, allocations = build_tables(self.jobs, self.workload, self.site, name, self.base)
        return Record(jobs, allocations, self._facts(scenario), durations)

    def _facts(self, scenario: Scenario) -> dict[str, Any]:
        notes, origin, name = self.workload.notes, self.workload.origin, scenario.clusters[0].name
        pool = scenario.clusters[0].nodes is None
        runs: list[list[int]] = []
        for node in self.site.nodes:
            if runs and runs[-1][1] == node.cpus:
                runs[-1][0] += 1
            else:
                runs.append([1, node.cpus])
        return {
            "engine": f"slurm {self.controller.installation.product}",
            "clusters": {name: sum(node.cpus for node in self.site.nodes)},
            "nodes": {} if pool else {name: {"cores": runs, "sharing": "whole" if self.site.linear else "shared"}},
            "origin": {"epoch": origin.epoch, "timezone": origin.timezone},
            "submitted": len(self.jobs),
            "skipped": dict(notes.get("skipped", {})),
            "perfect_estimates": notes.get("perfect_estimates", 0),
            "oracle": False,
            "ignored": self._ignored(),
            "overrun": scenario.execution.overrun,
            "limit_slack": LIMIT_SLACK + 60 * min(self.site.overtime, 1e9),
            "until": scenario.until,
            "rejected_reasons": dict(Counter(job.reason for job in self.jobs if job.state == "rejected")),
        }

    def _ignored(self) -> dict[str, int]:
        """Requests for what the site's nodes do not have: how many jobs make one."""
        counts = {}
        for column, label, key in (("memory", "memory", "memory"), ("gpus", "GPUs", "tres_per_node")):
            if not self.workload.has(column):
                continue
            asked = int(np.count_nonzero(self.workload.column(column) > 0))
            honoured = sum(key in job.request or "tres_per_job" in job.request for job in self.jobs)
            if asked and not honoured:
                counts[label] = asked
        return counts


def run(scenario: Scenario, workload: Workload, observer: Progress | None = None, options: Options | None = None) -> Record:
    """Simulate a resolved scenario on its workload, read and with its requests filled."""
    began = time.perf_counter(), time.process_time()
    _check(scenario, workload)
    started = start(translate(scenario), workload, observer, options)
    with started.controller:
        until = None if scenario.until is None else started.base + microseconds(scenario.until)
        started.simulation.run(until)
        return started.record(scenario, began)


def start(site: Site, workload: Workload, observer: Progress | None = None, options: Options | None = None) -> Run:
    """A controller of the site that is up at its first instant, with the workload on its agenda."""
    options = options or Options()
    installation = find_installation()
    base = round((EPOCH if workload.origin.epoch is None else workload.origin.epoch) * SECOND)
    jobs = make_jobs(workload, site, installation.dialect, base)
    first = jobs[0].submit if jobs else base
    setting = Setting(
        conf=write_conf(site),
        files=site.files,
        people=People(workload.label_names("user")).lines(),
        start=(first - WARM_UP) // SECOND * SECOND,
        timezone=workload.origin.timezone or "UTC",
        cost=options.cost,
        port=options.port,
    )
    for attempt in range(TRIES):
        controller = Controller(installation, setting)
        try:
            simulation = Simulation(controller, site, jobs, base, observer)
            simulation.start()
            return Run(controller, simulation, site, jobs, workload, base)
        except ControllerError as error:
            controller.close()
            if "in use" not in str(error) or options.port is not None or attempt == TRIES - 1:
                raise
        except BaseException:
            controller.close()
            raise
    raise AssertionError("unreachable")


def _check(scenario: Scenario, workload: Workload) -> None:
    problems = unsupported(scenario)
    if problems:
        raise UnsupportedError(NAME, problems)
    if len(workload) and np.any(workload.column("requested_time") < 0):
        row = int(np.argmax(workload.column("requested_time") < 0))
        raise InputError("a job has no requested time", value=int(workload.column("job_id")[row]))
