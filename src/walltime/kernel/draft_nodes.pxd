from walltime.kernel.draft cimport Draft
from walltime.kernel.ledger.cores cimport Ledger
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.ledger.running_profile cimport RunningProfile

cdef class Places:
    cdef long long[::1] first
    cdef long long[::1] count
    cdef long long[::1] node
    cdef long long[::1] cores
    cdef long long[::1] times
    cdef long long[::1] demand
    cdef Py_ssize_t used
    cdef int clear(self, Py_ssize_t jobs) except -1
    cdef int note(self, Py_ssize_t i, ResourceLedger ledger, Py_ssize_t slot) except -1

cdef class Answers:
    cdef long long[::1] since  # by job, ANSWERS each
    cdef long long[::1] start
    cdef long long[::1] count  # by job: how many there are,
    cdef long long[::1] next  # which is the next to be written over,
    cdef long long[::1] read  # and up to which change they are true
    cdef long long[::1] begin  # the last changes
    cdef long long[::1] end
    cdef long long[::1] whose
    cdef long long spans
    cdef int clear(self, Py_ssize_t jobs) except -1
    cdef int forget(self, Py_ssize_t i) noexcept
    cdef int change(self, Py_ssize_t i, long long begin, long long end) noexcept
    cdef long long find(self, Py_ssize_t i, long long after, long long length) noexcept
    cdef int refresh(self, Py_ssize_t i, long long length) noexcept
    cdef int learn(self, Py_ssize_t i, long long after, long long start) noexcept

cdef class NodeDraft(Draft):
    cdef readonly ResourceLedger ledger
    cdef Places at_first  # when the draft was opened
    cdef Places at_last  # before the jobs were touched
    cdef Places at_best  # at the last `remember`
    cdef long long[::1] moved  # whether the job has been touched since the draft was opened
    cdef Answers answers
    cdef bint changed
    cdef Py_ssize_t pending  # the only job that was touched, if it has not its new nodes yet; else -1

    cpdef int open(self, Ledger ledger, long long[::1] slots, Py_ssize_t count) except -1
    cdef int make_room(self, Py_ssize_t room) except -1
    cdef Py_ssize_t admit(self, Py_ssize_t slot) except -1
    cdef int enter_first(self, Py_ssize_t i) except -1
    cdef int enter_best(self, Py_ssize_t i) except -1
    cpdef int close(self) except -1
    cdef int end(self) except -1
    cpdef list commit(self)
    cdef int give_back(self) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int enter_again(self, Py_ssize_t i, long long start) except -1
    cdef int enter_at(self, Py_ssize_t i, long long start, Places places) except -1
    cdef int settle_in(self, Py_ssize_t i, Py_ssize_t place) except -1
    cdef int shift(self, Py_ssize_t i, long long after) except -1
    cdef int touch(self, Py_ssize_t i) except -1
    cdef int settle_pending(self) except -1
    cdef int note_as(self, Py_ssize_t i, Py_ssize_t number) except -1
    cpdef int keep(self) except -1
    cdef int undo_index(self) except -1
    cdef bint has_room(self, Py_ssize_t i) except? -1
    cdef int begin_hold(self, Py_ssize_t i, long long start) except -1
    cdef int end_hold(self, Py_ssize_t i, long long start, long long end) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int note(self, Py_ssize_t i) except -1
    cdef int remember(self) except -1
    cdef int recall(self) except -1
    cdef double free_area(self, long long start, long long end) except? -1
