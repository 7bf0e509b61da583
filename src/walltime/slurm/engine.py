"""The slurm engine: a scenario in, a Record out, decided by the real controller."""

from __future__ import annotations

import functools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.cluster.requests import find_parts
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.tables import Record
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload
from walltime.policy.users import GAVE_UP
from walltime.rules.reactions import Description, Reactions, build_reactions
from walltime.rules.users import plan_users
from walltime.scenario import Cluster, Scenario
from walltime.scenario.controller import Controller as ControllerOptions
from walltime.slurm.controller import SLACK, Controller, ControllerError, Setting, is_telling
from walltime.slurm.diagnostics import DAY, summarise
from walltime.slurm.events import TimedCommand, find_reservations, read_events
from walltime.slurm.packages import find_installation
from walltime.slurm.protocol.savedstate import identify, save
from walltime.slurm.record import LIMIT_SLACK, build_tables, count_disruptions
from walltime.slurm.simulation import Progress, Simulation
from walltime.slurm.site import Site
from walltime.slurm.translate.outages import Outages
from walltime.slurm.translate.refusals import unsupported
from walltime.slurm.translate.routing import route
from walltime.slurm.translate.site import complete, make_site
from walltime.slurm.translate.submission import ControllerUsers, TraceJob, make_jobs
from walltime.slurm.translate.workflows import prepare_aware, set_nice
from walltime.slurm.translate.writing import write_conf
from walltime.slurm.users import Users, ask_instead
from walltime.workload.users.plan import UserPlan

if TYPE_CHECKING:
    from walltime.slurm.paused import Frozen

NAME = "slurm"
EPOCH = 1_704_067_200
"""2024-01-01 UTC: the zero of a trace that does not say when it was."""
WARM_UP = 120 * SECOND + SECOND // 2
"""From the controller's start to the trace's first job: nodes report, and every thread has found its rhythm.

The half second: traces count whole seconds, and a controller's beat has no relation to them; so it falls in the middle.
"""
SETTLED = 60 * SECOND
"""After this time from its start a controller has all of its nodes."""
LAUNCH, COMPLETION = 20 * SECOND // 1000, 5 * SECOND // 1000
"""From a job's start to its script's first line, and from the script's end until the controller hears of it: as
measured with genuine nodes on a quiet machine."""
TRIES = 5
MOST_PRINTED = 65_536
"""Letters that are kept of what a command of an event prints."""

__all__ = [
    "NAME",
    "ControllerRun",
    "SlurmOptions",
    "choose_options",
    "complete",
    "freeze",
    "run",
    "start",
    "unsupported",
]


@dataclass(frozen=True)
class SlurmOptions:
    """How to run, as opposed to what. `warm_up` is the time from the controller's start to the first job: it says
    where the controller's beats fall, as it does on a real machine; `slack` is by how many microseconds that machine is
    late to wake a sleeper; `launch` and `completion` are the microseconds from a job's start to that of its script, and
    from the script's end until the controller hears of it, `epilog` for how long nodes are kept then; `cost` makes
    deciding take time; `any_command` lets events run any program; `keep` is given what has happened so far `every` so
    many simulated microseconds."""

    cost: float = 0.0
    port: int | None = None
    warm_up: int = WARM_UP
    slack: int = SLACK
    launch: int = LAUNCH
    completion: int = COMPLETION
    epilog: int = 0
    release: str | None = None
    slurmctld: str | None = None
    any_command: bool = False
    every: int | None = None
    keep: Callable[[Scenario, Record], None] | None = None


def choose_options(scenario: Scenario, port: int | None = None, any_command: bool = False) -> SlurmOptions:
    """As the scenario says; what is no part of it is the person's."""
    given = scenario.slurm
    if given is None:
        return SlurmOptions(port=port)
    return SlurmOptions(
        cost=given.cost,
        port=port,
        warm_up=microseconds(given.lead),
        launch=microseconds(given.launch),
        completion=microseconds(given.completion),
        epilog=microseconds(given.epilog),
        release=given.release,
        slurmctld=given.slurmctld,
        any_command=any_command,
    )


