from walltime.kernel.jobs cimport JobTable

cdef class Rows:
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t size
    cdef long long[::1] chunk
    cdef Py_ssize_t room
    cdef list full
    cdef Py_ssize_t next(self) except -1

cdef class Recorder:
    cdef readonly Rows jobs
    cdef readonly Rows allocations
    cdef int job(self, JobTable t, Py_ssize_t slot, long long end) except -1
    cdef int allocation(self, JobTable t, Py_ssize_t slot, long long end, int outcome) except -1
