from walltime.kernel.jobs cimport JobTable
from walltime.kernel.queue.waiting cimport Queue
from walltime.kernel.profiles.sorted_jobs cimport SortedJobs, before

cdef class SameCores:
    cdef long long cores
    cdef long long tier
    cdef SortedJobs by_length
    cdef SortedJobs by_promise
    cdef Py_ssize_t found
    cdef long long found_key
    cdef long long found_seq
    cdef bint earlier

    cdef int find(self, long long start, long long end, long long risen, long long key, long long seq) noexcept
    cdef int find_short(self, long long length, long long risen, long long key, long long seq) noexcept
    cdef int find_near(self, long long end, long long risen, long long key, long long seq) noexcept
    cdef int take(self, SortedJobs jobs, Py_ssize_t i, long long key, long long seq) noexcept

cdef class Promises:
    cdef JobTable jobs
    cdef Queue queue
    cdef readonly Py_ssize_t size
    cdef list kinds
    cdef dict numbers
    cdef long long[::1] kind_of
    cdef Py_ssize_t active
    cdef long long[::1] cores
    cdef long long[::1] tier
    cdef long long[::1] kind
    cdef long long[::1] least
    cdef long long[::1] soonest
    cdef long long[::1] latest

    cdef int enter(self, Py_ssize_t slot) except -1
    cdef int leave(self, Py_ssize_t slot, long long promise) except -1
    cdef int moved(self, Py_ssize_t slot, long long promise) except -1
    cdef Py_ssize_t due(self, long long now, long long[::1] slots) except -1
    cdef long long next_promise(self, long long now) noexcept
    cdef Py_ssize_t define(self, long long cores, long long tier) except -1
    cdef int widen(self) except -1
    cdef Py_ssize_t place_of(self, long long cores, long long tier) noexcept
    cdef int activate(self, Py_ssize_t k, SameCores kind) except -1
    cdef int rename(self, Py_ssize_t to, Py_ssize_t source) noexcept
    cdef int sum_up(self, SameCores kind) noexcept
