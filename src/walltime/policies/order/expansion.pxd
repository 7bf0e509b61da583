from walltime.kernel.jobs cimport JobTable, require_jobs
from walltime.policy.api cimport Order, float_key

cdef class Expansion(Order):
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
