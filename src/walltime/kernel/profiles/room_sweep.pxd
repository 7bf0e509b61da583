from walltime.kernel.profiles.node_starts cimport NodeStarts, RoomTimes
from walltime.kernel.profiles.timelines cimport Timelines

cdef class RoomSweep:
    cdef Timelines timelines
    cdef NodeStarts starts
    cdef RoomTimes rooms
    # by node
    cdef long long[::1] time
    cdef long long[::1] sure
    cdef long long[::1] last
    # the nodes that wait, and those that have room
    cdef long long[::1] heap
    cdef long long[::1] key
    cdef Py_ssize_t size
    cdef long long[::1] has
    cdef Py_ssize_t count
    # what is asked for
    cdef Py_ssize_t slot
    cdef Py_ssize_t demand
    cdef long long length
    cdef long long limit
    cdef Py_ssize_t at
    cdef Py_ssize_t known
    cdef int begin(self, Py_ssize_t slot, Py_ssize_t d, long long length, long long limit, Py_ssize_t known) except -1
    cdef int put(self, Py_ssize_t first, Py_ssize_t last, long long after) noexcept
    cdef long long first(self, Py_ssize_t want) noexcept
    cdef int start_at(self, long long time) noexcept
    cdef bint look(self, Py_ssize_t i) noexcept
    cdef long long search(self, Py_ssize_t i, long long time) noexcept
    cdef Py_ssize_t check(self, long long time) noexcept
    cdef int tell(self, Py_ssize_t i, long long time) noexcept
    cdef int pop(self) noexcept
    cdef int push(self, Py_ssize_t i) noexcept
    cdef int sink(self, Py_ssize_t k) noexcept
