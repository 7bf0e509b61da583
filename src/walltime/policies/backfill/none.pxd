from walltime.policy.api cimport Pass, Policy

cdef class NoBackfill(Policy):
    cpdef int schedule(self, Pass p) except -1
