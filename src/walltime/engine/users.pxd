from walltime.engine.arrivals cimport Arrivals
from walltime.engine.loop cimport Simulation
from walltime.kernel.closed_loop cimport ClosedLoop
from walltime.kernel.jobs cimport COMPLETED, JobTable
from walltime.kernel.source cimport LEFT, STARTED, Engine

cdef class Users(Arrivals):
    cdef ClosedLoop closed
    cdef object plan
    cdef long long[::1] came
    cdef readonly object reactions
    cdef readonly list changed
    cpdef attach(self, Engine engine)
    cpdef fire(self, long long now)
    cpdef started(self, Py_ssize_t slot)
    cpdef left(self, Py_ssize_t slot, int state)
    cdef int consider(self, Py_ssize_t row, long long now) except -1
    cdef Py_ssize_t find_row(self, Py_ssize_t slot) except -1
