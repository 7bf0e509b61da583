from libc.string cimport memcpy

from walltime.kernel.jobs cimport OUTSIDE, WAITING, JobTable
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.queue.choices cimport Choices
from walltime.kernel.queue.lines cimport LinesQueue
from walltime.kernel.queue.waiting cimport Queue
from walltime.kernel.quotas cimport Quotas

cdef enum:
    RELEASE = 1
    ARRIVAL = 2
    ORDER = 4
    LIMIT = 8
    CAPACITY = 16
    TIMER = 32
    ESTIMATE = 64

cdef enum:
    START = 0
    RESERVE = 1
    CANCEL = 2
    PREEMPT = 3
    WAKE = 4

cpdef long long float_key(double value) noexcept

cpdef Pass require_open(Pass p)

cdef class Policy:
    cdef public bint plans
    cdef public bint strict
    cdef public bint lazy
    cdef readonly object rule
    cdef public Order charged
    cpdef attach(self, object surroundings)
    cpdef schedule(self, Pass p)

cdef class Rhythm:
    cdef readonly Policy policy
    cdef readonly bint ageing
    cdef readonly object lanes
    cdef public bint forgets
    cdef public bint replans
    cdef public bint asks_limits
    cdef int require_attached(self) except -1
    cpdef bint due(self, long long now, int causes) except? -1
    cpdef schedule(self, Pass p)
    cpdef long long next(self, long long now, int causes) except *

cdef class FunctionPolicy(Policy):
    cdef readonly object function
    cpdef schedule(self, Pass p)

cdef class Order:
    cdef public bint dynamic
    cdef public bint joint
    cdef public bint periodic
    cdef public bint charges
    cdef public bint remembers
    cpdef attach(self, object surroundings)
    cpdef set_time(self, long long now)
    cpdef long long key(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef keys(self, JobTable jobs, long long[::1] slots, long long now, long long[::1] keys)
    cpdef long long renew(self, long long now) except *
    cpdef started(self, JobTable jobs, Py_ssize_t slot, long long now, long long cores)
    cpdef stopped(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict parts(self, JobTable jobs, Py_ssize_t slot, long long now)
    cpdef dict history(self)

cdef class Estimate:
    cdef public bint oracle
    cdef public bint learns
    cpdef long long estimate(self, JobTable jobs, Py_ssize_t slot) except? -1
    cpdef ended(self, JobTable jobs, Py_ssize_t slot, long long run)

cdef class Broker:
    cpdef prepare(self, JobTable jobs, list clusters, long long seed)
    cpdef int route(self, Py_ssize_t slot, list clusters) except? -1

cdef class Pass:
    cdef readonly long long now
    cdef readonly int causes
    cdef int fresh
    cdef readonly bint amid
    cdef public bint heard
    cdef readonly JobTable jobs
    cdef Queue raw_queue
    cdef Ledger raw_ledger
    cdef LinesQueue lines
    cdef Quotas quotas
    cdef readonly Py_ssize_t number
    cdef readonly Py_ssize_t node_set
    cdef readonly str cluster
    cdef readonly object policy
    cdef bint open
    cdef long long[::1] kind
    cdef long long[::1] slot
    cdef long long[::1] value
    cdef readonly Py_ssize_t decided
    cdef bint keeps
    cdef long long[::1] promised
    cdef long long[::1] promised_seq
    cdef Py_ssize_t promises

    cpdef Py_ssize_t head(self) except -2
    cpdef Py_ssize_t next(self, Py_ssize_t slot) except -2
    cpdef Py_ssize_t candidate(self, Py_ssize_t after=*) except -2
    cpdef bint fits(self, Py_ssize_t slot) except? -1
    cpdef bint admits(self, Py_ssize_t slot) except? -1
    cdef bint fits_by_rules(self, Py_ssize_t slot) except? -1
    cdef bint would_fit(self, Py_ssize_t slot) except? -1
    cdef long long plan(self, Py_ssize_t slot) except *
    cdef bint barred(self, Py_ssize_t slot) noexcept
    cdef bint chooses(self) noexcept
    cdef bint has_timed_limits(self) noexcept
    cdef bint fits_for(self, Py_ssize_t slot, long long length) except? -1
    cdef long long plan_for(self, Py_ssize_t slot, long long length) except *
    cdef int promise(self, Py_ssize_t slot, long long time, long long length) except -1
    cdef int expect(self, Py_ssize_t slot, long long time) except -1
    cdef int withdraw(self, Py_ssize_t slot, Py_ssize_t counter) except -1
    cdef int pass_over(self, Py_ssize_t lane) except -1
    cdef int pass_over_none(self) except -1
    cdef int set_causes(self, int causes) noexcept
    cpdef int start(self, Py_ssize_t slot) except -1
    cpdef Py_ssize_t start_heads(self) except -2
    cpdef Py_ssize_t start_candidates(self) except -1
    cdef int choose(self, Py_ssize_t slot, Py_ssize_t k) noexcept
    cdef int start_here(self, Py_ssize_t slot) except -1
    cdef int start_head(self, Py_ssize_t slot) except -1
    cdef int begin_job(self, Py_ssize_t slot) except -1
    cdef int widen(self) except -1
    cpdef bint fits_on(self, Py_ssize_t slot, object nodes) except? -1
    cpdef int start_on(self, Py_ssize_t slot, object nodes) except -1
    cpdef long long earliest(self, Py_ssize_t slot) except *
    cpdef long long reserve(self, Py_ssize_t slot) except *
    cpdef int release(self) except -1
    cdef bint release_but(self, Py_ssize_t slot) except? -1
    cdef int forget_promises(self) except -1
    cpdef long long advance(self, Py_ssize_t slot) except *
    cpdef int cancel(self, Py_ssize_t slot) except -1
    cpdef int preempt(self, Py_ssize_t slot) except -1
    cpdef int wake(self, long long time) except -1
    cpdef long long cores(self, Py_ssize_t slot) except *
    cpdef long long requested(self, Py_ssize_t slot) except *
    cpdef long long estimate(self, Py_ssize_t slot) except *
    cpdef long long waited(self, Py_ssize_t slot) except *
    cdef int begin(self, long long now, int causes) except -1
    cdef bint is_idle(self) except? -1
    cdef int end(self) except -1
    cdef int rollback(self) except -1
    cdef bint stand(self) except? -1
    cdef int note(self, Py_ssize_t slot) except -1
    cdef int decide(self, int kind, Py_ssize_t slot, long long value) except -1
    cdef int check(self, Py_ssize_t slot) except -1
    cdef int look(self, Py_ssize_t slot) except -1
    cdef bint waits_here(self, Py_ssize_t slot) noexcept
    cdef int check_place(self, Py_ssize_t slot) except -1
    cdef tuple verdict(self, Py_ssize_t slot, long long now)
    cdef int complain(self) except -1
