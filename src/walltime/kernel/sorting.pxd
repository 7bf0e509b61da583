from walltime.kernel.jobs cimport JobTable

cpdef int sort_slots(JobTable jobs, long long[::1] slots, long long[::1] keys, Py_ssize_t n) except -1
cpdef int sort_by(long long[::1] keys, long long[::1] ties, long long[::1] items, Py_ssize_t n) except -1
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
