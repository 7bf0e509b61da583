from walltime.kernel.jobs cimport JobTable, require_job
from walltime.policy.api cimport Order

cdef class Fcfs(Order):
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1

cdef class Submission(Order):
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
