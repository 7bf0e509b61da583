"""From the rows of a workload to what a user would have asked the controller for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.slurm.protocol.dialect import Dialect
from walltime.slurm.site import Site

FIRST_USER = 20_000
"""Numbers of the simulated users begin here, out of the way of this machine's."""
UNKNOWN = "unknown"
"""The user of jobs that name none."""
MEGABYTE = 1 << 20
MINUTE = 60 * SECOND


@dataclass
class Attempt:
    """One time that a job held nodes; `end` is None while it does. `cpus` are those on each node."""

    start: int
    nodes: list[str]
    cpus: tuple[int, ...]
    partition: str = ""
    end: int | None = None
    outcome: str = "running"
    stopped: int = 0
    """Microseconds for which it was suspended."""
    failed: bool = False
    """Whether it was put back into the queue because a node failed."""
    pauses: list[list[int]] = field(default_factory=list)
    """From when to when it was, each; the last may have no end."""

    @property
    def is_stopped(self) -> bool:
        """Whether it is suspended now."""
        return bool(self.pauses) and len(self.pauses[-1]) == 1

    def intervals(self) -> Iterator[tuple[int, int | None, str]]:
        """From when to when it held its cores, and what ended that: all the time but for its pauses.

        One that was stopped before it was launched begins when it first runs.
        """
        begin = self.start
        for pause in self.pauses:
            if pause[0] > begin:
                yield begin, pause[0], "suspended"
            if len(pause) < 2:
                return
            begin = pause[1]
        yield begin, self.end, self.outcome

    def held(self, last: int) -> int:
        """For how long the attempt has had its cores; until `last` where it has not ended."""
        end = max(last, self.start) if self.end is None else self.end
        paused = sum((pause[1] if len(pause) > 1 else end) - pause[0] for pause in self.pauses)
        return end - self.start - paused


@dataclass
class TraceJob:
    """A job of the trace: when it comes, how long it would run (None: until its limit), and what became of it."""

    row: int
    label: int
    submit: int
    run: int | None
    request: dict[str, Any]
    cancel: int | None = None
    begin: int | None = None
    dependencies: str = ""
    handle: str | None = None
    """What the controller calls it: a number, or `12_3` for a task of an array."""
    number: int | None = None
    """The number under which it runs; a task of an array has none before."""
    state: str = "future"
    reason: str = ""
    submitted: int | None = None
    end: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    backfilled: bool = False
    asked: dict[str, Any] = field(default_factory=dict)
    """The columns by which its user has submitted it instead of those of its row."""

    def move(self, submit: int) -> None:
        """Have it come at another time; its own times keep their distance."""
        later = submit - self.submit
        self.submit = submit
        if self.cancel is not None:
            self.cancel += later
        if self.begin is not None:
            self.begin += later
            self.request["begin"] = self.begin // SECOND


class ControllerUsers:
    """The users of a workload and of a site as the controller knows them: names and numbers.

    A name that is a number, as in traces that hide who people are, gets a letter in front.
    """

    def __init__(self, names: Iterable[str], others: Iterable[str] = ()) -> None:
        self.names = [self.spell(name) for name in names]
        known = dict.fromkeys([*self.names, *others, UNKNOWN])
        self.numbers = {name: FIRST_USER + index for index, name in enumerate(known)}

    @staticmethod
    def spell(name: str) -> str:
        clean = re.sub(r"[^\w.@-]", "_", name) or "nobody"
        return f"u{clean}" if clean[0].isdigit() else clean

    def number(self, code: int) -> int:
        """The user's number by the code in the workload; the trace's unknown user is one of them."""
        return self.numbers[self.names[code] if code >= 0 else UNKNOWN]

    def lines(self, groups: Mapping[str, Iterable[str]] | None = None) -> str:
        """The users, all of one group, and other groups of theirs, as lines of the people file."""
        users = "".join(f"{name}:{number}:{FIRST_USER}\n" for name, number in self.numbers.items())
        others = "".join(
            f"@{name}:{FIRST_USER + index}:{','.join(members)}\n"
            for index, (name, members) in enumerate((groups or {}).items(), 1)
        )
        return f"@users:{FIRST_USER}:\n{others}{users}"


