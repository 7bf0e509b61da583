cdef class SortedJobs:
    cdef long long[::1] number
    cdef long long[::1] slot
    cdef long long[::1] promise
    cdef long long[::1] key
    cdef long long[::1] seq
    cdef long long[::1] order
    cdef long long[::1] count
    cdef long long[::1] first_number
    cdef long long[::1] first_slot
    cdef long long[::1] latest
    cdef long long[::1] least_key
    cdef long long[::1] least_seq
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef Py_ssize_t blocks

    cdef int insert(self, long long number, long long slot, long long promise, long long key, long long seq) except -1
    cdef int remove(self, long long number, long long slot) except -1
    cdef int promise_again(self, long long number, long long slot, long long promise) noexcept
    cdef long long first(self) noexcept
    cdef long long last(self) noexcept
    cdef Py_ssize_t block_of(self, long long number, long long slot) noexcept
    cdef Py_ssize_t place_in(self, Py_ssize_t p, long long number, long long slot) noexcept
    cdef int copy(self, Py_ssize_t to, Py_ssize_t source) noexcept
    cdef int note_first(self, Py_ssize_t p) noexcept
    cdef int bound(self, Py_ssize_t p) noexcept
    cdef int open(self, Py_ssize_t p) except -1
    cdef int drop(self, Py_ssize_t p) noexcept
    cdef int rename(self, Py_ssize_t to, Py_ssize_t source) noexcept
    cdef int split(self, Py_ssize_t p) except -1
    cdef int merge(self, Py_ssize_t p) noexcept
    cdef int grow(self) except -1

cpdef bint before(long long a, long long b, long long c, long long d) noexcept
