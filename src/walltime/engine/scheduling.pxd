from walltime.engine.cluster cimport Cluster
from walltime.kernel.jobs cimport JobTable

cdef class Scheduling:
    cdef readonly list clusters
    cdef readonly JobTable jobs
    cdef readonly list rejected
    cdef Cluster only
    cpdef int attach(self, JobTable jobs, list clusters) except -1
    cdef object refuse(self, Py_ssize_t slot)
    cdef int wait(self, Py_ssize_t slot, long long now) except -1
    cdef int forget(self, Py_ssize_t slot, long long now) except -1
    cdef list decide(self, long long now)
    cdef bint restless(self) noexcept

cdef class Alone(Scheduling):
    cpdef int attach(self, JobTable jobs, list clusters) except -1