@dataclass
class ControllerRun:
    """A controller in the middle of a simulation, at a simulated instant."""

    controller: Controller
    simulation: Simulation
    site: Site
    jobs: list[TraceJob]
    workload: Workload
    base: int
    people: ControllerUsers
    users: Users | None = None
    outages: Outages | None = None
    printed: list[dict[str, Any]] = field(default_factory=list)
    """What the commands of events have printed, with the time in seconds after the trace's zero."""
    figures: list[str] = field(default_factory=list)
    """What sdiag has printed at the end of each day, and of the run."""

    def record(self, scenario: Scenario, began: tuple[float, float]) -> Record:
        """What has happened so far, as a result keeps it."""
        self.simulation.note_reasons()
        durations = {
            "wall": time.perf_counter() - began[0],
            "cpu": time.process_time() - began[1],
            "controller_cpu": self.controller.cpu_seconds(),
            "simulated": (self.simulation.link.now - self.base) / SECOND,
        }
        name = scenario.clusters[0].name
        last = self.simulation.link.now if scenario.until is None else self.base + microseconds(scenario.until)
        jobs, allocations = build_tables(self.jobs, self.workload, self.site, name, self.base, last)
        down = None if self.outages is None else self.outages.table()
        return Record(jobs, allocations, self._facts(scenario), durations, down)

    def complaints(self) -> list[str]:
        """What the controller called an error before the first job came, each once."""
        first = self.jobs[0].submit if self.jobs else self.base
        return self.simulation.controller_log.find_errors(first)

    def _facts(self, scenario: Scenario) -> dict[str, Any]:
        notes, origin, name = self.workload.notes, self.workload.origin, scenario.clusters[0].name
        pool = scenario.clusters[0].nodes is None
        runs: list[list[int]] = []
        for node in self.site.nodes:
            if runs and runs[-1][1] == node.slots:
                runs[-1][0] += 1
            else:
                runs.append([1, node.slots])
        return {
            "engine": f"slurm {self.controller.installation.product}",
            "clusters": {name: sum(node.slots for node in self.site.nodes)},
            "nodes": {} if pool else {name: {"cores": runs, "sharing": "whole" if self.site.linear else "shared"}},
            "origin": {"epoch": origin.epoch, "timezone": origin.timezone},
            "submitted": sum(job.state != "future" for job in self.jobs),
            "skipped": dict(notes.get("skipped", {})),
            **({"workflows": notes["workflows"]} if notes.get("workflows") else {}),
            "perfect_estimates": notes.get("perfect_estimates", 0),
            "oracle": False,
            "ignored": self._ignored(),
            "disruptions": count_disruptions(self.jobs, 0 if self.outages is None else self.outages.count_failures()),
            "overrun": scenario.execution.overrun,
            "rounded_cores": True,
            "own_places": True,
            "limit_slack": LIMIT_SLACK + 60 * min(self.site.overtime, 1e9) + self.simulation.delay / SECOND,
            "until": scenario.until,
            "waiting_reasons": dict(Counter(job.reason for job in self.jobs if job.state == "waiting" and job.reason)),
            "rejected_reasons": dict(Counter(job.reason for job in self.jobs if job.state == "rejected")),
            "complaints": self.complaints(),
            "by_hand": len(self.simulation.foreign),
            **self._users(scenario),
            **({"scheduler": summarise(self.figures, self.controller.setting.cost > 0)} if self.figures else {}),
            **({"printed": self.printed} if self.printed else {}),
        }

    def _users(self, scenario: Scenario) -> dict[str, Any]:
        """What only users who react have to tell."""
        if scenario.users is None or not scenario.users.reacts:
            return {}
        told = {"mode": scenario.users.mode, "session_gap": scenario.users.session_gap}
        gone = self.simulation.given_up
        told |= {} if self.users is None else self.users.tell(self.jobs)
        return {"users": told} | ({"cancelled_reasons": {GAVE_UP: gone}} if gone else {})

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
        names, code = self.workload.label_names("reservation"), self.workload.column("reservation")
        lost = sum(names[one] not in self.site.reservations for one in code[code >= 0])
        return counts | ({"reservations": lost} if lost else {})


def run(
    scenario: Scenario, workload: Workload, observer: Progress | None = None, options: SlurmOptions | None = None
) -> Record:
    """Simulate a resolved scenario on its workload, read and with its requests filled."""
    began = time.perf_counter(), time.process_time()
    _check(scenario, workload)
    with freeze(scenario, workload, observer, options) as started:
        return started.record(scenario, began)


