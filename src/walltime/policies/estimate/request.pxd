from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Estimate

cdef class RequestedTime(Estimate):
    cpdef long long estimate(self, JobTable jobs, Py_ssize_t slot) except? -1
