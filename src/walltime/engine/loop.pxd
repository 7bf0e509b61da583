from cpython.exc cimport PyErr_CheckSignals

from walltime.engine.cluster cimport Cluster
from walltime.engine.domain cimport Domain
from walltime.engine.ending cimport Ending
from walltime.engine.life cimport Life
from walltime.engine.sources cimport Releases, Timers
from walltime.execution.model cimport Execution
from walltime.kernel.jobs cimport CANCELLED, PREEMPTED, RUNNING
from walltime.kernel.source cimport REQUEUE, Observer, Source, due_address, earliest_of, next_due
from walltime.policy.api cimport CANCEL, CAPACITY, PREEMPT, RESERVE, START, Pass

cdef class Simulation(Life):
    cdef readonly Source arrivals
    cdef readonly Timers timers
    cdef readonly Ending ending
    cdef readonly list sources
    cdef list sourced
    cdef list awake
    cdef long long[::1] dues
    cdef bint awoken
    cdef bint deciding
    cdef bint attended
    cdef readonly list machines
    cdef readonly dict chosen
    cdef readonly long long over
    cdef readonly dict unfinished
    cdef object progress
    cdef double reported
    cdef double polled
    cdef long long mask
    cdef public double every
    cdef long long instants
    cdef long long upcoming

    cdef bint is_over(self) noexcept
    cdef bint is_amid(self) noexcept
    cdef long long go_on(self, long long last) except *
    cdef int earliest(self) noexcept
    cdef int fire_due(self) except -1
    cdef int instant(self) except -1
    cdef int poll(self) except -1
    cdef bint run_clusters(self) except? -1
    cdef bint run_cluster(self, Cluster cluster) except? -1
    cdef int run_pass(self, Cluster cluster, Domain domain) except -1
    cdef bint is_heard(self) except -1
    cdef int commit(self, Cluster cluster, Pass view) except -1
    cpdef int wake(self, Py_ssize_t cluster) except -1
    cpdef int attend(self) except -1
