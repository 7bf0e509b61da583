from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class RoundRobin(Place):
    cdef Py_ssize_t following
    cdef bint whole
    cdef long long[::1] got
    cpdef int prepare(self, JobTable jobs, object sizes, bint whole, long long seed) except -1
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
    cdef Py_ssize_t position(self) noexcept
    cdef int go_back(self, Py_ssize_t position) noexcept
