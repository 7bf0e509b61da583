from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.ledger.counted cimport CountedHolds
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.node_starts cimport RoomTimes, Soonest
from walltime.kernel.profiles.room_sweep cimport RoomSweep
from walltime.kernel.profiles.release_profile cimport ReleaseProfile
from walltime.kernel.profiles.running_profile cimport RunningProfile

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
    cdef long long[::1] cleared  # by node: from when on it has room
    cdef RoomTimes rooms
    cdef RoomSweep sweep
    cdef Py_ssize_t swept_for  # the job that it was for last, if it was for all of its nodes, or -1
    cdef bint swept  # whether it is about the hold that is being made
    cdef long long[::1] asked  # by node met
    cdef long long[::1] offers_most
    cdef long long[::1] offers_until
    # what `when_freed` has found last: for which job, for when, after which changes, and the nodes by time
    cdef Py_ssize_t planned_for
    cdef long long planned_at
    cdef long long planned
    cdef long long[::1] freed
    cdef long long[::1] freed_at
    cdef Py_ssize_t frees
    # nodes that other parts of the job have while the next is given its own
    cdef long long[::1] given
    cdef long long giving
    cdef long long changes(self) noexcept
    cdef long long when_one_freed(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef long long when_freed(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cpdef long long best_gap(self, Py_ssize_t slot) except? -1
    cdef long long gap_end(self, Py_ssize_t slot, long long start) except? -1
    cdef bint deserted(self, Py_ssize_t slot, Py_ssize_t x, long long time) except? -1
    cdef long long next_open(self, long long time, long long length) noexcept
    cdef long long when_counted(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -2
    cdef long long next_moment(self, Py_ssize_t s, long long time) except? -1
    cdef long long when_named(self, Py_ssize_t slot, long long after) except? -1
    cdef long long when_parts(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long when_nodes(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long when(self, Py_ssize_t slot, long long after) except? -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cdef bint suits(self, Py_ssize_t x, NodePool pool) except? -1
    cdef long long when_enough(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef int select_last(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t at, long long start, long long end) except -1
    cdef long long when_suits(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long when_rooms(self, Py_ssize_t x) except? -1
    cdef long long when_rooms_last(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef int clear_rooms(self, Py_ssize_t x) except -1
    cdef int imagine(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long start, long long end) except -1
    cdef long long when_offered(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef bint offered_beside(self, Py_ssize_t slot, Py_ssize_t x, long long time, long long length, long long want) except? -1
    cdef int ask_offer(self, Py_ssize_t k, Py_ssize_t d, Py_ssize_t slot, long long time, long long length) noexcept
    cdef long long offered_now(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef long long forward(self, Py_ssize_t x, long long time) except? -1
