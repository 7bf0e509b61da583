from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.set_bounds cimport SetBounds
from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.profiles.release_profile cimport ReleaseProfile

cdef class CountedHolds(SetBounds):
    cdef long long[::1] chosen
    # holds that were named since the last question, and how they were
    cdef Py_ssize_t tries
    cdef long long[::1] tried
    cdef long long[::1] tried_first
    cdef long long[::1] tried_count
    cdef bint is_placed(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) noexcept
    cdef bint meets_number(self, Py_ssize_t h, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) noexcept
    cdef bint is_unclear(self, Py_ssize_t h, Py_ssize_t x, long long start, bint placed) noexcept
    cdef bint leaves_numbers(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end, long long cores) except? -1
    cdef bint leaves_plan(self, Py_ssize_t slot, Py_ssize_t s, long long start, long long end, long long cores) except? -1
    cdef Py_ssize_t name_unclear(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int choose_none(self) except -1
    cdef int name_chosen(self, Py_ssize_t slot) except -1
    cdef int name_hold(self, Py_ssize_t h) except -1
    cdef Py_ssize_t name_from(self, Py_ssize_t h, long long since, long long left) except -1
    cdef int note_try(self, Py_ssize_t h) except -1
    cdef int take_names_back(self) except -1
    cdef int keep_names(self) except -1
    cdef bint counts_alone(self, long long[::1] slots, Py_ssize_t count) except? -1
    cdef long long first_closing(self) noexcept
    cdef Availability counted_plan(self, Py_ssize_t slot)
    cdef long long late_cores(self, Py_ssize_t slot) except? -1
    cdef int name_all(self) except -1
