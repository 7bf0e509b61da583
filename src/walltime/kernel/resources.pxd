from walltime.kernel.inventory cimport Inventory
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.place cimport Place
from walltime.kernel.pool cimport NodePool
from walltime.kernel.profile cimport RunningProfile

cdef class ResourceLedger(Inventory):
    # a walk through the expected ends of a set's running jobs
    cdef RunningProfile walk
    cdef Py_ssize_t block
    cdef Py_ssize_t entry
    cdef long long[::1] seen
    cdef long long[::1] offered
    cdef long long step

    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef int take(self, Py_ssize_t slot) except -1
    cpdef int give(self, Py_ssize_t slot) except -1
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef long long earliest(self, Py_ssize_t slot, long long after) except? -1
    cpdef int hold(self, Py_ssize_t slot, long long start) except -1
    cpdef int unhold(self, Py_ssize_t slot) except -1
    cpdef int release_holds(self) except -1
    cdef bint fits_simply(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint fits_fully(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except? -1
    cdef bint suits(self, Py_ssize_t x, NodePool pool) except? -1
    cdef int narrow(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long end) except -1
    cdef int choose(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef int choose_by_leftover(self, Py_ssize_t x, NodePool pool) except -1
    cdef double leftover(self, Py_ssize_t i, Py_ssize_t d) noexcept
    cdef int settle(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool) except -1
    cdef long long when_enough(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef int select(self, Py_ssize_t s, Py_ssize_t at, Py_ssize_t want, long long after, long long limit) except -1
    cdef long long when_suits(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef int imagine(self, Py_ssize_t slot, Py_ssize_t x, NodePool pool, long long start, long long end) except -1
    cdef long long when_offered(self, Py_ssize_t slot, Py_ssize_t x, long long after) except? -1
    cdef long long offered_now(self, Py_ssize_t slot, Py_ssize_t x) except? -1
    cdef long long forward(self, Py_ssize_t x, long long time) except? -1
    cdef int name_nodes(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int name_cores(self, Py_ssize_t slot, Py_ssize_t x, long long start, long long end) except -1
    cdef int keep(self, Py_ssize_t slot, Py_ssize_t d, Py_ssize_t i, long long start, long long end, long long cores, long long times) except -1
    cdef int drop_hold(self, Py_ssize_t h) except -1
