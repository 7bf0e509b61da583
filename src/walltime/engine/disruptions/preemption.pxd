from walltime.engine.disruptions.victims cimport VictimSearch
from walltime.kernel.queue.chains cimport Chains
from walltime.kernel.jobs cimport RUNNING, SUSPENDED, WAITING, JobTable
from walltime.kernel.queue.lines cimport LinesQueue
from walltime.kernel.source cimport Engine
from walltime.policy.api cimport ARRIVAL, TIMER, Pass
from walltime.policy.preempt cimport Preempt

cdef class Preemptor:
    cdef readonly Preempt part
    cdef readonly Engine simulation
    cdef readonly object notices
    cdef readonly JobTable jobs
    cdef readonly list tiers
    cdef readonly dict told
    cdef readonly dict claims
    cdef readonly dict suspended
    cdef readonly dict made_way
    cdef readonly Py_ssize_t going
    cdef Chains chains
    cdef long long[::1] rank
    cdef dict waiting
    cdef dict running
    cdef list order
    cdef list fresh
    cdef bint unasked
    cdef bint sought
    cdef long long base
    cdef dict hopeless
    cdef VictimSearch search

    cpdef waits(self, Py_ssize_t slot)
    cpdef moved(self, Py_ssize_t slot, int before, int after)
    cpdef bint act(self, Pass view) except? -1
    cpdef displace(self, Py_ssize_t slot)
    cdef int runs(self, Py_ssize_t slot) except -1
    cdef int note(self, Py_ssize_t slot, long long rank) except -1
    cdef list urgent(self, Pass view)
    cdef bint in_flux(self, Pass view) except? -1
    cdef bint seeks(self, Pass view, long long lowest) except? -1
    cdef long long lowest(self) except *
    cdef int park_refused(self, LinesQueue lines) except -1
    cdef int let_seek(self, Pass view, Py_ssize_t slot, list urgent) except -1
    cdef int serve(self, Pass view, Py_ssize_t slot) except -1
    cdef int pin(self, Pass view, Py_ssize_t slot) except -1
    cdef int renounce(self, Py_ssize_t slot) except -1
    cdef int waits_no_more(self, Py_ssize_t slot) except -1
    cdef list victims(self, Pass view, Py_ssize_t slot)
    cdef list look(self, VictimSearch search, long long own)
