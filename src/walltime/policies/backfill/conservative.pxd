from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport CAPACITY, ESTIMATE, ORDER, RELEASE, TIMER, Pass, Policy, require_open

cdef class Conservative(Policy):
    cdef long long woken
    cdef readonly Candidates candidates
    cpdef schedule(self, Pass p)
    cdef int move_forward(self, Pass p, long long[::1] waiting) except -1
    cdef int replan(self, Pass p, long long[::1] waiting) except -1
    cdef int start_due(self, Pass p, long long[::1] waiting) except -1
    cdef int take_back(self, Pass p, long long[::1] waiting) except -1
