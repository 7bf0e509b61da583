from walltime.kernel.profiles.node_space cimport no_nodes, put_node
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.profiles.running_profile cimport RunningProfile
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.policies.place.consecutive cimport Consecutive
from walltime.policies.rhythm.soonest cimport Soonest

cdef extern from *:
    int __builtin_ctzll(unsigned long long x) noexcept nogil

cdef class WillRun:
    cdef ResourceLedger ledger
    cdef readonly long long step
    cdef readonly long long[::1] nodes
    cdef long long[::1] usable
    cdef long long[::1] mine
    cdef Py_ssize_t words
    cdef Py_ssize_t slot
    cdef Py_ssize_t shape
    cdef Py_ssize_t row
    cdef long long have
    cdef long long want
    cdef long long ready
    cdef long long lacking
    cdef long long[::1] seen
    cdef long long stamp
    cdef long long time
    cdef bint shaped
    cdef Py_ssize_t sets
    cdef long long[::1] members
    cdef Py_ssize_t among
    cdef long long[::1] offered
    cdef Soonest soonest
    cdef long long listed
    cdef long long[::1] ends
    cdef long long[::1] runners
    cdef Py_ssize_t running

    cdef int aim(self, Py_ssize_t slot) except -1
    cdef bint reaches(self, long long time) noexcept
    cdef long long find_ready(self) noexcept
    cdef long long when(self, bint now_only) except *
    cdef long long bound(self, long long[::1] nodes, Py_ssize_t own) noexcept
    cdef bint has_room(self, long long[::1] nodes) noexcept
    cdef bint comes_free(self, long long[::1] nodes) noexcept
    cdef bint reaches_on(self, long long[::1] nodes, long long time) noexcept
    cdef int narrow(self) noexcept
    cdef int begin(self) except -1
    cdef Py_ssize_t members_of(self, Py_ssize_t s) except -1
    cdef int sum_offers(self) except -1
    cdef long long walk(self) except *
    cdef long long stride(self) except *
    cdef long long widened(self, long long window, long long base, long long time) noexcept
    cdef int list_running(self) except -1
    cdef Py_ssize_t place_of(self, long long time) noexcept
    cdef bint touches(self, Py_ssize_t job) noexcept
    cdef Py_ssize_t count_ended(self, Py_ssize_t job, long long end) noexcept
    cdef int without(self, Py_ssize_t job, long long time) except -1
    cdef bint enough(self, long long time) except? -1
    cdef int imagine(self, long long time, NodePool pool) except -1
    cdef int choose(self) except -1
    cdef int mark_chosen(self, NodePool pool) except -1
