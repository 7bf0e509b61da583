from walltime.kernel.arrays cimport words
from walltime.kernel.ledger.node_space cimport no_nodes, put_node
from walltime.kernel.ledger.node_starts cimport Smallest
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.ledger.running_profile cimport RunningProfile
from walltime.kernel.ledger.resources cimport ResourceLedger
from walltime.policies.place.consecutive cimport Consecutive

cdef extern from *:
    int __builtin_ctzll(unsigned long long x) noexcept nogil

cdef class WillRun:
    cdef ResourceLedger ledger
    cdef readonly long long step
    cdef readonly long long[::1] nodes
    cdef long long[::1] usable
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
    cdef list members
    cdef long long[::1] among
    cdef long long[::1] offered
    cdef Smallest soonest
    cdef Consecutive neighbours

    cdef long long when(self, Py_ssize_t slot, long long[::1] usable, bint now_only) except *
    cdef long long bound(self, Py_ssize_t slot, long long[::1] usable) except *
    cdef int begin(self, Py_ssize_t slot, long long[::1] usable) except -1
    cdef object members_of(self, Py_ssize_t s)
    cdef int count_ready(self) except -1
    cdef int sum_offers(self) except -1
    cdef long long walk(self) except *
    cdef bint touches(self, Py_ssize_t job) noexcept
    cdef Py_ssize_t count_ended(self, Py_ssize_t job, long long end) noexcept
    cdef int without(self, Py_ssize_t job, long long time) except -1
    cdef bint enough(self, long long time) except? -1
    cdef int imagine(self, long long time, NodePool pool) except -1
    cdef int choose(self) except -1
    cdef int mark_ready(self, long long time) noexcept
    cdef int mark_chosen(self, NodePool pool) except -1
