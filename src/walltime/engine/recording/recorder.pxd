from walltime.kernel.arrays cimport words
from walltime.kernel.jobs cimport COMPLETED, JobTable
from walltime.kernel.ledger.interface cimport Ledger

cdef class Rows:
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t size
    cdef long long[::1] chunk
    cdef Py_ssize_t end
    cdef list full
    cdef Py_ssize_t next(self) except -1
    cdef int add_piece(self) except -1

cdef class Recorder:
    cdef readonly Rows jobs
    cdef readonly Rows allocations
    cdef readonly Rows plain
    cdef readonly Rows placed
    cdef readonly Rows ranges
    cdef readonly Rows plain_runs
    cdef readonly Rows plain_ranges
    cdef readonly Rows moved
    cdef Py_ssize_t open
    cdef long long until
    cdef long long[::1] around
    cdef Py_ssize_t found
    cdef Py_ssize_t counted
    cdef long long cores
    cdef int job(self, JobTable t, Py_ssize_t slot, long long end) except -1
    cdef int allocation(self, JobTable t, Py_ssize_t slot, long long end, int outcome, Ledger ledger) except -1
    cdef bint is_plain(self, JobTable t, Py_ssize_t slot, long long end) noexcept
    cdef int write_plain(self, JobTable t, Py_ssize_t slot, long long end) except -1
    cdef int close(self, JobTable t) except -1
    cdef int look_around(self, Ledger ledger, Py_ssize_t slot) except -1
    cdef int interval(self, JobTable t, Py_ssize_t slot, long long end, int outcome) except -1
    cdef int write_ranges(self, Rows ranges) except -1

cdef Py_ssize_t write(unsigned char[::1] text, Py_ssize_t at, long long number) noexcept
cdef long long start_in(long long *c, Py_ssize_t at) noexcept
