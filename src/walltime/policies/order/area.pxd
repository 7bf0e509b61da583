from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Order, float_key

cdef class SmallestArea(Order):
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1

cdef class LargestArea(Order):
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
