from walltime.kernel.jobs cimport RUNNING, SUSPENDED, WAITING, JobTable
from walltime.policy.api cimport ARRIVAL, Pass

cdef class Displacer:
    cdef readonly object part
    cdef readonly object simulation
    cdef readonly JobTable jobs
    cdef readonly list tiers
    cdef readonly dict waiting
    cdef readonly dict running
    cdef readonly dict rank_of
    cdef readonly dict told
    cdef readonly dict claims
    cdef readonly dict suspended
    cdef list fresh

    cpdef waits(self, Py_ssize_t slot)
    cpdef moved(self, Py_ssize_t slot, int before, int after)
    cpdef bint act(self, Pass view) except? -1
    cpdef displace(self, Py_ssize_t slot)
