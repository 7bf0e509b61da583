from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger cimport Ledger

cdef class Availability:
    cdef long long[::1] time
    cdef long long[::1] free
    cdef long long[::1] order
    cdef long long[::1] count
    cdef long long[::1] bias
    cdef long long[::1] low
    cdef long long[::1] high
    cdef long long[::1] first
    cdef long long[::1] spare
    cdef Py_ssize_t spares
    cdef readonly Py_ssize_t blocks
    cdef Py_ssize_t p
    cdef Py_ssize_t k

    cdef int clear(self, long long capacity) except -1
    cpdef int add(self, long long start, long long end, long long cores) except -1
    cpdef int forget(self, long long now) except -1
    cpdef long long at(self, long long time) noexcept
    cpdef long long earliest(self, long long cores, long long duration, long long after, long long limit) noexcept
    cdef int seek(self, long long time) noexcept
    cdef int cut(self, long long time) except -1
    cdef int shift(self, Py_ssize_t p, Py_ssize_t k, Py_ssize_t q, Py_ssize_t i, long long cores) noexcept
    cdef int join(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef int drop(self, Py_ssize_t p, Py_ssize_t k) noexcept
    cdef int bound(self, Py_ssize_t p) noexcept
    cdef int split(self, Py_ssize_t p) except -1
    cdef int grow(self) except -1

cdef class PlanLedger(Ledger):
    cdef readonly Availability plan
    cdef dict promised
    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cpdef long long advance(self, Py_ssize_t slot) except? -1
    cpdef int set_capacity(self, long long cores) except -1
    cpdef int shut(self, Py_ssize_t ghost, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t ghost, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cpdef int set_time(self, long long now) except -1
    cdef long long duration(self, Py_ssize_t slot) noexcept
    cdef long long planned_end(self, Py_ssize_t slot) noexcept