def find_charges(workload: Workload) -> list[tuple[str | None, str]]:
    """Every account with each user that charges it, in order of appearance; no account: None."""
    people = ControllerUsers(workload.label_names("user"))
    accounts = workload.label_names("account")
    pairs = dict.fromkeys(zip(workload.column("account").tolist(), workload.column("user").tolist(), strict=True))
    return [(accounts[a] if a >= 0 else None, people.names[u] if u >= 0 else UNKNOWN) for a, u in pairs]


_LABELS = ("user", "group", "account", "queue", "qos", "constraint", "licences", "resources", "reservation")
_NUMBERS = (
    *("job_id", "submit", "run_time", "requested_time", "cores", "nodes", "cores_per_node", "memory", "gpus"),
    *("memory_per_node", "memory_per_core", "gpus_per_node", "begin", "cancel", "exclusive"),
)


class JobRows:
    """A workload, job by job."""

    def __init__(self, workload: Workload) -> None:
        self.columns = {name: workload.column(name) for name in (*_LABELS, *_NUMBERS)}
        self.labels = {name: workload.label_names(name) for name in _LABELS}
        self.names, self.dependencies = workload.column("name"), workload.column("dependencies")

    def number(self, name: str, row: int) -> int:
        return int(self.columns[name][row])

    def label(self, name: str, row: int) -> str | None:
        code = int(self.columns[name][row])
        return self.labels[name][code] if code >= 0 else None


def make_jobs(workload: Workload, site: Site, dialect: Dialect, base: int, people: ControllerUsers) -> list[TraceJob]:
    """All jobs, in order of submission; `base` is the trace's zero in microseconds since 1970."""
    rows = JobRows(workload)
    rows.labels["queue"] = [_find_partition(name, site) for name in rows.labels["queue"]]
    return [_make_job(rows, row, site, dialect, base, people) for row in range(len(workload))]


_TASK = re.compile(r"(.+)_(\d+)")


def group_arrays(jobs: Iterable[TraceJob], largest: int) -> list[list[TraceJob]]:
    """Jobs that were submitted together: `12_1`, `12_2`, ... alike but for their run times are one array.

    An array's tasks have numbers below `largest`, the site's MaxArraySize; what is no array stands alone.
    """
    groups: list[list[TraceJob]] = []
    last: Any = None
    for job in jobs:
        match = _TASK.fullmatch(job.request["name"])
        rest = {name: value for name, value in job.request.items() if name != "name"}
        key = (match[1], job.submit, job.begin, job.dependencies, rest) if match and int(match[2]) < largest else None
        if key is not None and key == last and task_of(job) not in {task_of(other) for other in groups[-1]}:
            groups[-1].append(job)
        else:
            groups.append([job])
        last = key
    return groups


def task_of(job: TraceJob) -> int:
    """The number of a task in its array."""
    return int(job.request["name"].rpartition("_")[2])


def _find_partition(queue: str, site: Site) -> str:
    """The partition that a queue of the trace stands for, or several with commas between; raises InputError."""
    rest = site.queues.get("*")
    names = [site.queues.get(name, name if name in site.partitions else rest or name) for name in queue.split(",")]
    for name in names:
        if name not in site.partitions:
            what = "the trace has a queue that is no partition; --partition QUEUE=PARTITION says where its jobs go"
            raise InputError(what, value=name, choices=site.partitions)
    return ",".join(dict.fromkeys(names))


