from walltime.kernel.jobs cimport JobTable
from walltime.kernel.source cimport Source

cdef class Execution(Source):
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cpdef long long restore(self, Py_ssize_t slot) except? -1
