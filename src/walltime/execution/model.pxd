from walltime.kernel.source cimport Source

cdef class Execution(Source):
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
