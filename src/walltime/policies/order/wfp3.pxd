from walltime.kernel.jobs cimport JobTable
from walltime.policies.order.urgency cimport Urgency

cdef class Wfp3(Urgency):
    cdef double value(self, JobTable jobs, Py_ssize_t slot, long long wait) noexcept
