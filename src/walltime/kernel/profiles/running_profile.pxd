from walltime.kernel.profiles.sorted_rows cimport SortedRows

cdef struct RunningRow:
    long long time
    long long seq
    long long slot

cdef struct RunningHead:
    long long base
    long long count
    long long last_time
    long long last_seq

cdef class RunningProfile(SortedRows):
    cdef RunningRow[::1] rows
    cdef RunningHead[::1] heads
    cpdef int insert(self, long long time, long long seq, long long slot) except -1
    cpdef int remove(self, long long time, long long seq) except -1
    cdef int note_last(self, Py_ssize_t p) noexcept
    cdef Py_ssize_t block_of(self, long long time, long long seq) noexcept
    cdef Py_ssize_t row_of(self, Py_ssize_t p, long long time, long long seq) noexcept
