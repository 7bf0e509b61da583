"""Plain Python functions as parts: an order that scores arrays, an estimate of one job."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import LATEST, SECOND
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Broker, Estimate, Job, Order, float_key
from walltime.policy.clusters import ClusterView

Array = np.ndarray[Any, Any]
_LAST = np.int64((1 << 63) - 1)


class Waiting:
    """Everybody who waits, as arrays of equal length in no particular order; valid during the call.

    Times are in seconds. A job without a deadline has an infinite one; `nodes` is not a number (nan) where the job
    asks for cores alone. What a job will really run for is not here: no scheduler knows it.
    """

    def __init__(self, jobs: JobTable, slots: Any, now: int) -> None:
        self._jobs = jobs
        self.slot: Array = np.asarray(slots)
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

    Ties are broken by order of entry; who has no number (nan) for a score is last.
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
        return self.order.keys(jobs, slots, now, keys)

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


class FunctionBroker(Broker):
    """A function from a Job and the clusters that may take it to one of them, its name, or None: not yet."""

    def __init__(self, function: Callable[[Job, list[ClusterView]], Any]) -> None:
        super().__init__()
        self.function = function
        self.jobs: JobTable

    def prepare(self, jobs: JobTable, clusters: list[ClusterView], seed: int) -> int:
        self.jobs = jobs
        return 0

    def route(self, slot: int, clusters: list[ClusterView]) -> int:
        job = Job(self.jobs, slot, clusters[0].ledger.now)
        chosen = self.function(job, list(clusters))
        if chosen is None:
            return -1
        for cluster in clusters:
            if chosen is cluster or chosen == cluster.name:
                return cluster.index
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

    def prepare(self, jobs: JobTable, clusters: list[ClusterView], seed: int) -> object:
        return self.broker.prepare(jobs, clusters, seed)

    def route(self, slot: int, clusters: list[ClusterView]) -> int:
        number = self.broker.route(slot, clusters)
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            name = type(self.broker).__qualname__
            raise PolicyError(f"{name}: route returned {number!r}, not the index of a cluster or -1")
        return int(number)


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)
