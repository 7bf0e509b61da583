from walltime.kernel.arrays cimport count_below
from walltime.kernel.prefetch cimport prefetch_line
from walltime.kernel.profiles.free_profile cimport FreeProfile
from walltime.kernel.profiles.sorted_rows cimport SortedRows

cdef enum:
    BLOCK = 32
    ROW = 2
    HEAD = 4

cdef struct ReleaseRow:
    long long time
    long long cores

cdef struct ReleaseHead:
    long long base
    long long count
    long long last
    long long total

# All lines of a block, of which a search touches one after the other.
cdef inline void fetch_block(const long long *at) noexcept:
    cdef int line
    for line in range(8):
        prefetch_line(at, line)

cdef class ReleaseProfile(SortedRows):
    cdef ReleaseRow[::1] rows
    cdef ReleaseHead[::1] heads
    cdef readonly long long released
    cdef long long asked
    cpdef int insert(self, long long time, long long cores) except -1
    cpdef int remove(self, long long time, long long cores) except -1
    cpdef long long when(self, long long need) noexcept
    cpdef long long released_by(self, long long time) noexcept
    cpdef long long next_end(self, long long time) noexcept
    cdef int tell(self, FreeProfile free_profile) except -1
    cdef Py_ssize_t block_of(self, long long time) noexcept
    cdef Py_ssize_t row_of(self, Py_ssize_t p, long long time) noexcept
    cdef int sum_up(self, Py_ssize_t p) noexcept
