from walltime.kernel.source cimport INTERRUPTED, LEFT, STARTED, Source

cdef class Ending(Source):
    cdef object simulation
    cdef readonly dict fruitless
    cdef readonly long long exhausted
    cdef long long idle
    cdef long long active
    cdef public long long patience
    cdef long long passes
    cdef long long alone
    cdef long long staying
    cdef int watch(self, bint attended) except -1
    cdef bint worthwhile(self, long long time, list sources) except? -1
    cdef bint is_called_in_vain(self, long long time, bint alone) except? -1
    cpdef started(self, Py_ssize_t slot)
    cpdef interrupted(self, Py_ssize_t slot)
    cpdef left(self, Py_ssize_t slot, int state)
