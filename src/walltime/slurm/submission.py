"""From the rows of a workload to what a user would have asked the controller for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.slurm.dialect import Dialect
from walltime.slurm.site import Site

FIRST_USER = 20_000
"""Numbers of the simulated users begin here, out of the way of this machine's."""
MEGABYTE = 1 << 20
MINUTE = 60 * SECOND


@dataclass
class Attempt:
    """One time that a job held nodes; `end` is None while it does. `cpus` are those on each node."""

    start: int
    nodes: list[str]
    cpus: tuple[int, ...]
    end: int | None = None
    outcome: str = "running"
    stopped: int = 0
    """Microseconds for which it was suspended."""


@dataclass
class Job:
    """A job of the trace: when it comes, how long it would run (None: until its limit), and what became of it."""

    row: int
    label: int
    submit: int
    run: int | None
    request: dict[str, Any]
    cancel: int | None = None
    begin: int | None = None
    dependencies: str = ""
    number: int | None = None
    state: str = "future"
    reason: str = ""
    submitted: int | None = None
    end: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    backfilled: bool = False


class People:
    """The users of a workload as the controller knows them: names and numbers."""

    def __init__(self, names: list[str]) -> None:
        self.names = [re.sub(r"[^\w.@-]", "_", name) or "nobody" for name in names]
        self.names = [f"u{name}" if name[0].isdigit() else name for name in self.names]

    def number(self, code: int) -> int:
        """The user's number; the trace's unknown user is one of them."""
        return FIRST_USER + (code if code >= 0 else len(self.names))

    def lines(self) -> str:
        """The users as lines of the people file."""
        known = [f"{name}:{self.number(code)}:{FIRST_USER}" for code, name in enumerate(self.names)]
        return "".join(f"{line}\n" for line in [*known, f"unknown:{self.number(-1)}:{FIRST_USER}"])


def make_jobs(workload: Workload, site: Site, dialect: Dialect, base: int) -> list[Job]:
    """All jobs, in order of submission; `base` is the trace's zero in microseconds since 1970."""
    columns = {name: workload.column(name) for name in _COLUMNS}
    labels = {name: workload.label_names(name) for name in ("user", "account", "queue", "qos")}
    people = People(labels["user"])
    return [_make_job(row, columns, labels, people, site, dialect, base) for row in range(len(workload))]


_COLUMNS = (
    *("job_id", "submit", "run_time", "requested_time", "cores", "nodes", "cores_per_node", "memory", "gpus"),
    *("user", "account", "queue", "qos", "dependencies", "begin", "cancel", "name"),
)


def _make_job(
    row: int,
    columns: dict[str, Any],
    labels: dict[str, list[str]],
    people: People,
    site: Site,
    dialect: Dialect,
    base: int,
) -> Job:
    def value(name: str) -> int:
        return int(columns[name][row])

    def label(name: str) -> str | None:
        return labels[name][value(name)] if value(name) >= 0 else None

    run, begin, cancel, submit = value("run_time"), value("begin"), value("cancel"), value("submit")
    queue = label("queue") if label("queue") in site.partitions else None
    account, qos = (label("account"), label("qos")) if site.associations is not None else (None, None)
    defaults = (dialect.DEFAULT_ACCOUNT * (account is None)) | (dialect.DEFAULT_QOS * (qos is None))
    request: dict[str, Any] = {
        "name": columns["name"][row] or str(value("job_id")),
        "alloc_node": "localhost",
        "environment": ["WALLTIME=1"],
        "script": "#!/bin/sh\n",
        "work_dir": "/",
        "std_out": "/dev/null",
        "std_err": "/dev/null",
        "std_in": "/dev/null",
        "time_limit": max(1, -(-value("requested_time") // MINUTE)),
        "user": people.number(value("user")),
        "group": FIRST_USER,
        "select_plugin": dialect.SELECT_LINEAR if site.linear else dialect.SELECT_CONS_TRES,
        "partition": queue,
        "account": account,
        "qos": qos,
        "flags": defaults | dialect.DEFAULT_KEY | (dialect.DEFAULT_PARTITION * (queue is None)),
        "begin": (base + begin) // SECOND if begin > submit else 0,
        **_shape(value("cores"), value("nodes"), value("cores_per_node")),
        **_resources(value("memory"), value("gpus"), value("cores"), value("nodes"), site, dialect),
    }
    return Job(
        row=row,
        label=value("job_id"),
        submit=base + submit,
        run=run if run >= 0 else None,
        request=request,
        cancel=base + cancel if cancel >= 0 else None,
        begin=base + begin if begin > submit else None,
        dependencies=columns["dependencies"][row],
    )


def _shape(cores: int, nodes: int, each: int) -> dict[str, int]:
    """A number of cores anywhere, or so many nodes with the cores divided evenly over them."""
    shape = {"tasks": cores, "min_cpus": cores, "cpus_per_task": 1, "min_nodes": 1}
    if nodes <= 0 and each > 0:
        nodes = -(-cores // each)
    if nodes > 0:
        shape |= {"min_nodes": nodes, "max_nodes": nodes, "tasks_per_node": -(-cores // nodes)}
    return shape


def _resources(memory: int, gpus: int, cores: int, nodes: int, site: Site, dialect: Dialect) -> dict[str, Any]:
    """Memory and GPUs where the site's nodes have them; elsewhere they are not asked for, as the record says."""
    wanted: dict[str, Any] = {}
    if memory > 0 and any(node.memory > 1 for node in site.nodes):
        wanted["memory"] = dialect.MEMORY_PER_CPU | -(-memory // (cores * MEGABYTE))
    if gpus > 0 and any(node.gres for node in site.nodes):
        if nodes > 0 and gpus % nodes == 0:
            wanted["tres_per_node"] = f"gres:gpu:{gpus // nodes}"
        else:
            wanted["tres_per_job"] = f"gres:gpu:{gpus}"
    return wanted
