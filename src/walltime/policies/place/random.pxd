from walltime.core.random cimport advance, mix, wrap
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class Random(Place):
    cdef JobTable jobs
    cdef unsigned long long key
    cdef unsigned long long state
    cdef long long[::1] fitting
    cpdef int prepare(self, JobTable jobs, object sizes, bint whole, long long seed) except -1
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
    cdef Py_ssize_t collect(self, NodePool pool, long long least, Py_ssize_t slot) noexcept
    cdef Py_ssize_t draw(self, Py_ssize_t k, Py_ssize_t found) noexcept
