"""Plain Python functions as parts: an order that scores arrays, an estimate of one job."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import LATEST, SECOND
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Broker, Estimate, Job, Order, float_key
from walltime.policy.clusters import ClusterView
from walltime.policy.preempt import Preempt
from walltime.policy.surroundings import Surroundings

Array = np.ndarray[Any, Any]
_LAST = np.int64((1 << 63) - 1)


class Waiting:
    """All waiting jobs, as arrays of equal length in no particular order; valid during the call.

    Times are in seconds. A job without a deadline has an infinite one; `nodes` is not a number (nan) where the job
    asks for cores alone. What a job will really run for is not here: no scheduler knows it.
    """

    def __init__(self, jobs: JobTable, slots: Any, now: int) -> None:
        self._jobs = jobs
        self.slot: Array = np.array(slots, np.int64)  # the queue's own array is not handed out
        self.now = now / SECOND

    def __len__(self) -> int:
        return len(self.slot)

    @cached_property
    def wait(self) -> Array:
        """Seconds since the job became eligible."""
        return self.now - self.eligible

    @cached_property
    def submit(self) -> Array:
        return self._seconds("submit")

    @cached_property
    def eligible(self) -> Array:
        return self._seconds("eligible")

    @cached_property
    def requested_time(self) -> Array:
        return self._seconds("requested")

    @cached_property
    def estimate(self) -> Array:
        return self._seconds("estimate")

    @cached_property
    def deadline(self) -> Array:
        values = self._column("deadline")
        return np.where(values < 0, math.inf, values / SECOND)

    @cached_property
    def cores(self) -> Array:
        return self._column("cores")

    @cached_property
    def nodes(self) -> Array:
        values = self._column("nodes")
        return np.where(values < 0, math.nan, values)

    @cached_property
    def priority(self) -> Array:
        return self._column("priority")

    @cached_property
    def user(self) -> Array:
        """The user's code, -1 for none."""
        return self._column("user")

    @cached_property
    def job_id(self) -> Array:
        return self._column("job_id")

    def _column(self, name: str) -> Array:
        column: Array = getattr(self._jobs, name)
        return column[self.slot]

    def _seconds(self, name: str) -> Array:
        return self._column(name) / SECOND


def float_keys(values: Array) -> Array:
    """`walltime.policy.api.float_key` of a whole array."""
    bits = np.asarray(values + 0.0, np.float64).view(np.int64)
    return np.where(np.isnan(values), _LAST, np.where(bits >= 0, bits, bits ^ _LAST))


class FunctionOrder(Order):
    """A function from Waiting to an array of scores as an order: lower first, evaluated at each pass.

    Ties are broken by order of entry; a job with no number (nan) for a score is last.
    """

    def __init__(self, function: Callable[[Waiting], Any]) -> None:
        super().__init__()
        self.dynamic = True
        self.function = function

    def keys(self, jobs: JobTable, slots: Any, now: int, keys: Any) -> int:
        try:
            scores = np.asarray(self.function(Waiting(jobs, slots, now)), np.float64)
        except (TypeError, ValueError) as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # inside the function: its own traceback says more
            raise PolicyError(f"{_name(self.function)}: the scores are not an array of numbers ({error})") from error
        if scores.shape != (len(slots),):
            raise PolicyError(
                f"{_name(self.function)}: {len(slots)} jobs wait, but the scores have the shape {scores.shape}"
            )
        np.asarray(keys)[:] = float_keys(scores)
        return 0


class FunctionEstimate(Estimate):
    """A function from a Job to seconds as an estimate; asked once, when the job joins the queue."""

    def __init__(self, function: Callable[[Job], float]) -> None:
        super().__init__()
        self.function = function

    def estimate(self, jobs: JobTable, slot: int) -> int:
        job = Job(jobs, slot, int(jobs.eligible[slot]))
        seconds = self.function(job)
        if not isinstance(seconds, int | float | np.number) or not 0 <= seconds * SECOND <= LATEST:
            raise PolicyError(
                f"{_name(self.function)}: estimates job {job.job_id} at {seconds!r}, "
                "which is not a number of seconds from 0"
            )
        return round(float(seconds) * SECOND)


