from walltime.kernel.profiles.sorted_rows cimport SortedRows

cdef struct SortedRow:
    long long number
    long long slot
    long long promise
    long long key
    long long seq

cdef struct SortedHead:
    long long base
    long long count
    long long first_number
    long long first_slot
    long long latest
    long long least_key
    long long least_seq

cdef class SortedJobs(SortedRows):
    cdef SortedRow[::1] rows
    cdef SortedHead[::1] heads

    cdef int insert(self, long long number, long long slot, long long promise, long long key, long long seq) except -1
    cdef int remove(self, long long number, long long slot) except -1
    cdef int promise_again(self, long long number, long long slot, long long promise) noexcept
    cdef long long first(self) noexcept
    cdef long long last(self) noexcept
    cdef Py_ssize_t block_of(self, long long number, long long slot) noexcept
    cdef Py_ssize_t place_in(self, Py_ssize_t p, long long number, long long slot) noexcept
    cdef int note_first(self, Py_ssize_t p) noexcept
    cdef int bound(self, Py_ssize_t p) noexcept
    cdef int merge(self, Py_ssize_t p) noexcept

cpdef bint before(long long a, long long b, long long c, long long d) noexcept
