from walltime.kernel.jobs cimport JobFields, JobTable
from walltime.policy.api cimport Estimate, Order

cdef class WorkflowOrder(Order):
    cdef readonly Order order
    cdef readonly Estimate estimate
    cdef const long long[::1] of
    cdef const long long[:, ::1] table
    cdef long long[::1] queue
    cdef long long asked
    cdef long long[::1] stamp
    cdef long long[::1] known
    cpdef attach(self, object surroundings)
    cpdef set_time(self, long long now)
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
    cpdef long long renew(self, long long now) except *
    cpdef started(self, JobTable jobs, Py_ssize_t slot, long long now, long long cores)
    cpdef stopped(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict parts(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict history(self)
    cdef Py_ssize_t flow(self, JobTable jobs, Py_ssize_t slot) except? -1
    cdef int stand_in(self, JobTable jobs, Py_ssize_t slot, Py_ssize_t flow) except -1
