from libc.string cimport memmove

from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.free_profile cimport FreeProfile

# The numbers from `begin` up to `end` go one place up; those behind `begin` up to `end` go one place down.
cdef inline void move_up(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin + 1], &a[begin], 8 * (end - begin))

cdef inline void move_down(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin], &a[begin + 1], 8 * (end - begin))

cdef class RunningProfile:
    cdef long long[::1] time
    cdef long long[::1] seq
    cdef long long[::1] cores
    cdef long long[::1] order
    cdef long long[::1] count
    cdef long long[::1] last_time
    cdef long long[::1] last_seq
    cdef long long[::1] total
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef readonly Py_ssize_t blocks
    cdef readonly long long released
    cdef long long asked
    cpdef int insert(self, long long time, long long seq, long long cores) except -1
    cpdef int remove(self, long long time, long long seq) except -1
    cpdef long long when(self, long long need) noexcept
    cpdef long long released_by(self, long long time) noexcept
    cpdef long long next_end(self, long long time) noexcept
    cdef int tell(self, FreeProfile free_profile) except -1
    cdef int grow(self) except -1
    cdef int split(self, Py_ssize_t p) except -1
    cdef Py_ssize_t block_of(self, long long time, long long seq) noexcept
    cdef Py_ssize_t slot_of(self, Py_ssize_t p, long long time, long long seq) noexcept
