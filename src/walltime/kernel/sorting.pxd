from walltime.kernel.jobs cimport JobTable

cpdef int sort_slots(JobTable jobs, long long[::1] slots, long long[::1] keys, Py_ssize_t n) except -1
