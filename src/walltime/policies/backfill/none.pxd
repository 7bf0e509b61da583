from walltime.policy.api cimport Pass, Policy, require_open

cdef class NoBackfill(Policy):
    cpdef schedule(self, Pass p)
