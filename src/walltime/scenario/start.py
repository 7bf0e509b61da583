"""A simulation that begins from a system as it stands: the key `start`, and the jobs that it makes of a snapshot."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from walltime.cluster import hostlist
from walltime.cluster.nodes import WHOLE
from walltime.core.dates import EXAMPLE, is_date
from walltime.core.errors import InputError
from walltime.core.time import SECOND, format_duration, microseconds, parse_duration
from walltime.core.workload import COLUMNS, MISSING, UNLIMITED, Origin, Workload, encode_labels, sort_by_submission
from walltime.scenario.part import Part
from walltime.scenario.spreading import spread
from walltime.scenario.values import File, Model, Zone
from walltime.workload.snapshot.files import read_snapshot, read_usage
from walltime.workload.snapshot.system import Snapshot, SystemJob, read_time

if TYPE_CHECKING:
    from walltime.scenario.cluster import Cluster
    from walltime.scenario.model import Scenario

DAY = 86_400
SUSPEND = "suspend"
"""The mode of preemption under which a suspended job of a snapshot goes on by itself."""
SHORTEST = 1e-6
SLACK = 900.0
"""By so many seconds `start.time` may be before what the snapshot tells: a person writes down about when that was."""
PAUSE = 60.0
"""Seconds for which a running job has not run since it started, from which on it was suspended in between."""
RESOURCES = ("gpus", "gpus_per_node", "memory", "memory_per_node", "constraint", "licences")
"""What jobs of a snapshot may ask for beside cores and nodes, as columns of a workload."""
WITH_NODES = ("cores", "gpus", "memory")
"""What a job has all of on nodes of its own."""
RECOMMENDED = 'squeue -a -t R,S,PD -o "%i|%T|%u|%a|%P|%q|%C|%D|%l|%V|%S|%M|%Q|%r|%b|%m|%f|%W|%N"'
"""What to ask squeue for."""


def _as_time(value: Any) -> Any:
    """A date as its text, as YAML reads one that has no quotation marks; what is no time at all is refused."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str) and not is_date(value.strip()):
        try:
            float(value)
        except ValueError:
            raise PydanticCustomError("time", "is not a time (seconds, or {example})", {"example": EXAMPLE}) from None
    return value


class Start(Model):
    """The state that the simulation begins from, in place of an empty machine."""

    time: Annotated[str | float, BeforeValidator(_as_time)] = Field(
        description="When that was: a date (`2026-11-15T12:00:00`), or seconds on the clock of the table of jobs. The "
        "workload's own time zero is this moment: its jobs are what comes after."
    )
    jobs: File = Field(description="Running and waiting jobs: `squeue`'s output, or a table (.csv, .parquet).")
    usage: File | None = Field(default=None, description="Accumulated usage: the output of `sshare -a -l -P`.")
    timezone: Zone | None = Field(
        default=None, description="The zone of dates without one, as `Europe/Prague`; left out, the scenario's."
    )


def begin_from(scenario: Scenario, future: Workload) -> Workload:
    """The jobs of the scenario's `start` and, after it, those of the workload; raises InputError.

    Zero of the simulation is a whole number of days before the start, early enough for every submission in the
    snapshot. A job whose submission is not told has been submitted when it started or, while it waits, at the start of
    the simulation; the notes count them. How long the jobs will run is not known: until their limits.
    """
    start = scenario.start
    if start is None:
        return future
    zone = start.timezone or scenario.timezone
    snapshot, moment = _read(scenario, start)
    ahead = _lookback(snapshot, moment)
    zero = moment - ahead
    known = _rows(snapshot, moment, zero, scenario.clusters[0])
    columns, labels = _joined(known, future, ahead)
    unknown = sum(job.submit is None for job in snapshot.jobs)
    notes = dict(future.notes) | {
        "start": {
            "time": float(ahead),
            "running": sum(job.running for job in snapshot.jobs),
            **({"suspended": suspended} if (suspended := sum(job.suspended for job in snapshot.jobs)) else {}),
            "waiting": sum(not job.running for job in snapshot.jobs),
            "left_out": dict(snapshot.skipped),
            "submission_unknown": unknown,
        }
    }
    dated = not isinstance(start.time, int | float) and not str(start.time).strip().replace(".", "", 1).isdigit()
    origin = Origin(zero, zone) if dated else Origin()
    return Workload(columns, labels, origin, future.machine_cores, future.header, notes, future.source)


