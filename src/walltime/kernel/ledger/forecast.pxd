from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.profiles.availability cimport Availability

cdef class Forecast:
    cdef JobTable jobs
    cdef Ledger ledger
    cdef long long cores
    cdef bint strict
    cdef bint promised
    cdef bint noded
    cdef dict place_of
    cdef long long[::1] end
    cdef long long[::1] held
    cdef long long[::1] owner
    cdef readonly Py_ssize_t running
    cdef public bint stale
    cdef readonly long long made
    cdef long long capacity
    cdef public list shut
    cdef Availability main
    cdef readonly list line
    cdef readonly dict starts
    cdef long long first
    cdef long long floor
    cdef Availability draft
    cdef Py_ssize_t drafted
    cdef long long draft_floor
    cdef int started(self, Py_ssize_t slot) except -1
    cdef int stopped(self, Py_ssize_t slot) except -1
    cdef int shrunk(self, Py_ssize_t slot, long long cores) except -1
    cdef int prolonged(self, Py_ssize_t slot) except -1
    cdef int joined(self, Py_ssize_t slot, bint last) except -1
    cdef bint holds_at(self, long long now) noexcept
    cdef int make(self, list waiting, long long now) except -1
    cdef int begin(self, Availability plan, long long now) except -1
    cdef int enter(self, Py_ssize_t slot, long long now) except -1
    cdef int put(self, Py_ssize_t slot, long long start) except -1
    cdef int occupy(self, Availability plan, Py_ssize_t slot, long long start) except -1
    cdef long long search(self, Availability plan, Py_ssize_t slot, long long now, long long floor) except *
    cdef long long duration(self, Py_ssize_t slot) noexcept
    cdef long long behind(self, Py_ssize_t count, Py_ssize_t slot, long long now) except *
