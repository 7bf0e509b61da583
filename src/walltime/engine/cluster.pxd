from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger cimport Ledger
from walltime.kernel.lines cimport Line, LinesQueue
from walltime.kernel.queue cimport OrderedQueue, Queue
from walltime.kernel.quotas cimport Quotas
from walltime.kernel.scan cimport ScanQueue
from walltime.policy.api cimport ARRIVAL, LIMIT, TIMER, Estimate, Order, Pass, Policy, Rhythm

cdef class Island:
    cdef readonly Queue queue
    cdef readonly LinesQueue lines
    cdef readonly Policy policy
    cdef readonly Pass view
    cdef readonly int causes
    cdef public object displacer
    cdef bint dynamic
    cdef bint periodic
    cdef long long[::1] renewed
    cdef long long[::1] renewal
    cdef readonly Rhythm rhythm
    cdef long long asked
    cdef bint due(self, long long now) except? -1
    cdef bint waits(self) noexcept
    cdef int happened(self, long long now) noexcept
    cdef bint unsettled(self, long long now) except? -1
    cdef long long next_look(self, long long now) except *
    cdef int prepare(self, list orders, long long now) except -1
    cdef bint stale(self, list orders, long long now) except? -1
    cdef int rekey(self, Queue queue, Order order, Py_ssize_t lane, long long now) except -1

cdef class Cluster:
    cdef readonly str name
    cdef readonly int index
    cdef readonly Ledger ledger
    cdef readonly Quotas quotas
    cdef readonly list orders
    cdef readonly Estimate estimate
    cdef readonly list islands
    cdef readonly bint several
    cdef readonly list reserved
    cdef readonly Island sole
    cdef readonly Order order
    cdef readonly bint licensed
    cdef list charged
    cdef bint charges
    cdef readonly long long passes
    cdef readonly Py_ssize_t longest_queue
    cdef int join(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef int changed(self, Py_ssize_t slot, int cause) except -1
    cdef int changed_all(self, int cause) except -1
    cdef int set_time(self, long long now) except -1
    cdef Ledger ledger_of(self, Py_ssize_t slot)
    cdef int charge(self, Py_ssize_t slot, long long now, bint started) except -1
    cdef int released(self, Py_ssize_t slot) except -1
