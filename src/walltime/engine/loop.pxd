from cpython.exc cimport PyErr_CheckSignals

from walltime.engine.cluster cimport Changes, Cluster, Island
from walltime.engine.dependencies cimport Dependencies, TaskLimits
from walltime.engine.dispatch cimport Dispatch, GlobalQueue
from walltime.engine.recorder cimport Recorder
from walltime.engine.sources cimport Cancellations, Expiries, Interruptions, Limits, Openings, Releases, Timers
from walltime.execution.model cimport Execution
from walltime.kernel.jobs cimport (
    CANCELLED, COMPLETED, FAILED, FUTURE, HELD, OUTSIDE, PREEMPTED, REJECTED, REQUEUED, RUNNING, SUSPENDED, WAITING,
    JobTable, done_in, seal, time_for
)
from walltime.kernel.ledger cimport Ledger
from walltime.kernel.source cimport CHECKPOINT, FAIL, REQUEUE, Engine, Observer, Source
from walltime.policy.api cimport (
    ARRIVAL, CANCEL, CAPACITY, ESTIMATE, LIMIT, ORDER, PREEMPT, RELEASE, RESERVE, START, TIMER, Pass
)

cdef class Simulation(Engine):
    cdef readonly list clusters
    cdef readonly Execution execution
    cdef readonly Dispatch dispatch
    cdef readonly Changes changes
    cdef readonly Source arrivals
    cdef readonly Limits limits
    cdef readonly Interruptions interruptions
    cdef readonly Cancellations cancellations
    cdef readonly Expiries impatience
    cdef readonly Expiries deadlines
    cdef readonly Dependencies dependencies
    cdef readonly TaskLimits task_limits
    cdef readonly Releases releases
    cdef readonly Timers timers
    cdef readonly Openings openings
    cdef readonly Recorder recorder
    cdef readonly list sources
    cdef list sourced
    cdef readonly list machines
    cdef bint ranked
    cdef bint attended
    cdef readonly object ending
    cdef readonly long long idle
    cdef long long active
    cdef public long long patience
    cdef public bint checkpointed
    cdef readonly object overhead
    cdef readonly dict counts
    cdef readonly list observers
    cdef readonly list live_jobs
    cdef readonly dict reasons
    cdef readonly dict withdrawn
    cdef readonly long long over
    cdef readonly dict left
    cdef readonly dict chosen
    cdef readonly bint extend
    cdef bint drop_late
    cdef Cluster only
    cdef long long[::1] legal
    cdef bint watched
    cdef object progress
    cdef double reported
    cdef public double every
    cdef long long instants
    cdef readonly long long ended

    cdef int enter(self, Py_ssize_t slot, long long begin, long long cancel) except -1
    cdef int join_clusters(self) except -1
    cdef bint run_clusters(self) except? -1
    cdef bint run_cluster(self, Cluster cluster) except? -1
    cdef int turn_away(self) except -1
    cdef int drop(self, Py_ssize_t slot, int state) except -1
    cdef int instant(self) except -1
    cdef bint is_over(self) noexcept
    cdef bint is_amid(self) noexcept
    cdef int ask_again(self, Cluster c, Island island) except -1
    cdef int run_pass(self, Cluster c, Island island) except -1
    cdef int foresee_openings(self, Cluster c) except -1
    cdef int commit(self, Cluster c, Pass view) except -1
    cdef int reject(self, Py_ssize_t slot, str reason) except -1
    cdef int start(self, Py_ssize_t slot) except -1
    cdef int stop(self, Py_ssize_t slot, int outcome, bint keep) except -1
    cdef bint worthwhile(self, long long time) except? -1
    cdef int account(self, Py_ssize_t slot) except -1
    cpdef int resume_at(self, Py_ssize_t slot, object where) except -1
    cpdef int interrupt(self, Py_ssize_t slot, int remedy, int outcome) except -1
    cdef int move(self, Py_ssize_t slot, int state) except -1
    cdef int poll(self) except -1
    cdef int leave(self, Py_ssize_t slot, int state) except -1
    cpdef int finish(self, Py_ssize_t slot, int state) except -1
    cpdef int withdraw(self, Py_ssize_t slot, str reason) except -1
    cdef int count_withdrawn(self, str reason) except -1
    cpdef int requeue(self, Py_ssize_t slot) except -1
    cpdef int suspend(self, Py_ssize_t slot) except -1
    cpdef int resume(self, Py_ssize_t slot) except -1
    cpdef int set_capacity(self, int cluster, long long cores) except -1
    cpdef int admit(self, Py_ssize_t slot) except -1
    cpdef int wake(self, Py_ssize_t cluster) except -1
    cpdef long long kill_time(self, Py_ssize_t slot) noexcept
    cpdef int correct(self, Py_ssize_t slot) except -1
