from libc.math cimport INFINITY, exp2

from walltime.kernel.queue.sorting cimport sort_by
from walltime.kernel.usage cimport Usage, blunt
from walltime.policy.api cimport float_key

cdef class ShareTree:
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t leaves
    cdef readonly long long[::1] parent
    cdef readonly long long[::1] charged
    cdef double[::1] given
    cdef readonly double[::1] share
    cdef double[::1] part
    cdef double[::1] own
    cdef long long read_at
    cdef long long[::1] leaf_of
    cdef double[::1] used
    cdef readonly double[::1] use
    cdef readonly double[::1] effective
    cdef readonly double[::1] level
    cdef readonly double[::1] standing
    cdef double[::1] factors
    cdef bint factored
    cdef long long[::1] first
    cdef long long[::1] child
    cdef long long[::1] line
    cdef long long[::1] key
    cdef long long[::1] tie
    cdef Py_ssize_t known
    cdef long long rank
    cdef long long next_rank

    cpdef Py_ssize_t add(self, Py_ssize_t parent, double shares, Py_ssize_t charged) except -1
    cpdef int calculate(self, Usage usage, long long time, int formula, double dampening) except -1
    cdef int normalise(self) except -1
    cdef double factor_of(self, Py_ssize_t node) noexcept
    cdef int read(self, Usage usage, long long time) except -1
    cdef int sum_use(self) noexcept
    cdef int by_target(self) noexcept
    cdef double ratio(self, double use, double share) noexcept
    cdef int by_effective_use(self, double dampening) noexcept
    cdef int by_rank(self) except -1
    cdef Py_ssize_t list_children(self, Py_ssize_t node, Py_ssize_t end) noexcept
    cdef int visit(self, Py_ssize_t begin, Py_ssize_t end, bint tied) except -1
    cdef int arrange(self, Py_ssize_t begin, Py_ssize_t end) except -1
