from walltime.kernel.jobs cimport JobTable, require_job

cdef class JobSize:
    cdef double cores
    cdef double nodes
    cdef bint favor_small
    cdef bint relative
    cpdef double of(self, JobTable jobs, Py_ssize_t slot) except? -1
