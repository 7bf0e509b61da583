cdef class Blocks:
    cdef Py_ssize_t width
    cdef long long[::1] base
    cdef long long[::1] count
    cdef long long[::1] room
    cdef long long[::1] rows
    cdef Py_ssize_t end
    cdef long long[::1] spare

    cdef int widen(self, Py_ssize_t i) except -1
