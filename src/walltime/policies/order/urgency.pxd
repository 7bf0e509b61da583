from walltime.kernel.jobs cimport JobTable, require_jobs
from walltime.policy.api cimport Order, float_key

cdef class Urgency(Order):
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
    cdef double value(self, JobTable jobs, Py_ssize_t slot, long long wait) noexcept
