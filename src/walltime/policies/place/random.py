"""Random: any nodes on which the job fits, drawn again for each job."""

from __future__ import annotations

import cython

from walltime.core.random import stream
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place

# A step between jobs; typed, because a literal of this size is a Python object.
STEP = cython.declare(cython.ulonglong, 0x632BE59BD9B4E019)

if not cython.compiled:
    from walltime.core.random import advance, mix, wrap


@cython.cclass
class Random(Place):
    """Nodes drawn without regard to how full they are.

    What a job draws depends on the seed and on its own number alone: not on how many were drawn for others before.
    """

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        self.jobs = jobs
        self.key = int(stream(seed, "place").integers(0, 1 << 62))
        self.fitting = integers(len(sizes))
        return 0

    def pick(self, pool: NodePool, nodes, least, slot):
        found: cython.Py_ssize_t = self.collect(pool, least, slot)
        k: cython.Py_ssize_t
        for k in range(min(nodes, found)):
            pool.put(self.draw(k, found), 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        found: cython.Py_ssize_t = self.collect(pool, 1, slot)
        k: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        got: cython.longlong
        while cores > 0 and k < found:
            i = self.draw(k, found)
            got = pool.value[i] if pool.value[i] < cores else cores
            pool.put(i, got)
            cores -= got
            k += 1
        return 0

    @cython.overflowcheck(False)  # wrapping on purpose, also in the checked build
    def collect(self, pool: NodePool, least, slot):
        """The nodes that may be drawn, and the job's own random stream."""
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        seq: cython.ulonglong = self.jobs.at[slot].seq
        for i in range(pool.size):
            if pool.value[i] >= least:
                self.fitting[found] = i
                found += 1
        self.state = wrap(self.key + seq * STEP)
        return found

    @cython.overflowcheck(False)
    def draw(self, k, found):
        """The k-th node of a random order: a step of a Fisher-Yates shuffle; SplitMix64 for the numbers."""
        j: cython.Py_ssize_t
        i: cython.longlong
        self.state = advance(self.state)
        j = k + cython.cast(cython.Py_ssize_t, (mix(self.state) >> 11) % (found - k))
        i = self.fitting[j]
        self.fitting[j] = self.fitting[k]
        self.fitting[k] = i
        return i
