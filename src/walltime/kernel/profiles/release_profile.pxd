from libc.string cimport memmove

from walltime.kernel.arrays cimport count_below, words
from walltime.kernel.prefetch cimport prefetch_line
from walltime.kernel.profiles.free_profile cimport FreeProfile

# The words from `begin` up to `end` go one entry up; those from the next entry on up to `end` go one entry down.
cdef inline void move_up(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin + 2], &a[begin], 8 * (end - begin))

cdef inline void move_down(long long *a, Py_ssize_t begin, Py_ssize_t end) noexcept:
    memmove(&a[begin], &a[begin + 2], 8 * (end - begin - 2))

cdef enum:
    BLOCK = 32
    ENTRY = 2
    WORDS = 64

# All lines of a block, of which a search touches one after the other.
cdef inline void fetch_block(const long long *at) noexcept:
    cdef int line
    for line in range(8):
        prefetch_line(at, line)

cdef class ReleaseProfile:
    cdef long long[::1] steps
    cdef long long[::1] order
    cdef long long[::1] count
    cdef long long[::1] last
    cdef long long[::1] total
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef readonly Py_ssize_t blocks
    cdef readonly long long released
    cdef long long asked
    cpdef int insert(self, long long time, long long cores) except -1
    cpdef int remove(self, long long time, long long cores) except -1
    cpdef long long when(self, long long need) noexcept
    cpdef long long released_by(self, long long time) noexcept
    cpdef long long next_end(self, long long time) noexcept
    cdef int tell(self, FreeProfile free_profile) except -1
    cdef int grow(self) except -1
    cdef int split(self, Py_ssize_t p) except -1
    cdef int drop_block(self, Py_ssize_t p) noexcept
    cdef Py_ssize_t block_of(self, long long time) noexcept
