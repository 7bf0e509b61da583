"""Random: any of the clusters, drawn again for each job."""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.random import key_of
from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Broker
from walltime.policy.clusters import cluster_at

if not cython.compiled:
    from walltime.core.random import as_uniform, scatter


@cython.cclass
class Random(Broker):
    """Each cluster with the same chance; with `by: cores`, in proportion to its cores.

    What a job draws depends on the seed and on its own number alone, as `walltime.core.random.uniforms` does: two
    configurations with one seed see the same draws.
    """

    def __init__(self, by="cluster") -> None:
        if by not in ("cluster", "cores"):
            raise InputError("by", value=by, choices=("cluster", "cores"))
        self.by_cores = by == "cores"
        self.jobs = None
        self.key = 0

    def prepare(self, jobs: JobTable, clusters, seed):
        self.jobs = jobs
        self.key = key_of(seed, "broker")
        return 0

    def route(self, slot, clusters):
        require_job(self.jobs, slot)
        draw: cython.double = self.draw(self.jobs.at[slot].seq)
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(clusters)
        total: cython.longlong = 0
        mark: cython.longlong
        if not self.by_cores:
            return cluster_at(clusters, cython.cast(cython.Py_ssize_t, draw * n), slot).index
        for i in range(n):
            total += cluster_at(clusters, i, slot).ledger.size
        mark = cython.cast(cython.longlong, draw * total)
        i = 0
        while mark >= cluster_at(clusters, i, slot).ledger.size:
            mark -= cluster_at(clusters, i, slot).ledger.size
            i += 1
        return cluster_at(clusters, i, slot).index

    @cython.overflowcheck(False)  # wrapping on purpose, also in the checked build
    def draw(self, number):
        """A number from 0 to below 1 that belongs to the job."""
        return as_uniform(scatter(number + self.key))
