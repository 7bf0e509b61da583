from walltime.policy.api cimport Pass, Policy

cdef class Aggressive(Policy):
    cpdef int schedule(self, Pass p) except -1
