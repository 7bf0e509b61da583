from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef extern from *:
    int __builtin_ctzll(unsigned long long x) noexcept nogil

cdef int mark(long long[::1] marked, Py_ssize_t first, Py_ssize_t last) noexcept

cdef class Consecutive(Place):
    cdef long long[::1] first
    cdef long long[::1] last
    cdef long long[::1] room
    cdef Py_ssize_t runs
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
    cdef int pick_marked(self, long long nodes, long long[::1] marked) except -1
    cdef int take(self, NodePool pool, long long nodes) except -1
    cdef int clear_runs(self, Py_ssize_t nodes) except -1
    cdef int find_runs(self, NodePool pool, long long least, bint nodes) except -1
    cdef Py_ssize_t best(self, long long want) noexcept
    cdef Py_ssize_t single(self, NodePool pool, Py_ssize_t r, long long cores) noexcept
