from walltime.kernel.profiles.sorted_rows cimport SortedRows

cdef struct StepRow:
    long long time
    long long free

cdef struct StepHead:
    long long base
    long long count
    long long bias
    long long low
    long long high
    long long first

cdef class Availability(SortedRows):
    cdef StepRow[::1] rows
    cdef StepHead[::1] heads
    cdef Py_ssize_t p
    cdef Py_ssize_t k
    # how far the walk outwards from a step has come, and the last piece that was found
    cdef Py_ssize_t left_p
    cdef Py_ssize_t left_k
    cdef Py_ssize_t right_p
    cdef Py_ssize_t right_k
    cdef Py_ssize_t piece_p
    cdef Py_ssize_t piece_k
    cdef readonly long long piece_start
    cdef readonly long long piece_end

    cdef int clear(self, long long capacity) except -1
    cpdef int copy(self, Availability other) except -1
    cpdef double area(self, long long start, long long end) noexcept
    cpdef int add(self, long long start, long long end, long long cores) except -1
    cpdef int forget(self, long long now) except -1
    cpdef long long at(self, long long time) noexcept
    cpdef long long earliest(self, long long cores, long long duration, long long after, long long limit) noexcept
    cdef int stand(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef long long left(self, long long cores, long long floor) noexcept
    cdef long long right(self, long long cores) noexcept
    cdef int seek_pieces(self, long long start) noexcept
    cdef bint next_piece(self, long long cores, long long until) noexcept
    cdef long long step_end(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef int seek(self, long long time) noexcept
    cdef int cut(self, long long time) except -1
    cdef int shift(self, Py_ssize_t p, Py_ssize_t k, Py_ssize_t q, Py_ssize_t i, long long cores) noexcept
    cdef int join(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef int drop(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef int bound(self, Py_ssize_t p) noexcept
