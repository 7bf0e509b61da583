cdef class Agenda:
    cdef readonly long long next
    cdef readonly Py_ssize_t first
    cdef long long[::1] time
    cdef long long[::1] tree
    cdef Py_ssize_t leaves
    cdef int set(self, Py_ssize_t number, long long time) noexcept
