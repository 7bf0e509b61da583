from walltime.engine.arrivals cimport Arrivals
from walltime.engine.loop cimport Simulation
from walltime.kernel.closed_loop cimport ClosedLoop
from walltime.kernel.source cimport LEFT, Engine

cdef class Users(Arrivals):
    cdef ClosedLoop closed
    cdef long long[::1] came
    cpdef attach(self, Engine engine)
    cpdef fire(self, long long now)
    cpdef left(self, Py_ssize_t slot, int state)
