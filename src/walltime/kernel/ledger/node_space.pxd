cdef extern from *:
    int __builtin_popcountll(unsigned long long x) noexcept nogil

cdef class NodeSpace:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t words
    cdef readonly Py_ssize_t count
    cdef long long close
    cdef long long[::1] begin
    cdef long long[::1] row
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef long long[::1] bits

    cdef int clear(self, long long begin, long long close) except -1
    cdef long long end(self, Py_ssize_t k) noexcept
    cdef Py_ssize_t find(self, long long time) noexcept
    cdef long long span(
        self, long long[::1] nodes, long long start, long long end, long long[::1] out, Py_ssize_t least
    ) except *
    cdef bint lets_in(self, Py_ssize_t k, long long[::1] nodes, long long[::1] out) noexcept
    cdef bint overlaps(self, long long[::1] nodes, long long start, long long end) noexcept
    cdef int reserve(self, long long[::1] nodes, long long start, long long end) except -1
    cdef Py_ssize_t cut(self, long long time) except -1
    cdef int grow(self) except -1

cpdef object no_nodes(Py_ssize_t n)
cpdef int put_node(long long[::1] nodes, Py_ssize_t i) noexcept
cpdef bint has_node(long long[::1] nodes, Py_ssize_t i) noexcept
cpdef Py_ssize_t count_nodes(long long[::1] nodes) noexcept
