cdef class NodeLists:
    cdef long long[::1] first
    cdef long long[::1] length
    cdef long long[::1] room
    cdef long long[::1] at
    cdef Py_ssize_t end
    cdef long long[::1] spare
    cdef int append(self, Py_ssize_t i, long long task) except -1
    cdef int grow(self, Py_ssize_t i) except -1
