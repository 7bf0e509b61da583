from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.source cimport Engine, Source

cdef class Execution(Source):
    cdef public bint extends
    cdef readonly object spent_aside
    cdef object arrivals
    cdef list live_jobs
    cpdef attach(self, Engine engine)
    cpdef bint minds(self) except? -1
    cpdef int taken(self, Py_ssize_t slot) except -1
    cpdef int ended(self, Py_ssize_t slot) except -1
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cpdef long long restore(self, Py_ssize_t slot) except? -1