def _read(scenario: Scenario, start: Start) -> tuple[Snapshot, float]:
    """The snapshot, and its moment. Its running jobs tell from when on they have run in one go; its suspended ones when
    they started, unless the scenario has nothing that lets them go on: then they count as running."""
    zone = start.timezone or scenario.timezone
    snapshot, moment = read_snapshot(start.jobs, zone), read_time(start.time, zone)
    preempt = scenario.clusters[0].scheduler.preempt
    if preempt is None or preempt.parameters.get("mode") != SUSPEND:
        jobs = tuple(replace(job, suspended=False) for job in snapshot.jobs)
        snapshot = replace(snapshot, jobs=jobs)
    going = [job for job in snapshot.jobs if job.running and not job.suspended]
    paused = {job.name: moment - job.start - job.elapsed for job in going if job.start and job.elapsed is not None}
    late = min(paused.values(), default=0.0)  # by so much start.time is later than the snapshot
    late = late if late <= SLACK else 0.0
    begun = {job.name: _begin(job, moment, paused.get(job.name, 0.0) - late) for job in going}
    first = min((time for time in begun.values() if time is not None), default=moment)
    begun |= {job.name: _begin_suspended(job, first, snapshot.source) for job in snapshot.jobs if job.suspended}
    jobs = tuple(replace(job, start=begun[job.name]) if job.running else job for job in snapshot.jobs)
    return replace(snapshot, jobs=jobs), moment


def _begin(job: SystemJob, moment: float, paused: float) -> float | None:
    """From when on a running job would have run in one go, as it was suspended for so long; None where not known."""
    if job.start is not None:
        return job.start + (paused if paused > PAUSE else 0.0)
    return None if job.elapsed is None else moment - job.elapsed


def _begin_suspended(job: SystemJob, first: float, source: str) -> float:
    """When a suspended job started; where that is not told, such that it was suspended when the first of those that run
    started."""
    if job.elapsed is None:
        what = "a suspended job does not tell for how long it has run; ask for it: "
        raise InputError(what + RECOMMENDED, value=job.name, file=source)
    if job.start is not None:
        return job.start
    return first - job.elapsed if job.submit is None else max(job.submit, first - job.elapsed)


def _lookback(snapshot: Snapshot, moment: float) -> int:
    """Whole days before the start that cover every submission, in seconds."""
    times = [time for job in snapshot.jobs for time in (job.submit, job.start) if time is not None]
    return DAY * max(0, math.ceil((moment - min(times, default=moment)) / DAY))


def _rows(snapshot: Snapshot, moment: float, zero: float, cluster: Cluster) -> list[dict[str, Any]]:
    rows = []
    stands = _Stands(cluster, snapshot.source).find_all(snapshot.jobs)
    jobs = [stand.settle(job) if stand else job for job, stand in zip(snapshot.jobs, stands, strict=True)]
    uneven = {job.name: stand.cores for job, stand in zip(snapshot.jobs, stands, strict=True) if stand and stand.cores}
    asked = [name for name in RESOURCES if any(getattr(job, name) is not None for job in jobs)]
    first_running = sorted(enumerate(jobs, 1), key=lambda one: not one[1].running)
    for number, job in first_running:  # they have the places of their arrays
        limit = _limit(job, cluster, snapshot.source)
        begun = halt = None
        if job.running:
            begun = job.start
            if begun is None:
                raise InputError("a running job tells neither its start nor for how long it runs", value=job.name)
            _check_past(job, begun, "has started", moment, snapshot.source)
            begun = min(begun, moment)
            ran = job.elapsed if job.suspended and job.elapsed is not None else moment - begun
            limit = max(limit, ran + 1)  # one beyond its limit is taken to be about to end
            halt = begun + max(ran, SHORTEST) if job.suspended else None
        submit = job.submit if job.submit is not None else begun if begun is not None else moment
        _check_past(job, submit, "was submitted", moment, snapshot.source)
        submit = min(submit, moment if begun is None else begun)
        rows.append(
            {
                "job_id": int(job.name) if job.name.isdigit() and len(job.name) < 19 else -number,
                "name": job.name,
                "submit": microseconds(submit - zero),
                "started": MISSING if begun is None else microseconds(begun - zero),
                "run_time": MISSING,
                "requested_time": microseconds(limit),
                "cores": _cores(job, cluster),
                "nodes": MISSING if _is_loose(job, cluster, uneven) else job.nodes,
                **({} if halt is None else {"suspended": microseconds(halt - zero)}),
                "running_on": uneven.get(job.name),
                "priority": job.priority or 0,
                "begin": MISSING if job.begin is None else microseconds(max(job.begin, submit) - zero),
                "array": job.array,
                **{kind: getattr(job, kind) for kind in ("user", "account", "group", "queue", "qos")},
                **({name: _asked(job, name) for name in asked} if cluster.nodes is not None else {}),
            }
        )
    return rows


