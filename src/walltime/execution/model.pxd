from walltime.kernel.jobs cimport JobTable
from walltime.kernel.source cimport Source

cdef class Execution(Source):
    cdef public bint extends
    cdef readonly object spent_aside
    cpdef int taken(self, Py_ssize_t slot) except -1
    cpdef int ended(self, Py_ssize_t slot) except -1
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cpdef long long restore(self, Py_ssize_t slot) except? -1
