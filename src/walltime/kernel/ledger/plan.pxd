from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.profiles.offers cimport Offers
from walltime.kernel.queue.waiting cimport Queue

cdef class PlanLedger(Ledger):
    cdef readonly Availability plan
    cdef dict promised
    cdef readonly long long moves
    cdef readonly Offers offers
    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef long long best_gap(self, Py_ssize_t slot) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cpdef long long advance(self, Py_ssize_t slot) except? -1
    cpdef int shut(self, Py_ssize_t blocker, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cpdef int set_time(self, long long now) except -1
    cdef bint track(self, Queue queue) except -1
    cdef int begin_moves(self) except -1
    cdef Py_ssize_t mover(self) except? -1
    cdef Py_ssize_t promises(self) except? -1
    cdef Py_ssize_t due(self, long long[::1] slots) except -1
    cdef long long next_promise(self) except? -1
    cdef int forget(self, Py_ssize_t slot) except -1
    cdef int free_up(self, long long start, long long end, long long cores) except -1
    cdef int shift(self, long long start, long long time, long long length, long long cores) except -1
    cdef long long duration(self, Py_ssize_t slot) noexcept
    cdef long long planned_end(self, Py_ssize_t slot) noexcept
