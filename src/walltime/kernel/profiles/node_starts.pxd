from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.timelines cimport Timelines

cdef class Smallest:
    cdef readonly Py_ssize_t want
    cdef readonly Py_ssize_t count
    cdef double worst
    cdef double[::1] key
    cdef long long[::1] node
    cdef int clear(self, Py_ssize_t want) except -1
    cdef int put(self, double key, long long node) noexcept
    cdef bint behind(self, Py_ssize_t a, Py_ssize_t b) noexcept
    cdef int swap(self, Py_ssize_t a, Py_ssize_t b) noexcept

cdef class Soonest:
    cdef Py_ssize_t span
    cdef long long[::1] least
    cdef long long read  # how much of the log of nodes it knows, -1: nothing
    cdef int fill(self, long long *time, Py_ssize_t nodes) noexcept
    cdef int set(self, Py_ssize_t i, long long time) noexcept
    cdef long long least_of(self, Py_ssize_t first, Py_ssize_t last) noexcept
    cdef Py_ssize_t leftmost(self, Py_ssize_t first, long long bound) noexcept

cdef class NodeTimes:
    cdef Timelines timelines
    cdef Py_ssize_t n
    cdef Py_ssize_t most
    cdef Py_ssize_t kept
    cdef long long[::1] time
    cdef long long[::1] demand
    cdef long long[::1] read
    cdef long long[::1] asked
    cdef long long clock
    cdef Py_ssize_t claim(self) except -1

cdef class NodeStarts(NodeTimes):
    cdef readonly long long computed
    cdef long long[::1] place
    cdef long long[::1] log
    cdef long long mask
    cdef long long written
    cdef int changed(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t times(self, Py_ssize_t d) except -1
    cdef list trees  # by demand: a Soonest, or None
    cdef Py_ssize_t fresh(self, Py_ssize_t d) except -1
    cdef Soonest soonest(self, Py_ssize_t d)

cdef class RoomTimes(NodeTimes):
    cdef dict rows
    cdef Py_ssize_t row  # the last that was asked for
    cdef long long[::1] length
    cdef Py_ssize_t times(self, Py_ssize_t d, long long length) except -1
    cdef int refresh(self, Py_ssize_t row) except -1
    cdef bint is_near(self, Py_ssize_t row) noexcept
    cdef int begin(self, Py_ssize_t row) except -1
    cdef Py_ssize_t fresh(self, Py_ssize_t d, long long length) except -1
