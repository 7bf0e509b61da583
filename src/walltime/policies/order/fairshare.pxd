from walltime.kernel.jobs cimport JobTable, require_job, require_jobs
from walltime.policies.fairshare.share cimport FairShare, require_share
from walltime.policy.api cimport Order, float_key

cdef class FairShareOrder(Order):
    cdef readonly FairShare share
    cdef long long[::1] leaf
    cdef long long[::1] of_leaf
    cdef long long made
    cdef long long now
    cpdef attach(self, object surroundings)
    cpdef set_time(self, long long now)
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
    cpdef long long renew(self, long long now) except *
    cpdef started(self, JobTable jobs, Py_ssize_t slot, long long now, long long cores)
    cpdef stopped(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict parts(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict history(self)
