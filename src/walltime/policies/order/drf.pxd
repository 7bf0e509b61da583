from walltime.kernel.jobs cimport JobTable, require_job, require_jobs
from walltime.policy.api cimport Order, float_key

cdef class DominantShare(Order):
    cdef tuple names
    cdef Py_ssize_t kinds
    cdef dict ledgers  # as in Surroundings
    cdef tuple licences
    cdef dict wanted  # by cluster and shape: what jobs of this shape ask for of what has a name of its own
    cdef double[::1] total
    cdef long long[::1] held
    cdef long long[::1] grows
    cdef long long[::1] taken
    cdef Py_ssize_t users
    cdef bint made
    cpdef attach(self, object surroundings)
    cdef list named(self, JobTable jobs, Py_ssize_t slot)
    cdef int require_made(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef Py_ssize_t place_of(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef int add(self, JobTable jobs, Py_ssize_t slot, long long cores, long long sign) except -1
    cdef double share_at(self, long long[::1] amounts, Py_ssize_t at) noexcept
    cpdef double share(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
    cpdef started(self, JobTable jobs, Py_ssize_t slot, long long now, long long cores)
    cpdef stopped(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict parts(self, JobTable jobs, Py_ssize_t slot, long long now)
