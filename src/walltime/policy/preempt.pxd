from walltime.kernel.jobs cimport JobTable, require_job

cdef class Preempt:
    cdef readonly str mode
    cdef readonly str victims
    cdef readonly long long grace
    cdef readonly dict ranks
    cdef dict __dict__
    cpdef long long rank(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef long long cost(self, JobTable jobs, Py_ssize_t slot) except? -1
