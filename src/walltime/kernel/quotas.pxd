from walltime.kernel.jobs cimport JobTable
from walltime.kernel.queue.choices cimport Choices

cdef packed struct CounterFields:
    # what is in use, and the caps in the same units: side by side, as most questions are about these
    long long jobs
    long long cores
    long long gpus
    long long memory
    long long most_jobs
    long long most_cores
    long long most_gpus
    long long most_memory
    # core-time of running jobs, where it is capped
    long long work
    long long work_time
    long long most_work
    # jobs in the system
    long long submitted
    long long most_submitted
    # what it keeps waiting: how many jobs, since when, job-microseconds
    long long held
    long long held_since
    long long held_time

cdef class Quotas:
    cdef readonly JobTable jobs
    cdef readonly Choices choices
    cdef readonly long long now
    cdef readonly Py_ssize_t size
    cdef readonly bint timed  # whether a counter bounds the work in use
    cdef public bint pressing  # whether such a bound has ever kept a job waiting
    cdef bint bounded  # whether a counter bounds how many jobs are in the system
    cdef readonly list titles
    cdef readonly list kind_titles
    cdef CounterFields[::1] at
    cdef object table
    # the counters of each set of counters: a stretch of `member`
    cdef readonly Py_ssize_t counter_sets
    cdef long long[::1] first
    cdef long long[::1] member
    cdef Py_ssize_t members
    cdef dict known
    # how often something has been counted; when last, in these, by counter and by set, and as of when that is known
    cdef readonly long long changes
    cdef long long[::1] changed
    cdef long long[::1] newest
    cdef long long[::1] asked

    cdef long long work(self, Py_ssize_t c) noexcept
    cdef bint full(self, Py_ssize_t slot) noexcept
    cdef long long gpus_of(self, Py_ssize_t slot) noexcept
    cdef long long memory_of(self, Py_ssize_t slot) noexcept
    cdef bint admits(self, Py_ssize_t c, long long cores, long long gpus, long long memory, long long work) noexcept
    cpdef Py_ssize_t refuser(self, Py_ssize_t slot) noexcept
    cdef Py_ssize_t refuser_in(self, Py_ssize_t slot, Py_ssize_t entry) noexcept
    cdef Py_ssize_t refuser_as(self, Py_ssize_t slot, long long counter_set, long long gpus, long long memory) noexcept
    cpdef int take(self, Py_ssize_t slot) noexcept
    cpdef int give(self, Py_ssize_t slot) noexcept
    cpdef Py_ssize_t submit(self, long long counter_set) noexcept
    cpdef int leave(self, long long counter_set) noexcept
    cpdef Py_ssize_t too_small(self, Py_ssize_t slot, long long counter_set) noexcept
    cdef long long work_of(self, Py_ssize_t slot) noexcept
    cdef int hold(self, Py_ssize_t c, long long change) noexcept
    cdef long long opens(self, Py_ssize_t slot) noexcept
    cdef long long opens_in(self, Py_ssize_t slot, Py_ssize_t entry) noexcept
    cdef long long opens_as(self, Py_ssize_t slot, long long counter_set, long long gpus, long long memory) noexcept
    cpdef long long lets_in(self, Py_ssize_t slot, list running) except *
    cdef long long has_room(self, Py_ssize_t c, Py_ssize_t slot, list running) except *
    cdef long long admits_until(self, Py_ssize_t c, Py_ssize_t slot, long long work, long long time, long long end) noexcept
    cdef bint counts(self, Py_ssize_t slot, Py_ssize_t c) noexcept
    cdef long long room(self, Py_ssize_t c) noexcept
    cpdef int set_time(self, long long now) noexcept
    cdef bint has_changed(self, long long counter_set, long long since) noexcept
    cdef int count(self, Py_ssize_t slot, long long sign) noexcept