@contextmanager
def freeze(
    scenario: Scenario,
    workload: Workload,
    observer: Progress | None = None,
    options: SlurmOptions | None = None,
    stay: bool = False,
) -> Iterator[ControllerRun]:
    """A run that has come to the scenario's `until`, or to its end; the controller is there as long as the context.

    `stay` goes to `until` also where the trace ends before.
    """
    from walltime.slurm.paused import Frozen, ask_reasons

    given = scenario.slurm
    options = options or choose_options(scenario)
    events = _find_events(given, workload, options)
    if given is None or given.conf is None:
        workload = route(scenario.clusters[0], workload)
    site = prepare_aware(make_site(scenario, workload), workload)
    if events:
        site = replace(site, reservations={**site.reservations, **find_reservations(events)})
    routes = scenario.clusters[0] if given is None or given.conf is None else None
    plan, reactions = plan_users(scenario, workload), build_reactions(scenario)
    started = start(site, workload, observer, options, plan, reactions, routes)
    with started.controller:
        _plan_events(started, events, None if given is None else given.events)
        if given is None or given.conf is None:
            _plan_outages(started, scenario, workload)
        asker = Frozen(started, folder="asker")
        _plan_figures(started, asker)
        _plan_checkpoints(started, scenario, options)
        until = None if scenario.until is None else started.base + microseconds(scenario.until)
        started.simulation.run(until, stay and until is not None)
        started.figures.append(asker.ask("sdiag"))
        if any(job.state == "waiting" and job.handle for job in started.jobs):
            ask_reasons(started, asker)
        yield started


def _find_events(given: ControllerOptions | None, workload: Workload, options: SlurmOptions) -> list[TimedCommand]:
    if given is None or given.events is None:
        return []
    events = read_events(given.events, find_base(workload), workload.origin.timezone or "UTC", options.any_command)
    dialect = find_installation(options.release, options.slurmctld).dialect
    for event in events:
        if dialect.RESTARTS and re.match(r"scontrol\b.*\breconfigure\b", event.command):
            what = (
                f"Slurm {dialect.release} starts another controller to read its configuration again, which cannot be "
                "followed in virtual time; a run with the new configuration tells what it changes"
            )
            raise InputError(what, value=event.command, file=given.events, line=event.line)
    return events


def _plan_events(run: ControllerRun, events: list[TimedCommand], file: str | None) -> None:
    """Have an administrator do what a file says; what the commands print is kept."""
    from walltime.slurm.paused import Frozen

    if not events:
        return
    administrator = Frozen(run, folder="administrator")

    def act(event: TimedCommand) -> None:
        printed = administrator.execute(event.command, {"file": file, "line": event.line})
        if printed.strip():
            run.printed.append({"at": event.at / SECOND, "command": event.command, "printed": printed[:MOST_PRINTED]})

    for event in events:
        run.simulation.plan_command(run.base + event.at, functools.partial(act, event))


