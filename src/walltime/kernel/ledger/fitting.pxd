from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool, __builtin_ctzll
from walltime.kernel.ledger.recalling cimport Recalling
from walltime.kernel.profiles.node_space cimport has_node, no_nodes, put_node

cdef class Fitting(Recalling):
    cdef readonly bint restricted
    cdef long long[::1] usable
    cdef Py_ssize_t placed  # the shape of the part that is given its nodes, or -1
    cdef int restrict(self, long long[::1] nodes) except -1
    cdef int confine(self, object nodes) except -1
    cdef int lift(self) except -1
    cdef bint may_use(self, Py_ssize_t slot, Py_ssize_t i) noexcept
    cdef int leave_out(self, Py_ssize_t x, NodePool pool) except -1
    cdef bint fits_request(self, Py_ssize_t slot, Py_ssize_t x, long long length) except? -1
    cdef bint fits_among(self, Py_ssize_t slot) except? -1
    cdef int narrow_by_holds(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except -1
    cdef bint fits_there(self, Py_ssize_t slot) except? -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cdef bint has_cores(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long cores, long long end) except? -1
    cdef bint fits_named(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_nodes(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_parts(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_simply(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cpdef int focus_parts(self, Py_ssize_t node_set) except -1
    cdef bint holds_once(self) noexcept
    cdef int narrow_beside(self, Py_ssize_t s, NodePool pool) except -1
    cdef bint fits_beside(self, Py_ssize_t x, NodePool pool) except? -1
    cdef long long barred_in(self, Py_ssize_t s) except? -1
    cdef bint fits_fully(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef int narrow(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except -1
    cdef bint find_clear(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
