from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger cimport Ledger
from walltime.kernel.place cimport Place
from walltime.kernel.pool cimport NodePool
from walltime.kernel.profile cimport RunningProfile
from walltime.kernel.shares cimport Shares

cdef class NodeOccupancy(Ledger):
    cdef readonly Place place
    cdef readonly NodePool pool
    cdef readonly bint whole
    cdef NodePool empty
    cdef readonly Py_ssize_t n
    cdef long long[::1] cap
    cdef long long[::1] used
    cdef long long[::1] pace
    cdef bint paced
    # the request that was looked at last
    cdef long long nodes
    cdef long long least
    # who has how many cores where
    cdef Shares shares
    # running jobs by expected end, with their slots
    cdef RunningProfile by_end
    cdef bint walked
    # a walk into the future: cores in use then, on the nodes that it has touched
    cdef Py_ssize_t block
    cdef Py_ssize_t entry
    cdef long long walk
    cdef long long[::1] seen
    cdef long long[::1] later
    cdef long long step
    cdef long long[::1] stepped
    cdef long long[::1] touch
    cdef Py_ssize_t touched
    # when the last look into the future found enough, for whom, and how many nodes more than enough
    cdef long long planned_for
    cdef long long planned_at
    cdef long long surplus

    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef long long need(self, Py_ssize_t slot) except? -1
    cpdef Py_ssize_t describe(self, Py_ssize_t slot) except -1
    cdef long long shape(self, Py_ssize_t slot) noexcept
    cdef bint suits(self, long long cores) except? -1
    cdef long long room(self, Py_ssize_t i, long long used) noexcept
    cdef int choose(self, Py_ssize_t slot) except -1
    cdef int divide(self, long long cores) noexcept
    cdef int follow(self) except -1
    cdef int rewind(self) noexcept
    cdef bint on(self) noexcept
    cdef long long next_end(self) noexcept
    cdef int forward(self, long long time) except -1
    cdef long long when_enough(self, Py_ssize_t slot, long long after) except? -1
    cdef long long gain(self, Py_ssize_t job) noexcept
