from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.node_space cimport count_common
from walltime.kernel.profiles.node_starts cimport NodeStarts

cdef class Soonest:
    cdef NodeStarts starts
    cdef Py_ssize_t n
    cdef Py_ssize_t words
    cdef Py_ssize_t step
    cdef Py_ssize_t blocks
    cdef long long[::1] demand
    cdef long long[::1] version
    cdef long long[::1] node
    cdef long long[::1] time
    cdef long long[::1] bits
    cdef readonly long long ready
    cdef readonly Py_ssize_t earlier

    cdef Py_ssize_t row(self, Py_ssize_t d) except -1
    cdef int renew(self, Py_ssize_t row, Py_ssize_t d, Py_ssize_t at) except -1
    cdef int sort(self, Py_ssize_t row, Py_ssize_t at) except -1
    cdef int sum_up(self, Py_ssize_t row) noexcept
    cdef Py_ssize_t before(self, Py_ssize_t row, long long time) noexcept
    cdef Py_ssize_t count(self, Py_ssize_t row, long long[::1] nodes, Py_ssize_t many) noexcept
    cdef bint reaches(self, Py_ssize_t row, long long[::1] nodes, long long time, Py_ssize_t want) noexcept
    cdef long long find(self, Py_ssize_t row, long long[::1] nodes, Py_ssize_t want) noexcept
    cdef int mark(self, Py_ssize_t row, long long[::1] nodes, long long time, long long[::1] out) noexcept
