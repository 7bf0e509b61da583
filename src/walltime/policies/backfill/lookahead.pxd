from walltime.kernel.ledger.interface cimport Ledger
from walltime.policy.api cimport ARRIVAL, Pass, Policy, require_open

cdef class Lookahead(Policy):
    cdef readonly Py_ssize_t depth
    cdef Py_ssize_t blocked
    cpdef schedule(self, Pass p)
    cdef list find_fitting(self, Pass p)
    cdef list find_fresh(self, Pass p)
    cdef int start_best(self, Pass p, Py_ssize_t head, list found) except -1