def _check_past(job: SystemJob, when: float, what: str, moment: float, source: str) -> None:
    """Raises InputError for what the snapshot tells of later than the start: another moment, or another zone."""
    if when > moment + SLACK:
        late = format_duration(when - moment)
        told = f"a job of the snapshot {what} {late} after start.time; is that when it was taken, and in its time zone?"
        raise InputError(told, value=job.name, file=source)


def _is_loose(job: SystemJob, cluster: Cluster, uneven: dict[str, str]) -> bool:
    """Whether it may have any cores of the nodes that it is given: it has not the same on each of them."""
    told = job.nodes is not None and cluster.nodes is not None
    return not told or (job.name in uneven and not job.gpus and not job.gpus_per_node)


class _Stand(NamedTuple):
    """Where a job stands: its nodes as a constraint, and its cores on each by number where these differ. Of nodes that
    it has to itself, how many they are, and the least that one of them has of each resource."""

    names: str
    cores: str
    places: tuple[int, ...] = ()
    nodes: int = 0
    least: Mapping[str, int] = {}

    def settle(self, job: SystemJob) -> SystemJob:
        """The job as one that asks for these nodes. Of nodes that it has to itself squeue tells all that is on them;
        where they differ no even division of that is on each, and it asks for as much as is."""
        if not self.least:
            if job.only_nodes:
                cores = sum(amount for _, amount in _read_places(self.cores))
                job = replace(job, cores=cores, only_nodes=False)
            if not self.cores or job.memory_per_node is None:
                return replace(job, constraint=self.names)
            memory = job.memory_per_node * len(self.places)
            return replace(job, constraint=self.names, memory=memory, memory_per_node=None)
        most = {name: self.nodes * amount for name, amount in self.least.items()}
        on_each = {f"{name}_per_node": amount for name, amount in self.least.items() if name != "cores"}
        told = {name: asked for name in (*most, *on_each) if (asked := getattr(job, name)) is not None}
        asked = {name: min(amount, (most | on_each)[name]) for name, amount in told.items()}
        if job.only_nodes:
            asked["cores"] = most["cores"]
        return replace(job, constraint=self.names, nodes=self.nodes, only_nodes=False, **asked)


