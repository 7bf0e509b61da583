from walltime.kernel.jobs cimport JobFields, JobTable

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define walltime_prefetch(row, line) __builtin_prefetch((const char *)(row) + 64 * (line), 1)
    #else
    #define walltime_prefetch(row, line)
    #endif
    """
    void walltime_prefetch(const void *row, int line) noexcept

# The cache line of this word, or the one so many lines behind it.
cdef inline void prefetch_line(const long long *at, int line) noexcept:
    walltime_prefetch(at, line)

# The lines of the row that a start and an end touch: with thousands of jobs in the system none is in the nearest cache.
cdef inline void prefetch(JobTable jobs, Py_ssize_t slot) noexcept:
    cdef JobFields *row = &jobs.at[slot]
    walltime_prefetch(row, 0)
    walltime_prefetch(row, 1)
    walltime_prefetch(row, 2)
