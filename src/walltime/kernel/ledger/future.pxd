from walltime.kernel.ledger.availability cimport Availability
from walltime.kernel.ledger.counted cimport CountedHolds
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.ledger.running_profile cimport RunningProfile

cdef class Future(CountedHolds):
    # a walk through the expected ends of a set's running jobs
    cdef RunningProfile walk
    cdef Py_ssize_t block
    cdef Py_ssize_t entry
    cdef long long[::1] seen
    cdef long long[::1] offered
    cdef long long step
    cdef long long reach
    cdef long long limit  # a time from here on is of no use
    cdef long long[::1] cleared  # by node met: from when on it has room
    # what `when_freed` has found last: for which job, for when, after which changes, and the nodes by time
    cdef Py_ssize_t planned_for
    cdef long long planned_at
    cdef long long planned
    cdef long long[::1] freed
    cdef long long[::1] freed_at
    cdef Py_ssize_t frees
    cdef long long changes(self) noexcept
    cdef long long when_freed(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef bint deserted(self, Py_ssize_t slot, Py_ssize_t x, long long time) except? -1
    cdef long long next_open(self, long long time, long long length) noexcept
    cdef long long when_counted(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -2
    cdef long long next_moment(self, Py_ssize_t s, long long time) except? -1
    cdef long long when_named(self, Py_ssize_t slot, long long after) except? -1
    cdef long long when(self, Py_ssize_t slot, long long after) except? -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cdef bint suits(self, Py_ssize_t x, NodePool pool) except? -1
    cdef long long when_enough(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef int select(self, Py_ssize_t s, Py_ssize_t at, Py_ssize_t want, long long after, long long limit) except -1
    cdef int select_last(self, Py_ssize_t s, Py_ssize_t at, Py_ssize_t want, long long start) except -1
    cdef long long when_suits(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long when_rooms(self, Py_ssize_t x) except? -1
    cdef int clear_rooms(self, Py_ssize_t x) except -1
    cdef int imagine(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long start, long long end) except -1
    cdef long long when_offered(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long offered_now(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef long long forward(self, Py_ssize_t x, long long time) except? -1
