from walltime.kernel.arrays cimport words
from walltime.kernel.profiles.blocks cimport Blocks
from walltime.kernel.profiles.kept cimport KeptSteps
from walltime.kernel.profiles.remembered cimport EasedNodes

cdef class Timelines(Blocks):
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t kinds
    cdef long long now
    cdef long long[::1] full
    cdef long long[::1] cap
    cdef long long[::1] used
    # demands: an amount of each kind; whether the node must be empty; whether it is of cores alone; whether both
    cdef readonly Py_ssize_t demands
    cdef dict numbers
    cdef long long[::1] each
    cdef long long[::1] alone
    cdef long long[::1] bare
    cdef long long[::1] simple
    # what is kept for which job: entries in a list for each hold and a list for each node
    cdef bint blind
    cdef long long[::1] kept_on
    cdef long long[::1] kept_by
    cdef long long[::1] kept_node
    cdef long long[::1] kept_start
    cdef long long[::1] kept_end
    cdef long long[::1] kept_barred
    cdef long long[::1] kept_next
    cdef long long[::1] kept_beside
    cdef long long[::1] kept_amounts
    cdef long long kept_spare
    cdef long long[::1] kept_first  # by slot: the first entry of its hold
    cdef KeptSteps kept  # what is kept on a node, as steps:
    cdef long long[::1] kept_laid  # the entries of its list from this one on are in them
    cdef long long[::1] laying
    # the last nodes of which something has become free, or on which other jobs run now; how many there were so far
    cdef long long[::1] eased
    cdef long long eases
    cdef bint quiet
    cdef bint noted  # whether they are put into `since`
    cdef EasedNodes since
    # the job whose own hold does not count, and its entry on each of its nodes
    cdef Py_ssize_t aside
    cdef long long asides
    cdef long long[::1] aside_mark
    cdef long long[::1] aside_entry
    # where we stand: what the running jobs use, the next of them to end, the step of what is kept, the job's own entry
    cdef long long[::1] sum
    cdef long long there
    cdef Py_ssize_t task
    cdef Py_ssize_t last_task
    cdef Py_ssize_t step
    cdef Py_ssize_t following
    cdef Py_ssize_t last_step
    cdef long long own
    cdef long long until  # what `offer_long` or `first_clear` has found

    cpdef Py_ssize_t demand(self, tuple each, bint alone) except -1
    cdef int start(self, Py_ssize_t i, Py_ssize_t slot, long long end, long long cores, Py_ssize_t d, long long times) except -1
    cdef int stop(self, Py_ssize_t i, Py_ssize_t slot, long long end) except -1
    cdef int move(self, Py_ssize_t i, Py_ssize_t slot, long long end, long long until) except -1
    cdef Py_ssize_t find(self, Py_ssize_t i, Py_ssize_t slot, long long end) except -1
    cdef Py_ssize_t keep(self, long long beyond, Py_ssize_t i, Py_ssize_t slot, long long start, long long end, long long cores, Py_ssize_t d, long long times) except -1
    cdef int lay_steps(self, Py_ssize_t i) noexcept
    cdef int take_off(self, Py_ssize_t i, long long e) noexcept
    cdef int shift(self, long long e, long long start, long long end) except -1
    cdef int forget(self, long long e, long long stop=*) noexcept
    cdef int forget_all(self) noexcept
    cdef int ease(self, Py_ssize_t i) noexcept
    cdef bint large(self, Py_ssize_t i, Py_ssize_t d) noexcept
    cdef int leave_aside(self, Py_ssize_t slot) noexcept
    cdef int stand(self, Py_ssize_t i, Py_ssize_t slot, long long time) noexcept
    cdef int release(self, long long time) noexcept
    cdef long long next_step(self) noexcept
    cdef int go_on(self, long long time) noexcept
    cdef bint counts_own(self, long long time) noexcept
    cdef long long free_of(self, Py_ssize_t i, Py_ssize_t r, bint own) noexcept
    cdef bint has_room(self, Py_ssize_t i, Py_ssize_t d, long long time) noexcept
    cdef bint has_now(self, Py_ssize_t i, Py_ssize_t d) noexcept
    cdef long long has_times(self, Py_ssize_t i, Py_ssize_t d, long long time) noexcept
    cdef bint keeps(self, Py_ssize_t i, Py_ssize_t slot, long long start, long long end) noexcept
    cdef long long offer_at(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long time) noexcept
    cdef bint clear(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long start, long long end) noexcept
    cdef long long offer(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long start, long long end) noexcept
    cdef long long offer_long(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long start, long long end) noexcept
    cdef long long next_rise(self) noexcept
    cdef long long left_at(self, Py_ssize_t i, long long time) noexcept
    cdef long long kept_at(self, Py_ssize_t i, Py_ssize_t slot, long long time) noexcept
    cdef long long first_time(self, Py_ssize_t i, Py_ssize_t d) noexcept
    cdef long long first_clear(self, Py_ssize_t i, Py_ssize_t d, Py_ssize_t slot, long long after, long long length, long long limit, long long time) noexcept
    cdef long long first_among_steps(self, Py_ssize_t i, Py_ssize_t d, long long time, long long length, long long limit) noexcept
    cdef long long next_change(self, Py_ssize_t i, Py_ssize_t slot, long long time) noexcept
