from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class Topology(Place):
    cdef long long[::1] switch
    cdef long long[::1] has
    cdef Py_ssize_t switches
    cdef int count(self, NodePool pool, long long least, bint cores) except -1
    cdef Py_ssize_t next(self, long long want) noexcept
    cpdef int prepare(self, JobTable jobs, object sizes, bint whole, long long seed) except -1
    cpdef int connect(self, object switches) except -1
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