def _plan_figures(run: ControllerRun, asker: Frozen) -> None:
    """Ask for the controller's figures at the last instant of each day: at midnight it sets them to zero."""

    def follow() -> None:
        midnight = (run.simulation.link.now // SECOND // DAY + 1) * DAY * SECOND
        at = midnight - 1 if midnight - 1 > run.simulation.link.now else midnight + DAY * SECOND - 1
        run.simulation.plan_command(at, act, background=True)

    def act() -> None:
        run.figures.append(asker.ask("sdiag"))
        follow()

    follow()


def _plan_checkpoints(run: ControllerRun, scenario: Scenario, options: SlurmOptions) -> None:
    """Have what has happened kept now and then: a result that looks as if the run had been cut off there."""
    every, keep, began = options.every, options.keep, (time.perf_counter(), time.process_time())
    if every is None or keep is None:
        return

    def plan(at: int) -> None:  # an instant later, so that everything of that instant has happened
        run.simulation.plan_command(run.base + at + 1, functools.partial(act, at), background=True)

    def act(at: int) -> None:
        cut = scenario.model_copy(update={"until": at / SECOND})
        record = run.record(cut, began)
        if scenario.until is not None:
            record.facts["planned_until"] = scenario.until
        keep(cut, record)
        plan(at + every)

    plan((max(run.simulation.link.now - run.base, 0) // every + 1) * every)


def find_base(workload: Workload) -> int:
    """The trace's zero in microseconds since 1970."""
    return round((EPOCH if workload.origin.epoch is None else workload.origin.epoch) * SECOND)


def _plan_outages(run: ControllerRun, scenario: Scenario, workload: Workload) -> None:
    """Have the scenario's failures and reservations happen, from before the first job on."""
    from walltime.slurm.paused import Frozen

    cluster, simulation = scenario.clusters[0], run.simulation
    if not cluster.failures and not cluster.reservations:
        return
    outages = run.outages = Outages(scenario, run.site, workload, run.base)
    keeper = Frozen(run, folder="keeper")
    simulation.expects = lambda: outages.pending
    simulation.patience += outages.patience
    first = min(simulation.link.now + SETTLED, run.jobs[0].submit if run.jobs else run.base)

    def follow() -> None:
        if outages.next is not None:
            simulation.plan_command(max(run.base + outages.next, first), act, background=True)

    def act() -> None:
        for command in outages.fire():
            keeper.execute(command, {})
        follow()

    follow()


def start(
    site: Site,
    workload: Workload,
    observer: Progress | None = None,
    options: SlurmOptions | None = None,
    plan: UserPlan | None = None,
    reactions: Reactions | None = None,
    routes: Cluster | None = None,
) -> ControllerRun:
    """A controller of the site that is up at its first instant, with the workload on its agenda.

    `plan` says when users submit it, where they react, and `reactions` what they do besides; jobs that they change go
    by the `routes` of a cluster."""
    options = options or SlurmOptions()
    installation = find_installation(options.release, options.slurmctld)
    base = find_base(workload)
    people = ControllerUsers(workload.label_names("user"), [] if site.associations is None else site.associations.users)
    jobs = make_jobs(workload, site, installation.dialect, base, people)
    set_nice(jobs, site, workload)

    def remake(row: int, description: Description) -> TraceJob:
        one = ask_instead(workload, row, description)
        one = one if routes is None else route(routes, one)
        job = make_jobs(one, site, installation.dialect, base, people)[0]
        job.row, job.asked = row, description
        return job

    first = jobs[0].submit if jobs else base
    begin = first // SECOND * SECOND - options.warm_up
    setting = Setting(
        conf=write_conf(site, installation.dialect.version),
        files=site.files,
        state=_save_state(site, begin // SECOND, people, installation.dialect.version),
        people=people.lines(site.groups),
        start=begin,
        timezone=workload.origin.timezone or "UTC",
        cost=options.cost,
        port=options.port,
        slack=options.slack,
    )
    for attempt in range(TRIES):
        controller = Controller(installation, setting)
        try:
            delay = options.launch + options.completion
            users = None if plan is None else Users(plan, workload, reactions, remake)
            simulation = Simulation(
                controller, site, jobs, base, observer, delay=delay, epilog=options.epilog, users=users
            )
            simulation.start()
            return ControllerRun(controller, simulation, site, jobs, workload, base, people, users)
        except ControllerError as error:
            refusal = _find_refusal(controller.log())
            controller.close()
            if refusal:
                raise InputError(f"the controller refuses its configuration: {refusal}", file=site.file) from None
            if "in use" not in str(error) or options.port is not None or attempt == TRIES - 1:
                raise
        except BaseException:
            controller.close()
            raise
    raise AssertionError("unreachable")


def _save_state(site: Site, now: int, people: ControllerUsers, version: int) -> dict[str, bytes]:
    """What a controller finds in place of a database."""
    named = identify(site.name, version)
    if site.associations is None:
        return named
    own = (*site.tres, *(["gres/gpu"] if site.has("gpu") else []), *site.associations.resources)
    return named | save(site.associations, site.name, now, people.numbers, own, site.usage, version)


def _find_refusal(log: str) -> str | None:
    """Why a controller stopped at its start, where its configuration is to blame."""
    if "in use" in log or "fatal:" not in log:
        return None
    told = [re.sub(r"^(\[[^]]*\] |slurmctld: )", "", line) for line in log.splitlines() if is_telling(line)]
    return "; ".join(dict.fromkeys(told))


def _is_used(workload: Workload, column: str) -> bool:
    """Whether some job has patience, or an array a limit."""
    if column == "array":
        return any("%" in label for label in workload.label_names("array"))
    return bool(np.any(workload.column(column) > 0))


def _check(scenario: Scenario, workload: Workload) -> None:
    problems = unsupported(scenario)
    if problems:
        raise UnsupportedError(NAME, problems)
    for column, what in (("patience", "users who give up"), ("array", "limits")):
        if workload.has(column) and _is_used(workload, column):
            raise UnsupportedError(NAME, [(f"workload.{column}", f"{what}: the controller is not told of them")])
    if (uneven := find_parts(workload, lambda parts: True)) is not None:
        tip = "workload.adjust.alike: true gives them alike nodes"
        what = f"heterogeneous jobs whose parts differ are not submitted ({tip}); {uneven}"
        raise UnsupportedError(NAME, [("workload", what)])
    if len(workload) and np.any(workload.column("requested_time") < 0):
        row = int(np.argmax(workload.column("requested_time") < 0))
        raise InputError("a job has no requested time", value=int(workload.column("job_id")[row]))
