from walltime.kernel.jobs cimport JobTable
from walltime.kernel.profiles.free_profile cimport FreeProfile
from walltime.kernel.queue.bounds cimport Bounds
from walltime.kernel.queue.waiting cimport Queue

cdef class Ledger(Bounds):
    cdef readonly JobTable jobs
    cdef readonly long long now
    cdef readonly long long index
    cdef readonly long long size
    cdef readonly long long capacity
    cdef readonly long long free
    cdef readonly long long window
    cdef readonly long long extra
    cdef readonly long long longest
    cdef readonly long long closing
    cdef readonly Py_ssize_t pins
    cdef bint on_nodes
    cdef readonly long long early  # jobs that have ended before they were expected to, where promises last
    cdef public Py_ssize_t domain
    cdef long long[::1] ranges
    cpdef int focus(self, Py_ssize_t node_set, bint local) except -1
    cpdef int focus_beside(self, Py_ssize_t node_set, Py_ssize_t slot) except -1
    cdef int confine(self, object nodes) except -1
    cdef int lift(self) except -1
    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int give_node(self, Py_ssize_t slot, Py_ssize_t node) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef long long best_gap(self, Py_ssize_t slot) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int loosen(self, Py_ssize_t slot) except -1
    cpdef int suppose(self, bint trial) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cdef bint holds_only(self, Py_ssize_t slot) except? -1
    cdef bint keeps_number(self, Py_ssize_t slot) except? -1
    cpdef long long advance(self, Py_ssize_t slot) except? -1
    cdef bint track(self, Queue queue) except -1
    cdef int begin_moves(self) except -1
    cdef Py_ssize_t mover(self) except? -1
    cdef Py_ssize_t promises(self) except? -1
    cdef Py_ssize_t due(self, long long[::1] slots) except -1
    cdef long long next_promise(self) except? -1
    cpdef int shut(self, Py_ssize_t blocker, object nodes, long long until) except -1
    cpdef int keep_shut(self, Py_ssize_t blocker, object nodes, long long start, long long end) except -1
    cpdef int put_back(self, Py_ssize_t slot, object where) except -1
    cpdef int set_time(self, long long now) except -1
    cpdef long long need(self, Py_ssize_t slot) except? -1
    cpdef Py_ssize_t describe(self, Py_ssize_t slot) except -1
    cpdef bint foresee(self, FreeProfile free_profile) except? -1
    cpdef long long units(self, Py_ssize_t slot) noexcept
