from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Estimate

cdef class LastTwo(Estimate):
    cdef long long[::1] last
    cdef long long[::1] previous
    cpdef long long estimate(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef ended(self, JobTable jobs, Py_ssize_t slot, long long run)
