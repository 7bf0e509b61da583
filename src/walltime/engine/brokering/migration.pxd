from walltime.engine.cluster cimport Changes, Cluster
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.source cimport Source

cdef class Migration(Source):
    cdef long long every
    cdef long long gain
    cdef long long most
    cdef Py_ssize_t depth
    cdef readonly long long moves
    cdef dict moved
    cdef bint due
    cdef list clusters
    cdef Changes changes
    cdef dict options
    cpdef fire(self, long long now)
    cdef int look(self, list opened, long long now) except -1
    cdef int look_through(self, Cluster cluster, long long now) except -1
    cdef int consider(self, Cluster cluster, Py_ssize_t slot, long long now) except -1
