from walltime.kernel.jobs cimport RUNNING, WAITING, JobTable
from walltime.kernel.source cimport Source
from walltime.policy.api cimport Pass, Policy, Rhythm

cdef class WarmStart(Rhythm):
    cdef long long time
    cdef Rhythm inner  # None: a pass whenever something has happened
    cdef bint opened
    cpdef bint due(self, long long now, int causes) except? -1
    cpdef schedule(self, Pass p)
    cpdef long long next(self, long long now, int causes) except *

cdef class RunningPlacements(Source):
    # by time; ~row where it is suspended then
    cdef long long[::1] times
    cdef long long[::1] rows
    # (node, cores) of those that tell where they run, and which of these is a row's
    cdef list where
    cdef object codes
    cdef object workload
    cdef Py_ssize_t placed
    cdef object name(self, long long row)
    cdef int look_ahead(self) except -1
    cpdef fire(self, long long now)
    cdef int halt(self, long long row) except -1
    cdef Py_ssize_t find(self, long long row, int state) except? -1
