from libc.string cimport memmove

from walltime.kernel.arrays cimport words

# The numbers from `begin` up to `end` go one place up; those behind `begin` up to `end` go one place down.
cdef inline void move_up(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin + 1], &a[begin], 8 * (end - begin))

cdef inline void move_down(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin], &a[begin + 1], 8 * (end - begin))

cdef class RunningProfile:
    cdef long long[::1] time
    cdef long long[::1] seq
    cdef long long[::1] slot
    cdef long long[::1] order
    cdef long long[::1] count
    cdef long long[::1] last_time
    cdef long long[::1] last_seq
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef readonly Py_ssize_t blocks
    cpdef int insert(self, long long time, long long seq, long long slot) except -1
    cpdef int remove(self, long long time, long long seq) except -1
    cdef int grow(self) except -1
    cdef int split(self, Py_ssize_t p) except -1
    cdef Py_ssize_t block_of(self, long long time, long long seq) noexcept
    cdef Py_ssize_t slot_of(self, Py_ssize_t p, long long time, long long seq) noexcept
