from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.queue.choices cimport Choices
from walltime.kernel.quotas cimport Quotas

cdef class Draft:
    cdef readonly JobTable jobs
    cdef readonly long long now
    cdef readonly long long capacity
    cdef readonly Py_ssize_t size
    cdef bint opened
    cdef bint sorted
    cdef bint resequenced
    cdef readonly bint stuck
    cdef long long[::1] slot
    cdef long long[::1] start
    cdef long long[::1] first
    cdef long long[::1] before
    cdef long long[::1] best
    cdef long long[::1] length
    cdef long long[::1] cores
    cdef long long[::1] eligible
    cdef long long[::1] user
    cdef long long[::1] deadline
    cdef readonly bint across  # whether options are clusters, not queues
    cdef Choices choices
    cdef Quotas quotas
    cdef long long[::1] where  # the option of each job: a queue, as an entry of `choices`, or a cluster
    cdef long long[::1] home  # the one where it was when the draft was opened
    cdef long long[::1] was  # the one where it was before it was touched
    cdef long long[::1] best_where  # the one where it was at the last `remember`
    cdef long long[::1] sequence
    cdef long long[::1] touched
    cdef Py_ssize_t touches
    cdef readonly Py_ssize_t out

    cpdef int open(self, Ledger ledger, long long[::1] slots, Py_ssize_t count) except -1
    cpdef int close(self) except -1
    cpdef list commit(self)
    cdef int make_room(self, Py_ssize_t room) except -1
    cdef Py_ssize_t admit(self, Py_ssize_t slot) except -1
    cdef int load(self, Py_ssize_t i, Py_ssize_t slot) except -1
    cdef int give_back(self) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, long long after) except? -1
    cdef int enter(self, Py_ssize_t i, long long start) except -1
    cdef int enter_again(self, Py_ssize_t i, long long start) except -1
    cdef int enter_first(self, Py_ssize_t i) except -1
    cdef int enter_best(self, Py_ssize_t i) except -1
    cdef bint is_changed(self, Py_ssize_t i) noexcept
    cpdef int know(self, Choices choices, Quotas quotas) except -1
    cdef Py_ssize_t queue_of(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t first_option(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t last_option(self, Py_ssize_t i) noexcept
    cdef bint suits(self, Py_ssize_t i, Py_ssize_t option) except? -1
    cdef int settle_in(self, Py_ssize_t i, Py_ssize_t option) except -1
    cpdef Py_ssize_t other_options(self, Py_ssize_t i) except -1
    cpdef int move_to(self, Py_ssize_t i, Py_ssize_t k) except -1
    cdef int leave(self, Py_ssize_t i) except -1
    cdef int note(self, Py_ssize_t i) except -1
    cdef int remember(self) except -1
    cdef int recall(self) except -1
    cdef double free_area(self, long long start, long long end) except? -1
    cdef int touch(self, Py_ssize_t i) except -1
    cdef int lift(self, Py_ssize_t i) except -1
    cdef int remove(self, Py_ssize_t i) except -1
    cdef int lay(self, Py_ssize_t i, long long start) except -1
    cdef int shift(self, Py_ssize_t i, long long after) except -1
    cdef int settle(self, Py_ssize_t i, long long after) except -1
    cpdef int move_in_sequence(self, Py_ssize_t source, Py_ssize_t target) except -1
    cdef int place_behind(self, Py_ssize_t position) except -1
    cpdef int sort(self) except -1
    cpdef int keep(self) except -1
    cpdef int undo(self) except -1
    cdef int undo_index(self) except -1
    cdef int check(self, Py_ssize_t i) except -1
    cdef long long last_start(self) noexcept
