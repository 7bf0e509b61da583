from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.node_pool cimport NodePool

cdef class Contiguous(Place):
    cdef long long[::1] falling
    cdef long long when(self, long long[::1] times, long long nodes) except? -1
    cpdef bint suits(self, NodePool pool, long long nodes, long long least) except? -1
    cpdef int pick(self, NodePool pool, long long nodes, long long least, Py_ssize_t slot) except -1
    cpdef int spread(self, NodePool pool, long long cores, Py_ssize_t slot) except -1
    cdef int pick_by(self, NodePool pool, long long nodes, long long[::1] times, long long time) except -1
    cdef int widest(self, NodePool pool, long long[::1] most) except -1
    cdef Py_ssize_t stretch(self, NodePool pool, long long cores) noexcept
