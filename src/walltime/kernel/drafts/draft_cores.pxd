from walltime.kernel.drafts.draft cimport Draft
from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.plan cimport PlanLedger
from walltime.kernel.ledger.resources cimport ResourceLedger

cdef class CoreDraft(Draft):
    cdef Ledger ledger
    cdef Availability plan
    cdef Availability given
    cdef Availability kept
    cdef Availability base
    cdef long long late  # cores of running jobs that should have ended by now
    cdef long long closing  # when the first closing to come begins that the plan does not know
    cdef long long[::1] taken  # by job: cores of the plan
    cdef bint kept_stale
    cdef bint placed_again  # whether jobs were, on a copy of the plan without them
    cdef bint base_stale

    cpdef bint serves(self, Ledger ledger, long long[::1] slots, Py_ssize_t count) except? -1
    cpdef int open(self, Ledger ledger, long long[::1] slots, Py_ssize_t count) except -1
    cdef int make_room(self, Py_ssize_t room) except -1
    cdef Py_ssize_t admit(self, Py_ssize_t slot) except -1
    cpdef int close(self) except -1
    cpdef list commit(self)
    cdef int give_back(self) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int remember(self) except -1
    cdef int recall(self) except -1
    cdef double free_area(self, long long start, long long end) except? -1
    cpdef int move_in_sequence(self, Py_ssize_t source, Py_ssize_t target) except -1
    cdef int place_behind(self, Py_ssize_t position) except -1
    cdef int make_base(self) except -1
    cpdef int keep(self) except -1
    cdef int undo_index(self) except -1
