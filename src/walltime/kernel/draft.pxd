from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.availability cimport Availability
from walltime.kernel.ledger.plan cimport PlanLedger

cdef class Draft:
    cdef readonly JobTable jobs
    cdef readonly PlanLedger ledger
    cdef Availability plan
    cdef readonly long long now
    cdef readonly long long capacity
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t rearranged
    cdef bint opened
    cdef bint sorted
    cdef bint kept_stale
    cdef bint base_stale
    cdef bint resequenced
    cdef readonly bint stuck
    cdef Availability given
    cdef Availability kept
    cdef Availability base
    cdef long long[::1] slot
    cdef long long[::1] start
    cdef long long[::1] first
    cdef long long[::1] before
    cdef long long[::1] length
    cdef long long[::1] cores
    cdef long long[::1] eligible
    cdef long long[::1] user
    cdef long long[::1] deadline
    cdef long long[::1] sequence
    cdef long long[::1] touched
    cdef Py_ssize_t touches
    cdef readonly Py_ssize_t out

    cpdef int open(self, PlanLedger ledger, long long[::1] slots, Py_ssize_t count) except -1
    cpdef int close(self) except -1
    cdef int load(self, Py_ssize_t i, Py_ssize_t slot) except -1
    cdef int lift(self, Py_ssize_t i) except -1
    cdef int remove(self, Py_ssize_t i) except -1
    cdef int lay(self, Py_ssize_t i, long long start) except -1
    cdef int settle(self, Py_ssize_t i, long long after) except -1
    cdef long long find(self, Py_ssize_t i, long long after) noexcept
    cpdef int move_in_sequence(self, Py_ssize_t source, Py_ssize_t target) except -1
    cdef int make_base(self) except -1
    cdef int place_behind(self, Py_ssize_t position) except -1
    cpdef int sort(self) except -1
    cpdef int keep(self) except -1
    cpdef int undo(self) except -1
    cdef int check(self, Py_ssize_t i) except -1
    cdef long long last_start(self) noexcept
