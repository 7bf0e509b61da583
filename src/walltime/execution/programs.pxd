from libc.math cimport ceil

from walltime.execution.model cimport Execution
from walltime.kernel.jobs cimport COMPLETED, FAILED, TIMEOUT, JobTable, done_in, time_for
from walltime.kernel.source cimport LEFT
from walltime.programs.activities cimport Activities
from walltime.programs.platform cimport Platform
from walltime.programs.program cimport Program

cdef class Programs(Execution):
    cdef readonly double flops
    cdef readonly object speedup
    cdef readonly str on_error
    cdef readonly object profiles
    cdef readonly list platforms
    cdef readonly list errors
    cdef readonly long long failed
    cdef readonly list cut
    cdef readonly long long cut_off
    cdef object stopped
    cdef long long most
    cdef dict programs
    cdef list finished
    cdef list released
    cdef dict saved
    cdef public bint metering
    cdef list machines
    cpdef int taken(self, Py_ssize_t slot) except -1
    cpdef int ended(self, Py_ssize_t slot) except -1
    cpdef left(self, Py_ssize_t slot, int state)
    cpdef fire(self, long long now)
    cpdef int forget(self) except -1
    cpdef long long begin(self, Py_ssize_t slot) except? -1
    cpdef long long restore(self, Py_ssize_t slot) except? -1
    cpdef interrupt(self, Py_ssize_t slot, bint keep)
    cdef int catch_up(self, Platform platform, long long now) except -1
    cdef int look(self) except -1
    cdef int end(self, Program program) except -1
    cdef int shrink(self, Program program) except -1
