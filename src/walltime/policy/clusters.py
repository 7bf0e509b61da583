"""A cluster as a broker sees it: what is free, which jobs wait, what it is like, and when it could start a job."""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.kernel.ledger.interface import Ledger


@cython.cclass
class ClusterView:
    """One of the clusters that a job may be sent to.

    `index` is the number that `Broker.route` returns, `ledger` the cluster's resources, `waiting` how many jobs wait
    in its own queue and `waiting_cores` what they ask for together; `speed` is the mean over its cores, 1 where nothing
    else is said; `attributes` are those of the scenario, by name.
    """

    def __init__(self, name, index, ledger: Ledger) -> None:
        self.name = name
        self.index = index
        self.ledger = ledger
        self.waiting = 0
        self.waiting_cores = 0
        self.speed = 1.0
        self.attributes = {}

    def __repr__(self) -> str:
        return f"<cluster {self.name}: {self.free} of {self.cores} cores free, {self.waiting} jobs wait>"

    @property
    def cores(self) -> int:
        """Cores that work at present."""
        if self.ledger is None:
            return 0
        return self.ledger.capacity

    @property
    def free(self) -> int:
        """Cores free now."""
        if self.ledger is None:
            return 0
        return self.ledger.free

    @property
    def load(self) -> float:
        """Cores that are in use or asked for by waiting jobs, over all cores; infinite where none works."""
        cores: cython.longlong = self.cores
        return cython.cast(cython.double, self.demand()) / cores if cores > 0 else float("inf")

    def demand(self):
        """Cores in use and asked for."""
        if self.ledger is None:
            raise PolicyError("a load is that of a cluster")
        return self.ledger.capacity - self.ledger.free + self.waiting_cores

    def predict(self, slot):
        """When the job would start here, in microseconds, as far as the estimates tell; NEVER where it would not.

        Every job that waits before it is planned first, in the cluster's own order, each as early as the cluster's
        backfilling lets it; limits are not foreseen.
        """
        raise NotImplementedError(f"{type(self).__name__}.predict")

    def could_start(self, slot):
        """Whether the job would start at once: no job waits before it, the limits admit it, and it fits."""
        raise NotImplementedError(f"{type(self).__name__}.could_start")


def less_loaded(a: ClusterView, b: ClusterView):
    """Whether `a` has the lower load; exact, without a division."""
    if a is None or b is None or a.ledger is None or b.ledger is None:
        raise PolicyError("a load is that of a cluster")
    if a.ledger.capacity <= 0:
        return False
    if b.ledger.capacity <= 0:
        return True
    return a.demand() * b.ledger.capacity < b.demand() * a.ledger.capacity


def cluster_at(clusters, i, slot):
    """The i-th of the clusters that a broker has got for the job, which may be those of a broker in Python."""
    found = clusters[i] if clusters is not None and 0 <= i < len(clusters) else None
    if isinstance(found, ClusterView):
        return found
    shown = getattr(found, "shown", None)
    if shown is None:
        raise PolicyError(f"a broker chooses among clusters, not {found!r}")
    return shown(slot)
