from walltime.engine.disruptions.preemption cimport Preemptor
from walltime.kernel.ledger.forecast cimport Forecast
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.queue.lines cimport Line, LineKeys, LinesQueue
from walltime.kernel.queue.waiting cimport Queue
from walltime.kernel.quotas cimport Quotas
from walltime.kernel.queue.scan cimport ScanQueue
from walltime.policy.api cimport LIMIT, TIMER, Order, Pass, Policy, Rhythm

cdef class Domain(LineKeys):
    cdef readonly Queue queue
    cdef readonly LinesQueue lines
    cdef readonly Policy policy
    cdef object own
    cdef bint lazy
    cdef readonly Pass view
    cdef readonly int causes
    cdef int kept
    cdef public Preemptor preemptor
    cdef bint dynamic
    cdef bint periodic
    cdef list clocks
    cdef long long[::1] clock_of
    cdef long long[::1] renewed
    cdef long long[::1] renewal
    cdef long long[::1] renewed_at
    cdef list orders
    cdef public bint late
    cdef readonly Rhythm rhythm
    cdef bint plans
    cdef long long asked
    cdef bint due(self, long long now) except? -1
    cdef bint waits(self) noexcept
    cdef int happened(self, long long now) noexcept
    cdef bint unsettled(self, long long now) except? -1
    cdef long long next_look(self, long long now) except *
    cdef public long long cores
    cdef public object mask
    cdef Forecast forecast
    cdef int take_back(self, Quotas quotas) except -1
    cdef list waiting(self)
    cdef bint is_fresh(self) except? -1
    cdef Py_ssize_t place_of(self, Py_ssize_t slot) except -1
    cdef int prepare(self, long long now) except -1
    cdef bint stale(self, long long now) except? -1
    cdef bint is_stale(self, Line line) except? -1
    cdef int renew(self, Line line) except -1
    cdef int rekey_lines(self, list lines, long long now) except -1
    cdef int rekey(self, Queue queue, Order order, long long now) except -1
    cdef int rekey_jointly(self, Order order, long long now) except -1
