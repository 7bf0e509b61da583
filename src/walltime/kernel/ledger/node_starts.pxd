from walltime.kernel.ledger.timelines cimport Timelines

cdef class Smallest:
    cdef readonly Py_ssize_t want
    cdef readonly Py_ssize_t count
    cdef double worst
    cdef double[::1] key
    cdef long long[::1] node
    cdef int clear(self, Py_ssize_t want) except -1
    cdef int put(self, double key, long long node) noexcept
    cdef bint behind(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int swap(self, Py_ssize_t a, Py_ssize_t b) noexcept

cdef class NodeStarts:
    cdef Timelines lines
    cdef Py_ssize_t n
    cdef Py_ssize_t most
    cdef Py_ssize_t kept
    cdef readonly long long computed
    cdef long long[::1] time
    cdef long long[::1] place
    cdef long long[::1] demand
    cdef long long[::1] read
    cdef long long[::1] asked
    cdef long long clock
    cdef long long[::1] log
    cdef long long mask
    cdef long long written
    cdef int changed(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t times(self, Py_ssize_t d) except -1
    cdef Py_ssize_t fresh(self, Py_ssize_t d) except -1
