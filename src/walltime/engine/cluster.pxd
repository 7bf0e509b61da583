from walltime.engine.domain cimport Domain
from walltime.engine.brokering.assignments cimport Assignments
from walltime.engine.sources cimport Openings, Timers
from walltime.kernel.ledger.forecast cimport Forecast
from walltime.kernel.jobs cimport OUTSIDE, JobFields, JobTable
from walltime.kernel.ledger.cores cimport CoreLedger
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.ledger.plan cimport PlanLedger
from walltime.kernel.ledger.trial cimport Trial
from walltime.kernel.queue.waiting cimport OrderedQueue, Queue
from walltime.kernel.quotas cimport Quotas
from walltime.kernel.queue.scan cimport ScanQueue
from walltime.policy.api cimport ARRIVAL, CAPACITY, ESTIMATE, LIMIT, ORDER, RELEASE, TIMER, Estimate, Order, Pass, Policy
from walltime.policy.clusters cimport ClusterView

cdef class Changes:
    cdef public long long now
    cdef list touched
    cdef list stirred
    cdef readonly Py_ssize_t waiting
    cdef readonly Py_ssize_t running

cdef class Cluster(ClusterView):
    cdef readonly Quotas quotas
    cdef readonly list orders
    cdef readonly Estimate estimate
    cdef readonly list domains
    cdef readonly bint several
    cdef readonly list reserved
    cdef readonly Domain sole
    cdef readonly Order order
    cdef readonly bint licensed
    cdef public dict chosen
    cdef public Openings openings
    cdef list charged
    cdef bint charges
    cdef bint minds
    cdef readonly bint bare
    cdef CoreLedger plain
    cdef bint by_entry
    cdef bint as_asked
    cdef int prepare(self) except -1
    cdef bint admits(self, Py_ssize_t slot) except? -1
    cdef readonly long long passes
    cdef readonly Py_ssize_t longest_queue
    cdef int join(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef public long long requeue_delay
    cdef int rejoin(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef int changed(self, Py_ssize_t slot, int cause) except -1
    cdef int changed_all(self, int cause) except -1
    cdef bint awaits(self, long long now) except? -1
    cdef int wake(self, long long now) except -1
    cdef int begin_pass(self, Domain domain, long long now, bint amid) except -1
    cdef int end_pass(self, Domain domain) except -1
    cdef int plan_admissions(self, long long now) except -1
    cdef int plan_looks(self, Domain domain, Timers timers, long long now) except -1
    cdef object refuse(self, Py_ssize_t slot)
    cdef int forget(self, Py_ssize_t slot, long long now) except -1
    cdef bint put(self, Py_ssize_t slot, list where, long long now) except? -1
    cdef bint put_aside(self, Py_ssize_t slot) except? -1
    cdef int put_back(self, Py_ssize_t slot, object where, long long now) except -1
    cdef int left(self, Py_ssize_t slot) except -1
    cdef int note_queue(self, Py_ssize_t slot) except -1
    cdef int set_time(self, long long now) except -1
    cdef int set_bare_time(self, long long now) except -1
    cdef Ledger ledger_of(self, Py_ssize_t slot)
    cpdef int charge_to(self, Order order) except -1
    cdef int charge(self, Py_ssize_t slot, long long now, bint started) except -1
    cdef long long held_cores(self, Py_ssize_t slot) except *
    cdef int released(self, Py_ssize_t slot) except -1
    cdef Changes changes
    cdef bint touched
    cdef bint stirred
    cdef bint moved
    cdef bint idle
    cdef bint closed
    cdef bint target
    cdef public Assignments assignments
    cdef public object machine
    cdef int touch(self) except -1
    cdef int mark_changed(self) except -1
    cdef int count_arrival(self, JobTable jobs, Py_ssize_t slot, Domain domain) except -1
    cdef int unqueued(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef int started(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef int stopped(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef int shrunk(self, JobTable jobs, Py_ssize_t slot) except -1
    cdef int prolong(self, Py_ssize_t slot, long long until, long long now) except -1
    cdef int passed(self, Domain domain) except -1
    cdef Domain domain_of(self, JobTable jobs, Py_ssize_t slot)
    cdef object takes(self, Py_ssize_t slot)
    cdef object count_in(self, JobTable jobs, Py_ssize_t slot)
    cdef int take_in(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef int give_up(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cdef bint keeps_room(self, Py_ssize_t slot) except? -1
    cdef list waiting_in(self, Domain domain)
    cdef int describe_as_queued(self, JobTable jobs, Py_ssize_t slot, long long now) except -1
    cpdef bint could_start(self, Py_ssize_t slot) except? -1
    cpdef long long predict(self, Py_ssize_t slot) except *
    cdef long long planned(self, JobTable jobs, Py_ssize_t slot, long long now) except *
    cdef long long predict_start(self, JobTable jobs, Py_ssize_t slot, Domain domain, long long now) except *
    cdef int refresh(self, JobTable jobs, Domain domain, long long now) except -1
    cdef long long first_fit(
        self, Py_ssize_t slot, Domain domain, Forecast forecast, bint alone, long long now
    ) except *
    cdef long long fit_behind(self, Py_ssize_t slot, Domain domain, Py_ssize_t before, long long now) except *
    cpdef long long predict_behind(self, Py_ssize_t slot, list before, long long now) except *
    cdef Forecast make_forecast(self, JobTable jobs, Domain domain)
