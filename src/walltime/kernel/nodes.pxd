from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger cimport CoreLedger
from walltime.kernel.occupancy cimport NodeOccupancy
from walltime.kernel.outlook cimport Outlook
from walltime.kernel.place cimport Place
from walltime.kernel.pool cimport NodePool

cdef class NodeLedger(NodeOccupancy):
    cdef CoreLedger counts
    cdef bint alike  # whether all nodes have as many cores
    # holds, and what they keep on which node
    cdef readonly Py_ssize_t holds
    cdef readonly bint named
    cdef bint pending
    cdef long long held_least
    cdef long long[::1] held_slot
    cdef long long[::1] held_start
    cdef long long[::1] held_end
    cdef long long[::1] held_first
    cdef long long[::1] kept_by
    cdef long long[::1] kept_node
    cdef long long[::1] kept_cores
    cdef long long[::1] kept_late
    cdef long long[::1] kept_start
    cdef long long[::1] kept_end
    cdef long long[::1] kept_next
    cdef long long[::1] kept_beside
    cdef long long kept_spare
    cdef long long[::1] kept_on
    # beside the only hold: nodes by what a job that outlasts its start may take
    cdef long long[::1] beside
    cdef long long beside_total

    cpdef int focus(self, Py_ssize_t node_set, bint local) except -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cpdef int set_capacity(self, long long cores) except -1
    cpdef int set_time(self, long long now) except -1
    cpdef bint foresee(self, Outlook outlook) except? -1
    cpdef long long units(self, Py_ssize_t slot) noexcept
    cdef int change(self, Py_ssize_t i, long long cores, long long end) noexcept
    cdef bint fits_by_number(self, Py_ssize_t slot) except? -1
    cdef bint conflicts(self, Py_ssize_t slot, long long end) noexcept
    cdef int respect(self, Py_ssize_t slot, long long start, long long end) except -1
    cdef long long room_beside(self, Py_ssize_t i, Py_ssize_t slot, long long start, long long end) noexcept
    cdef long long kept(self, Py_ssize_t i, Py_ssize_t slot, long long time) noexcept
    cdef long long when_clear(self, Py_ssize_t slot, long long after) except? -1
    cdef int name_holds(self) except -1
    cdef int name_pending(self) except -1
    cdef int name_hold(self, Py_ssize_t h) except -1
    cdef int keep(self, Py_ssize_t h, Py_ssize_t i, long long cores, long long late) except -1
    cdef int forget(self, Py_ssize_t h) noexcept
    cdef int measure(self) noexcept
    cdef long long beside_of(self, Py_ssize_t i) noexcept
    cdef int bound(self) noexcept
