cimport cython

from walltime.engine.cluster cimport Cluster
from walltime.engine.recording.recorder cimport Recorder
from walltime.engine.scheduling cimport Scheduling
from walltime.engine.sources cimport Releases, Returns
from walltime.execution.model cimport Execution
from walltime.kernel.jobs cimport (
    CANCELLED, COMPLETED, FAILED, FUTURE, HELD, REJECTED, RESIZED, RUNNING, SUSPENDED, WAITING, JobTable,
    done_in, seal
)
from walltime.kernel.ledger.interface cimport Ledger
from walltime.kernel.source cimport (
    BEGUN, ELIGIBLE, ENTERED, FAIL, INTERRUPTED, KILL, LEFT, MOVED, OUTLIVES, REQUEUE, RESTORE, STARTED, Engine, Observer, Source
)
from walltime.policy.api cimport RELEASE

cdef class Life(Engine):
    cdef readonly list clusters
    cdef readonly Scheduling scheduling
    cdef readonly Execution execution
    cdef readonly Releases releases
    cdef readonly Returns returns
    cdef readonly Recorder recorder
    cdef list on_entered
    cdef list on_eligible
    cdef list on_started
    cdef list on_begun
    cdef list on_interrupted
    cdef list on_left
    cdef list on_moved
    cdef list on_outlives
    cdef Cluster only
    cdef bint minds
    cdef readonly dict counts
    cdef readonly list observers
    cdef readonly dict reasons
    cdef readonly dict withdrawn
    cdef long long[::1] legal
    cdef bint watched
    cdef bint told
    cdef int heard
    cdef readonly long long ended
    cdef public long long overtime
    cdef public long long limit_check

    cdef int listen(self, list sources) except -1
    cdef int enter(self, Py_ssize_t slot, long long begin) except -1
    cdef int reject(self, Py_ssize_t slot, str reason) except -1
    cdef int turn_away(self) except -1
    cdef int start(self, Py_ssize_t slot) except -1
    cdef int stop(self, Py_ssize_t slot, int outcome, bint keep) except -1
    cdef int leave(self, Py_ssize_t slot, int state) except -1
    @cython.final
    cdef int let_in(self, Py_ssize_t slot) except -1
    @cython.final
    cdef int turn(self, Py_ssize_t slot, int state) except -1
    @cython.final
    cdef int forbid(self, Py_ssize_t slot, int before, int state) except -1
    @cython.final
    cdef int tell(self, Py_ssize_t slot, int before, int state) except -1
    cpdef int resume_at(self, Py_ssize_t slot, object where) except -1
    cpdef int count_withdrawn(self, str reason) except -1
    cpdef int finish(self, Py_ssize_t slot, int state) except -1
    cpdef int withdraw(self, Py_ssize_t slot, str reason) except -1
    cpdef int interrupt(self, Py_ssize_t slot, int remedy, int outcome) except -1
    cpdef int suspend(self, Py_ssize_t slot) except -1
    cpdef int resume(self, Py_ssize_t slot) except -1
    cpdef int shrink(self, Py_ssize_t slot, list nodes) except -1
    cpdef int admit(self, Py_ssize_t slot) except -1
    cpdef int rejoin(self, Py_ssize_t slot) except -1
    cpdef long long kill_time(self, Py_ssize_t slot) noexcept
    cpdef int prolong(self, Py_ssize_t slot, long long until) except -1
    cpdef int move(self, Py_ssize_t slot, int state) except -1
