from walltime.kernel.jobs cimport JobTable, require_job, require_jobs
from walltime.policies.fairshare.share cimport FairShare
from walltime.policies.order.job_size cimport JobSize
from walltime.policy.api cimport Order

cdef class Multifactor(Order):
    cdef readonly dict weights
    cdef readonly FairShare share
    cdef readonly object static
    cdef object accruals
    cdef JobSize size
    cdef double size_weight
    cdef dict terms  # by labels, where nothing else but the size counts of what stays as it is
    cdef JobSize sized
    cdef readonly long long interval
    cdef readonly long long max_age
    cdef readonly bint accrue_always
    cdef double age_weight
    cdef double share_weight
    cdef long long time
    cdef long long renewals
    cdef long long[::1] leaf
    cdef long long[::1] since
    cdef double[::1] base
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
    cdef double sum_up(self, JobTable jobs, Py_ssize_t slot) except? -1
    cdef long long priority(self, Py_ssize_t slot) noexcept
    cdef long long begin(self, JobTable jobs, Py_ssize_t slot) except? -1

cdef double find_age(long long age, long long most) noexcept
