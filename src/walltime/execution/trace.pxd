from walltime.execution.model cimport Execution
from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport COMPLETED, JobTable

cdef class TraceExecution(Execution):
    cdef EventHeap ends
    cpdef int fire(self, long long now) except -1
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef int interrupt(self, Py_ssize_t slot, bint keep) except -1
