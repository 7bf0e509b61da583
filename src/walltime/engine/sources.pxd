from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport COMPLETED, HELD, TIMEOUT, JobTable
from walltime.kernel.source cimport ENTERED, MOVED, OUTLIVES, Engine, Source

cdef class Planned(Source):
    cdef EventHeap due
    cpdef fire(self, long long now)
    cdef int plan(self, Py_ssize_t slot, long long time) except -1
    cpdef int forget(self) except -1
    cdef bint is_meant(self, Py_ssize_t slot) noexcept
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Notices(Planned):
    cdef dict times
    cdef dict homes
    cdef int plan(self, Py_ssize_t slot, long long time) except -1
    cdef long long leave_time(self, Py_ssize_t slot) except *
    cdef int happen(self, Py_ssize_t slot, long long now) except -1
    cpdef moved(self, Py_ssize_t slot, int before, int after)

cdef class TimeLimits(Planned):
    cdef readonly Notices notices
    cpdef outlives(self, Py_ssize_t slot)
    cdef int correct(self, Py_ssize_t slot) except -1
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Cancellations(Planned):
    cdef long long told
    cdef int tell(self, long long time) except -1
    cpdef long long entered(self, Py_ssize_t slot, long long begin) except *
    cdef bint is_meant(self, Py_ssize_t slot) noexcept
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Expiries(Planned):
    cdef str reason
    cdef bint is_meant(self, Py_ssize_t slot) noexcept
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Deadlines(Expiries):
    cpdef long long entered(self, Py_ssize_t slot, long long begin) except *

cdef class Releases(Planned):
    cdef bint is_meant(self, Py_ssize_t slot) noexcept
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Returns(Planned):
    cdef int happen(self, Py_ssize_t slot, long long now) except -1

cdef class Timers(Source):
    cdef EventHeap due
    cdef int plan(self, int cluster, long long time) except -1
    cpdef fire(self, long long now)

cdef class Openings(Timers):
    cdef dict times
    cdef int plan(self, int cluster, long long time) except -1
    cpdef fire(self, long long now)
