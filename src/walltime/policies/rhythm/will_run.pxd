from walltime.kernel.ledger.node_space cimport put_node
from walltime.kernel.ledger.node_pool cimport NodePool
from walltime.kernel.ledger.running_profile cimport RunningProfile
from walltime.kernel.ledger.resources cimport ResourceLedger

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
    cdef long long[::1] seen
    cdef long long[::1] offered
    cdef long long stamp

    cdef long long when(self, Py_ssize_t slot, long long[::1] usable, bint now_only) except *
    cdef int begin(self, Py_ssize_t slot, long long[::1] usable) except -1
    cdef long long walk(self) except *
    cdef bint touches(self, Py_ssize_t job) noexcept
    cdef int without(self, Py_ssize_t job, long long time) except -1
    cdef bint enough(self, long long time) except? -1
    cdef int imagine(self, long long time, NodePool pool) except -1
    cdef int choose(self, long long time) except -1
