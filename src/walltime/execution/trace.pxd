from walltime.execution.model cimport Execution
from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport COMPLETED, JobTable, done_in, time_for

cdef class TraceExecution(Execution):
    cdef EventHeap ends
    cpdef fire(self, long long now)
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
