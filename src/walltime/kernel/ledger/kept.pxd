cdef class KeptSteps:
    cdef Py_ssize_t kinds
    cdef Py_ssize_t width
    cdef long long[::1] base
    cdef long long[::1] count
    cdef long long[::1] room
    cdef long long[::1] steps
    cdef Py_ssize_t end
    cdef long long[::1] spare

    cdef int add(self, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) except -1
    cdef int remove(self, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef Py_ssize_t find(self, Py_ssize_t i, long long time) noexcept
    cdef int add_first(self, Py_ssize_t p, Py_ssize_t i, long long start, long long end, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef int cut(self, Py_ssize_t i, long long time) except -1
    cdef int change(self, Py_ssize_t p, Py_ssize_t last, long long sign, long long[::1] amounts, Py_ssize_t at) noexcept
    cdef int leave(self, Py_ssize_t i, Py_ssize_t p) noexcept
    cdef int widen(self, Py_ssize_t i) except -1
