from walltime.policy.api cimport Pass, Policy

cdef class NoBackfill(Policy):
    cpdef schedule(self, Pass p)
