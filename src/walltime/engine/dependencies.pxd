from walltime.engine.sources cimport Planned, Releases
from walltime.kernel.jobs cimport COMPLETED, HELD, JobTable
from walltime.kernel.source cimport ELIGIBLE, ENTERED, LEFT, STARTED, Source

cdef class Dependencies(Planned):
    cdef Releases releases
    cdef bint stay
    cdef readonly long long doomed
    cdef readonly long long jobs
    cdef const long long[::1] expression
    cdef long long[::1] needed
    cdef long long[::1] spare
    cdef const long long[::1] any_of
    cdef const long long[::1] owner
    cdef long long[::1] pending
    cdef const long long[::1] kind
    cdef long long[::1] bad
    cdef const long long[::1] offset
    cdef const long long[::1] first
    cdef const long long[::1] listeners
    cdef const long long[::1] group
    cdef const long long[::1] single
    cdef const long long[::1] aware
    cdef long long[::1] ready
    cdef long long[::1] running
    cdef dict waiting
    cdef list members

    cpdef long long entered(self, Py_ssize_t slot, long long begin) except *
    cpdef bint admits(self, Py_ssize_t slot) except? -1
    cpdef started(self, Py_ssize_t slot)
    cpdef left(self, Py_ssize_t slot, int state)
    cdef int occur(self, Py_ssize_t c) except -1
    cdef int fail(self, Py_ssize_t c) except -1
    cdef int release(self, Py_ssize_t x) except -1
    cdef bint is_held(self, Py_ssize_t slot, long long stamp) noexcept
    cdef int doom(self, Py_ssize_t slot) except -1
    cdef int happen(self, Py_ssize_t slot, long long now) except -1
    cdef int settle(self, Py_ssize_t group) except -1

cdef class TaskLimits(Source):
    cdef Releases releases
    cdef const long long[::1] array
    cdef long long[::1] room
    cdef long long[::1] inside
    cdef list outside

    cpdef bint admits(self, Py_ssize_t slot) except? -1
    cpdef left(self, Py_ssize_t slot, int state)
