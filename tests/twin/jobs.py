"""The jobs of the slow twin, as plain Python objects, and the tree of accounts that they are charged to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.workload import COLUMNS, MISSING, Workload
from walltime.scenario import Cluster

if TYPE_CHECKING:
    from twin.courses import Course
    from twin.parts import Order
    from twin.site import Site

Shares = list[tuple[int, int]]
"""(node, cores), in order of the nodes."""

COLUMNS_READ = (
    "job_id",
    "submit",
    "cores",
    "requested_time",
    "run_time",
    "begin",
    "cancel",
    "priority",
    "deadline",
    "nodes",
    "cores_per_node",
    "memory",
    "memory_per_node",
    "memory_per_core",
    "gpus",
    "gpus_per_node",
    "resources",
    "licences",
    "constraint",
    "exclusive",
    "parts",
    "user",
    "group",
    "account",
    "queue",
    "qos",
    "reservation",
    "array",
    "profile",
)


@dataclass(eq=False)
class Job:
    """What the workload says of a job, None where it says nothing, and what has become of it."""

    row: int
    job_id: int
    submit: int
    cores: int
    requested_time: int | None
    run_time: int | None
    begin: int | None
    cancel: int | None
    priority: int
    deadline: int | None
    nodes: int | None
    cores_per_node: int | None
    memory: int | None
    memory_per_node: int | None
    memory_per_core: int | None
    gpus: int | None
    gpus_per_node: int | None
    resources: str | None
    licences: str | None
    constraint: str | None
    exclusive: int | None
    parts: str | None
    user: str | None
    group: str | None
    account: str | None
    queue: str | None
    qos: str | None
    reservation: str | None
    array: str | None
    profile: str | None
    told: dict[str, Any] = field(default_factory=dict)  # what it said itself of what its cluster has changed
    turn: int = 0  # in the order of entry
    site: Site | None = None  # the cluster that it was sent to
    requested: int = 0  # as the scheduler sees it: with the time that checkpoints take
    estimate: int = 0  # how long it is believed to run, from its next start
    queues: list[str | None] = field(default_factory=list)  # those in which it may start, as they are tried
    runs_in: str | None = None  # the queue in which it started
    tier: int = 0
    order: Order = None  # type: ignore[assignment]  # its cluster's
    rank: Any = None
    domain: int = 0
    state: str = "future"
    reason: str | None = None
    queued: int | None = None
    back: int | None = None  # since when it waits again
    accrued: int | None = None  # since when it grows older, where a limit says how many may
    start: int | None = None  # the first start
    end: int | None = None
    own_end: int | None = None
    kill_at: int | None = None
    expected_end: int = 0
    corrections: int = 0
    backfilled: bool = False
    shares: Shares = field(default_factory=list)
    taken: dict[int, dict[str, int]] = field(default_factory=dict)  # by node, where the ledger counts more than cores
    course: Course = None  # type: ignore[assignment]  # as a cluster has it: attempts, what is done and what is lost
    rank_to_preempt: int = 0
    leave_at: int | None = None  # it was told to leave by then,
    planned_end: int = 0  # and would have ended then as far as was known
    rest: int | None = None  # suspended: for how long it would have run on as far as was known

    @property
    def eligible(self) -> int:
        return self.submit if self.queued is None else self.queued

    @property
    def wanted(self) -> int:
        """For how long it is believed to run on, counted from its next start."""
        return self.estimate if self.rest is None else self.rest

    @property
    def limit(self) -> int:
        """For how long it may still run, counted from its next start."""
        return self.course.wanted if self.rest is None else self.rest

    @property
    def length(self) -> int:
        """For how long a reservation keeps its place: even of no length it needs one for a moment."""
        return max(self.wanted, 1)

    def amounts(self) -> Iterator[tuple[str, int, str]]:
        """What it asks for by name, as (resource, amount, per): `scratch:100` is per node, or `/core`, or `/job`."""
        for text in (self.resources or "").split(","):
            if text.strip():
                amount, _, per = text.partition("/")
                name, _, number = amount.partition(":")
                if per.strip() not in ("", "node", "core", "job"):
                    raise InputError(f"job {self.job_id}: unknown unit of a resource", value=text)
                yield name.strip(), self.count(number), per.strip() or "node"

    def count(self, text: str) -> int:
        """The number behind a colon, 1 where there is none."""
        if text.strip() and not text.strip().isdigit():
            raise InputError(f"job {self.job_id}: not a whole number", value=text)
        return int(text.strip() or 1)

    def wanted_licences(self) -> dict[str, int]:
        """`matlab:2,ansys` by name, for the whole job."""
        wanted: dict[str, int] = {}
        for text in (self.licences or "").split(","):
            if text.strip():
                name, _, number = text.strip().partition(":")
                wanted[name.strip()] = wanted.get(name.strip(), 0) + self.count(number)
        return wanted


def read_jobs(workload: Workload, until: int | None = None) -> list[Job]:
    """Every row that is submitted by `until`."""
    columns = [_read_column(workload, name) for name in COLUMNS_READ]
    jobs = [Job(row, *values) for row, values in enumerate(zip(*columns, strict=True))]
    for job in jobs:
        job.turn = job.row
    return [job for job in jobs if until is None or job.submit <= until]


def _read_column(workload: Workload, name: str) -> list[Any]:
    """Plain Python values, None for those that are missing."""
    values = workload.column(name).tolist()
    if COLUMNS[name].kind == "label":
        labels = workload.label_names(name)
        return [None if value == MISSING else labels[value] for value in values]
    return values if name == "priority" else [None if value == MISSING else value for value in values]


class Accounts:
    """Who is above whom. An account that the scenario does not list stands alone."""

    def __init__(self, cluster: Cluster) -> None:
        self.parents = {name: account.parent for name, account in cluster.accounts.items()}
        self.users = {
            user: name for name, account in reversed(cluster.accounts.items()) for user in account.users or ()
        }

    def charged(self, job: Job) -> str | None:
        return self.users.get(job.user or "") if job.account is None else job.account

    def above(self, account: str | None) -> list[str]:
        """The account itself and all above it."""
        chain: list[str] = []
        while account is not None:
            if account in chain:
                raise InputError("the account is above itself", value=account)
            chain.append(account)
            account = self.parents.get(account)
        return chain


def write_shares(shares: Shares) -> str | None:
    """`0-3:24,7:5`: ranges of consecutive nodes with equal cores."""
    ranges: list[tuple[int, int, int]] = []
    for node, cores in shares:
        if ranges and ranges[-1][1] == node - 1 and ranges[-1][2] == cores:
            ranges[-1] = (ranges[-1][0], node, cores)
        else:
            ranges.append((node, node, cores))
    return ",".join(f"{a}:{c}" if a == b else f"{a}-{b}:{c}" for a, b, c in ranges) or None
