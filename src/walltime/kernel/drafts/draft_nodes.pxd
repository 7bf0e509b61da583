from walltime.kernel.drafts.draft cimport Draft
from walltime.kernel.drafts.draft_memory cimport Answers, Places
from walltime.kernel.drafts.draft_table cimport DraftTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.kernel.profiles.release_profile cimport ReleaseProfile

cdef class NodeDraft(Draft):
    cdef readonly ResourceLedger ledger
    cdef Places at_first  # when the draft was opened
    cdef Places at_last  # before the jobs were touched
    cdef Places at_best  # at the last `remember`
    cdef long long[::1] moved  # whether the job has been touched since the draft was opened
    cdef long long[::1] asked  # its shape here: meanwhile it may be described as a job of another cluster
    cdef Answers answers
    cdef bint changed
    cdef Places at_table  # one job's, on its way to the ledger
    cdef DraftTable board
    cdef readonly bint tabled  # whether the table stands in for the ledger
    cdef bint plain  # whether it may
    cdef bint placed_again  # whether all were, and the table that was kept is aside
    cdef Py_ssize_t searches
    cdef Py_ssize_t tabled_after
    cdef Py_ssize_t pending  # the only job that was touched, if it has not its new nodes yet; else -1

    cpdef int open(self, Ledger ledger, long long[::1] slots, Py_ssize_t count) except -1
    cdef int make_room(self, Py_ssize_t room) except -1
    cdef Py_ssize_t admit(self, Py_ssize_t slot) except -1
    cdef int enter_first(self, Py_ssize_t i) except -1
    cdef int enter_best(self, Py_ssize_t i) except -1
    cpdef int close(self) except -1
    cdef int end(self) except -1
    cdef Py_ssize_t shape_of(self, Py_ssize_t slot) noexcept
    cdef bint lay_table(self) except? -1
    cdef int tell_ledger(self) except -1
    cdef Py_ssize_t search(self, Py_ssize_t i, long long after) except? -1
    cdef int place_behind(self, Py_ssize_t position) except -1
    cdef int note_in(self, Places places, Py_ssize_t i) except -1
    cpdef list commit(self)
    cdef int give_back(self) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int enter_again(self, Py_ssize_t i, long long start) except -1
    cdef int enter_at(self, Py_ssize_t i, long long start, Places places) except -1
    cdef int settle_in(self, Py_ssize_t i, Py_ssize_t option) except -1
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
