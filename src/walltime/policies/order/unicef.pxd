from libc.math cimport log2

from walltime.kernel.jobs cimport JobTable, require_jobs
from walltime.policy.api cimport Order, float_key

cdef class Unicef(Order):
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
