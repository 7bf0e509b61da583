from libc.math cimport log2

from walltime.kernel.jobs cimport JobTable
from walltime.policies.order.urgency cimport Urgency

cdef class Unicef(Urgency):
    cdef double value(self, JobTable jobs, Py_ssize_t slot, long long wait) noexcept