class _Stands:
    """Where running jobs stand: on nodes of the cluster, by their names."""

    def __init__(self, cluster: Cluster, source: str) -> None:
        self.cluster, self.layout, self.source = cluster, cluster.layout(), source
        self.names = {} if self.layout is None else {name: index for index, name in enumerate(self.layout.names())}
        self._masks: dict[str, Any] = {}

    def find_all(self, jobs: Sequence[SystemJob]) -> list[_Stand | None]:
        """Where each job runs. Where squeue tells nodes and cores of jobs, and not how many on each, and as many on
        each do not all have room, some have more on one than on another."""
        stands = [self.find(job) for job in jobs]
        told = {i: stand for i, stand in enumerate(stands) if stand and stand.places and not jobs[i].suspended}
        self._check_alone([(jobs[i], stand) for i, stand in told.items()])
        open_ = [i for i, stand in told.items() if not stand.cores and jobs[i].cores >= len(stand.places)]
        if self.layout is None or not open_:
            return stands
        room = dict(enumerate(self.layout.cores().tolist()))
        for stand in told.values():
            for node, cores in _read_places(stand.cores) if stand.cores else ():
                room[node] -= cores
        sums, places = [jobs[i].cores for i in open_], [told[i].places for i in open_]
        unit = self.cluster.threads_per_core
        unit = unit if not any(amount % unit for amount in [*sums, *room.values()]) else 1
        shares = spread([cores // unit for cores in sums], places, {node: free // unit for node, free in room.items()})
        for i, share in zip(open_, shares or (), strict=False):
            stands[i] = told[i]._replace(cores=_write_places({node: cores * unit for node, cores in share.items()}))
        return stands

    def _check_alone(self, told: Sequence[tuple[SystemJob, _Stand]]) -> None:
        """Raises InputError for a job of which only nodes are told, and that shares one: it would have all of it."""
        jobs = Counter(node for _, stand in told for node in stand.places)
        for job, stand in told:
            if job.only_nodes and any(jobs[node] > 1 for node in stand.places):
                what = "a running job shares its nodes with others, and its cores are not told; ask for them: "
                raise InputError(what + RECOMMENDED, value=job.name, file=self.source)

    def find(self, job: SystemJob) -> _Stand | None:
        """Where a job runs; None where that is not told, or not on the cluster's nodes or its queue's, so that it may
        stand anywhere."""
        if not job.running or job.nodelist is None or self.layout is None:
            return None
        try:
            items = [item.partition(":")[::2] for item in hostlist.split(job.nodelist)]
            cores = {self.names.get(name, -1): told for item, told in items for name in hostlist.expand(item)}
        except InputError:
            return None
        listed = list(cores)
        if not listed or min(listed) < 0 or (job.nodes is not None and len(set(listed)) != job.nodes):
            return None
        if not self._allows(job.queue, listed):
            return None
        names, queue = "|".join(item for item, _ in items), self.cluster.queues.get(job.queue or "")
        if self.layout.whole or (queue is not None and queue.sharing == WHOLE):
            least = {name: int(self.layout.amounts(name)[listed].min()) for name in WITH_NODES}
            return _Stand(names, "", nodes=len(listed), least=least)
        exact = all(told.isdecimal() for told in cores.values())
        told = {node: int(told) for node, told in cores.items()} if exact else {}
        if job.only_nodes:
            told = {node: int(self.layout.cores()[node]) for node in cores}
        return _Stand(names, _write_places(told), tuple(sorted(cores)))

    def _allows(self, name: str | None, nodes: list[int]) -> bool:
        queue = self.cluster.queues.get(name or "")
        if queue is None or queue.nodes is None or self.layout is None:
            return True
        if name not in self._masks:
            self._masks[str(name)] = self.layout.select(queue.nodes)
        return bool(self._masks[str(name)][nodes].all())


def _write_places(cores: Mapping[int, int]) -> str:
    """Cores on nodes as the column `running_on` has them."""
    return ",".join(f"{node}:{amount}" for node, amount in sorted(cores.items()))


def _read_places(text: str) -> list[tuple[int, int]]:
    return [(int(node), int(cores)) for node, _, cores in (part.partition(":") for part in text.split(","))]


def _asked(job: SystemJob, name: str) -> Any:
    """What a job asks for of a resource; what is not told is the column's default."""
    value = getattr(job, name)
    default = COLUMNS[name].default
    return (None if COLUMNS[name].kind == "label" else default) if value is None else value


def _limit(job: SystemJob, cluster: Cluster, source: str) -> float:
    """Its limit; where the snapshot tells none, its queue's. A job that has none ends at its queue's `max_time`."""
    endless = job.limit is not None and job.limit * SECOND >= UNLIMITED
    if job.limit is not None and not endless:
        return job.limit
    queue = cluster.queues.get(job.queue or "")
    if queue is not None and (queue.max_time or (queue.default_time and not endless)):
        return float(queue.max_time or queue.default_time or 0)
    raise InputError(
        "a job's time limit is not told or there is none, and its queue has neither max_time nor default_time: give it "
        "one, or ask for the limits: " + RECOMMENDED,
        value=job.name,
        file=source,
    )


def _cores(job: SystemJob, cluster: Cluster) -> int:
    """Its cores; where only nodes are told, all cores of so many nodes of the first kind in its queue."""
    layout = cluster.layout()
    if job.only_nodes and layout is not None and job.nodes:
        queue = cluster.queues.get(job.queue or "")
        mine = None if queue is None or queue.nodes is None else layout.select(queue.nodes)
        return job.nodes * int(layout.cores()[0 if mine is None else int(mine.argmax())])
    return job.cores


def _joined(known: list[dict[str, Any]], future: Workload, ahead: int) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The columns of both, sorted by submission."""
    names = [*dict.fromkeys([name for row in known for name in row] + list(future.columns))]
    columns: dict[str, Any] = {}
    labels: dict[str, list[str]] = {}
    moved = ("submit", "begin", "deadline", "cancel")
    for name in names:
        kind, default = COLUMNS[name].kind, COLUMNS[name].default
        theirs = future.column(name)
        if name in moved:
            theirs = np.where(theirs == MISSING, MISSING, theirs + ahead * SECOND)
        if kind == "label":
            told = [row.get(name) for row in known]
            people = future.label_names(name)
            codes, labels[name] = encode_labels([*told, *(people[code] if code >= 0 else None for code in theirs)])
            columns[name] = codes
        elif kind == "text":
            columns[name] = [str(row.get(name) or "") for row in known] + list(theirs)
        else:
            default = MISSING if default is None else default
            mine = np.array([row.get(name, default) for row in known], np.int64)
            columns[name] = np.concatenate([mine, np.asarray(theirs, np.int64)])
    return sort_by_submission(columns), labels


def with_usage(order: Part, scenario: Scenario) -> Part:
    """The order, its fair share beginning with the usage that `start.usage` tells; raises InputError where the order
    has no fair share.

    Usage is told for the start, and given to the order for zero of the simulation: it is larger there by what it will
    have decayed until the start, and smaller by what running jobs have used so far, which they will be charged for.
    """
    start = scenario.start
    if start is None or start.usage is None:
        return order
    if order.name not in ("fairshare", "multifactor"):
        raise InputError(
            "start.usage: this order has no fair share", value=order.name, choices=("fairshare", "multifactor")
        )
    own = dict(order.parameters if order.name == "fairshare" else order.parameters.get("fairshare") or {})
    snapshot, moment = _read(scenario, start)
    growth = _growth(own, order.name, float(_lookback(snapshot, moment)))
    usage = read_usage(start.usage)
    for job in snapshot.jobs:
        key = f"{job.account}/{job.user}"
        if job.running and key in usage:
            begun = moment if job.start is None else job.start
            used = _used(own, order.name, max(0.0, moment - begun))
            if job.suspended and job.elapsed is not None:
                used -= _used(own, order.name, max(0.0, moment - begun - job.elapsed))
            usage[key] = max(0.0, usage[key] - job.cores * used)
    own["usage"] = {key: amount * growth for key, amount in usage.items()}
    parameters = own if order.name == "fairshare" else dict(order.parameters) | {"fairshare": own}
    return Part(name=order.name, parameters=parameters)


def _used(own: dict[str, Any], name: str, length: float) -> float:
    """What is left at the end of so many seconds in which something was used all the time."""
    half = _half_life(own, name)
    return length if half is None else half / math.log(2) * -math.expm1(-math.log(2) * length / half)


def _half_life(own: dict[str, Any], name: str) -> float | None:
    """In seconds; None for a formula that forgets in steps, or where nothing is forgotten."""
    if own.get("formula", "alea" if name == "fairshare" else "fair-tree") == "alea":
        return None
    half = parse_duration(own.get("half_life", "7d")) / SECOND
    return half if half > 0 else None


def _growth(own: dict[str, Any], name: str, ahead: float) -> float:
    """How much larger usage was so many seconds earlier than what has decayed from it."""
    if own.get("formula", "alea" if name == "fairshare" else "fair-tree") == "alea":
        decay, every = float(own.get("decay", 0.75)), parse_duration(own.get("decay_interval", "48h")) / SECOND
        return decay ** -math.floor(ahead / every) if decay > 0 and every > 0 else 1.0
    half = _half_life(own, name)
    return 1.0 if half is None else float(2.0 ** (ahead / half))
