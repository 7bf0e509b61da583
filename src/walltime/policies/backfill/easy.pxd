from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport ARRIVAL, Pass, Policy, require_open

cdef class Easy(Policy):
    cdef readonly Candidates candidates
    cdef readonly double alpha
    cdef Py_ssize_t blocked
    cdef long long head_seq
    cdef long long head_start
    cpdef schedule(self, Pass p)
    cdef int consider_arrivals(self, Pass p) except -1
    cdef int reserve_late(self, Pass p, Py_ssize_t slot) except -1
