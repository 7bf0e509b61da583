from walltime.policies.backfill.candidates cimport Candidates
from walltime.policy.api cimport ARRIVAL, Pass, Policy, require_open

cdef class Depth(Policy):
    cdef readonly Py_ssize_t depth
    cdef readonly Candidates candidates
    cdef Py_ssize_t reserved
    cdef bint stands
    cdef Py_ssize_t last
    cpdef schedule(self, Pass p)
    cdef int consider_arrivals(self, Pass p) except -1
    cdef int consider(self, Pass p, Py_ssize_t slot) except -1
