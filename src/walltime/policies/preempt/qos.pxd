from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.preempt cimport Preempt

cdef class ByQos(Preempt):
    cdef object codes
    cdef list of
    cpdef long long rank(self, JobTable jobs, Py_ssize_t slot) except? -1
