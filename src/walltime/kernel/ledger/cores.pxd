from walltime.kernel.ledger.holds cimport Holds
from walltime.kernel.profiles.free_profile cimport FreeProfile
from walltime.kernel.profiles.release_profile cimport ReleaseProfile

cdef class CoreLedger(Holds):
    cdef ReleaseProfile running
    cdef bint profiled
    cpdef int focus_beside(self, Py_ssize_t node_set, Py_ssize_t slot) except -1
    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cpdef int shut(self, Py_ssize_t blocker, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cpdef int set_time(self, long long now) except -1
    cpdef bint foresee(self, FreeProfile free_profile) except? -1
    cpdef int profile(self) except -1
    cdef int bound(self) noexcept
    cdef int bound_by_all(self) noexcept
    cdef bint clear_now(self, Py_ssize_t slot, long long cores) noexcept
    cdef long long available(self, long long time) noexcept
    cdef bint clear_of_holds(self, Py_ssize_t slot, long long start) noexcept
    cdef long long left(self, Py_ssize_t slot, long long time) noexcept
    cdef long long next_release(self, long long time) except? -1
    cdef int spare_until(self, long long end, long long cores) noexcept
    cdef int drop_hold(self, Py_ssize_t h) noexcept
