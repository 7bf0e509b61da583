from walltime.kernel.jobs cimport JobTable

cdef class Assignments:
    cdef readonly list reasons
    cdef readonly list names
    cdef long long[:, ::1] kinds
    cdef dict known
    cdef int[::1] rows
    cdef dict live
    cdef Py_ssize_t kind_of(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef long long refuses(self, JobTable jobs, Py_ssize_t slot) except *
    cdef int describe(self, JobTable jobs, Py_ssize_t slot) except -1
