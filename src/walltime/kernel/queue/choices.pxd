from walltime.kernel.jobs cimport JobTable

cdef class Choices:
    cdef readonly Py_ssize_t size
    cdef long long[::1] first
    cdef long long[::1] queue
    cdef long long[::1] shape
    cdef long long[::1] rules
    cdef long long[::1] gpus
    cdef long long[::1] memory
    cdef long long[::1] counted
    cdef Py_ssize_t entries
    cdef dict known
    cdef bint differ(self, Py_ssize_t choice) noexcept
    cdef int put(self, JobTable jobs, Py_ssize_t slot, Py_ssize_t k) noexcept
    cdef Py_ssize_t entry_of(self, JobTable jobs, Py_ssize_t slot) noexcept
