from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport Pass, Policy, require_open

cdef class Aggressive(Policy):
    cdef readonly Candidates candidates
    cpdef schedule(self, Pass p)
