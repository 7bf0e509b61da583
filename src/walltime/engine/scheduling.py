"""Where jobs go that enter the system: to the only cluster, or to a global scheduler over several (`dispatch`)."""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError
from walltime.engine.cluster import Cluster
from walltime.kernel.jobs import JobTable


@cython.cclass
class Scheduling:
    """What the loop asks about jobs that have no cluster yet, and which clusters have something to decide."""

    def __init__(self) -> None:
        self.clusters = []
        self.jobs = None
        self.only = None  # the cluster, where nothing is decided before its passes: all jobs go there
        self.rejected = []  # jobs that no cluster takes any more, with the reason, after `decide`

    def attach(self, jobs: JobTable, clusters):
        """Called once, before the run, when all clusters are there."""
        self.jobs = jobs
        self.clusters = clusters
        return 0

    def refuse(self, slot):
        """Why the job can never run, in words; None where it can: then it is one of the system's."""
        raise NotImplementedError(f"{type(self).__name__}.refuse")

    def wait(self, slot, now):
        """The job begins to wait."""
        raise NotImplementedError(f"{type(self).__name__}.wait")

    def forget(self, slot, now):
        """The waiting job leaves."""
        return cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster]).forget(slot, now)

    def decide(self, now):
        """Send jobs to clusters; those in which something has changed, in their order."""
        return self.clusters

    def restless(self):
        """Whether there is more to decide once the passes of this instant are over."""
        return False


@cython.final
@cython.cclass
class Alone(Scheduling):
    """One cluster, and no global scheduler."""

    def attach(self, jobs: JobTable, clusters):
        if len(clusters) != 1:
            raise EngineError(f"{len(clusters)} clusters without a global scheduler")
        self.only = clusters[0]
        return Scheduling.attach(self, jobs, clusters)
