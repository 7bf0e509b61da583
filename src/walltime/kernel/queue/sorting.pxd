cpdef int sort_by(long long[::1] keys, long long[::1] ties, long long[::1] items, Py_ssize_t n) except -1

cdef class Sorter:
    cdef long long[::1] keys
    cdef long long[::1] ties
    cdef long long[::1] items
    cdef readonly bint turned
    cdef readonly long long moves
    cdef long long[::1] free_keys
    cdef long long[::1] free_ties
    cdef long long[::1] free_items
    cdef long long[::1] runs
    cdef long long[::1] buckets
    cdef Sorter stretches

    cdef int make_room(self, Py_ssize_t n) except -1
    cdef bint sort(self, Py_ssize_t n) except -1
    cdef Py_ssize_t find_runs(self, Py_ssize_t n, bint same) noexcept
    cdef int move_stretches(self, Py_ssize_t count) except -1
    cdef bint deal(self, Py_ssize_t n, Py_ssize_t count) except -1
    cdef int deal_digit(self, Py_ssize_t n, long long low, int shift) noexcept
    cdef bint near(self, Py_ssize_t count) noexcept
    cdef bint shift(self, Py_ssize_t n) noexcept
    cdef bint merge_alike(self, Py_ssize_t n) noexcept
    cdef Py_ssize_t count_alike(self, Py_ssize_t count) noexcept
    cdef Py_ssize_t merge_pairs(self, Py_ssize_t count, bint alike) noexcept
    cdef int turn(self) noexcept

cdef int merge(
    long long[::1] keys,
    long long[::1] ties,
    long long[::1] items,
    long long[::1] new_keys,
    long long[::1] new_ties,
    long long[::1] new_items,
    Py_ssize_t begin,
    Py_ssize_t middle,
    Py_ssize_t end,
) noexcept
cdef Py_ssize_t copy(
    long long[::1] keys,
    long long[::1] ties,
    long long[::1] items,
    long long[::1] new_keys,
    long long[::1] new_ties,
    long long[::1] new_items,
    Py_ssize_t begin,
    Py_ssize_t end,
    Py_ssize_t to,
) noexcept
