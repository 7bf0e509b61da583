from walltime.core.random cimport as_uniform, scatter
from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Broker
from walltime.policy.clusters cimport cluster_at

cdef class Random(Broker):
    cdef bint by_cores
    cdef JobTable jobs
    cdef unsigned long long key
    cpdef prepare(self, JobTable jobs, list clusters, long long seed)
    cpdef int route(self, Py_ssize_t slot, list clusters) except? -1
    cdef double draw(self, unsigned long long number) noexcept