def _make_job(rows: JobRows, row: int, site: Site, dialect: Dialect, base: int, people: ControllerUsers) -> TraceJob:
    run, begin, cancel, submit = (rows.number(name, row) for name in ("run_time", "begin", "cancel", "submit"))
    request = {
        "name": rows.names[row] or str(rows.number("job_id", row)),
        "alloc_node": "localhost",
        "environment": ["WALLTIME=1"],
        "script": "#!/bin/sh\n",
        "work_dir": "/",
        **dict.fromkeys(("std_out", "std_err", "std_in"), "/dev/null"),
        "time_limit": max(1, -(-rows.number("requested_time", row) // MINUTE)),
        "user": people.number(rows.number("user", row)),
        "group": FIRST_USER,
        **_selection(site, dialect),
        "begin": (base + begin) // SECOND if begin > submit else 0,
        **_belonging(rows, row, site, dialect),
        **(_pooled(rows.number("cores", row)) if site.pool else _shape(rows, row, site)),
        **_resources(rows, row, site, dialect),
    }
    return TraceJob(
        row=row,
        label=rows.number("job_id", row),
        submit=base + submit,
        run=run if run >= 0 else None,
        request=request,
        cancel=base + cancel if cancel >= 0 else None,
        begin=base + begin if begin > submit else None,
        dependencies=rows.dependencies[row],
    )


def _selection(site: Site, dialect: Dialect) -> dict[str, int]:
    """The plug-in that a job was described for, where a release wants to know."""
    if "select_plugin" not in dialect.job_description.names:
        return {}
    return {"select_plugin": dialect.SELECT_LINEAR if site.linear else dialect.SELECT_CONS_TRES}


def _belonging(rows: JobRows, row: int, site: Site, dialect: Dialect) -> dict[str, Any]:
    """Where the job waits and who pays; what is not told is the site's default."""
    known = site.associations is not None
    queue = rows.label("queue", row) or site.queues.get("*")
    account = rows.label(site.charges, row) if known and site.charges else None
    account = None if account is None else site.accounts.get(account, account)
    qos = rows.label("qos", row) if known else None
    defaults = {
        dialect.DEFAULT_PARTITION: queue,
        dialect.DEFAULT_ACCOUNT: account,
        dialect.DEFAULT_QOS: qos,
        dialect.DEFAULT_KEY: None,
    }
    flags = sum(flag for flag, given in defaults.items() if given is None)
    reservation = site.reservations.get(rows.label("reservation", row) or "")
    return {"partition": queue, "account": account, "qos": qos, "flags": flags, "reservation": reservation}


def _pooled(cores: int) -> dict[str, int]:
    """So many of the nodes that are one core each."""
    return {"tasks": cores, "min_cpus": cores, "cpus_per_task": 1, "min_nodes": cores, "max_nodes": cores}


def _shape(rows: JobRows, row: int, site: Site) -> dict[str, int]:
    """A number of cores anywhere, or so many nodes with the cores divided evenly over them."""
    cores, nodes, each = (rows.number(name, row) for name in ("cores", "nodes", "cores_per_node"))
    if nodes <= 0 and each <= 0 and site.even:
        nodes = _count_nodes(rows, row, site)
    shape = {"tasks": cores, "min_cpus": cores, "cpus_per_task": 1, "min_nodes": 1}
    if nodes <= 0 and each > 0:
        nodes = -(-cores // each)
    if nodes > 0:
        shape |= {"min_nodes": nodes, "max_nodes": nodes, "tasks_per_node": -(-cores // nodes)}
    return shape


def _name_licences(text: str, site: Site) -> str:
    """What a job asks for, by the site's names: `ansys@server` is `ansys_server` in a log."""
    names = {name.replace("@", "_"): name for name in site.licences}
    parts = (part.partition(":") for part in text.split(","))
    return ",".join(f"{names.get(name, name)}{colon}{count}" for name, colon, count in parts)


def _resources(rows: JobRows, row: int, site: Site, dialect: Dialect) -> dict[str, Any]:
    """Memory, GPUs and the rest where the site has them; elsewhere they are not asked for, as the record says."""
    wanted: dict[str, Any] = {}
    if site.counts_memory:
        wanted |= _memory(rows, row, site, dialect)
    wanted |= _generic(rows, row, site)
    if (licences := rows.label("licences", row)) and site.licences:
        wanted["licenses"] = _name_licences(licences, site)
    if rows.label("constraint", row) and any(node.features for node in site.nodes):
        wanted["features"] = rows.label("constraint", row)
    if rows.number("exclusive", row) > 0:
        wanted["shared"] = 0
    return wanted


def _memory(rows: JobRows, row: int, site: Site, dialect: Dialect) -> dict[str, int]:
    """In megabytes, rounded up: on each node, or with each core."""
    total, node, core = (rows.number(name, row) for name in ("memory", "memory_per_node", "memory_per_core"))
    if node > 0:
        return {"memory": -(-node // MEGABYTE)}
    if core <= 0 < total:
        core = -(-total // rows.number("cores", row))
    if core <= 0:
        return {}
    if site.even and (site.linear or rows.number("exclusive", row) > 0):
        return _memory_of_own_nodes(rows, row, site, core)
    return {"memory": dialect.MEMORY_PER_CPU | -(-core // MEGABYTE)}


def _memory_of_own_nodes(rows: JobRows, row: int, site: Site, core: int) -> dict[str, int]:
    """So many bytes with each core that the job asks for, on each of its nodes: memory with each core the controller
    would count for all cores of a node that is the job's own, and a scenario does not."""
    cores, nodes, each = (rows.number(name, row) for name in ("cores", "nodes", "cores_per_node"))
    if nodes > 0 or each > 0:
        return {"memory": -(-(-(-cores // nodes) if nodes > 0 else each) * core // MEGABYTE)}
    most = max(min(node.cpus, node.memory * MEGABYTE // core) for node in site.nodes)
    if most == 0 or cores <= most:
        return {"memory": -(-cores * core // MEGABYTE)}
    return {"memory": -(-most * core // MEGABYTE), "tasks_per_node": most}


def _count_nodes(rows: JobRows, row: int, site: Site) -> int:
    """The fewest nodes over which a job with GPUs can be divided evenly, as in a scenario; 0 for any other job."""
    cores, gpus = rows.number("cores", row), rows.number("gpus", row)
    if gpus <= 0 or rows.number("gpus_per_node", row) > 0:
        return 0
    sizes = {(node.cpus, sum(one.count for one in node.gres if one.name == "gpu")) for node in site.nodes}
    for nodes in (count for count in range(1, gpus + 1) if gpus % count == 0):
        if any(has >= -(-cores // nodes) and cards >= gpus // nodes for has, cards in sizes):
            return nodes
    return 0


_SCOPES = {"node": "tres_per_node", "job": "tres_per_job", "core": "tres_per_task"}
"""What an amount of a generic resource is for; a task has one core."""


def _generic(rows: JobRows, row: int, site: Site) -> dict[str, str]:
    """GPUs and other generic resources: those that the nodes have, or all of them at a strict site."""
    asked = [_gpus(rows, row, site)] if site.counts_gpus else []
    for text in (rows.label("resources", row) or "").split(","):
        amount, _, per = text.partition("/")
        name, _, count = amount.partition(":")
        asked.append((per.strip() or "node", name.strip(), int(count) if count.strip().isdigit() else 1))
    wanted: dict[str, list[str]] = {}
    for per, name, number in asked:
        if name and number > 0 and (site.has(name) or site.strict):
            wanted.setdefault(_SCOPES.get(per, _SCOPES["node"]), []).append(f"gres:{name}:{number}")
    return {scope: ",".join(parts) for scope, parts in wanted.items()}


def _gpus(rows: JobRows, row: int, site: Site) -> tuple[str, str, int]:
    total, node, nodes = (rows.number(name, row) for name in ("gpus", "gpus_per_node", "nodes"))
    if nodes <= 0 and site.even:
        nodes = _count_nodes(rows, row, site)
    if node <= 0 and nodes > 0 and total % nodes == 0:
        node = total // nodes
    return ("node", "gpu", node) if node > 0 else ("job", "gpu", total)
