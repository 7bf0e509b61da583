cdef class Bounds:
    cdef readonly long long most_free
    cdef readonly long long most_extra
    cdef readonly long long most_window
    cdef readonly Py_ssize_t parts
    cdef readonly long long[::1] part_free  # cores that jobs of the part may have together, by part
    cdef readonly long long[::1] part_extra  # the same for one that outlasts the start of the only hold
    cpdef int focus(self, Py_ssize_t node_set, bint local) except -1
    cpdef Py_ssize_t part_of(self, Py_ssize_t slot) except -1
    cpdef int focus_parts(self, Py_ssize_t node_set) except -1
