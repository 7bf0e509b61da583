from libc.string cimport memmove

from walltime.kernel.arrays cimport words

# So many words go so many places up; below zero, down.
cdef inline void move_words(long long *a, Py_ssize_t count, Py_ssize_t places) noexcept:
    memmove(a + places, a, 8 * count)

cdef class SortedRows:
    cdef Py_ssize_t width
    cdef Py_ssize_t head_width
    cdef Py_ssize_t size
    cdef readonly Py_ssize_t blocks
    cdef Py_ssize_t end
    cdef Py_ssize_t spare
    cdef long long[::1] row_words
    cdef long long[::1] head_words

    cdef int begin(self) noexcept
    cdef int be(self, SortedRows other) except -1
    cdef int see(self) except -1
    cdef bint empty(self) noexcept
    cdef int open_row(self, Py_ssize_t p, Py_ssize_t i) noexcept
    cdef int close_row(self, Py_ssize_t p, Py_ssize_t i) noexcept
    cdef int split(self, Py_ssize_t p) except -1
    cdef int drop_block(self, Py_ssize_t p) noexcept
