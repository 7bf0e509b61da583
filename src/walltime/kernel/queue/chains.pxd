from walltime.kernel.jobs cimport JobTable

cdef class Chains:
    cdef JobTable jobs
    cdef readonly Py_ssize_t count
    cdef long long[::1] first
    cdef long long[::1] last
    cdef long long[::1] cores
    cdef long long[::1] before
    cdef long long[::1] after
    cdef long long[::1] of
    cpdef Py_ssize_t add(self) except -1
    cpdef Py_ssize_t chain(self, Py_ssize_t slot) noexcept
    cpdef int join(self, Py_ssize_t chain, Py_ssize_t slot, long long now) except -1
    cpdef int leave(self, Py_ssize_t slot) noexcept