class CheckedOrder(Order):
    """An order written in Python, with what it returns looked at: a key is a whole number, or a float by its size."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order
        self.dynamic = bool(order.dynamic)
        self.periodic = bool(order.periodic)
        self.charges = bool(order.charges)
        self.joint = bool(order.joint)

    def attach(self, surroundings: Any) -> object:
        return self.order.attach(surroundings)

    def set_time(self, now: int) -> object:
        return self.order.set_time(now)

    def key(self, jobs: JobTable, slot: int) -> int:
        key = self.order.key(jobs, slot)
        if isinstance(key, float | np.floating) and key == key:
            return float_key(key)
        if isinstance(key, int | np.integer) and abs(int(key)) <= _LAST:
            return int(key)
        job = int(jobs.job_id[slot])
        raise PolicyError(f"{type(self.order).__qualname__}: the key of job {job} is {key!r}, not a number of 64 bits")

    def keys(self, jobs: JobTable, slots: Any, now: int, keys: Any) -> object:
        made = np.zeros(len(keys), np.int64)  # the queue's own arrays are not handed out
        wanted = made.shape
        told = self.order.keys(jobs, np.array(slots, np.int64), now, made)
        if made.shape != wanted or made.dtype != np.int64:
            raise PolicyError(f"{type(self.order).__qualname__}: keys has made another array of the keys")
        np.asarray(keys)[:] = made
        return told

    def renew(self, now: int) -> int:
        return self.order.renew(now)

    def started(self, jobs: JobTable, slot: int, now: int, cores: int) -> object:
        return self.order.started(jobs, slot, now, cores)

    def stopped(self, jobs: JobTable, slot: int, now: int) -> object:
        return self.order.stopped(jobs, slot, now)

    def parts(self, jobs: JobTable, slot: int, now: int) -> dict[str, float]:
        return self.order.parts(jobs, slot, now)

    def history(self) -> dict[str, dict[str, list[tuple[int, float]]]]:
        return self.order.history()


class CheckedEstimate(Estimate):
    """An estimate written in Python, with what it returns looked at: microseconds, not negative."""

    def __init__(self, part: Estimate) -> None:
        super().__init__()
        self.part = part
        self.oracle = bool(part.oracle)
        self.learns = bool(part.learns)

    def estimate(self, jobs: JobTable, slot: int) -> int:
        value = self.part.estimate(jobs, slot)
        if not isinstance(value, int | float | np.number) or not 0 <= value <= LATEST:
            name, job = type(self.part).__qualname__, int(jobs.job_id[slot])
            raise PolicyError(f"{name}: estimates job {job} at {value!r}, which is not a number of microseconds from 0")
        return round(float(value))

    def ended(self, jobs: JobTable, slot: int, run: int) -> object:
        return self.part.ended(jobs, slot, run)


class CheckedPreempt(Preempt):
    """A preempt part written in Python, with what it returns looked at: whole numbers of 64 bits."""

    def __init__(self, part: Preempt) -> None:
        super().__init__(part.mode, part.grace / SECOND, part.victims, part.ranks)
        self.part = part

    def attach(self, around: Surroundings) -> None:
        self.part.attach(around)

    def rank(self, jobs: JobTable, slot: int) -> int:
        return self._ask("rank", self.part.rank, jobs, slot)

    def cost(self, jobs: JobTable, slot: int) -> int:
        return self._ask("cost", self.part.cost, jobs, slot)

    def _ask(self, what: str, hook: Callable[[JobTable, int], Any], jobs: JobTable, slot: int) -> int:
        value = hook(jobs, slot)
        if isinstance(value, int | np.integer) and abs(int(value)) <= _LAST:
            return int(value)
        name = type(self.part).__qualname__
        raise PolicyError(f"{name}: the {what} of job {int(jobs.job_id[slot])} is {value!r}, not a number of 64 bits")


class FunctionBroker(Broker):
    """A function from a Job and the clusters that may take it to one of them, its name, or None: not yet."""

    def __init__(self, function: Callable[[Job, list[OwnCluster]], Any]) -> None:
        super().__init__()
        self.function = function
        self.jobs: JobTable
        self.shown: dict[int, OwnCluster] = {}

    def prepare(self, jobs: JobTable, clusters: list[ClusterView], seed: int) -> int:
        self.jobs = jobs
        return 0

    def route(self, slot: int, clusters: list[ClusterView]) -> int:
        shown = show_clusters(self.shown, slot, clusters)
        job = Job(self.jobs, slot, clusters[0].ledger.now)
        chosen = self.function(job, list(shown))
        if chosen is None:
            return -1
        for cluster in shown:
            if chosen is cluster or (isinstance(chosen, str) and chosen == cluster.name):
                return int(cluster.index)
        names = ", ".join(cluster.name for cluster in clusters)
        raise PolicyError(
            f"{_name(self.function)}: sends job {job.job_id} to {chosen!r}, which is neither None nor one of "
            f"those that may take it now ({names})"
        )


class CheckedBroker(Broker):
    """A broker written in Python, with what it returns looked at: a whole number."""

    def __init__(self, broker: Broker) -> None:
        super().__init__()
        self.broker = broker
        self.shown: dict[int, OwnCluster] = {}

    def prepare(self, jobs: JobTable, clusters: list[ClusterView], seed: int) -> object:
        if not _is_written(self.broker, "prepare"):
            return self.broker.prepare(jobs, clusters, seed)  # ours, which want the clusters themselves
        return self.broker.prepare(jobs, show_clusters(self.shown, -1, clusters), seed)

    def route(self, slot: int, clusters: list[ClusterView]) -> int:
        number = self.broker.route(slot, show_clusters(self.shown, slot, clusters))
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            name = type(self.broker).__qualname__
            raise PolicyError(f"{name}: route returned {number!r}, not the index of a cluster or -1")
        return int(number)


class OwnCluster:
    """A cluster as a broker in Python sees it: what there is to read, and two questions about the job in hand."""

    __slots__ = ("_cluster", "_slot")

    def __init__(self, cluster: ClusterView, slot: int) -> None:
        self._cluster = cluster
        self._slot = slot

    def __repr__(self) -> str:
        return repr(self._cluster)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnCluster) and self._cluster is other._cluster

    def __hash__(self) -> int:
        return hash(self._cluster.name)

    @property
    def name(self) -> str:
        """As in the scenario."""
        return self._cluster.name

    @property
    def index(self) -> int:
        """What `Broker.route` returns to choose it."""
        return self._cluster.index

    @property
    def cores(self) -> int:
        """Cores that work at present."""
        return self._cluster.cores

    @property
    def free(self) -> int:
        """Cores free now."""
        return self._cluster.free

    @property
    def load(self) -> float:
        """Cores that are in use or asked for by waiting jobs, over all cores."""
        return self._cluster.load

    @property
    def waiting(self) -> int:
        """How many jobs wait in its own queue."""
        return self._cluster.waiting

    @property
    def waiting_cores(self) -> int:
        """What these ask for together."""
        return self._cluster.waiting_cores

    @property
    def speed(self) -> float:
        """The mean over its cores."""
        return self._cluster.speed

    @property
    def attributes(self) -> dict[str, float]:
        """Those of the scenario, by name."""
        return dict(self._cluster.attributes)

    @property
    def ledger(self) -> SimpleNamespace:
        """`now`, `size`, `capacity` and `free` of its resources."""
        ledger = self._cluster.ledger
        told = ("now", "size", "capacity", "free")
        return SimpleNamespace(**{key: int(getattr(ledger, key)) for key in told})

    def demand(self) -> int:
        """Cores in use and asked for."""
        return self._cluster.demand()

    def predict(self, slot: int) -> int:
        """When the job would start here, in microseconds; NEVER where it would not."""
        return self._cluster.predict(self._check(slot))

    def could_start(self, slot: int) -> bool:
        """Whether the job would start at once."""
        return self._cluster.could_start(self._check(slot))

    def shown(self, slot: int) -> ClusterView:
        """The cluster itself, for the built-in broker that a broker in Python asks about the same job."""
        self._check(slot)
        return self._cluster

    def _check(self, slot: Any) -> int:
        if isinstance(slot, bool) or not isinstance(slot, int | np.integer) or int(slot) != self._slot or slot < 0:
            raise PolicyError(f"a broker asks about the job that it is asked about, not about {slot!r}")
        return int(slot)


def show_clusters(shown: dict[int, OwnCluster], slot: int, clusters: list[ClusterView]) -> list[OwnCluster]:
    """The clusters as a broker in Python sees them, each made once."""
    found = []
    for cluster in clusters:
        index = cluster.index
        own = shown.get(index)
        if own is None or own._cluster is not cluster:
            own = shown[index] = OwnCluster(cluster, slot)
        own._slot = slot
        found.append(own)
    return found


def _is_written(part: Any, hook: str) -> bool:
    """Whether a hook is written in Python."""
    return inspect.isfunction(getattr(type(part), hook, None))


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)
