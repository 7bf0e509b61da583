cdef class Shares:
    cdef long long[::1] first
    cdef long long[::1] length
    cdef long long[::1] at
    cdef long long[::1] ranges
    cdef Py_ssize_t end
    cdef long long[::1] spare
    cdef int allot(self, Py_ssize_t slot, Py_ssize_t nodes) except -1
    cdef int allot_one(self, Py_ssize_t slot, long long share) except -1
    cdef int release(self, Py_ssize_t slot) noexcept
    cdef long long remove(self, Py_ssize_t slot, Py_ssize_t node) noexcept
    cdef Py_ssize_t first_of(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t last_of(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t describe(self, Py_ssize_t slot) except -1
